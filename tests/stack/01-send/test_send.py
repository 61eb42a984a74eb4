"""Mail sent by the API: signed with every key of its domain, or not sent; bounces return."""

import dkim
import pytest

from tests.stack.harness import Stack, eventually
from tests.stack.keys import give_ed25519_key, retire_all_keys


def test_all_signatures_verify_at_the_other_end(stack: Stack):
    domain = stack.make_domain("send.test")
    before = stack.send("shop@send.test", "customer+one@remote.test")
    give_ed25519_key(stack, "send.test")
    after = stack.send("shop@send.test", "customer+two@remote.test")
    assert (before.status, after.status) == (200, 200), (before.body, after.body)
    records = {key["dns"]["name"]: key["dns"]["value"] for key in stack.ask("GET", f"/domains/{domain}/dkim-keys").data}
    assert len(records) == 3

    def record(name: bytes, timeout: float = 5) -> bytes:
        return records[name.decode().rstrip(".")].encode()

    # A new key signs from the next message of a connection on, without a reload.
    for recipient, signatures in (("customer+one@remote.test", 2), ("customer+two@remote.test", 3)):
        mail = eventually(lambda wanted=recipient: stack.caught(wanted))[0]
        assert mail.count(b"\r\nDKIM-Signature:") + mail.startswith(b"DKIM-Signature:") == signatures
        for index in range(signatures):
            assert dkim.DKIM(mail).verify(index, record)
        assert b"X-Rspamd" not in mail
        assert b"X-Spam" not in mail


def test_the_content_of_sent_mail_is_shown(stack: Stack):
    stack.make_domain("shown.test")
    sent = stack.send("shop@shown.test", "customer+shown@remote.test", text_body="As it was written.").data
    assert b"\r\n\r\nAs it was written.\r\n" in stack.content(f"/messages/{sent['id']}/raw")


def test_without_a_key_nothing_leaves(stack: Stack):
    stack.make_domain("keyless.test")
    retire_all_keys(stack, "keyless.test")
    refused = stack.send("shop@keyless.test", "customer@remote.test")
    assert refused.body["error"]["details"]["smtp_code"] == 451
    # A key that the filter could mistake for a file name.
    give_ed25519_key(stack, "keyless.test", with_slash=True)
    assert stack.send("shop@keyless.test", "customer+signed@remote.test").status == 200


@pytest.mark.parametrize("local_part", ["bounce", "content"])
def test_mail_refused_by_the_remote_server_bounces_in_the_history(stack: Stack, local_part: str):
    """By `RCPT` and after `DATA`. The sender gets no bounce message: the envelope sender is a bounce address."""
    domain = stack.make_domain(f"{local_part}s.test")
    stack.make_mailbox(domain, "writer")
    sent = stack.send(f"writer@{local_part}s.test", f"{local_part}@remote.test")
    path = f"/messages/{sent.body['data']['id']}"
    (recipient,) = eventually(
        lambda: [each for each in stack.do("GET", path)["recipients"] if each["status"] == "bounced"]
    )
    assert recipient["smtp_code"] // 100 == 5
    assert not stack.mail_of(f"writer@{local_part}s.test")


def test_a_deferred_message_is_retried(stack: Stack):
    stack.make_domain("later.test")
    assert stack.send("shop@later.test", "defer+later@remote.test").status == 200
    assert eventually(lambda: stack.caught("defer+later@remote.test"))
