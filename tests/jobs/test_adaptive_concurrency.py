"""Rooms of lanes, purely."""

from __future__ import annotations

from uuid import uuid4

from mailkeep.jobs.adaptive_concurrency import AdaptiveConcurrency


def test_a_lane_that_goes_well_gets_more_up_to_the_most():
    pace, lane = AdaptiveConcurrency(initial=4, maximum=6), uuid4()
    rooms: list[int] = []
    for _ in range(4):
        pace.record(lane, succeeded=True)
        rooms.append(pace.free_slots({})[lane])
    assert rooms == [5, 6, 6, 6]


def test_a_lane_that_does_not_gets_less_down_to_one():
    pace, lane = AdaptiveConcurrency(initial=4, maximum=64), uuid4()
    rooms: list[int] = []
    for _ in range(5):
        pace.record(lane, succeeded=False)
        rooms.append(pace.free_slots({})[lane])
    assert rooms == [3, 2, 1, 1, 1]


def test_what_is_under_way_takes_its_room():
    pace, known, new = AdaptiveConcurrency(initial=4, maximum=6), uuid4(), uuid4()
    pace.record(known, succeeded=False)
    assert pace.free_slots({known: 1, new: 3}) == {known: 2, new: 1}
    assert pace.free_slots({known: 5}) == {known: 0}, "never less than nothing"


def test_lanes_are_forgotten_the_least_used_first():
    pace, first = AdaptiveConcurrency(initial=4, maximum=6), uuid4()
    pace.record(first, succeeded=False)
    for _ in range(10_000):
        pace.record(uuid4(), succeeded=True)
    assert first not in pace.free_slots({})
    assert len(pace.free_slots({})) == 10_000
