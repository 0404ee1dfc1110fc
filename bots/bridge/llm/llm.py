"""Asks a language model behind an OpenAI-compatible endpoint, and answers with the action that it names.

Address and model come from the options base_url and model, or from OPENAI_BASE_URL (such as http://localhost:8080/v1)
and OPENAI_MODEL. The key, if the endpoint wants one, comes from the variable that the option key_env names. The
tournament file grants the variables and the network. Without address and model the bot refuses to start.

The prompt has the rules of the game, the file that the option prompt names, what has happened since the last question,
the position, and the legal actions. The reply must end in a line `ACTION: 12`. If it does not, the bot asks once more.
After that it sends an action that does not exist, which is its fault: it never plays an action that the model did not
choose. If the endpoint gives no reply in time, the bot sends a provider error.
"""

import http.client
import json
import math
import os
import queue
import re
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
NEEDED = {"base_url": "OPENAI_BASE_URL", "model": "OPENAI_MODEL"}
"""Options, and the variables that are used where an option is empty."""
FORM = re.compile(r"ACTION: *(\d{1,9})")
FORMAT = (
    "Think briefly. Then end your reply with one line that has this form and nothing else, with the number of one of "
    "the legal actions:\nACTION: 12"
)
NO_ACTION = -1
"""The referee takes it as an illegal action of this seat."""
RESERVE_SHARE = 0.1
"""Of the time for an answer: kept for the way back."""
PAUSES_S = (0.5, 1.0, 2.0, 4.0, 8.0)
"""Before the endpoint is asked again after an error."""
FINAL = (400, 401, 403, 404, 413, 422)
"""Errors of HTTP that asking again does not mend."""
ADVICE = {
    401: "; check the key, and that its variable is granted",
    403: "; check the key, and what it may use",
    404: "; check model and base_url, which mostly ends in /v1",
}
"""Advice about an error, by its number."""
MOST_REASON = 400
"""Characters of the reply that go into the note."""
MOST_EVENTS = 60
MOST_ERROR = 200
"""Characters of what the endpoint says with an error. They are counted without the key: of one that is cut, the begin
would not be known as such."""
MOST_READ = 1 << 16
SHORTEST_KEY = 8
"""Of a key that is taken out of errors."""


class ProviderError(Exception):
    """The endpoint gave no reply. One sentence."""


@dataclass
class Settings:
    """Where the model is, and how it is asked. Prices are dollars for a million tokens; `request` is added to each
    request as it is."""

    base_url: str
    model: str
    key: str = ""
    prompt: str = ""
    request: dict[str, Any] = field(default_factory=dict)
    prompt_price: float = 0.0
    reply_price: float = 0.0


@dataclass
class Used:
    """The usage of one answer, in the fields that the referee adds up."""

    requests: int = 0
    prompt_tokens: int = 0
    reply_tokens: int = 0
    provider_errors: int = 0
    unreadable: int = 0
    wait_s: float = 0.0
    cost_dollars: float = 0.0

    def add(self, other: "Used") -> None:
        for each in fields(self):
            setattr(self, each.name, getattr(self, each.name) + getattr(other, each.name))


class Player:
    """Plays one match after another, and counts what the model has used."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.start({})

    def start(self, message: dict[str, Any]) -> None:
        """A match begins."""
        self.match = message
        rules = HERE / "rules" / f"{message.get('game', '')}.md"
        self.rules = rules.read_text(encoding="utf-8") if rules.is_file() else ""
        self.used = Used()

    def end(self) -> None:
        """A match is over: its usage goes to stderr, which the referee keeps."""
        counts = {name: value for name, value in asdict(self.used).items() if isinstance(value, int)}
        used = ", ".join(f"{value} {name.replace('_', ' ')}" for name, value in counts.items())
        say(f"match {self.match.get('match')}: {used}, {self.used.wait_s:.1f} s, {self.used.cost_dollars:.6f} dollars")

    def answer(self, question: dict[str, Any]) -> dict[str, Any]:
        """An index and a note, in time. In a thread, since a server that drips can outlast any time-out of a socket."""
        limit_s = question["left_s"] * (1 - RESERVE_SHARE)
        asking = Asking(self.settings, time.monotonic() + limit_s)
        answers: queue.Queue[dict[str, Any]] = queue.Queue()
        messages = [{"role": "system", "content": self.introduction()}, {"role": "user", "content": asked(question)}]
        threading.Thread(target=lambda: answers.put(asking.decide(question, messages)), daemon=True).start()
        try:
            answer = answers.get(timeout=limit_s)
        except queue.Empty:
            before = f"; the error before that: {asking.problem}" if asking.problem else ""
            answer = no_reply(f"no reply within {limit_s:.1f} s{before}")
        used = asking.spent()
        self.used.add(used)
        return {**answer, "usage": asdict(used)}

    def introduction(self) -> str:
        """Who the model is and how the game goes."""
        seat, players, game = (self.match.get(name) for name in ("seat", "players", "game"))
        who = f"You play seat {seat} of {players} (seats count from 0) in a match of {game}. You want to win."
        return "\n\n".join(part for part in (who, self.rules, self.settings.prompt, FORMAT) if part)


class Asking:
    """One question on its way to the endpoint and back."""

    def __init__(self, settings: Settings, deadline_s: float) -> None:
        self.settings = settings
        self.deadline_s = deadline_s
        self.problem = ""
        """The last error of the provider."""
        self._used = Used()
        self._waits_since_s: float | None = None

    def spent(self) -> Used:
        """The usage so far; a request without a reply by now has failed."""
        used = Used(**asdict(self._used))
        if (since_s := self._waits_since_s) is not None:
            used.provider_errors += 1
            used.wait_s += time.monotonic() - since_s
        settings = self.settings
        used.cost_dollars = (
            used.prompt_tokens * settings.prompt_price + used.reply_tokens * settings.reply_price
        ) / 1e6
        return used

    def decide(self, question: dict[str, Any], messages: list[dict[str, str]]) -> dict[str, Any]:
        """Ask, and ask once more if the reply cannot be read."""
        problem = ""
        for _ in range(2):
            try:
                reply = self.reply(messages)
            except ProviderError as error:
                return no_reply(str(error))
            index, reason, problem = read(reply, question["legal_count"])
            if index is not None:
                return {"index": index, "note": reason[:MOST_REASON]}
            self._used.unreadable += 1
            say(f"decision {question['decision']}: {problem}")
            messages += [
                {"role": "assistant", "content": reply},
                {"role": "user", "content": f"Your reply was not accepted: {problem}. {FORMAT}"},
            ]
        return {"index": NO_ACTION, "note": f"unreadable answer: {problem}"[:MOST_REASON]}

    def reply(self, messages: list[dict[str, str]]) -> str:
        """The model's text. ProviderError if there is none before the deadline."""
        tries = 0
        while True:
            tries += 1
            self._used.requests += 1
            asked_s = self._waits_since_s = time.monotonic()
            try:
                return self.post(messages, self.deadline_s - asked_s)
            except (OSError, ValueError, RecursionError, http.client.HTTPException) as error:
                self._used.provider_errors += 1
                pause_s = PAUSES_S[min(tries, len(PAUSES_S)) - 1]
                self.problem, pause_s, final = explained(error, pause_s, self.without_key)
            finally:
                self._waits_since_s = None
                self._used.wait_s += time.monotonic() - asked_s
            say(f"provider error: {self.problem}")
            if final or time.monotonic() + pause_s >= self.deadline_s:
                raise ProviderError(f"{self.problem} (request {tries})")
            time.sleep(pause_s)

    def without_key(self, text: str) -> str:
        """Providers repeat a key that they refuse, and everybody may read the record. A short one may be any word."""
        return text.replace(self.settings.key, "KEY") if len(self.settings.key) >= SHORTEST_KEY else text

    def post(self, messages: list[dict[str, str]], left_s: float) -> str:
        """One request. OSError or ValueError if it brings no text."""
        settings = self.settings
        headers = {"Content-Type": "application/json"}
        if settings.key:
            headers["Authorization"] = f"Bearer {settings.key}"
        request = urllib.request.Request(  # noqa: S310
            settings.base_url.rstrip("/") + "/chat/completions",
            json.dumps({**settings.request, "model": settings.model, "messages": messages}).encode(),
            headers,
        )
        with urllib.request.urlopen(request, timeout=max(left_s, 0.1)) as response:  # noqa: S310
            body = json.load(response)
        self.count(body.get("usage") if isinstance(body, dict) else None)
        try:
            text = body["choices"][0]["message"]["content"]
        except (KeyError, IndexError, TypeError) as error:
            raise ValueError(f"a reply without choices[0].message.content: {error!r}") from None
        return text if isinstance(text, str) else ""

    def count(self, said: Any) -> None:
        """The tokens that the endpoint names; 0 where it names none."""
        if isinstance(said, dict):
            prompt, reply = (said.get(name) for name in ("prompt_tokens", "completion_tokens"))
            self._used.prompt_tokens += prompt if isinstance(prompt, int) and prompt > 0 else 0
            self._used.reply_tokens += reply if isinstance(reply, int) and reply > 0 else 0


def explained(error: Exception, pause_s: float, without_key: Callable[[str], str]) -> tuple[str, float, bool]:
    """What went wrong, how long to wait, and whether asking again cannot help."""
    if isinstance(error, urllib.error.HTTPError):
        wanted = error.headers.get("Retry-After", "")
        pause_s = max(pause_s, float(wanted)) if re.fullmatch(r"\d{1,4}(\.\d+)?", wanted) else pause_s
        try:
            said = without_key(error.read(MOST_READ).decode(errors="replace")).strip()[:MOST_ERROR]
        except (OSError, http.client.HTTPException):  # its text broke off
            said = ""
        return f"HTTP {error.code} {said!r}{ADVICE.get(error.code, '')}", pause_s, error.code in FINAL
    return without_key(f"{type(error).__name__}: {error}"), pause_s, False


def read(reply: str, legal_count: int) -> tuple[int | None, str, str]:
    """The index, the text before it, and what is wrong if there is no index."""
    lines = reply.rstrip().splitlines() or [""]
    found = FORM.fullmatch(lines[-1].strip())
    if found is None:
        return None, "", f"its last line is {lines[-1][:80]!r}"
    index = int(found[1])
    if index >= legal_count:
        return None, "", f"action {index} is not in the list, which ends with {legal_count - 1}"
    return index, " ".join(" ".join(lines[:-1]).split()), ""


def no_reply(why: str) -> dict[str, Any]:
    """An answer that reports a provider error."""
    return {"provider_error": why[:MOST_REASON]}


def asked(question: dict[str, Any]) -> str:
    """The question as text: news, position, legal actions."""
    events = question.get("events")
    news = [told(event) for event in events.get("events", [])] if isinstance(events, dict) else []
    if len(news) > MOST_EVENTS:
        news = [f"({len(news) - MOST_EVENTS} earlier events are left out)", *news[-MOST_EVENTS:]]
    parts = ["Since your last decision:\n" + "\n".join(news)] if news else []
    listed = "\n".join(f"{index:4}  {text}" for index, text in enumerate(question["actions"]))
    return "\n\n".join(
        [*parts, question["board"].rstrip(), f"Your decision ({question['kind']}). Legal actions:\n{listed}"]
    )


def told(event: dict[str, Any]) -> str:
    """An event in a line: 'moved: seat 1, source 64, target 3'."""
    for kind, body in event.items():
        if isinstance(body, dict):
            return f"{kind}: " + ", ".join(f"{name} {json.dumps(value)}" for name, value in body.items())
    return json.dumps(event)


def say(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)


def price(options: dict[str, Any], name: str) -> float:
    """Dollars for a million tokens. SystemExit if the option is not a number from 0."""
    text = str(options.get(name, "0"))
    try:
        value = float(text)
    except ValueError:
        value = -1
    if not 0 <= value < math.inf:
        raise SystemExit(f"option {name} is {text!r}; expected dollars for a million tokens, such as 0.15")
    return value


def addition(options: dict[str, Any]) -> dict[str, Any]:
    """The JSON object that is added to each request. SystemExit if the option is no JSON object."""
    text = str(options.get("request", "")) or "{}"
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise SystemExit(f'option request is {text!r}; expected a JSON object, such as {{"max_tokens": 500}}')
    return value


def instructions(options: dict[str, Any]) -> str:
    """The text of the file that the option prompt names. SystemExit if it cannot be read."""
    name = str(options.get("prompt", ""))
    try:
        return (HERE / name).read_text(encoding="utf-8").strip() if name else ""
    except (OSError, ValueError) as error:
        raise SystemExit(f"option prompt is {name!r}; expected a text file in the bot's folder ({error})") from None


def key_in(variable: str) -> str:
    """The key, without what a file of Windows leaves at its end. SystemExit if no header takes it: the error of the
    request would show the key, and the record would keep it."""
    key = os.environ.get(variable, "").strip()
    if not re.fullmatch(r"[ -~]*", key):
        raise SystemExit(f"{variable} has characters that no key has; copy the key once more")
    return key


def settings_of(options: dict[str, Any]) -> Settings:
    """From the bot's options and the environment. SystemExit says what is missing."""
    where = {
        name: str(options.get(name, "")) or os.environ.get(variable, "").strip() for name, variable in NEEDED.items()
    }
    for name, variable in NEEDED.items():
        if not where[name]:
            raise SystemExit(
                f"{variable} not set: grant it with env = [...] in the tournament file, or --env {variable}; or set the"
                f" option {name}"
            )
    if not where["base_url"].startswith(("http://", "https://")):
        raise SystemExit(f"base_url is {where['base_url']!r}; expected an address such as http://localhost:8080/v1")
    return Settings(
        where["base_url"],
        where["model"],
        key_in(str(options.get("key_env", "")) or "OPENAI_API_KEY"),
        instructions(options),
        addition(options),
        price(options, "prompt_price"),
        price(options, "reply_price"),
    )


def main() -> None:
    player = Player(settings_of(json.loads(os.environ.get("CROSSTOWN_OPTIONS", "{}"))))
    if sys.argv[1:] != ["--answer"]:
        bridge = ("-m", "crosstown_bridge", "--", sys.executable, __file__, "--answer")
        os.execv(sys.executable, (sys.executable, *bridge))  # noqa: S606
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "match_start":
            player.start(message)
        elif message["type"] == "decide":
            print(json.dumps(player.answer(message)), flush=True)
        else:
            player.end()


if __name__ == "__main__":
    main()
