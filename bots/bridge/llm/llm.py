"""Asks a language model behind an OpenAI-compatible endpoint, and answers with the action that it names.

OPENAI_BASE_URL (such as http://localhost:8080/v1), OPENAI_MODEL and, if the endpoint wants one, OPENAI_API_KEY must be
granted by the tournament file, and so must the network. Without address and model the bot refuses to start.

The prompt has the rules of the game, what has happened since the last question, the position, and the legal actions.
The reply must end in a line `ACTION: 12`. If it does not, the bot asks once more. After that it sends an action that
does not exist, which is its fault: it never plays an action that the model did not choose.
"""

import json
import os
import queue
import re
import sys
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

NEEDED = ("OPENAI_BASE_URL", "OPENAI_MODEL")
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
MOST_REASON = 400
"""Characters of the reply that go into the note."""
MOST_EVENTS = 60


class ProviderError(Exception):
    """The endpoint gave no reply. One sentence."""


class Player:
    """Plays one match after another, and counts what the model has used."""

    def __init__(self, prompt_price: float, reply_price: float) -> None:
        self.prompt_price, self.reply_price = prompt_price, reply_price
        self.start({})

    def start(self, message: dict[str, Any]) -> None:
        """A match begins."""
        self.match = message
        rules = Path(__file__).with_name("rules") / f"{message.get('game', '')}.md"
        self.rules = rules.read_text(encoding="utf-8") if rules.is_file() else ""
        self.used = {"requests": 0, "prompt_tokens": 0, "reply_tokens": 0, "provider_errors": 0, "unreadable": 0}
        self.seconds = 0.0

    def end(self) -> None:
        """A match is over: what it has used goes to stderr, which the referee keeps."""
        used = ", ".join(f"{value} {name.replace('_', ' ')}" for name, value in self.used.items())
        say(f"match {self.match.get('match')}: {used}, {self.seconds:.1f} s, {self.cost():.6f} dollars")

    def cost(self) -> float:
        """Dollars for the match."""
        prompt, reply = self.used["prompt_tokens"], self.used["reply_tokens"]
        return (prompt * self.prompt_price + reply * self.reply_price) / 1e6

    def answer(self, question: dict[str, Any]) -> dict[str, Any]:
        """An index and a note, in time. In a thread, since a server that drips can outlast any time-out of a socket."""
        limit_s = question["left_s"] * (1 - RESERVE_SHARE)
        began_s = time.monotonic()
        answers: queue.Queue[dict[str, Any]] = queue.Queue()
        threading.Thread(target=lambda: answers.put(self.decide(question, began_s + limit_s)), daemon=True).start()
        try:
            answer = answers.get(timeout=limit_s)
        except queue.Empty:
            answer = refusal(f"provider error: no reply within {limit_s:.1f} s")
            self.used["provider_errors"] += 1
        self.seconds += time.monotonic() - began_s
        return answer

    def decide(self, question: dict[str, Any], deadline_s: float) -> dict[str, Any]:
        """Ask, and ask once more if the reply cannot be read."""
        messages = [{"role": "system", "content": self.introduction()}, {"role": "user", "content": asked(question)}]
        problem = ""
        for _ in range(2):
            try:
                reply = self.reply(messages, deadline_s)
            except ProviderError as error:
                return refusal(f"provider error: {error}")
            index, reason, problem = read(reply, question["legal_count"])
            if index is not None:
                used = self.used
                note = f"[{used['prompt_tokens']}+{used['reply_tokens']} tokens so far, {self.cost():.6f} dollars]"
                return {"index": index, "note": f"{reason[:MOST_REASON]} {note}".strip()}
            self.used["unreadable"] += 1
            say(f"decision {question['decision']}: {problem}")
            messages += [
                {"role": "assistant", "content": reply},
                {"role": "user", "content": f"Your reply was not accepted: {problem}. {FORMAT}"},
            ]
        return refusal(f"unreadable answer: {problem}")

    def introduction(self) -> str:
        """Who the model is and how the game goes."""
        seat, players, game = (self.match.get(name) for name in ("seat", "players", "game"))
        who = f"You play seat {seat} of {players} (seats count from 0) in a match of {game}. You want to win."
        return "\n\n".join(part for part in (who, self.rules, FORMAT) if part)

    def reply(self, messages: list[dict[str, str]], deadline_s: float) -> str:
        """The model's text. ProviderError if there is none before the deadline."""
        tries = 0
        while True:
            left_s = deadline_s - time.monotonic()
            tries += 1
            try:
                self.used["requests"] += 1
                return self.post(messages, left_s)
            except (OSError, ValueError) as error:
                self.used["provider_errors"] += 1
                problem, pause_s, final = explained(error, PAUSES_S[min(tries, len(PAUSES_S)) - 1])
                say(f"provider error: {problem}")
                if final or time.monotonic() + pause_s >= deadline_s:
                    raise ProviderError(f"{problem} at request {tries}") from None
                time.sleep(pause_s)

    def post(self, messages: list[dict[str, str]], left_s: float) -> str:
        """One request. OSError or ValueError if it brings no text."""
        headers = {"Content-Type": "application/json"}
        if key := os.environ.get("OPENAI_API_KEY"):
            headers["Authorization"] = f"Bearer {key}"
        request = urllib.request.Request(  # noqa: S310
            os.environ["OPENAI_BASE_URL"].rstrip("/") + "/chat/completions",
            json.dumps({"model": os.environ["OPENAI_MODEL"], "messages": messages}).encode(),
            headers,
        )
        with urllib.request.urlopen(request, timeout=max(left_s, 0.1)) as response:  # noqa: S310
            body = json.load(response)
        try:
            text = body["choices"][0]["message"]["content"]
        except (KeyError, IndexError, TypeError) as error:
            raise ValueError(f"a reply without choices[0].message.content: {error!r}") from None
        used = body.get("usage")
        if isinstance(used, dict):
            for name, key in (("prompt_tokens", "prompt_tokens"), ("reply_tokens", "completion_tokens")):
                count = used.get(key)
                self.used[name] += count if isinstance(count, int) else 0
        return str(text)


def explained(error: Exception, pause_s: float) -> tuple[str, float, bool]:
    """What went wrong, how long to wait, and whether asking again cannot help."""
    if isinstance(error, urllib.error.HTTPError):
        wanted = error.headers.get("Retry-After", "")
        pause_s = max(pause_s, float(wanted)) if re.fullmatch(r"\d{1,4}(\.\d+)?", wanted) else pause_s
        said = error.read(200).decode(errors="replace").strip()
        return f"HTTP {error.code} {said!r}", pause_s, error.code in FINAL
    return f"{type(error).__name__}: {error}", pause_s, False


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


def refusal(why: str) -> dict[str, Any]:
    """An answer that is this seat's fault."""
    return {"index": NO_ACTION, "note": why[:MOST_REASON]}


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
    """Dollars for a million tokens. SystemExit if the option is no number."""
    text = str(options.get(name, "0"))
    try:
        return float(text)
    except ValueError:
        raise SystemExit(f"option {name} is {text!r}; expected dollars for a million tokens, such as 0.15") from None


def main() -> None:
    missing = [name for name in NEEDED if not os.environ.get(name)]
    if missing:
        raise SystemExit(
            f"{' and '.join(missing)} not set: grant it with env = [...] in the tournament file, or --env {missing[0]}"
        )
    options = json.loads(os.environ.get("CROSSTOWN_OPTIONS", "{}"))
    player = Player(price(options, "prompt_price"), price(options, "reply_price"))
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
