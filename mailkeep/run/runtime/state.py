"""The state of a running instance for other commands: `run.json` in its data directory."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

import msgspec

from mailkeep.db.instance import lock_holder, write_atomically

_NAME = "run.json"


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


def list_options(data_dir: Path) -> dict[str, str]:
    """The options for the settings of the instance that is running: its profile, which no other source names."""
    instance = read(data_dir)
    return {"mta.mode": "postfix"} if instance is not None and instance.profile == "full" else {}
