"""SPF: the test suite of RFC 7208, random policies against pyspf, and limits.

`rfc7208-tests.yml` is the suite of openspf.org as in pyspf 2.0.14, with its licence beside it.
"""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import spf as pyspf
import yaml
from hypothesis import HealthCheck, assume, given, settings, strategies as st

from mailkeep.net.spf import SpfClient, SpfResult, SpfTemporaryError, evaluate

Zone = dict[str, list[Any]]
SUITE = Path(__file__).with_name("rfc7208-tests.yml")
DIFFERENT = {"p-macro-multiple"}
"""`%{p}` is always `unknown`, which RFC 7208 section 7.3 allows; this case wants a name from reverse DNS."""


class Dns:
    """Answers from the suite's form of zones, and counts the questions."""

    def __init__(self, zone: Zone) -> None:
        self.zone = {name.lower().rstrip("."): rows for name, rows in zone.items()}
        self.count = 0

    async def ask(self, name: str, record_type: str) -> Sequence[str]:
        self.count += 1
        return self.find(name, record_type)

    def find(self, name: str, record_type: str, depth: int = 0) -> list[str]:
        rows = self.zone.get(name.lower().rstrip("."), [])
        types = {key for row in rows if isinstance(row, dict) for key in row}
        found: list[str] = []
        for row in rows:
            if not isinstance(row, dict):
                continue
            ((key, value),) = row.items()
            # The suite's records of the type SPF stand for TXT records, unless there are some.
            key = "TXT" if key == "SPF" and "TXT" not in types else key
            if key == "CNAME" and depth < 10:
                return self.find(value, record_type, depth + 1)
            if key == record_type and value != "NONE":
                found.append(_to_text(key, value))
        if "TIMEOUT" in rows and not found:
            raise SpfTemporaryError("no answer in time")
        return found


def _to_text(record_type: str, value: Any) -> str:
    if record_type == "MX":
        return f"{value[0]} {value[1]}"
    return "".join(value) if isinstance(value, list) else str(value)


def load_cases() -> list[Any]:
    scenarios = yaml.safe_load_all(SUITE.read_text("utf-8"))
    return [
        pytest.param(scenario["zonedata"], case, id=name)
        for scenario in scenarios
        if scenario
        for name, case in scenario["tests"].items()
    ]


def run(zone: Zone, address: str, sender: str, helo: str) -> SpfResult:
    domain = sender.rpartition("@")[2] if sender else helo
    if "@" not in sender or sender.startswith("@"):
        sender = f"postmaster@{domain}"
    return asyncio.run(evaluate(SpfClient(ipaddress.ip_address(address), sender, helo), domain, Dns(zone).ask))


def test_the_suite_is_whole():
    assert len(load_cases()) == 203


@pytest.mark.parametrize("zone, case", load_cases())
def test_suite_of_rfc_7208(zone: Zone, case: dict[str, Any], request: pytest.FixtureRequest):
    expected = case["result"] if isinstance(case["result"], list) else [case["result"]]
    result = run(zone, str(case["host"]), case.get("mailfrom") or "", str(case["helo"]))
    is_different = request.node.callspec.id in DIFFERENT
    assert (result.outcome in expected) is not is_different, (result, case.get("comment"))


# Random policies: pyspf is the oracle.

NAMES = ["a.test", "b.test", "c.test", "d.test"]
ADDRESSES = ["192.0.2.1", "192.0.2.2", "198.51.100.7", "2001:db8::1", "2001:db8:0:1::7"]
names = st.sampled_from([*NAMES, "none.test"])
targets = st.one_of(names, st.sampled_from(["%{d}", "%{ir}.c.test", "%{l}.%{d2}", "x.%{d}"]))
bits = st.sampled_from(["", "/0", "/24", "/31", "/32", "//64", "/24//64", "//0"])
mechanisms = st.one_of(
    st.just("all"),
    st.builds(lambda name, target: f"{name}:{target}", st.sampled_from(["include", "exists"]), targets),
    st.builds(lambda name, target, size: f"{name}:{target}{size}", st.sampled_from(["a", "mx"]), targets, bits),
    st.builds(lambda name, size: f"{name}{size}", st.sampled_from(["a", "mx"]), bits),
    st.builds(lambda address: f"ip{6 if ':' in address else 4}:{address}", st.sampled_from(ADDRESSES)),
    st.sampled_from(["ip4:192.0.2.0/24", "ip4:192.0.2.0/30", "ip6:2001:db8::/32", "ip4:198.51.100.7"]),
    st.sampled_from(["ptr", "ptr:a.test", "exp=b.test", "unknown=%{d}"]),
    st.integers(0, 9).flatmap(
        lambda number: st.sampled_from(
            ["bogus", "a:", "include:", "all:x", "x=%{q}", "A:%{q}"] if not number else ["mx"]
        )
    ),
)
terms = st.one_of(
    st.builds(lambda sign, mechanism: sign + mechanism, st.sampled_from(["", "+", "-", "~", "?"]), mechanisms),
    st.builds(lambda target: f"redirect={target}", targets),
)
policies = st.lists(terms, max_size=6).map(lambda each: " ".join(["v=spf1", *each]))
addresses4 = st.sampled_from([address for address in ADDRESSES if ":" not in address])
addresses6 = st.sampled_from([address for address in ADDRESSES if ":" in address])
hosts = st.fixed_dictionaries(
    {"TXT": st.one_of(policies.map(lambda each: [each]), st.lists(policies, max_size=2)),
     "A": st.lists(addresses4, max_size=2),
     "AAAA": st.lists(addresses6, max_size=2), "MX": st.lists(names, max_size=3)}
)  # fmt: skip


def to_zone(drawn: dict[str, dict[str, list[str]]]) -> Zone:
    zone: Zone = {}
    for name, records in drawn.items():
        zone[name] = [{kind: each} for kind in ("TXT", "A", "AAAA") for each in records[kind]]
        zone[name] += [{"MX": [10 * number, each]} for number, each in enumerate(records["MX"])]
    return zone


def names_itself(name: str, policy: str) -> bool:
    """Whether a record names its own domain: pyspf finds that invalid even after a term that matches."""
    terms = [each.lstrip("+-~?") for each in policy.split()]
    return any(f"{kind}{target}" in terms for kind in ("include:", "redirect=") for target in (name, "%{d}"))


def ask_pyspf(monkeypatch: pytest.MonkeyPatch, zone: Zone, address: str, sender: str) -> str:
    dns = Dns(zone)

    def look_up(name: str, record_type: str, *_more: Any, **_options: Any) -> list[Any]:
        found = dns.find(name, record_type)
        if record_type == "MX":
            return [((name, "MX"), (int(each.split()[0]), each.split()[1])) for each in found]
        if record_type == "TXT":
            return [((name, "TXT"), (each.encode(),)) for each in found]
        if record_type == "AAAA":  # pyspf expects the packed form
            return [((name, "AAAA"), ipaddress.ip_address(each).packed) for each in found]
        return [((name, record_type), each) for each in found]

    monkeypatch.setattr(pyspf, "DNSLookup", look_up)
    query = pyspf.query(i=address, s=sender, h="helo.test", strict=True)
    return query.check()[0]


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    drawn=st.fixed_dictionaries(dict.fromkeys(NAMES, hosts)),
    address=st.sampled_from(ADDRESSES),
    sender=st.sampled_from(["someone@a.test", "o.ne@b.test"]),
)
def test_random_policies_have_the_result_of_pyspf(
    monkeypatch: pytest.MonkeyPatch, drawn: dict[str, dict[str, list[str]]], address: str, sender: str
):
    zone = to_zone(drawn)
    assume(not any(names_itself(name, each["TXT"]) for name, rows in zone.items() for each in rows if "TXT" in each))
    expected = ask_pyspf(monkeypatch, zone, address, sender)
    assert run(zone, address, sender, "helo.test").outcome == expected


# Limits and words


def includes(width: int, depth: int) -> Zone:
    """Each record includes `width` others, `depth` levels deep."""
    zone: Zone = {}
    level = ["root.test"]
    for _ in range(depth):
        below: list[str] = []
        for name in level:
            children = [f"{number}.{name}" for number in range(width)]
            zone[name] = [{"TXT": " ".join(["v=spf1", *(f"include:{each}" for each in children), "-all"])}]
            below += children
        level = below
    return zone | {name: [{"TXT": "v=spf1 -all"}] for name in level}


def test_look_ups_are_bounded():
    dns = Dns(includes(3, 6))
    client = SpfClient(ipaddress.ip_address("192.0.2.1"), "a@root.test", "root.test")
    result = asyncio.run(evaluate(client, "root.test", dns.ask))
    assert (result.outcome, result.lookups) == ("permerror", 11)
    assert dns.count <= 11
    many = [{"MX": [number, f"mx{number}.test"]} for number in range(10)]
    dns = Dns({"root.test": [{"TXT": "v=spf1 " + "mx " * 12 + "-all"}, *many]})
    result = asyncio.run(evaluate(client, "root.test", dns.ask))
    assert result.outcome == "permerror"
    assert dns.count <= 1 + 10 * 11


@pytest.mark.parametrize(
    "text, reason",
    [
        ("v=spf1 ip4:300.1.1.1 -all", "`ip4:300.1.1.1` has no valid IPv4 address or network"),
        ("v=spf1 a:" + "a." * 250 + "!", "the record has more than 10000 characters, or a term more than 500"),
        ("v=spf1 all.example", "`all.example` is not a known term"),
        ("v=spf1 include:loop.test -all", "the record of loop.test includes itself"),
        ("v=spf1 include:none.test -all", "`include:none.test` names a domain without an SPF record"),
        ("v=spf1 redirect=none.test", "`redirect=none.test` leads to a domain without an SPF record"),
        ("v=spf1 a:n1.test a:n2.test a:n3.test", "more than 2 names in the record do not exist"),
        ("v=spf1 ip4:192.0.2.0/24 -all", "`ip4:192.0.2.0/24` in the record of loop.test matches"),
        ("v=spf1 ip6:2001:db8::/32", "no term in the record of loop.test matches"),
    ],
)
def test_reasons_in_words(text: str, reason: str):
    result = run({"loop.test": [{"TXT": text}]}, "192.0.2.1", "a@loop.test", "loop.test")
    assert result.reason.removeprefix("the record of loop.test is not valid: ") == reason
