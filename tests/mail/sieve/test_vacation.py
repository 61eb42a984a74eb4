"""The script of a vacation reply compiles and has exactly the text, whatever that is."""

from __future__ import annotations

import email
import email.policy
import random
from email.message import EmailMessage

import pytest

from mailkeep.mail.sieve.checker import Envelope, SieveChecker
from mailkeep.mail.sieve.config import default_settings
from mailkeep.mail.sieve.vacation import write_vacation
from tests.directory.sieve.conftest import PIGEONHOLE

MESSAGE = b"From: bob@far.test\nTo: alice@example.test\nSubject: Hello\nMessage-ID: <1@far.test>\n\nHello.\n"
PIECES = (
    '"', "\\", '"; discard;\n"', "${subject}", "${hex:22}", "\n.\n", "\r\n", "text:\n", "--=_", "#", "/*", "é", "☃",
    "\u2028", "A" * 1200, " ", "\t\n", "=20", ".", "From ",
)  # fmt: skip


def read_parts(entity: str) -> dict[str, str]:
    message = email.message_from_string(f"MIME-Version: 1.0\n{entity}", policy=email.policy.default)
    assert isinstance(message, EmailMessage)
    return {part.get_content_subtype(): part.get_content() for part in message.walk() if not part.is_multipart()}


@PIGEONHOLE
@pytest.mark.parametrize("seed", range(12))
async def test_any_text_is_replied_as_it_is(seed: int) -> None:
    chance = random.Random(seed)
    text, html, subject = ("".join(chance.choices(PIECES, k=chance.randint(1, 25))) for _ in range(3))
    subject = " ".join(subject.split())[:200]
    bodies = chance.choice([(text, None), (None, html), (text, html)])
    script = write_vacation(subject or None, *bodies, chance.randint(1, 30))
    messages, found = await SieveChecker().test(
        script.encode(), MESSAGE, Envelope("bob@far.test", "alice@example.test"), default_settings()
    )
    assert messages.errors == messages.warnings == []
    (action,) = [each for each in found.actions if each.kind == "vacation"]
    assert found.implicit_keep
    assert {each.kind for each in found.actions} <= {"vacation", "keep"}
    assert action.text
    for subtype, body in zip(("plain", "html"), bodies, strict=True):
        if body is not None:
            expected = body.replace("\r\n", "\n").replace("\r", "\n")
            received = read_parts(action.text)[subtype].replace("\r\n", "\n")
            assert received in (expected, expected + "\n")


def test_the_handle_changes_with_the_reply_only() -> None:
    first = write_vacation("Away", "Text", "<p>", 7)
    assert first == write_vacation("Away", "Text", "<p>", 7)
    handles = {
        write_vacation(*reply, 7).partition(":handle ")[2][:34]
        for reply in (("Away", "Text", "<p>"), ("Away", "Text", None), (None, "Text", "<p>"), ("Away", "Text 2", "<p>"))
    }
    assert len(handles) == 4
    assert write_vacation("Away", "Text", "<p>", 9).partition(":handle ")[2] == first.partition(":handle ")[2]
