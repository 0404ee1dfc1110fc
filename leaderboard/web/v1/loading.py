"""Where `/api/v1` begins. FastAPI takes half a second to load: the pages and `crosstown --help` do not wait for it."""

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

from starlette.datastructures import State
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from leaderboard.web.pages import page

if TYPE_CHECKING:
    from fastapi import FastAPI


class Api:
    """The application below `/api/v1`, which is made for its first request, in a thread."""

    def __init__(self) -> None:
        self._made: FastAPI | None = None
        self._turn = asyncio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        made = await self._app(scope["app"].state)
        await made(scope, receive, send)

    async def operations(self, request: Request) -> Response:
        """A page that lists the operations; those that only read can be tried there."""
        made = await self._app(request.app.state)
        described = await asyncio.to_thread(made.openapi)
        groups = [(tag, list(found)) for tag, found in groupby(operations_of(described), lambda found: found.tag)]
        return await asyncio.to_thread(page, request, "api.html", groups=groups, prefix=described["servers"][0]["url"])

    async def _app(self, state: State) -> "FastAPI":
        async with self._turn:
            if self._made is None:
                self._made = await asyncio.to_thread(_load, state)
        return self._made


def _load(state: State) -> "FastAPI":
    from leaderboard.web.v1.app import make_api

    return make_api(state, with_ladder=state.hand_ins is not None)


@dataclass(frozen=True, slots=True)
class Parameter:
    """A value in the path, in the query or in a header. `usual` is its default, '' for none."""

    name: str
    place: str
    required: bool
    meaning: str
    usual: str


@dataclass(frozen=True, slots=True)
class Operation:
    """One method of one address, as the description has it. `body` is what it takes and `answer` what it gives: names
    of schemas, or types of media; '' for nothing."""

    tag: str
    method: str
    path: str
    text: str
    parameters: tuple[Parameter, ...]
    body: str
    answer: str

    @property
    def can_be_tried(self) -> bool:
        """Whether it only reads, and its answer ends."""
        return self.method == "GET" and not self.path.endswith(("/events", "/record"))


def operations_of(described: Mapping[str, Any]) -> Iterator[Operation]:
    """All operations of an OpenAPI description, in its order."""
    for path, methods in described["paths"].items():
        for method, operation in methods.items():
            parameters = tuple(
                Parameter(
                    item["name"],
                    item["in"],
                    bool(item.get("required")),
                    str(item.get("description", "")),
                    str(item["schema"].get("default", "")),
                )
                for item in operation.get("parameters", ())
            )
            answers = [answer for status, answer in operation["responses"].items() if int(status) < 300]
            yield Operation(
                operation["tags"][0],
                method.upper(),
                path,
                str(operation.get("description", "")),
                parameters,
                _contents(operation.get("requestBody", {})),
                " or ".join(dict.fromkeys(_contents(answer) for answer in answers)),
            )


def _contents(holder: Mapping[str, Any]) -> str:
    """Types of media, of JSON the schema's name instead."""
    names = []
    for media, content in holder.get("content", {}).items():
        name = content.get("schema", {}).get("$ref", "").rpartition("/")[2]
        names.append(f"`{name}`" if name else media)
    return ", ".join(names)
