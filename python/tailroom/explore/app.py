"""The addresses of the server: the page, and what it asks the engine."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from pathlib import Path

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from tailroom import _engine
from tailroom.explore.guard import Guard, TooLargeError, TooSlowError
from tailroom.explore.opened import Opened
from tailroom.explore.questions import FAULTS, BadQuestionError, Question, fault
from tailroom.explore.runs import Runs, TooManyRunsError


def application(
    page: Path, opened: Opened, runs: Runs, is_own_host: Callable[[str], bool]
) -> Starlette:
    """Makes the server's application.

    Args:
        page: Directory of the built page.
        opened: The scenario file of the command line.
        runs: What performs runs.
        is_own_host: Whether the value of a Host header is this server.
    """
    addresses = _Addresses(opened, runs)
    return Starlette(
        routes=[
            Route("/api/engine", addresses.engine),
            Route("/api/resolve", addresses.resolve, methods=["POST"]),
            Route("/api/model_input", addresses.model_input, methods=["POST"]),
            Route("/api/run", addresses.run, methods=["POST"]),
            Mount("/", StaticFiles(directory=page, html=True)),
        ],
        middleware=[Middleware(Guard, is_own_host)],
        exception_handlers={
            BadQuestionError: _answer_with(400),
            TooLargeError: _answer_with(413, "the request is larger than 1 MiB"),
            TooSlowError: _answer_with(408, "the request took more than 10 s to arrive"),
            ClientDisconnect: _answer_with(400, "the request has no end"),  # nobody reads it
            TooManyRunsError: _answer_with(503, "too many runs wait; cancel some"),
        },
    )


class _Addresses:
    """The answers to what the page asks."""

    def __init__(self, opened: Opened, runs: Runs) -> None:
        self._opened = opened
        self._runs = runs

    async def engine(self, _request: Request) -> Response:
        """What runs here, and the scenario file that was opened."""
        source, name = self._opened.source, self._opened.name
        return JSONResponse(
            {
                "build": _engine.build(),
                "workers": self._runs.workers,
                "file": None if name is None else {"name": name, "text": source.text},
                "controls": sorted(self._opened.controls),
                "components": json.loads(_engine.components()),
            }
        )

    async def resolve(self, request: Request) -> Response:
        """The scenario with every default filled in, and its hash."""
        question = await self._question(request)
        return await _answer(lambda: json.dumps(question.identity()))

    async def model_input(self, request: Request) -> Response:
        """The input of the analytic models."""
        question = await self._question(request)
        return await _answer(question.model_input)

    async def run(self, request: Request) -> Response:
        """A run: a line of JSON for each progress, and one for the answer or the error."""
        question = await self._question(request)
        self._runs.check_room()
        lines = _while_connected(request, self._runs.lines(question))
        return StreamingResponse(lines, media_type="application/x-ndjson")

    async def _question(self, request: Request) -> Question:
        return Question.read(await request.body(), self._opened)


async def _answer(make: Callable[[], str]) -> Response:
    """Returns JSON that a thread makes, or why the question has no answer."""
    try:
        return Response(await asyncio.to_thread(make), media_type="application/json")
    except FAULTS as error:
        return JSONResponse(fault(error), status_code=422)


async def _while_connected(
    request: Request, lines: AsyncGenerator[str, None]
) -> AsyncIterator[str]:
    """Yields pieces of lines, and closes their generator as soon as the page has gone."""
    gone = asyncio.create_task(_disconnected(request))
    try:
        while (line := await _first_of(lines, gone)) is not None:
            yield line
    finally:
        gone.cancel()
        await lines.aclose()


async def _first_of(lines: AsyncIterator[str], gone: "asyncio.Task[None]") -> str | None:
    """Returns the next line; `None` after the last, or if `gone` is done first."""
    line = asyncio.ensure_future(anext(lines, None))
    try:
        await asyncio.wait({line, gone}, return_when=asyncio.FIRST_COMPLETED)
        return line.result() if line.done() else None
    finally:
        if line.cancel():
            await asyncio.wait({line})


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _answer_with(status: int, message: str | None = None) -> Callable[..., Response]:
    def answer(_request: Request, error: Exception) -> Response:
        return JSONResponse(
            {"kind": "refused", "message": message or str(error)}, status_code=status
        )

    return answer
