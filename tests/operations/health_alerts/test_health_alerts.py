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
