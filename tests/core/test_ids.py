"""UUIDv7: order, the instant in it, and what is no id."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from mailkeep.core.ids import parse_uuid, uuid7, uuid7_floor, uuid7_time

AT = datetime(2026, 3, 1, 12, 0, 0, 123000, tzinfo=UTC)


def test_ids_rise_also_within_a_millisecond_and_when_the_clock_steps_back():
    made = [uuid7(AT) for _ in range(1000)] + [uuid7(AT - timedelta(milliseconds=5))]
    assert made == sorted(made)
    assert len(set(made)) == len(made)
    assert all(each.version == 7 and str(each)[19] in "89ab" for each in made)


def test_an_id_carries_its_instant():
    assert abs(uuid7_time(uuid7(AT)) - AT) < timedelta(seconds=11)  # it counts on where the clock stands
    assert uuid7_time(uuid7_floor(AT)) == AT


def test_the_floor_of_an_instant_is_below_its_ids():
    assert uuid7_floor(AT) <= uuid7(AT)
    assert uuid7_floor(datetime(1969, 12, 31, 19, tzinfo=UTC)) == uuid7_floor(datetime(1970, 1, 1, tzinfo=UTC))


@pytest.mark.parametrize("millis", [0, 253_402_300_799_999, 253_402_300_800_000, (1 << 48) - 1])
def test_any_id_has_an_instant(millis: int):
    assert 1970 <= uuid7_time(UUID(int=millis << 80)).year <= 9999


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{01890000-0000-7000-8000-000000000001}",
        "urn:uuid:01890000-0000-7000-8000-000000000001",
        "01890000000070008000000000000001",
        "01890000-0000-7000-8000-00000000000A",
        "01890000-0000-7000-8000-00000000000１",
        "01890000-0000-7000-8000-000000000001\n",
    ],
)
def test_only_the_canonical_form_is_an_id(text: str):
    assert parse_uuid(text) is None


def test_the_canonical_form_is_read():
    assert parse_uuid("01890000-0000-7000-8000-00000000000a") == UUID("01890000-0000-7000-8000-00000000000a")
