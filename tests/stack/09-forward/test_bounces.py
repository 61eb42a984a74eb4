"""Bounces to senders contain no socket names and no rewritten senders (SRS)."""

from __future__ import annotations

from tests.stack.harness import Stack, eventually, letter


def test_bounces_show_no_socket_paths_and_no_rewritten_addresses(stack: Stack) -> None:
    domain = stack.make_domain("clean-bounce.test")
    stack.make_mailbox(domain, "tiny", quota_bytes=2000)
    body = {"domain_id": domain, "source_local_part": "out", "destination": "bounce+clean@remote.test"}
    stack.do("POST", "/aliases", body)
    writer = "writer+clean@remote.test"
    with stack.smtp() as client:
        client.sendmail(writer, ["out@clean-bounce.test"], letter("out@clean-bounce.test", sender=writer))
    assert stack.send("tiny@clean-bounce.test", "tiny@clean-bounce.test", text_body="A line.\r\n" * 900).status == 200
    (bounce,) = eventually(lambda: stack.caught(writer), what="the bounce")
    assert b"bounce+clean@remote.test" in bounce
    assert f"To: {writer}".encode() in bounce
    assert [line for line in bounce.splitlines() if b"SRS" in line] == []

    def refused() -> str:
        lines = (stack.data_dir / "log" / "mail.log").read_text().splitlines()
        return next((line for line in lines if "to=<tiny@clean-bounce.test>" in line and "said: 552" in line), "")

    assert "[/" not in eventually(refused, what="the refusal in the log").partition("status=")[2]
