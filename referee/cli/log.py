"""What long-running commands say on stderr: lines for people, or JSON lines for programs that collect logs."""

import json
import logging
import sys
import time
from datetime import UTC, datetime
from typing import Any, Literal, TypeAlias

from referee.texts import one_line

Format: TypeAlias = Literal["text", "json"]
_LEVELS = {"DEBUG": "debug", "INFO": "info", "WARNING": "warning", "ERROR": "error", "CRITICAL": "error"}


class Log:
    """Says a sentence at a time, each on a line of its own. `process` names who says it."""

    def __init__(self, process: str, format_: Format) -> None:
        self._process = process
        self._format = format_

    def __call__(self, sentence: str, level: str = "info", **values: Any) -> None:
        """`values` go with it in JSON alone. A sentence that begins with "warning: " is one."""
        if self._format == "text":
            text = f"{time.strftime('%H:%M:%S', time.gmtime())} {one_line(sentence)}"
        else:
            if sentence.startswith("warning: "):
                sentence, level = sentence.removeprefix("warning: "), "warning"
            at = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
            line = {"time": at, "level": level, "process": self._process, "message": sentence, **values}
            text = json.dumps(line, default=str)
        print(text, file=sys.stderr, flush=True)


class LogHandler(logging.Handler):
    """Takes what libraries log to a `Log`."""

    def __init__(self, log: Log) -> None:
        super().__init__(logging.WARNING)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        values = {"logger": record.name}
        if record.exc_info is not None:
            values["trace"] = logging.Formatter().formatException(record.exc_info)
        self._log(record.getMessage(), _LEVELS.get(record.levelname, "info"), **values)
