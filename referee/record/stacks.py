"""The stacks of a Python bot whose time was up, as the evidence of a fault has them."""

import re

_THREAD = re.compile(r"^((?:Current thread|Thread|Stack) .*)$", re.MULTILINE)
_OF_PYTHON = re.compile(r'/lib/python[\d.]+/(?!site-packages/)|^File "<frozen')


def own_frames(stacks: str) -> list[str]:
    """The innermost lines of the thread that was interrupted, up to the first one of the SDK, which called the bot. If
    that thread only waits, in Python's own code, those of a thread that runs other code."""
    _, *parts = _THREAD.split(stacks)
    threads = sorted(zip(parts[::2], parts[1::2], strict=True), key=lambda thread: not thread[0].startswith("Current"))
    found = [_own_frames([line.strip() for line in body.splitlines() if line.strip()]) for _, body in threads]
    others = (frames for frames in found if any(not _OF_PYTHON.search(frame) for frame in frames))
    return next(others, found[0] if found else [])


def _own_frames(frames: list[str]) -> list[str]:
    return frames[: next((number for number, frame in enumerate(frames) if "/crosstown_bot/" in frame), None)]
