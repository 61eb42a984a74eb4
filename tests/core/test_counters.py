"""What a process has counted."""

from mailkeep.core.counters import Tally


def test_what_was_counted_is_taken_once_and_can_be_given_back():
    tally = Tally()
    tally.add("deliveries", "outbound", "delivered")
    tally.add("deliveries", "outbound", "delivered", times=2)
    tally.add("deliveries", "inbound", "received", times=0)
    taken = tally.take()
    assert taken == [(("deliveries", ("outbound", "delivered")), 3)]
    assert tally.take() == []
    tally.add("webhook_attempts", "delivered")
    tally.include(taken)
    assert tally.take() == [*taken, (("webhook_attempts", ("delivered",)), 1)]
