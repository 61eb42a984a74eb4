"""Limits by source address."""

from __future__ import annotations

from datetime import timedelta

import pytest

from mailkeep.web.limits import AddressLimit
from tests.support.caller import Caller
from tests.support.client import START
from tests.web.pipeline_setup import API, PipelineSetup


async def test_an_address_is_limited_before_anything_else_and_alone():
    setup = PipelineSetup(requests_per_second=2)
    codes = [(await setup.call("GET", "/nowhere")).code for _ in range(5)]
    assert codes == ["NOT_FOUND"] * 4 + ["RATE_LIMIT_EXCEEDED"]
    refused = await setup.call("GET", f"{API}/open")
    assert (refused.status, refused.headers["retry-after"], refused.headers["ratelimit-remaining"]) == (429, "1", "0")
    assert (await Caller(setup.pipeline, "192.0.2.2")("GET", f"{API}/open")).status == 200
    setup.app.now += timedelta(seconds=1)
    assert [(await setup.call("GET", f"{API}/open")).status for _ in range(3)] == [200, 200, 429]


@pytest.mark.parametrize("per_second, passed", [(0, 8), (0.1, 1), (3, 6)])
async def test_a_slow_limit_still_lets_one_pass_and_none_lets_all(per_second: float, passed: int):
    setup = PipelineSetup(requests_per_second=per_second)
    answers = [await setup.call("GET", f"{API}/open") for _ in range(8)]
    assert [answer.status for answer in answers] == [200] * passed + [429] * (8 - passed)
    assert ("ratelimit-limit" in answers[0].headers) == bool(per_second)


async def test_an_ipv6_host_counts_by_its_network():
    setup = PipelineSetup(requests_per_second=0.5)
    first, second = Caller(setup.pipeline, "2001:db8::1"), Caller(setup.pipeline, "2001:db8::ffff")
    assert (await first("GET", f"{API}/open")).status == 200
    assert (await second("GET", f"{API}/open")).status == 429
    assert (await Caller(setup.pipeline, "2001:db8:0:1::1")("GET", f"{API}/open")).status == 200


async def test_logins_have_a_limit_of_their_own():
    setup = PipelineSetup(login_per_second=2)
    assert [(await setup.call("POST", f"{API}/login")).status for _ in range(4)] == [200, 200, 429, 429]
    assert (await setup.call("GET", f"{API}/open")).status == 200


@pytest.mark.parametrize("per_second, burst", [(5, 5), (3, 6), (500, 1000), (0.1, 7)])
def test_a_burst_is_what_it_says_to_the_last_request_also_after_a_year(per_second: float, burst: int):
    limit = AddressLimit(per_second, burst)
    for now in (START, START + timedelta(days=400)):
        assert [limit.take("192.0.2.1", now)[0] for _ in range(burst + 2)] == [True] * burst + [False] * 2


@pytest.mark.parametrize("step", [timedelta(seconds=30), timedelta(days=400)])
def test_a_clock_that_is_set_back_costs_no_more_than_the_burst(step: timedelta):
    limit, now = AddressLimit(2, 4), START - step
    assert limit.take("192.0.2.1", START)[0]
    refused, rate = limit.take("192.0.2.1", now)
    assert not refused
    assert rate
    assert rate.reset == 1
    assert [limit.take("192.0.2.1", now + timedelta(seconds=1))[0] for _ in range(3)] == [True, True, False]
