"""The concurrency limit of a key after successes and failures."""

from __future__ import annotations

from uuid import uuid4

from mailkeep.jobs.adaptive_concurrency import AdaptiveConcurrency


def test_success_raises_the_limit_up_to_the_maximum():
    concurrency, key = AdaptiveConcurrency(initial=4, maximum=6), uuid4()
    limits: list[int] = []
    for _ in range(4):
        concurrency.record(key, succeeded=True)
        limits.append(concurrency.free_slots({})[key])
    assert limits == [5, 6, 6, 6]


def test_failure_lowers_the_limit_down_to_one():
    concurrency, key = AdaptiveConcurrency(initial=4, maximum=64), uuid4()
    limits: list[int] = []
    for _ in range(5):
        concurrency.record(key, succeeded=False)
        limits.append(concurrency.free_slots({})[key])
    assert limits == [3, 2, 1, 1, 1]


def test_running_jobs_take_slots():
    concurrency, known, new = AdaptiveConcurrency(initial=4, maximum=6), uuid4(), uuid4()
    concurrency.record(known, succeeded=False)
    assert concurrency.free_slots({known: 1, new: 3}) == {known: 2, new: 1}
    assert concurrency.free_slots({known: 5}) == {known: 0}, "never negative"


def test_the_least_recently_used_keys_are_forgotten():
    concurrency, first = AdaptiveConcurrency(initial=4, maximum=6), uuid4()
    concurrency.record(first, succeeded=False)
    for _ in range(10_000):
        concurrency.record(uuid4(), succeeded=True)
    assert first not in concurrency.free_slots({})
    assert len(concurrency.free_slots({})) == 10_000
