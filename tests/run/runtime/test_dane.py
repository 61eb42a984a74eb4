"""DANE is only claimed with a resolver that validates."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mailkeep.net.dns_query import DnsQuery
from mailkeep.run.runtime import dane
from mailkeep.settings import Settings
from tests.support.dns_server import DnsServer

BASE = Settings()
WITH_DANE = replace(BASE, outbound=replace(BASE.outbound, dane=True))


@pytest.mark.parametrize("validates", [True, False])
async def test_the_systems_resolver_must_validate(validates: bool) -> None:
    with DnsServer() as first, DnsServer() as second:
        for server in (first, second):
            server.publish(".", "NS", "a.root.test.")
        first.authenticated, second.authenticated = True, validates
        system = DnsQuery([(first.host, first.port), (second.host, second.port)])
        problem = await dane.find_problem(WITH_DANE, system)
        assert (problem is None) == validates
        assert validates or "does not validate" in str(problem)
        second.fail(".", "servfail")
        assert "does not answer" in str(await dane.find_problem(WITH_DANE, system))
        assert await dane.find_problem(BASE, system) is None
        private = replace(WITH_DANE, dns=replace(BASE.dns, resolver="unbound"))
        assert await dane.find_problem(private, system) is None
