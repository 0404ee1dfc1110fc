"""Asks a language model: posts the text that a person would read to an OpenAI-compatible endpoint, answers its number.

OPENAI_BASE_URL (such as http://localhost:8080/v1), OPENAI_MODEL and OPENAI_API_KEY must be granted by the tournament
file, and so must the network. Whatever goes wrong, it answers in time: then with action 0, the harmless one.
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

PROMPT = re.compile(r"choose 0 to (\d+) within ([0-9.]+) s")
RULES = (
    "You play a board game. You get the position and the numbered legal actions. "
    "Think briefly, then end your reply with the number of one action alone on the last line."
)
HARMLESS = 0
RESERVE_SHARE = 0.1
"""Of the time for an answer: kept for the way back."""
PAUSE_S = 0.5
"""Before the endpoint is tried again."""


def ask(question: str, left_s: float) -> str:
    """The model's reply. OSError or ValueError if there is none."""
    body = {
        "model": os.environ["OPENAI_MODEL"],
        "messages": [{"role": "system", "content": RULES}, {"role": "user", "content": question}],
    }
    request = urllib.request.Request(  # noqa: S310
        os.environ["OPENAI_BASE_URL"].rstrip("/") + "/chat/completions",
        json.dumps(body).encode(),
        {"Content-Type": "application/json", "Authorization": f"Bearer {os.environ.get('OPENAI_API_KEY', '')}"},
    )
    with urllib.request.urlopen(request, timeout=max(left_s, 0.1)) as response:  # noqa: S310
        reply = json.load(response)
    try:
        return str(reply["choices"][0]["message"]["content"])
    except (KeyError, IndexError, TypeError) as error:
        raise ValueError(f"a reply without choices[0].message.content: {error!r}") from None


def chosen(reply: str, last: int) -> int | None:
    """The last number of the reply that is one of the list."""
    numbers = [int(word) for word in re.findall(r"\d{1,9}", reply)]
    return next((number for number in reversed(numbers) if number <= last), None)


def answer(question: str, last: int, deadline_s: float) -> int:
    """A legal index by `deadline_s` on the monotonic clock; what went wrong goes to stderr, which the referee keeps."""
    while (left_s := deadline_s - time.monotonic()) > 0:
        try:
            reply = ask(question, left_s)
            index = chosen(reply, last)
            if index is not None:
                return index
            print(f"no number from 0 to {last} in the reply {reply[:200]!r}", file=sys.stderr, flush=True)
        except (OSError, ValueError, KeyError) as error:
            print(f"no reply: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
            if isinstance(error, KeyError) or (isinstance(error, urllib.error.HTTPError) and error.code in (401, 404)):
                break  # asking again cannot help
        time.sleep(min(PAUSE_S, max(deadline_s - time.monotonic(), 0)))
    return HARMLESS


def answer_in_time(question: str, last: int, left_s: float) -> int:
    """In a thread, since a server that drips its reply can outlast any time-out of a socket."""
    limit_s = left_s * (1 - RESERVE_SHARE)
    deadline_s = time.monotonic() + limit_s
    answers: queue.Queue[int] = queue.Queue()
    threading.Thread(target=lambda: answers.put(answer(question, last, deadline_s)), daemon=True).start()
    try:
        return answers.get(timeout=limit_s)
    except queue.Empty:
        print(f"no reply within {limit_s:.1f} s", file=sys.stderr, flush=True)
        return HARMLESS


def main() -> None:
    question = ""
    for line in sys.stdin:
        prompt = PROMPT.match(line)
        if prompt:
            print(answer_in_time(question, int(prompt[1]), float(prompt[2])), flush=True)
            question = ""
        elif not line.startswith("#"):
            question += line


if __name__ == "__main__":
    main()
