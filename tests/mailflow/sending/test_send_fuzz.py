"""No message says more than you wrote: hostile text in every string field of /send, read back as it left.

The composer's own fuzz (`tests.mail.message.test_compose_fuzz`) asks what is composed of fields; here they come as
JSON, and what arrives at the MTA, envelope and content, is held against them by the same oracle.
"""

from __future__ import annotations

import asyncio
import base64
import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from email import message_from_string, policy
from email.message import EmailMessage
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings

from mailkeep.mail.message.compose import OutgoingMessage
from mailkeep.mail.smtp.client import AcceptedSubmission, OutgoingEnvelope
from mailkeep.mail.smtp.reply import SmtpReply
from mailkeep.settings import Settings
from mailkeep.settings.tree import AbuseSettings
from tests.mail.message import test_compose_fuzz as oracle
from tests.plugins.api import NO_RATE_LIMITS
from tests.support.caller import Answer
from tests.support.client import EXAMPLE, Api

MESSAGES = 400


@dataclass
class Catcher:
    """A way out that keeps what it is given."""

    size: int = 1
    caught: list[tuple[OutgoingEnvelope, bytes]] = field(default_factory=list[tuple[OutgoingEnvelope, bytes]])

    async def submit(
        self, submission: OutgoingEnvelope, body: Iterable[bytes], *, stuffed: bool = False
    ) -> AcceptedSubmission:
        assert stuffed
        self.caught.append((submission, b"".join(body)))
        return AcceptedSubmission(SmtpReply(250, "2.0.0", "Ok"), None)


@dataclass(frozen=True)
class Wire:
    """Of a caught message what the oracle asks of a composed one."""

    size: int
    is_8bit: bool
    stuffed: bytes

    def data_chunks(self) -> list[bytes]:
        return [self.stuffed]


@pytest.fixture
def api_settings() -> Settings:
    return replace(NO_RATE_LIMITS, abuse=AbuseSettings(sender_per_hour=1_000_000, domain_per_hour=1_000_000))


def written(fields: dict[str, Any]) -> dict[str, Any]:
    """The fields as the API reads them: what it asks for is there, the sender in our domain, empty bodies are none."""
    address, name = fields["sender"]
    text, html = fields["text_body"] or None, fields["html_body"] or None
    return fields | {
        "sender": (f"{address.partition('@')[0]}@{EXAMPLE}", name),
        "subject": fields["subject"] or "None",
        "text_body": text if text or html else "Nothing.",
        "html_body": html,
    }


def as_json(fields: dict[str, Any]) -> bytes:
    def box(pair: tuple[str, str]) -> dict[str, str]:
        return {"email": pair[0], "name": pair[1]}

    leave = fields["list_unsubscribe"]
    body = {
        "from": box(fields["sender"]),
        "to": [box(pair) for pair in fields["to"]],
        "cc": [box(pair) for pair in fields["cc"]],
        "bcc": [box((f"bcc-{number}@hidden.test", name)) for number, name in fields["bcc"]],
        "reply_to": fields["reply_to"] and box(fields["reply_to"]),
        "subject": fields["subject"],
        "text_body": fields["text_body"],
        "html_body": fields["html_body"],
        "attachments": [
            {
                "filename": name,
                "content_type": kind,
                "content": base64.b64encode(data).decode(),
                "content_id": content_id,
                "disposition": "inline" if inline else "attachment",
            }
            for name, kind, data, content_id, inline in fields["attachments"]
        ],
        "headers": fields["headers"],
        "in_reply_to": fields["in_reply_to"],
        "references": fields["references"],
        "list_unsubscribe": leave and {"url": leave.url, "mailto": leave.mailto, "one_click": leave.one_click},
    }
    return json.dumps(body).encode()


def check(
    fields: dict[str, Any], answer: Answer, caught: list[tuple[OutgoingEnvelope, bytes]], counts: Counter[str]
) -> None:
    """A refusal sends nothing; what was taken says, to whom and what, exactly what was asked."""
    if answer.status != 200:
        assert answer.status in (400, 413), answer.body
        assert caught == []
        counts[str(answer.code)] += 1
        return
    counts["sent"] += 1
    ((submission, stuffed),) = caught
    mail = oracle.outgoing(fields)
    check_envelope(mail, submission)
    wire = stuffed.replace(b"\r\n..", b"\r\n.")
    assert submission.size is not None
    oracle.check_octets(mail, Wire(submission.size, submission.eight_bit, stuffed), wire)  # type: ignore[arg-type]
    message = message_from_string(wire.decode(), policy=policy.default)
    assert isinstance(message, EmailMessage)
    oracle.check_header(mail, wire, message)
    oracle.check_parts(mail, message)


def check_envelope(mail: OutgoingMessage, submission: OutgoingEnvelope) -> None:
    asked = {box.address.key: box.address.text for box in reversed([*mail.to, *mail.cc, *mail.bcc])}
    sender = mail.sender.address
    is_bounce_address = submission.mail_from.startswith("b+") and submission.mail_from.endswith(f"@{sender.domain}")
    assert is_bounce_address or submission.mail_from == sender.text
    assert sorted(submission.rcpt_to) == sorted(asked.values())
    addresses = [mail.sender.address.text, *asked.values(), *([mail.reply_to.address.text] if mail.reply_to else [])]
    assert submission.smtputf8 is not all(map(str.isascii, addresses))


@pytest.mark.timeout(400)
# The event loop runs beside the drawing, and its connection pool rolls dice.
@pytest.mark.filterwarnings("ignore:Do not use the `random` module")
async def test_no_message_says_more_than_you_wrote(api: Api):
    way_out, loop, counts = Catcher(), asyncio.get_running_loop(), Counter[str]()
    api.app.mta = way_out  # type: ignore[assignment]

    async def send(body: bytes) -> Answer:
        way_out.caught.clear()
        return await api.sue.post("/send", body)

    @seed(oracle.SEED)
    @settings(
        max_examples=MESSAGES,
        database=None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    @given(oracle.messages())
    def one_round(drawn: dict[str, Any]) -> None:
        fields = written(drawn)
        answer = asyncio.run_coroutine_threadsafe(send(as_json(fields)), loop).result(60)
        check(fields, answer, way_out.caught, counts)

    await asyncio.to_thread(one_round)
    print(f"seed {oracle.SEED}: {dict(counts)}")
    assert counts["sent"] > MESSAGES / 5
