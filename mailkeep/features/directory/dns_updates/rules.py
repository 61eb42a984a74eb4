"""Which records are written, and which are somebody else's."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from mailkeep.features.directory.dkim.model import DkimKey
from mailkeep.features.directory.dns.model import DnsRecord
from mailkeep.features.directory.dns_updates.model import RecordState, UpdateRecord, WantedRecord
from mailkeep.net.dns_query import presentable
from mailkeep.net.dns_update import PublishedRecords, RecordChange

CHECK_INTERVAL = timedelta(hours=1)
_FIRST_PAUSE, _MAX_DOUBLINGS = timedelta(minutes=1), 6
_WRITTEN_TYPES = ("MX", "TXT", "CNAME", "SRV")
_NAMES_IN_VALUES = ("MX", "CNAME", "SRV")


@dataclass(frozen=True, slots=True)
class RecordPlan:
    """What to do with the records of a name and type: a change, or None; and each wanted value with its state then."""

    change: RecordChange | None
    records: tuple[UpdateRecord, ...]


def select_own(
    records: Iterable[DnsRecord], subject: str, types: Collection[str] = _WRITTEN_TYPES
) -> set[WantedRecord]:
    """Those of the required records that Mailkeep writes: in the domain `subject`, of types that it writes."""
    return {
        WantedRecord(record.name.lower(), record.type, _canonical(record.type, record.value))
        for record in records
        if record.value is not None
        and record.type in types
        and (record.name.lower() == subject or record.name.lower().endswith(f".{subject}"))
    }


def select_delegated(keys: Iterable[DkimKey]) -> set[WantedRecord]:
    """The records of delegated keys, at names of the server."""
    return {WantedRecord(key.cname, "TXT", key.dns_value) for key in keys if key.cname is not None}


def plan(
    group: tuple[str, str], wanted: Sequence[str], noted: Collection[str], zone: str, found: PublishedRecords
) -> RecordPlan:
    """What to do with the records of a name and type (`group`), of which `wanted` are the values to publish, `noted`
    those that Mailkeep has written or was about to write, and `found` is what is there.
    """
    name, record_type = group
    own = [value for value in found.values if value in noted]
    foreign = [value for value in found.values if value not in noted]
    missing = [value for value in wanted if value not in found.values]
    stale = [value for value in own if value not in wanted]

    def records(state: RecordState | None = None, problem: str = "") -> tuple[UpdateRecord, ...]:
        return tuple(
            UpdateRecord(name, record_type, value, zone, "present", "")
            if value in foreign
            else UpdateRecord(
                name, record_type, value, zone, state if state and value in missing else "written", problem
            )
            for value in wanted
        )

    obstacle = _find_obstacle(group, missing, foreign, found)
    add = () if obstacle else tuple(missing)
    change = RecordChange(name, record_type, found.rows, add, tuple(stale)) if add or stale else None
    return RecordPlan(change, records("conflict", obstacle) if obstacle else records())


def _find_obstacle(
    group: tuple[str, str], missing: Sequence[str], foreign: Sequence[str], found: PublishedRecords
) -> str:
    """Why nothing may be written here, in words; empty if it may."""
    name, record_type = group
    if not missing:
        return ""
    if found.cname:
        return f"{name} is a CNAME to {found.cname}: publish the record there, or remove the CNAME."
    if record_type != "TXT" or _is_dedicated(name):
        others = list(foreign)
    else:  # a name with TXT records for many purposes: only one of each kind
        kinds = {_kind(value) for value in missing}
        others = [value for value in foreign if _kind(value) in kinds]
    if not others:
        return ""
    value = presentable(others[0][:200])
    return f"Somebody else has published {record_type} {value} at {name}, which is left as it is."


def _is_dedicated(name: str) -> bool:
    """Whether a name is for one record only, such as `_dmarc.example.com` or a DKIM selector."""
    return name.startswith(("_", "*._")) or "._domainkey." in name


def _kind(text: str) -> str:
    """What a TXT record is for: its first word or tag, such as `v=spf1`."""
    return text.replace(";", " ").split(maxsplit=1)[0].lower() if text.strip() else ""


def _canonical(record_type: str, value: str) -> str:
    """A value as `DnsAnswer` has it."""
    return value.lower().removesuffix(".") if record_type in _NAMES_IN_VALUES else value


def pause_after(failures: int) -> timedelta:
    """The pause after this number of failed attempts: a minute, doubled each time, at most an hour."""
    return min(CHECK_INTERVAL, _FIRST_PAUSE * 2 ** min(failures, _MAX_DOUBLINGS))


def in_zones(name: str, zones: Collection[str]) -> str | None:
    """The longest of these zones that a name is in."""
    own = [zone for zone in zones if name == zone or name.endswith(f".{zone}")]
    return max(own, key=len, default=None)
