"""Counters of a process."""

from mailkeep.core.counters import Counters


def test_counts_are_drained_once_and_can_be_included_again():
    counters = Counters()
    counters.add("deliveries", "outbound", "delivered")
    counters.add("deliveries", "outbound", "delivered", times=2)
    counters.add("deliveries", "inbound", "received", times=0)
    drained = counters.drain()
    assert drained == [(("deliveries", ("outbound", "delivered")), 3)]
    assert counters.drain() == []
    counters.add("webhook_attempts", "delivered")
    counters.include(drained)
    assert counters.drain() == [*drained, (("webhook_attempts", ("delivered",)), 1)]
