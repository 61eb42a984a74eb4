"""One-click unsubscription as a mail program does it (RFC 8058)."""

from __future__ import annotations

import re
from email import message_from_bytes, policy


def one_click_link(raw: bytes) -> str:
    """The link of a message that a mail program may POST to: all its signatures cover both fields (RFC 8058 §4)."""
    mail = message_from_bytes(raw, policy=policy.default)
    assert mail["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    signatures = mail.get_all("DKIM-Signature") or []
    assert signatures
    for signature in signatures:
        signed = re.sub(r"\s", "", signature).partition("h=")[2].partition(";")[0].lower().split(":")
        assert {"list-unsubscribe", "list-unsubscribe-post"} <= set(signed)
    link = re.fullmatch(r"<(https://[^<>\s]+)>", re.sub(r"\s", "", mail["List-Unsubscribe"]))
    assert link
    return link[1]
