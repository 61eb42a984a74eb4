"""The health as alerts."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from mailkeep.features.operations.health import service as health
from mailkeep.features.operations.health.model import Component, State
from mailkeep.features.operations.health_alerts import service
from tests.support.client import START, Api


@pytest.mark.parametrize(
    "states, alerts",
    [
        ({0: "down", 1: "down"}, []),  # a restart
        ({0: "down", 1: "down", 2: "down"}, [("health_clock", "critical", "open")]),
        ({0: "degraded", 4: "degraded"}, []),
        ({0: "degraded", 5: "degraded", 6: "down"}, [("health_clock", "warning", "open")]),
        ({0: "degraded", 5: "degraded", 6: "down", 8: "down"}, [("health_clock", "critical", "open")]),
        ({0: "down", 2: "down", 3: "disabled", 63: "disabled"}, [("health_clock", "critical", "resolved")]),
    ],
)
async def test_a_component_that_stays_out_of_order_has_an_alert(
    api: Api, monkeypatch: pytest.MonkeyPatch, states: dict[int, State], alerts: Sequence[tuple[str, str, str]]
):
    began, last = START, None
    for minute, state in states.items():
        api.clock.now = START
        api.clock.advance(minutes=minute)
        began = began if state == last else api.clock()
        last = state
        found = [Component("clock", state, "Set the clock.", since=began), Component("disk", "ok", since=START)]

        async def details(_app: object, found: list[Component] = found) -> list[Component]:
            return found

        monkeypatch.setattr(health, "details", details)
        await service.report(api.app)
    rows = await api.sql("SELECT kind, severity, state FROM alerts")
    assert [tuple(row.values()) for row in rows] == alerts


async def test_what_other_features_report_has_one_event(api: Api, monkeypatch: pytest.MonkeyPatch):
    async def details(_app: object) -> list[Component]:
        return [Component(name, "down", "See the log.", since=START) for name in ("antivirus", "mta")]

    monkeypatch.setattr(health, "details", details)
    api.clock.advance(minutes=10)
    await service.report(api.app)
    assert {row["kind"] for row in await api.sql("SELECT kind FROM alerts")} == {"health_antivirus", "health_mta"}
    rows = await api.sql("SELECT data FROM events WHERE kind = 'system.alert'")
    assert [row["data"]["alert"] for row in rows] == ["health_mta"]


async def test_the_real_components_are_reported(api: Api):
    """Of the embedded profile, on this machine: nothing is down."""
    await service.report(api.app)
    assert await api.sql("SELECT FROM alerts WHERE severity = 'critical'") == []
