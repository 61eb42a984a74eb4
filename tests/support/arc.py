"""What dkimpy does not verify of ARC: seals with `cv=fail`, which sign nothing but their own set (RFC 8617 5.1.2)."""

from __future__ import annotations

import re
from base64 import b64decode

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.hazmat.primitives.hashes import SHA256
from dkim import rfc822_parse
from dkim.canonicalization import Relaxed


def statuses(message: bytes) -> list[tuple[int, str, str]]:
    """Instance, domain and `cv` of each seal, the newest first."""
    seals = [value for name, value in rfc822_parse(message)[0] if name.lower() == b"arc-seal"]
    tags = [dict(re.findall(r"(\w+)=([^;\s]*)", value.decode())) for value in seals]
    return [(int(each["i"]), each["d"], each["cv"]) for each in tags]


def signs_itself_alone(message: bytes, key: RSAPublicKey) -> bool:
    """Whether the newest seal is a valid signature of its own set alone."""
    newest = b"i=%d;" % statuses(message)[0][0]
    fields = [
        (name, value)
        for wanted in (b"arc-authentication-results", b"arc-message-signature", b"arc-seal")
        for name, value in Relaxed.canonicalize_headers(rfc822_parse(message)[0])
        if name == wanted and newest in value
    ]
    assert len(fields) == 3, fields
    *others, (_, seal) = fields
    start, b_tag, signature = seal.partition(b"; b=")
    data = b"".join(name + b":" + value for name, value in others) + b"arc-seal:" + start + b_tag
    try:
        key.verify(b64decode(re.sub(rb"\s", b"", signature)), data, PKCS1v15(), SHA256())
    except InvalidSignature:
        return False
    return True
