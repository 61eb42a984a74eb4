"""TXT records of mail: DKIM keys, DMARC, MTA-STS and TLS-RPT policies. Each `check_…` says what is wrong, or None."""

from __future__ import annotations

import re
from collections.abc import Mapping

_DMARC_URI = re.compile(r"mailto:[^@\s,!]+@[^@\s,!]+(?:![0-9]+[kmgt]?)?", re.IGNORECASE)
_TLS_RPT_URI = re.compile(r"(?:mailto:[^@\s,]+@[^@\s,]+|https://[^\s,]+)", re.IGNORECASE)
_PERCENT = re.compile(r"[0-9]{1,2}|100")
_STS_ID = re.compile(r"[A-Za-z0-9]{1,32}")
POLICIES = ("none", "quarantine", "reject")
"""Of DMARC, the weakest first."""


def parse_tags(text: str) -> dict[str, str] | None:
    """The tags of a record `a=1; b=2` (RFC 6376 §3.2), names in lower case; None if it is malformed."""
    tags: dict[str, str] = {}
    for part in text.split(";"):
        if not part.strip():
            continue
        name, equals, value = part.partition("=")
        name = name.strip().lower()
        if not equals or not name or name in tags:
            return None
        tags[name] = value.strip()
    return tags


def is_dmarc(text: str) -> bool:
    """Whether a TXT record is a DMARC record (RFC 7489 §6.6.3)."""
    return re.match(r"v\s*=\s*DMARC1\s*(?:;|$)", text.strip()) is not None


def is_sts(text: str) -> bool:
    """Whether a TXT record is an MTA-STS record (RFC 8461 §3.1)."""
    return re.match(r"v=STSv1\s*(?:;|$)", text) is not None


def is_tls_rpt(text: str) -> bool:
    """Whether a TXT record is a TLS-RPT record (RFC 8460 §3)."""
    return re.match(r"v=TLSRPTv1\s*(?:;|$)", text) is not None


def check_dmarc(text: str) -> str | None:
    """A DMARC record (RFC 7489 §6.3)."""
    tags = parse_tags(text)
    if tags is None:
        return "the record is not a list of `name=value` separated by semicolons"
    if tags.get("p", "").lower() not in POLICIES:
        return "`p=` must be none, quarantine or reject"
    if "sp" in tags and tags["sp"].lower() not in POLICIES:
        return "`sp=` must be none, quarantine or reject"
    for name in ("adkim", "aspf"):
        if tags.get(name, "r").lower() not in ("r", "s"):
            return f"`{name}=` must be r or s"
    if not _PERCENT.fullmatch(tags.get("pct", "100")):
        return "`pct=` must be a number from 0 to 100"
    for name in ("rua", "ruf"):
        if name in tags and not all(_DMARC_URI.fullmatch(each.strip()) for each in tags[name].split(",")):
            return f"`{name}=` must be a list of mailto: addresses"
    return None


def check_sts(text: str) -> str | None:
    """An MTA-STS record."""
    tags = parse_tags(text)
    if tags is None or not _STS_ID.fullmatch(tags.get("id", "")):
        return "`id=` must be 1 to 32 letters and digits"
    return None


def check_tls_rpt(text: str) -> str | None:
    """A TLS-RPT record."""
    tags = parse_tags(text)
    if tags is None or not all(_TLS_RPT_URI.fullmatch(each.strip()) for each in tags.get("rua", "").split(",")):
        return "`rua=` must be a list of mailto: or https: addresses"
    return None


def list_report_addresses(tags: Mapping[str, str]) -> list[str]:
    """The addresses of `rua=mailto:…`, in lower case."""
    uris = [each.strip().lower() for each in tags.get("rua", "").split(",")]
    return [uri.removeprefix("mailto:").partition("!")[0] for uri in uris if uri.startswith("mailto:")]


def check_dkim(text: str, public_key: str, key_type: str) -> tuple[str | None, str | None]:
    """A DKIM key record (RFC 6376 §3.6.1) against the key that signs: what is wrong, and what to note though
    it works.
    """
    tags = parse_tags(text)
    if tags is None:
        return "the record is not a list of `name=value` separated by semicolons", None
    if tags.get("v", "DKIM1") != "DKIM1":
        return "`v=` must be DKIM1", None
    published = "".join(tags.get("p", "").split())
    if "p" in tags and not published:
        return "the record revokes the key: `p=` is empty", None
    if tags.get("k", "rsa").lower() != key_type:
        return f"`k=` must be {key_type}", None
    if published != public_key:
        cut = published and public_key.startswith(published)
        return ("the key in `p=` is cut off" if cut else "the key in `p=` is another one"), None
    hashes = [each.strip() for each in tags.get("h", "sha256").split(":")]
    services = [each.strip() for each in tags.get("s", "*").split(":")]
    flags = [each.strip() for each in tags.get("t", "").split(":")]
    if "sha256" not in hashes:
        return "`h=` does not allow sha256", None
    if not {"*", "email"} & set(services):
        return "`s=` does not allow email", None
    note = (
        "`t=y` marks the key as being tested: receivers may ignore its signatures. Remove it." if "y" in flags else None
    )
    return None, note
