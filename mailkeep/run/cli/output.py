"""The output of commands, for people or, with `--json`, for programs, and their exit codes.

0: done. 1: refused, or a problem. 2: usage error. 75 (EX_TEMPFAIL): temporary failure; try again.
"""

from __future__ import annotations

import re
import sys
from collections.abc import AsyncGenerator, Coroutine, Generator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, TextIO

import typer

from mailkeep.core.errors import Failure, Refusal

if TYPE_CHECKING:
    from mailkeep.app import App

DONE, REFUSED, USAGE, TRY_AGAIN = 0, 1, 2, 75
_INTERRUPTED = 130
_PERMANENT = ("needs_full_profile", "needs_restic", "external_database")  # reasons of a 503 that stays

_FRACTION = re.compile(r"^(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d)\.\d+(?:Z|\+00:00)$")  # of a time in UTC

EXIT_CODES = "Exit codes: 0 done, 1 refused or a problem, 2 usage, 75 temporary failure: try again."

DataDir = Annotated[
    Path | None,
    typer.Option(
        "--data-dir", metavar="DIR", help="The data directory. Default: ./data, or /var/lib/mailkeep without it."
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


@dataclass(frozen=True, slots=True)
class MarkedLine:
    """A line that begins with a coloured mark (a style of rich)."""

    mark: str
    style: str
    text: str


@dataclass(frozen=True, slots=True)
class StyledLine:
    """A line that a terminal shows in a style of rich."""

    text: str
    style: str

    def __str__(self) -> str:
        return self.text


Line = str | MarkedLine | StyledLine


@dataclass(frozen=True, slots=True)
class CommandResult:
    """The result of a command: data for programs, lines for people, and the exit code."""

    data: Mapping[str, Any]
    lines: Sequence[Line]
    code: int = DONE


def examples(*lines: str) -> str:
    """The last paragraph of a command's help: examples, each on its own line (click wraps other paragraphs)."""
    return "\n".join(["\b", "Example:" if len(lines) == 1 else "Examples:", *(f"  {line}" for line in lines)])


def run_command(as_json: bool, command: Coroutine[Any, Any, CommandResult]) -> None:
    """Run a command, print its result, and exit with its code."""
    import asyncio

    _silence_libraries()
    with report_errors(as_json):
        result = asyncio.run(command)
        print_result(result, as_json)
        raise typer.Exit(result.code)


def print_result(result: CommandResult, as_json: bool) -> None:
    """Print a result on standard output."""
    if as_json:
        print(to_json(result.data))
    else:
        print_lines(result.lines, sys.stdout)


def print_lines(lines: Sequence[Line], stream: TextIO) -> None:
    """Print lines, with colours if the stream is a terminal."""
    for line in lines:
        _print(line, stream)


def to_json(data: Mapping[str, Any]) -> str:
    """One line of JSON. Bytes that are not UTF-8 (in an argument or a file name) become question marks."""
    import msgspec

    try:
        return msgspec.json.encode(data).decode()
    except UnicodeEncodeError:
        import json

        text = json.dumps(msgspec.to_builtins(data), ensure_ascii=False, separators=(",", ":"))
        return text.encode(errors="replace").decode()


@contextmanager
def report_errors(as_json: bool) -> Generator[None]:
    """Turn expected errors into a message and an exit code; bugs keep their traceback."""
    try:
        yield
    except Refusal as refusal:
        is_permanent = (refusal.details or {}).get("reason") in _PERMANENT
        code = TRY_AGAIN if refusal.status in (429, 503) and not is_permanent else REFUSED
        _fail(as_json, code, refusal.code, refusal.message, refusal.details)
    except Failure as failure:
        code, name = (REFUSED, "FAILED") if failure.permanent else (TRY_AGAIN, "UNAVAILABLE")
        _fail(as_json, code, name, str(failure))
    except BrokenPipeError:
        raise
    except OSError as error:
        _fail(as_json, REFUSED, "FAILED", f"{error.strerror}: {error.filename}" if error.filename else str(error))
    except ValueError as error:
        from mailkeep.settings import SettingsError

        if not isinstance(error, SettingsError):
            raise
        _fail(as_json, REFUSED, "INVALID_SETTINGS", str(error), {"faults": list(error.faults)})
    except KeyboardInterrupt:
        raise typer.Exit(_INTERRUPTED) from None


@asynccontextmanager
async def open_app(data_dir: Path | None, *, create: bool = False) -> AsyncGenerator[App]:
    """The App for a command, in the instance's profile; without `create` the data directory must exist.

    The Failure is temporary if another command has locked the data directory since this one started.
    """
    import os

    from mailkeep.db.instance import lock_holder
    from mailkeep.run.runtime import context, state

    path = context.resolve_data_dir(data_dir)
    if not create:
        require_data_dir(path)
    was_unlocked, is_open = not path.is_dir() or lock_holder(path) is None, False
    try:
        async with context.open_app(path, state.list_options(path)) as app:
            is_open = True
            yield app
    except Failure as failure:
        if was_unlocked and not is_open and lock_holder(path) not in (None, os.getpid()):
            raise Failure(str(failure)) from failure  # not permanent
        raise


def require_data_dir(path: Path) -> None:
    """Fail if there is no data directory: a typo must not create a new instance."""
    if not path.is_dir():
        raise Failure(
            f"There is no data directory {path}: `mailkeep up` creates it, or name another with --data-dir.",
            permanent=True,
        )


def table(titles: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
    """Rows under titles, in columns two spaces apart."""
    return columns([titles, *rows])


def columns(rows: Sequence[Sequence[object]]) -> list[str]:
    """Rows of the same length, in columns two spaces apart; times to the second."""
    texts = [[_FRACTION.sub(r"\1Z", str(cell)) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in texts]


def _fail(as_json: bool, exit_code: int, code: str, message: str, details: Mapping[str, Any] | None = None) -> NoReturn:
    if as_json:
        error = {"code": code, "message": message} | ({"details": dict(details)} if details else {})
        print(to_json({"error": error}))
    first, *more = message.splitlines() or [code]
    _print(MarkedLine("error:", "bold red", first), sys.stderr)
    for line in more:
        _print(f"       {line}", sys.stderr)
    raise typer.Exit(exit_code)


def _print(line: Line, stream: TextIO) -> None:
    _replace_unencodable(stream)
    if isinstance(line, MarkedLine | StyledLine) and stream.isatty():
        from rich.console import Console
        from rich.text import Text

        # rich omits colours if NO_COLOR is set or the terminal has none.
        marked = isinstance(line, MarkedLine)
        text = Text.assemble((line.mark, line.style), " ", line.text) if marked else Text(line.text, line.style)
        Console(file=stream, highlight=False).print(text, soft_wrap=True)
    else:
        plain = f"{line.mark} {line.text}" if isinstance(line, MarkedLine) else str(line)
        print(plain, file=stream, flush=True)


def _replace_unencodable(stream: object) -> None:
    """Print question marks for what the terminal can't show."""
    if isinstance(stream, TextIOWrapper) and stream.errors == "strict":
        stream.reconfigure(errors="replace")


def _silence_libraries() -> None:
    """Silence the log of libraries: the command reports the error itself."""
    import logging

    logging.getLogger().addHandler(logging.NullHandler())


@asynccontextmanager
async def open_instance(data_dir: Path | None, *, needs_full: bool = False) -> AsyncGenerator[App]:
    """The App of a running instance, with the state of its services. Failure if no instance is running; permanent if
    the command needs the full profile, and it has the embedded one.
    """
    from functools import partial

    from mailkeep.db.instance import run_folder
    from mailkeep.run.runtime import service_status, state
    from mailkeep.run.runtime.context import resolve_data_dir

    path = resolve_data_dir(data_dir)
    require_data_dir(path)
    instance = state.read(path)
    if instance is None:
        raise Failure(f"Mailkeep is not running on {path}: start it with `mailkeep up`.")
    if needs_full and instance.profile != "full":
        raise Failure(f"Mailkeep on {path} has the embedded profile, which has no daemons.", permanent=True)
    async with open_app(path) as app:
        app.running_services = partial(service_status.read_running, run_folder(path))
        yield app
