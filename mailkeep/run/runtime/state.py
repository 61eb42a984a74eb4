"""What other commands know of an instance: `run.json` in its data directory while it runs, and always its profile."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

import msgspec

from mailkeep.db.instance import lock_holder, write_atomically

_NAME = "run.json"
_PROFILE = "profile"


@dataclass(frozen=True, slots=True)
class InstanceState:
    """A running instance: its process, version, start (ISO 8601), addresses (URLs; SMTP as host:port) and profile."""

    pid: int
    version: str
    started_at: str
    http: str
    internal: str
    smtp: str
    profile: str = "embedded"


def write(data_dir: Path, state: InstanceState) -> None:
    """Write the state."""
    write_atomically(data_dir / _NAME, msgspec.json.encode(asdict(state)).decode() + "\n", 0o600)


def remove(data_dir: Path) -> None:
    """Remove the state."""
    (data_dir / _NAME).unlink(missing_ok=True)


def read(data_dir: Path) -> InstanceState | None:
    """The instance that is running on this data directory; None without one, or while it is starting."""
    pid = lock_holder(data_dir)
    try:
        state = msgspec.json.decode((data_dir / _NAME).read_bytes(), type=InstanceState)
    except (FileNotFoundError, msgspec.MsgspecError):
        return None
    return state if pid == state.pid else None


def keep_profile(data_dir: Path, *, is_full: bool) -> None:
    """At a start: keep the profile for commands, also for those while the instance starts or does not run."""
    write_atomically(data_dir / _PROFILE, "full\n" if is_full else "embedded\n", 0o600)


def list_options(data_dir: Path) -> dict[str, str]:
    """The options for the settings of the instance: the profile of its last start, which no other source names."""
    try:
        is_full = (data_dir / _PROFILE).read_text("ascii").strip() == "full"
    except FileNotFoundError:
        is_full = False
    return {"mta.mode": "postfix"} if is_full else {}
