"""Which keys can be imported, what the DNS record of a key must look like, and delegation.

Delegation: the names of a domain's DKIM records are CNAMEs to names of the server, which has the keys' records. For
each algorithm there are two fixed selectors that alternate. The domain's administrator publishes four CNAME records
once; after that keys are rotated without a change of the domain's zone. The targets contain the domain's ID, so that
the CNAMEs of a deleted domain lead to nothing if another tenant adds the name again.
"""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from uuid import UUID

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from mailkeep.core.errors import Conflict, InvalidField, invalid_field
from mailkeep.features.directory.dkim.model import Algorithm, DelegationRecord, DkimKey, DnsStatus, Family

PrivateKey = RSAPrivateKey | Ed25519PrivateKey

SELECTORS: dict[Family, tuple[str, str]] = {"rsa": ("mk-rsa1", "mk-rsa2"), "ed25519": ("mk-ed1", "mk-ed2")}
SETTLING = timedelta(hours=1)
"""How long a record of a fixed selector must be visible before its key signs: the TTL of the record of the previous key
with this selector, which caches may still have.
"""
_IMPORTED: Mapping[int, Algorithm] = {1024: "rsa1024", 2048: "rsa2048", 3072: "rsa3072", 4096: "rsa4096"}
_EXPONENT = 65537
_MAX_PEM = 3700  # characters of a block; an RSA key of 4096 bits has about 3270
_UNEVEN = 64  # bits by which a prime factor may exceed half of the modulus
_BLOCK = re.compile(r"-----BEGIN ([A-Z0-9 ]{1,40})-----")
_LABEL = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")
_MAX_NAME = 253
_TAG = re.compile(r"\s*([A-Za-z][A-Za-z0-9_]*)\s*=\s*(.*?)\s*", re.DOTALL)


def parse_private_key(pem: str) -> tuple[PrivateKey, Algorithm]:
    """A private key to import, in PEM (PKCS#1 or PKCS#8), and its algorithm; INVALID_FIELD. The reason never contains
    a part of the key. Takes some CPU: call it in a thread.
    """
    blocks = _BLOCK.findall(pem)
    if not blocks:
        raise _invalid("must be a private key in PEM, which begins with -----BEGIN PRIVATE KEY-----")
    if len(blocks) > 1:
        raise _invalid(f"must contain one private key only (got {len(blocks)} PEM blocks)")
    if "ENCRYPTED" in blocks[0] or "Proc-Type: 4,ENCRYPTED" in pem:
        raise _invalid("is encrypted with a passphrase; decrypt it first: openssl pkey -in KEY.pem")
    if not blocks[0].endswith("PRIVATE KEY"):
        raise _invalid(f"must be a private key (got {blocks[0].lower()})")
    if len(pem.partition("-----BEGIN")[2].partition("-----END")[0]) > _MAX_PEM:
        raise _invalid("is too large: an RSA key must have 1024, 2048, 3072 or 4096 bits")
    key = _load(pem, check=False)
    if isinstance(key, Ed25519PrivateKey):
        return key, "ed25519"
    if not isinstance(key, RSAPrivateKey):
        raise _invalid("must be an RSA or Ed25519 key: DKIM has no other algorithms (RFC 6376, RFC 8463)")
    if key.key_size not in _IMPORTED:
        raise _invalid(f"must have 1024, 2048, 3072 or 4096 bits if it is an RSA key (got {key.key_size})")
    if (exponent := key.private_numbers().public_numbers.e) != _EXPONENT:
        raise _invalid(f"must have the public exponent {_EXPONENT} (got {str(exponent)[:20]})")
    numbers = key.private_numbers()
    if max(numbers.p.bit_length(), numbers.q.bit_length()) > key.key_size // 2 + _UNEVEN:
        raise _invalid(_DAMAGED)
    _load(pem, check=True)
    return key, _IMPORTED[key.key_size]


_DAMAGED = "is not a valid private key: it is damaged, or of an unknown kind"


def _load(pem: str, *, check: bool) -> object:
    """The key in a PEM block. `check` tests the prime factors of an RSA key, during which no other thread runs: for a
    key of 8192 bits 10 seconds, for one of 4096 half a second.
    """
    try:
        return load_pem_private_key(pem.encode(), None, unsafe_skip_rsa_key_validation=not check)
    except (ValueError, TypeError, UnsupportedAlgorithm, OverflowError):
        raise _invalid(_DAMAGED) from None


def parse_selector(text: str, domain_name: str) -> str:
    """A selector in lower case: labels of letters, digits and inner hyphens, with dots between them (RFC 6376 §3.1).
    INVALID_FIELD if it can't be one, or if the name of its record would be too long.
    """
    selector = text.lower()
    if not all(_LABEL.fullmatch(label) for label in selector.split(".")):
        raise invalid_field("selector", "must consist of letters, digits and inner hyphens, such as mail2026")
    if len(f"{selector}._domainkey.{domain_name}") > _MAX_NAME:
        raise invalid_field("selector", f"is too long: the name of its record would exceed {_MAX_NAME} characters")
    return selector


def warnings(key: DkimKey) -> list[str]:
    """What is wrong with a key that is accepted nevertheless."""
    if key.algorithm != "rsa1024":
        return []
    return ["1024 bits are too few: some receivers ignore such signatures. Rotate to an RSA key of 2048 bits."]


def judge_record(key: DkimKey, texts: Sequence[str]) -> tuple[DnsStatus, str]:
    """Whether the TXT records at a key's name publish it, and what is wrong, in words (empty if nothing is)."""
    if not texts:
        return "missing", "There is no TXT record at this name."
    if len(texts) > 1:
        return "multiple", "There are several TXT records at this name; only one is allowed (RFC 6376 §3.6.2.2)."
    tags = _parse_tags(texts[0])
    if tags is None or tags.get("v", "DKIM1") != "DKIM1":
        return "mismatch", "The TXT record at this name is no DKIM record."
    if not tags.get("p"):
        return "mismatch", "The record has no public key (`p=`), which declares the key as revoked."
    if tags.get("k", "rsa") != key.family or _decode(tags["p"]) != key.public_key:
        return "mismatch", "The record has another public key."
    if "sha256" not in _split(tags.get("h", "sha256")) or not {"*", "email"} & set(_split(tags.get("s", "*"))):
        return "mismatch", "The tags `h=` or `s=` of the record do not allow the signatures of mail."
    return "ok", ""


def list_delegation(domain_id: UUID, domain_name: str, host_name: str) -> list[DelegationRecord]:
    """The CNAME records that a delegated domain publishes."""
    return [
        DelegationRecord(
            family, selector, f"{selector}._domainkey.{domain_name}", _target(selector, domain_id, host_name)
        )
        for family, selectors in SELECTORS.items()
        for selector in selectors
    ]


def delegate(key: DkimKey, host_name: str, used: Collection[str]) -> DkimKey:
    """A new key with the fixed selector of its algorithm that is not in `used`, the selectors of the domain's keys that
    are not retired. CONFLICT `selectors_in_use`, `hostname_missing`.
    """
    require_host_name(host_name)
    free = [selector for selector in SELECTORS[key.family] if selector not in used]
    if not free or key.domain_id is None:
        selectors = " and ".join(SELECTORS[key.family])
        raise Conflict(
            f"The DKIM records of this domain are delegated, and its selectors {selectors} are in use. Wait until the "
            "older key is retired, delete a pending one, or give a selector of your own.",
            reason="selectors_in_use",
        )
    return replace(key, selector=free[0], cname=_target(free[0], key.domain_id, host_name))


def require_host_name(host_name: str) -> None:
    """CONFLICT `hostname_missing` unless the server has a public host name."""
    if not is_public(host_name):
        raise Conflict(
            f"Set server.hostname to the public name of this server first; now it is {host_name}.",
            reason="hostname_missing",
        )


def is_public(host_name: str) -> bool:
    """Whether a host name of the server can have DNS records."""
    return "." in host_name and not host_name.startswith("localhost.")


def _parse_tags(text: str) -> dict[str, str] | None:
    tags: dict[str, str] = {}
    for each in text.rstrip().removesuffix(";").split(";"):
        match = _TAG.fullmatch(each)
        if match is None or match[1] in tags:
            return None
        tags[match[1]] = match[2]
    return tags


def _split(text: str) -> list[str]:
    return [each.strip() for each in text.split(":")]


def _decode(text: str) -> bytes | None:
    try:
        return b64decode(re.sub(r"\s", "", text), validate=True)
    except ValueError:
        return None


def _invalid(reason: str) -> InvalidField:
    return invalid_field("private_key", reason)


def _target(selector: str, domain_id: UUID, host_name: str) -> str:
    return f"{selector}-{domain_id.hex}._domainkey.{host_name}"
