"""Writes the Sieve script of a vacation reply (RFC 5230).

The text is a MIME entity in 7 bit (`:mime`, RFC 5230 §4.4), so that the script is ASCII except for the subject, and the
DKIM signature survives servers without 8BITMIME. Senders who had a reply get another one after `:days`, or if the
reply changes: its hash is the `:handle`.
"""

from __future__ import annotations

import hashlib

from mailkeep.mail.message.base64_content import Base64
from mailkeep.mail.message.text_body import MimeEntity, text_entity


def write_vacation(subject: str | None, text: str | None, html: str | None, days: int) -> str:
    """The script that replies with this subject (None: `Auto:` and that of the message) and at least one of the bodies.

    INVALID_FIELD for `text` or `html` if it has a lone surrogate.
    """
    entity = _compose(text, html)
    handle = hashlib.sha256(f"{subject}\0{entity}".encode()).hexdigest()[:32]
    with_subject = "" if subject is None else f" :subject {_quote(subject)}"
    return f'require "vacation";\r\nvacation :days {days} :handle "{handle}"{with_subject} :mime {_quote(entity)};\r\n'


def _compose(text: str | None, html: str | None) -> str:
    if text is None or html is None:
        field, subtype, body = ("text", "plain", text) if html is None else ("html", "html", html)
        return _serialize(text_entity(field, subtype, body or "", exact=False))
    # The same text must give the same script. Nothing else than a search for a hash finds a text with its own boundary.
    boundary = f"=_{hashlib.sha256(f'{len(text)} {text}{html}'.encode(errors='replace')).hexdigest()[:32]}"
    parts = [text_entity("text", "plain", text, exact=True), text_entity("html", "html", html, exact=True)]
    return (
        f'Content-Type: multipart/alternative; boundary="{boundary}"\r\n\r\n'
        + "".join(f"--{boundary}\r\n{_serialize(part)}" for part in parts)
        + f"--{boundary}--\r\n"
    )


def _serialize(entity: MimeEntity) -> str:
    body = b"".join(chunk for part in entity.body for chunk in (part.chunks() if isinstance(part, Base64) else (part,)))
    return f"{entity.head}\r\n{body.decode('ascii')}"


def _quote(text: str) -> str:
    """A quoted string (RFC 5228 §2.4.2). Without `variables` and `encoded-character`, nothing in it is expanded."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
