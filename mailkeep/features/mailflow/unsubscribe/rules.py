"""Tokens of links, and the public page."""

from __future__ import annotations

from html import escape
from uuid import UUID

import msgspec

from mailkeep.core.errors import invalid_field
from mailkeep.core.secret import Vault, decode_base64url, encode_base64url
from mailkeep.features.mailflow.unsubscribe.model import UnsubscribeGroup, UnsubscribeLink

_PURPOSE = "unsubscribe link"
_MAX_TOKEN = 800
STYLE_PATH = "/unsubscribe.css"


def new_token(vault: Vault, link: UnsubscribeLink) -> str:
    """The token of a link, in base64url."""
    return encode_base64url(vault.seal(_PURPOSE, msgspec.msgpack.encode(link)))


def read_token(vault: Vault, token: str) -> UnsubscribeLink | None:
    """What a token names; None if it was not made here."""
    sealed = decode_base64url(token) if len(token) <= _MAX_TOKEN else None
    plain = vault.open(_PURPOSE, sealed) if sealed else None
    return msgspec.msgpack.decode(plain, type=UnsubscribeLink) if plain else None


def link_url(vault: Vault, public_url: str, group_id: UUID, message_id: UUID, address: str) -> str:
    """The link for one recipient of a message."""
    return f"{public_url.rstrip('/')}/u/{new_token(vault, UnsubscribeLink(group_id, message_id, address))}"


def clean_name(text: str) -> str:
    """The name of a group, without surrounding space; INVALID_FIELD if nothing remains."""
    name = text.strip()
    if not name:
        raise invalid_field("name", "must have a character other than a space")
    return name


def ask_page(group: UnsubscribeGroup, link: UnsubscribeLink) -> tuple[str, str]:
    """The page with the button. Its form is sent to the same address."""
    text = (
        f"<p>Stop mail from <strong>{escape(group.domain_name)}</strong> about "
        f"<strong>{escape(group.name)}</strong> to {escape(link.address)}?</p>"
        '<form method="post"><input type="hidden" name="List-Unsubscribe" value="One-Click">'
        '<button type="submit">Unsubscribe</button></form>'
    )
    return "Unsubscribe", text


def done_page(group: UnsubscribeGroup, link: UnsubscribeLink) -> tuple[str, str]:
    """The page after the button was pressed."""
    text = (
        f"<p>{escape(link.address)} gets no more mail from <strong>{escape(group.domain_name)}</strong> about "
        f"<strong>{escape(group.name)}</strong>. You can close this page.</p>"
    )
    return "You are unsubscribed", text


def invalid_page() -> tuple[str, str]:
    """The page for a link that was not made here, or whose group does not exist any more."""
    return "This link is not valid", "<p>Open it directly from the message: it may have been shortened.</p>"
