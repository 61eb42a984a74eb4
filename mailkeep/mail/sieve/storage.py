"""The Sieve scripts of a mailbox, with `doveadm sieve`. Needs root.

doveadm runs isolated, as the mailboxes' account, and sees only the home of this mailbox. It finds the scripts
there and looks no user up: so it works for an inactive mailbox and without Dovecot, and it can never reach another
mailbox that got the same address meanwhile.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from mailkeep.core.errors import Failure
from mailkeep.core.isolation import (
    IsolationAccess,
    IsolationLimits,
    IsolationResult,
    IsolationUnavailable,
    find_program,
    run_isolated,
)
from mailkeep.mail.sieve.config import SieveSettings, render
from mailkeep.mail.sieve.output import ScriptMessages, parse_doveadm

# Compiling takes 0.1 s. The process `node` does nothing else meanwhile.
_LIMITS = IsolationLimits(cpu_seconds=4, seconds=15)
_DATA_ERROR, _NOT_FOUND = 65, 68  # sysexits.h: EX_DATAERR, EX_NOHOST, as doveadm uses them
_HEADER = b"sieve script:\n"


class _Row(msgspec.Struct):
    script: str
    active: str


@dataclass(frozen=True, slots=True)
class ScriptStorage:
    """The scripts in a home. `account`: its owner's user and group ID."""

    home: Path
    account: tuple[int, int]
    settings: SieveSettings = field(default_factory=dict[str, str])

    async def list(self) -> dict[str, bool]:
        """The scripts by name; True for the active one. Failure."""
        rows = msgspec.json.decode((await self._run("-f", "json", "sieve", "list")).output, type=list[_Row])
        return {row.script: row.active == "ACTIVE" for row in rows}

    async def get(self, name: str) -> bytes | None:
        """A script; None if there is none with this name. Failure."""
        result = await self._run("-f", "pager", "sieve", "get", "--", name, expected=(0, _NOT_FOUND))
        if result.status == _NOT_FOUND:
            return None
        if not result.output.startswith(_HEADER):
            raise Failure("unexpected output of doveadm sieve get")
        return result.output.removeprefix(_HEADER)

    async def put(self, name: str, script: bytes) -> ScriptMessages:
        """Write a script, unless there are errors. An active script stays active. Failure."""
        result = await self._run("sieve", "put", "--", name, stdin=script, expected=(0, _DATA_ERROR))
        return _messages(result, name)

    async def activate(self, name: str) -> ScriptMessages | None:
        """Let new mail be filtered by this script, unless there are errors (another program may have written it); None
        if there is none with this name. Failure.
        """
        result = await self._run("sieve", "activate", "--", name, expected=(0, _DATA_ERROR, _NOT_FOUND))
        return None if result.status == _NOT_FOUND else _messages(result, name)

    async def deactivate(self) -> None:
        """Let no script filter new mail. Failure."""
        await self._run("sieve", "deactivate")

    async def delete(self, name: str) -> bool:
        """Delete a script that is not active; False if there is none with this name. Failure."""
        return (await self._run("sieve", "delete", "--", name, expected=(0, _NOT_FOUND))).status == 0

    async def _run(self, *arguments: str, stdin: bytes = b"", expected: tuple[int, ...] = (0,)) -> IsolationResult:
        path = find_program("doveadm")
        if path is None:
            raise Failure("doveadm is not installed")
        access = IsolationAccess(self.account, [self.home], {"HOME": str(self.home), "USER": "mailbox"})
        try:
            result = await run_isolated(
                path, ["-c", render(self.settings), *arguments], stdin, access=access, limits=_LIMITS
            )
        except IsolationUnavailable as error:
            raise Failure(f"doveadm can't be isolated: {error}") from None
        if result.status is None:
            raise Failure(
                "doveadm exceeded its limits of CPU time, memory or output: the script takes too long to compile"
            )
        if result.status not in expected:
            raise Failure(f"doveadm failed: {_last_line(result)}")
        return result


def _messages(result: IsolationResult, name: str) -> ScriptMessages:
    messages = parse_doveadm(result.errors.decode("utf-8", "replace"), name)
    if result.status == _DATA_ERROR and not messages.errors:
        raise Failure(_last_line(result))
    return messages


def _last_line(result: IsolationResult) -> str:
    lines = result.errors.decode("utf-8", "replace").strip().splitlines()
    return lines[-1][:500] if lines else f"status {result.status}"
