"""What became of an upgrade, in the audit log, also if `mailkeep upgrade` or the machine is interrupted.

The file `upgrade.json` in the data directory exists from before the trial of the new version until its outcome is in
the audit log. Whoever ends the trial notes the reason in it: `mailkeep upgrade`, or the guard (`upgrade_guard`). What
is not recorded by `mailkeep upgrade` itself is recorded by the next start.
"""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec

from mailkeep import __version__
from mailkeep.app import App
from mailkeep.core.principal import ActorType, Principal, Role
from mailkeep.db.instance import write_atomically
from mailkeep.features.record.audit import service as audit
from mailkeep.features.record.audit.model import AuditAction, AuditTarget
from mailkeep.run.runtime.upgrade_guard import CURRENT, RECORD

_INTERRUPTED = "It was interrupted."
_SYSTEM = Principal(None, "upgrade", Role.SUPER_ADMIN, ActorType.SYSTEM)


class _Upgrade(msgspec.Struct, frozen=True, kw_only=True):
    """The versions, and why the new one was not accepted, if that is known. The guard adds `reason`."""

    old: str
    new: str
    sha256: str
    reason: str | None = None


async def begin(app: App, who: Principal, version: str, sha256: str) -> None:
    """Record that the upgrade of this version begins."""
    await settle(app, is_accepted=True)  # an earlier one whose outcome nobody could record
    _write(app.data_dir, _Upgrade(old=__version__, new=version, sha256=sha256))
    details = {"from": __version__, "to": version, "sha256": sha256}
    async with app.db.tx() as conn:
        action = AuditAction("server.upgrade", AuditTarget("server", None), details=details)
        await audit.record(conn, who, app.clock(), action)


async def settle_at_start(app: App) -> None:
    """Record the outcome of the last upgrade, if this start shows it."""
    own = Path(sys.prefix).resolve()
    await settle(app, is_accepted=(own.parent.parent / CURRENT).resolve() == own)


def note_reason(data_dir: Path, reason: str) -> None:
    """Note why the new version is not accepted, unless a reason is known already."""
    trial = _read(data_dir)
    if trial and trial.reason is None:
        _write(data_dir, msgspec.structs.replace(trial, reason=reason))


async def settle(app: App, *, is_accepted: bool, version: str = __version__, who: Principal = _SYSTEM) -> None:
    """Record the outcome of the last upgrade, if that is missing and this version shows it. `is_accepted`: whether
    this version, which runs, is the one that the installation uses. Until then the new version's trial goes on.
    """
    trial = _read(app.data_dir)
    if trial is None or (version == trial.new and not is_accepted):
        return
    details = {"from": trial.old, "to": trial.new, "sha256": trial.sha256}
    name = "server.upgrade_done"
    if version != trial.new:
        name, details = "server.upgrade_rolled_back", {**details, "reason": trial.reason or _INTERRUPTED}
    async with app.db.tx() as conn:
        await audit.record(conn, who, app.clock(), AuditAction(name, AuditTarget("server", None), details=details))
    (app.data_dir / RECORD).unlink(missing_ok=True)


def _read(data_dir: Path) -> _Upgrade | None:
    try:
        return msgspec.json.decode((data_dir / RECORD).read_bytes(), type=_Upgrade)
    except (FileNotFoundError, msgspec.MsgspecError):
        return None


def _write(data_dir: Path, trial: _Upgrade) -> None:
    write_atomically(data_dir / RECORD, msgspec.json.encode(trial).decode() + "\n", 0o600)
