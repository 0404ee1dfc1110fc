"""Pages as files, for any web server, or for a browser without one.

Each page is made by the application of `app`, from the same templates, so a file shows what the page shows a visitor.
Links become relative links to the files. Forms, streams and JSON are left out, because they need a server. The page of
a match comes from `leaderboard.export.page`.
"""

import asyncio
import glob
import json
import os
import re
import shutil
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import ExitStack
from dataclasses import dataclass
from hashlib import sha256
from html import escape, unescape
from importlib.metadata import version
from multiprocessing import get_context
from pathlib import Path, PurePosixPath
from typing import Any, Final
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from starlette.applications import Starlette

from leaderboard.controls import Rulings
from leaderboard.export.page import replay_page
from leaderboard.web.app import make_app
from leaderboard.web.pages import Section
from leaderboard.web.people import LadderHost
from leaderboard.web.rights import public_record
from leaderboard.web.tables import Tables, TablesBusy
from referee.errors import PlatformError, UsageError
from referee.folders import folder_beside, place_to_write
from referee.record import RecordError, read_record
from referee.record.narration import EVERYTHING
from referee.record.store import FileStamp
from referee.run.folder import RunFolder, runs_in, why_no_address
from referee.texts import one_line

MARKER: Final = ".crosstown-site"
"""A file in each folder that this module wrote: only such a folder is replaced."""

_OLD: Final = "-old"
"""Follows the name of a site while another takes its place."""

_REPLAYS: Final = "replays.json"
_SCRIPTS: Final = ("sort.js", "times.js")
"""Scripts that need no server."""

_TABS: Final = ("cross", "plots", "schedule", "settings")
_LINK = re.compile(r' (href|src|data-events|data-frames)="([/?][^"]*)"')
_FEED_LINK = re.compile(r'href="http://localhost(/[^"]*)"')
_FORM = re.compile(r"<form\b.*?</form>", re.DOTALL)
_SCRIPT = re.compile(r'<script src="/static/([^"]+)" defer></script>')
_SERVED = re.compile(r'<a\b[^>]*? href="/(?:api|sign-in|join|my|wall)\b[^"]*"[^>]*>.*?</a>', re.DOTALL)
_BUSY_S = 0.5
_MOST_REPLAYS_AHEAD = 1000


@dataclass(frozen=True, slots=True)
class Published:
    """A summary of a written site. `replays` counts the pages of matches, `kept` those of them that were there before;
    `unreadable` the matches whose records have no page, since they cannot be read; `left_out` the run folders without
    pages, and why."""

    pages: int
    replays: int
    kept: int
    unreadable: tuple[str, ...]
    left_out: Mapping[Path, str]


@dataclass(frozen=True, slots=True)
class _Replay:
    """One page of a match that is to be made. `key` names run and match."""

    key: str
    record: Path
    file: str
    back: str
    title: str
    ruled: str


def publish(
    runs: Path,
    target: Path,
    names: Sequence[str] = (),
    *,
    hand_ins: LadderHost | None = None,
    caption: str = "",
    jobs: int = 1,
    url: str = "",
    report: Callable[[int, int], None] = lambda _done, _all: None,
) -> Published:
    """Write the pages of the run folders in `runs`, or of those of these `names`, as the folder `target`, which is
    replaced as a whole if it was written here before. UsageError, PlatformError.

    With `hand_ins` the runs are the divisions of a ladder. `caption` says what the site is an archive of. `url` is the
    address of the site, with which the links of its feeds begin; without it they are relative. Matches are drawn by
    `jobs` processes; `report` is called with the number of drawn matches and the number of all.
    """
    with ExitStack() as stack:
        try:
            target = place_to_write(target, "choose another folder")  # that a link names, which a web server may show
            _put_back(target)
            _check(target)
            made = stack.enter_context(folder_beside(target))
        except OSError as error:
            raise UsageError(f"{target} cannot be made ({error.strerror})", "choose another folder") from None
        try:
            site = _Site(runs, names, made, target, hand_ins, caption, url)
            pages = asyncio.run(site.write())
            replays, kept, unreadable = site.write_replays(jobs, report)
            (made / MARKER).write_text("written by: crosstown publish\n", encoding="utf-8")
            _swap(made, target)
        except OSError as error:
            raise PlatformError(
                f"{error.filename or target}: cannot be written ({error.strerror or error})",
                "choose another folder, or free space",
            ) from None
    return Published(pages, replays, kept, tuple(unreadable), site.left_out)


def _check(target: Path) -> None:
    if target.is_dir() and any(target.iterdir()) and not (target / MARKER).is_file():
        raise UsageError(f"{target} has files in it that crosstown publish did not write", "give a new folder")
    if target.exists() and not target.is_dir():
        raise UsageError(f"{target} is not a folder", "give a new folder")


def _swap(made: Path, target: Path) -> None:
    old = made.with_name(f"{made.name}{_OLD}")
    if target.exists():
        target.rename(old)
    try:
        made.rename(target)
    except OSError:
        _put_back(target)
        raise
    shutil.rmtree(old, ignore_errors=True)


def _put_back(target: Path) -> None:
    """Give the site its name again if it has lost it between the two renames, and remove it if another has the name."""
    for old in target.parent.glob(f".{glob.escape(target.name)}-{'[0-9a-f]' * 8}{_OLD}"):
        if not target.exists():
            old.rename(target)
        elif (old / MARKER).is_file():
            shutil.rmtree(old, ignore_errors=True)


class _Site:
    def __init__(
        self,
        runs: Path,
        names: Sequence[str],
        folder: Path,
        before: Path,
        hand_ins: LadderHost | None,
        caption: str,
        url: str = "",
    ) -> None:
        found = [run for run in runs_in(runs) if not names or run.name in names]
        self.left_out = {run.path: why for run in found if (why := why_no_address(run))}
        self._runs = {run.name: run for run in found if run.path not in self.left_out}
        if not found:
            raise UsageError(f"{runs} has no run with records", "name a run folder, or a folder with run folders")
        if not self._runs:
            path, why = next(iter(self.left_out.items()))
            raise UsageError(f"{path}: {why}, so it has no address", "rename the folder")
        self._folder = folder
        self._url = url.rstrip("/")
        self._before = before
        self._is_ladder = hand_ins is not None
        self._app = _static_app(runs, hand_ins, caption, self._runs)
        only = next(iter(self._runs)) if len(self._runs) == 1 else ""
        self._front = "/ladder" if hand_ins else f"/runs/{quote(only)}" if only else "/runs"
        self._replays: dict[str, _Replay] = {}
        self._listed: dict[str, Mapping[str, str]] = {name: {} for name in self._runs}
        """By run, the ids of the matches that have a page, and what was decided about each."""

    async def write(self) -> int:
        """Write all pages except those of matches; their number."""
        tables: Tables = self._app.state.tables
        for name, run in self._runs.items():
            found = await _tables(tables, run)
            rulings = Rulings(found.facts.controls)
            self._listed[name] = {row.match_id: rulings.about(row.match_id, row.seats) for row in found.listed}
        waiting, seen = deque([self._front, "/search", "/games"]), set[str]()
        while waiting:
            address = waiting.popleft()
            file = self._file_of(address)
            if file is None or file in seen:
                continue
            seen.add(file)
            status, body = await get(self._app, address)
            if status != 200:
                continue
            if file.endswith(".html"):
                text, found = self._rewritten(body.decode(), address, file)
                waiting.extend(found)
                body = text.encode()
            elif file.endswith(".atom"):
                body = self._feed(body.decode(), file).encode()
            path = self._folder / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(body)
        return len(seen)

    def _feed(self, text: str, file: str) -> str:
        """A feed with links to files of the site."""

        def link(match: re.Match[str]) -> str:
            target = self._file_of(unescape(match[1]))
            if target is None:
                return match[0]
            address = f"{self._url}/{quote(target)}" if self._url else relative(file, target)
            return f'href="{escape(address)}"'

        return _FEED_LINK.sub(link, text)

    def _rewritten(self, text: str, address: str, file: str) -> tuple[str, list[str]]:
        """The page with links to files, and the addresses of these files."""
        found: list[str] = []

        def link(match: re.Match[str]) -> str:
            name, wanted = match[1], unescape(match[2])
            if wanted.startswith("?"):
                wanted = urlsplit(address).path + wanted
            target = None if name.startswith("data-") else self._file_of(wanted)
            if target is None:
                return ""
            if not target.startswith("runs/") or "/matches/" not in target:
                found.append(wanted)
            fragment = urlsplit(wanted).fragment
            return f' {name}="{escape(relative(file, target))}{f"#{escape(fragment)}" if fragment else ""}"'

        text = _FORM.sub("", text)
        text = _SCRIPT.sub(lambda match: match[0] if match[1] in _SCRIPTS else "", text)
        text = _SERVED.sub("", text)
        return _LINK.sub(link, text), found

    def _file_of(self, address: str) -> str | None:
        """The place of a page in the site; None for an address outside of it."""
        parts = urlsplit(address)
        query = {name: value for name, value in parse_qsl(parts.query) if value}
        path = parts.path.rstrip("/") or self._front
        words = [unquote(word) for word in path.split("/")[1:]]
        first = int(query["from"]) if query.get("from", "").isdecimal() else 0
        number = f"-{first}" if first else ""
        if path == self._front and not first:
            return "index.html"
        match words:
            case ["runs"] if len(self._runs) > 1:
                return "runs/index.html"
            case ["runs", run, *rest] if run in self._runs:
                inner = self._file_of_run(run, rest, query, number)
                return inner and f"runs/{_name(run)}/{inner}"
            case ["search"]:
                return "search.html"
            case ["games"]:
                return "games/index.html"
            case ["games", game]:
                return f"games/{_name(game)}.html"
            case ["ladder"] if self._is_ladder:
                return "index.html"
            case ["ladder", division] if self._is_ladder:
                return f"ladder/{_name(division)}{number}.html"
            case ["bots", bot] if self._is_ladder:
                return f"bots/{_name(bot)}.html"
            case ["static", *names]:
                return "/".join(["static", *map(_name, names)])
        return None

    def _file_of_run(self, run: str, words: list[str], query: Mapping[str, str], number: str) -> str | None:
        of_bot = f"-{_name(query['bot'])}" if "bot" in query else ""
        match words:
            case []:
                return "index.html"
            case [tab] if tab in _TABS:
                return f"{tab}.html"
            case ["pairings"]:
                return "pairings.html"
            case ["standings.csv" | "pairings.csv" | "bracket.svg" as name]:
                return name
            case ["results.atom"]:
                return "results.atom"
            case ["embed"]:
                return "embed.html"
            case ["matches.csv"]:
                return f"matches{of_bot}.csv"
            case ["matches"]:
                return f"matches{of_bot}{number}.html"
            case ["bots", entry]:
                return f"bots/{_name(entry)}.html"
            case ["matches", match_id] if match_id in self._listed[run]:
                return self._replay(run, match_id)
        return None

    def _replay(self, run: str, match_id: str) -> str | None:
        file = f"matches/{_name(match_id)}.html"
        key = f"{run}/{match_id}"
        if key not in self._replays:
            record = self._runs[run].records.find(match_id)
            if record is None:
                return None
            place = f"runs/{_name(run)}/{file}"
            back = relative(place, self._file_of(f"/runs/{quote(run)}") or "index.html")
            self._replays[key] = _Replay(key, record, place, back, run, self._listed[run][match_id])
        return file

    def write_replays(self, jobs: int, report: Callable[[int, int], None]) -> tuple[int, int, list[str]]:
        """The number of pages of matches, how many of them are unchanged, and the matches without a page."""
        for run, listed in self._listed.items():
            for match_id in sorted(listed):
                self._replay(run, match_id)
        stamps = {one.key: self._stamp(one) for one in self._replays.values()}
        before = _stamps_in(self._before)
        todo, kept, unreadable = list[_Replay](), 0, list[str]()
        for one in self._replays.values():
            if before.get(one.key) == stamps[one.key] and self._take_over(one):
                kept += 1
            else:
                todo.append(one)
        done = kept
        report(done, len(stamps))
        for key, trouble in _drawn(todo, self._folder, self._is_ladder, jobs):
            done += 1
            if trouble:
                unreadable.append(key)
                del stamps[key]
            report(done, len(self._replays))
        (self._folder / _REPLAYS).write_text(json.dumps(stamps), encoding="utf-8")
        return len(stamps), kept, unreadable

    def _stamp(self, one: _Replay) -> list[Any]:
        """The key of a page, which differs whenever the page would differ."""
        found = FileStamp.of(one.record)
        return [found.size_bytes, found.mtime_ns, version("crosstown-arena"), self._is_ladder, one.back, one.ruled]

    def _take_over(self, one: _Replay) -> bool:
        """Whether the page in the folder that is replaced could be kept."""
        path = self._folder / one.file
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.link(self._before / one.file, path)
        except OSError:
            return False
        return True


def _drawn(todo: Sequence[_Replay], folder: Path, is_ladder: bool, jobs: int) -> Iterable[tuple[str, str]]:
    """The key of each match, when its page is written, and the reason if it has none."""
    if jobs == 1:
        yield from (_draw(one, folder, is_ladder) for one in todo)
        return
    # Not "forkserver": its socket would lie below TMPDIR, whose path may be too long for one.
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        for start in range(0, len(todo), _MOST_REPLAYS_AHEAD):
            lot = todo[start : start + _MOST_REPLAYS_AHEAD]
            for made in as_completed([pool.submit(_draw, one, folder, is_ladder) for one in lot]):
                yield made.result()


def _draw(one: _Replay, folder: Path, is_ladder: bool) -> tuple[str, str]:
    try:
        record = read_record(one.record)
    except RecordError as error:
        return one.key, str(error)
    if is_ladder:
        record = public_record(record)
    path = folder / one.file
    path.parent.mkdir(parents=True, exist_ok=True)
    page = replay_page(record, [EVERYTHING], back=(one.back, one.title), ruled=one.ruled)
    path.write_text(page, encoding="utf-8")
    return one.key, ""


def _stamps_in(folder: Path) -> dict[str, Any]:
    try:
        found = json.loads((folder / _REPLAYS).read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def replays_in(site: Path, run: str) -> dict[str, Path]:
    """The pages of matches of a run in a folder that was written here, by match id. UsageError if it is another."""
    if not os.path.isfile(site / MARKER):  # noqa: PTH113 - which says no to any text
        raise UsageError(f"{site} was not written by crosstown publish", "first: crosstown publish RUN DIR")
    known = (key.partition("/") for key in _stamps_in(site))
    return {
        match_id: site / f"runs/{_name(run)}/matches/{_name(match_id)}.html"
        for name, _, match_id in known
        if name == run
    }


async def _tables(tables: Tables, run: RunFolder) -> Any:
    while True:
        try:
            return await asyncio.to_thread(tables.of, run)
        except TablesBusy:
            await asyncio.sleep(_BUSY_S)


def relative(file: str, target: str) -> str:
    """The link from one file of the site to another."""
    up = "../" * (len(PurePosixPath(file).parts) - 1)
    return up + quote(target)


def _name(word: str) -> str:
    """A file name for a name: the name itself if any file system and web server accepts it."""
    if re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}", word) and word not in ("index", "index.html"):
        return word
    plain = re.sub(r"[^A-Za-z0-9_-]+", "_", word)[:60].strip("_")
    return f"{plain}~{sha256(word.encode(errors='surrogateescape')).hexdigest()[:8]}"


def _static_app(runs: Path, hand_ins: LadderHost | None, caption: str, chosen: Mapping[str, RunFolder]) -> Starlette:
    """The application for pages that become files."""
    app = make_app(runs, hide_live=True, hand_ins=hand_ins)
    app.state.runs_shown = frozenset(chosen)
    first = Section("Ladder", "/ladder") if hand_ins else Section("Tournaments", "/runs")
    app.state.sections = [first, Section("Bots", "/search"), Section("Games", "/games")]
    templates = app.state.templates
    templates.globals["archive"] = caption or "Pages as files"
    templates.filters["ago"] = lambda when: one_line(when).replace("T", " ").replace("Z", " UTC")
    return app


async def get(app: Starlette, address: str) -> tuple[int, bytes]:
    """The application's answer to a visitor on this machine."""
    parts = urlsplit(address)
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": unquote(parts.path),
        "raw_path": parts.path.encode(),
        "query_string": parts.query.encode(),
        "root_path": "",
        "headers": [(b"host", b"localhost")],
        "client": ("127.0.0.1", 0),
        "server": ("localhost", 80),
        "state": {},
    }
    status, body = 0, bytearray()

    asked = False

    async def receive() -> dict[str, Any]:
        nonlocal asked
        if asked:
            await asyncio.Event().wait()  # a visitor who never goes away
        asked = True
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        nonlocal status
        if message["type"] == "http.response.start":
            status = message["status"]
        elif message["type"] == "http.response.body":
            body.extend(message.get("body", b""))

    await app(scope, receive, send)
    return status, bytes(body)
