"""Records of the corpus, and a real browser that opens files."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from referee.record import Record, read_record

CORPUS = Path(__file__).resolve().parents[2] / "referee" / "record" / "corpus"


@pytest.fixture(scope="session")
def old_record() -> Callable[[str], Record]:
    """old_record("crashed") is that record of the corpus; of a game, by the rules that are installed."""

    def read(name: str) -> Record:
        [first] = CORPUS.glob(f"v1-{name}.jsonl*")
        return read_record(next(CORPUS.glob(f"v1-{name}-rules*.jsonl*"), first))

    return read


@pytest.fixture
def open_file(chromium: Any, profile: Any, tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """open_file(text, "html") opens it in the browser, off line; at the end no page may have complained or asked for
    anything."""
    opened: list[tuple[Any, list[str]]] = []

    def open_file(text: str, kind: str, address: str = "", width: int = 1100, **how: Any) -> Any:
        path = tmp_path / f"file{len(opened)}.{kind}"
        path.write_text(text, encoding="utf-8")
        page = chromium.new_page(**how) if how else profile.new_page()
        page.set_viewport_size({"width": width, "height": 900})
        said: list[str] = []
        opened.append((page, said))
        page.set_default_timeout(60_000)
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: said.append(request.url) if request.url != path.as_uri() else None)
        page.on("dialog", lambda dialog: said.append(dialog.message))
        page.goto(path.as_uri() + address)
        return page

    yield open_file
    for page, said in opened:
        page.close()
        assert said == []
