"""Mail leaves by the MX records of its recipients' domains."""

from __future__ import annotations

from typing import Any

import pytest

from tests.stack.harness import Stack, eventually, free_address


@pytest.fixture
def shop(stack: Stack) -> Stack:
    if not stack.by_mx:
        pytest.skip("no right to mount: the instance can't have a resolv.conf of its own")
    if "shop.test" not in {each["name"] for each in stack.do("GET", "/domains?limit=200")}:
        stack.make_domain("shop.test")
    return stack


def outcome(stack: Stack, recipient: str) -> dict[str, Any]:
    """The final outcome of a message to this recipient."""
    assert stack.send("orders@shop.test", recipient).status == 200

    def look() -> dict[str, Any] | None:
        (row,) = stack.do("GET", f"/messages?direction=outbound&to={recipient}")
        (recipient_status,) = row["recipients"]
        return recipient_status if recipient_status["status"] in ("delivered", "bounced") else None

    return eventually(look, what=f"the outcome of mail to {recipient}")


def test_an_unreachable_mx_is_skipped_for_the_next(shop: Stack) -> None:
    first, second = f"first A {free_address(25)}", f"second A {shop.internet}"
    shop.publish("backup.test", "@ MX 10 first", first, "@ MX 20 second", second)
    recipient_status = outcome(shop, "customer@backup.test")
    assert (recipient_status["status"], recipient_status["remote_host"]) == ("delivered", "second.backup.test")
    assert len(shop.caught("customer@backup.test")) == 1


def test_a_domain_without_mx_is_reached_by_its_address(shop: Stack) -> None:
    shop.publish("plain.test", f"@ A {shop.internet}")
    assert outcome(shop, "customer@plain.test")["status"] == "delivered"


@pytest.mark.parametrize(
    "domain, records, code",
    [("unknown-domain.test", None, "5.4.4"), ("no-mail.test", ("@ MX 0 .",), "5.1.0")],
    ids=["no such domain", "null MX (RFC 7505)"],
)
def test_undeliverable_mail_bounces_immediately(
    shop: Stack, domain: str, records: tuple[str, ...] | None, code: str
) -> None:
    if records:
        shop.publish(domain, *records)
    recipient_status = outcome(shop, f"customer@{domain}")
    assert (recipient_status["status"], recipient_status["enhanced_code"]) == ("bounced", code)
