"""Checks scripts with `sievec` and tries them with `sieve-test`, both isolated."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import InitVar, dataclass, field

from mailkeep.core.concurrency import ConcurrencyLimit
from mailkeep.core.errors import Unavailable
from mailkeep.core.isolation import IsolationLimits, IsolationResult, IsolationUnavailable, find_program, run_isolated
from mailkeep.core.shared_memory import SharedMemory
from mailkeep.mail.sieve.config import SieveSettings, render
from mailkeep.mail.sieve.output import (
    ScriptActions,
    ScriptMessage,
    ScriptMessages,
    parse_actions,
    parse_messages,
)

LIMITS = IsolationLimits()
INSTALL = "apt install dovecot-sieve"
_AT_ONCE, _QUEUE = 4, 16

LoadMessage = Callable[[], Awaitable[bytes]]


@dataclass(frozen=True, slots=True)
class Envelope:
    """The envelope of a message for a test; None: that of its header fields."""

    sender: str | None = None
    recipient: str | None = None


@dataclass(slots=True)
class SieveChecker:
    """Runs at most four programs at a time, in all processes that share `memory`."""

    memory: InitVar[SharedMemory | None] = None
    limit: ConcurrencyLimit = field(init=False)

    def __post_init__(self, memory: SharedMemory | None) -> None:
        self.limit = ConcurrencyLimit(_AT_ONCE, _QUEUE, memory, "sieve programs")

    async def check(self, script: bytes, settings: SieveSettings) -> ScriptMessages:
        """What is wrong with a script; without errors it is valid.

        RATE_LIMIT_EXCEEDED if too many callers wait; UNAVAILABLE `needs_sievec`, `no_isolation`.
        """
        path = _require_program("sievec")
        async with self.limit.acquire():
            # -d writes a readable form instead of a file; it is not needed.
            result = await _run(path, "-d", settings, [script, "/dev/null"])
        return _messages(result, "sievec")

    async def test(
        self, script: bytes, message: bytes | LoadMessage, envelope: Envelope, settings: SieveSettings
    ) -> tuple[ScriptMessages, ScriptActions]:
        """What a script would do with a message, and what is wrong with the script. Refusals of `check`.

        `message` as a function is called when a program can run, so that waiting calls hold no messages in memory.
        """
        addresses: list[str | bytes] = []
        for option, address in (("-f", envelope.sender), ("-r", envelope.recipient)):
            addresses += [option, address] if address else []
        path = _require_program("sieve-test")
        async with self.limit.acquire():
            content = message if isinstance(message, bytes) else await message()
            result = await _run(path, "-C", settings, [*addresses, script, content])
        output, errors = (each.decode("utf-8", "replace") for each in (result.output, result.errors))
        return _messages(result, "sieve-test"), parse_actions(output, errors)


def _require_program(name: str) -> str:
    path = find_program(name)
    if path is None:
        text = f"Sieve scripts are checked by {name}, which is not installed: {INSTALL}"
        raise Unavailable(text, reason="needs_sievec")
    return path


async def _run(path: str, option: str, settings: SieveSettings, arguments: Sequence[str | bytes]) -> IsolationResult:
    try:
        return await run_isolated(path, ["-c", render(settings), option, *arguments], limits=LIMITS)
    except IsolationUnavailable as error:
        text = f"Sieve scripts can't be checked in isolation on this machine: {error}."
        raise Unavailable(text, reason="no_isolation") from None


def _messages(result: IsolationResult, program: str) -> ScriptMessages:
    if result.status is None:
        text = (
            f"stopped: {program} needed more than {LIMITS.cpu_seconds} s of CPU time, {LIMITS.memory >> 20} MiB of "
            f"memory or {LIMITS.output >> 20} MiB of output"
        )
        return ScriptMessages([ScriptMessage(None, text)])
    found = parse_messages(result.errors.decode("utf-8", "replace"))
    if result.status != 0 and not found.errors:
        last = result.errors.decode("utf-8", "replace").strip().splitlines()[-1:] or [f"status {result.status}"]
        return ScriptMessages([ScriptMessage(None, f"{program} failed: {last[0][:500]}")], found.warnings)
    return found
