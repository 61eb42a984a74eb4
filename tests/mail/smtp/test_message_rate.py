"""The limit of messages per client and minute of the built-in listener."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from mailkeep.mail.smtp.message_rate import MessageRate

NOW = datetime(2026, 11, 26, 12, tzinfo=UTC)


def test_messages_of_a_client_are_limited_for_a_minute():
    rate = MessageRate()
    assert [rate.count("192.0.2.1", 2, NOW) for _ in range(2)] == [None, None]
    refused = rate.count("192.0.2.1", 2, NOW + timedelta(seconds=59))
    assert refused is not None
    assert (refused.code, refused.enhanced) == (450, "4.7.1")
    assert rate.count("192.0.2.2", 2, NOW) is None
    assert rate.count("192.0.2.1", 2, NOW + timedelta(seconds=60)) is None


def test_a_network_of_ipv6_is_one_client():
    rate = MessageRate()
    assert rate.count("2001:db8::1", 1, NOW) is None
    assert rate.count("2001:db8::2", 1, NOW)
    assert rate.count("2001:db8:0:1::1", 1, NOW) is None


def test_without_a_limit_and_on_this_machine_nothing_is_refused():
    rate = MessageRate()
    for client, limit in (("192.0.2.1", 0), ("127.0.0.1", 1), ("::1", 1)):
        assert not any(rate.count(client, limit, NOW) for _ in range(3))
