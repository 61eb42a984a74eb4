"""Rooms of lanes, purely."""

from __future__ import annotations

from uuid import uuid4

from mailkeep.jobs.adaptive_concurrency import Pace


def test_a_lane_that_goes_well_gets_more_up_to_the_most():
    pace, lane = Pace(start=4, most=6), uuid4()
    rooms: list[int] = []
    for _ in range(4):
        pace.went(lane, well=True)
        rooms.append(pace.left({})[lane])
    assert rooms == [5, 6, 6, 6]


def test_a_lane_that_does_not_gets_less_down_to_one():
    pace, lane = Pace(start=4, most=64), uuid4()
    rooms: list[int] = []
    for _ in range(5):
        pace.went(lane, well=False)
        rooms.append(pace.left({})[lane])
    assert rooms == [3, 2, 1, 1, 1]


def test_what_is_under_way_takes_its_room():
    pace, known, new = Pace(start=4, most=6), uuid4(), uuid4()
    pace.went(known, well=False)
    assert pace.left({known: 1, new: 3}) == {known: 2, new: 1}
    assert pace.left({known: 5}) == {known: 0}, "never less than nothing"


def test_lanes_are_forgotten_the_least_used_first():
    pace, first = Pace(start=4, most=6), uuid4()
    pace.went(first, well=False)
    for _ in range(10_000):
        pace.went(uuid4(), well=True)
    assert first not in pace.left({})
    assert len(pace.left({})) == 10_000
