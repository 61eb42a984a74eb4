"""DKIM signing (RFC 6376, RFC 8463): relaxed/relaxed, in one pass over the message, with any number of keys.

The body is hashed while it is read, without a copy of the message. The fields in `_OVERSIGNED` are signed once more
often than they occur (oversigning, §8.15): adding another one breaks the signature. dkimpy does not sign here,
because it copies the whole message several times, reads the system's clock and needs a second crypto library for
Ed25519; the tests verify with dkimpy. Sections (§) below are those of RFC 6376.
"""

from __future__ import annotations

import hashlib
import re
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, RSAPublicKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import load_der_public_key, load_pem_private_key

_OVERSIGNED = (
    "from", "to", "cc", "subject", "reply-to", "date", "message-id", "mime-version", "content-type",
)  # fmt: skip
_SIGNED = (
    *_OVERSIGNED, "sender", "in-reply-to", "references", "content-transfer-encoding", "list-id",
    "list-unsubscribe", "list-unsubscribe-post",
)  # fmt: skip
_FIELD = re.compile(rb"\r\n(?![ \t])")
_WSP = re.compile(rb"[ \t]+")  # white space
_LINE_END_WSP = re.compile(rb"(?<![ \t])[ \t]++\r\n")  # linear time, also for a line of white space
_LINE = 72
_LINE_END = re.compile(rb"\r?\n")
_B_TAG = re.compile(rb"((?:^|;)[ \t\r\n]*b[ \t\r\n]*=)[^;]*")
_MAX_SIGNATURES = 5
_MAX_NAMES = 100
_ED25519_BYTES = 32

Field = tuple[str, bytes]


class _Digest(Protocol):
    def update(self, data: bytes | memoryview, /) -> None: ...


@dataclass(frozen=True, slots=True)
class SigningKey:
    """A key of a domain; `private_pem` is PKCS#8 without a passphrase."""

    selector: str
    algorithm: Literal["rsa1024", "rsa2048", "rsa3072", "rsa4096", "ed25519"]
    private_pem: bytes

    def __repr__(self) -> str:
        return f"SigningKey({self.selector!r}, {self.algorithm!r})"


def sign(message: Iterable[bytes], domain: str, keys: Sequence[SigningKey], at: datetime) -> bytes:
    """Return the DKIM-Signature fields of a message, one for each key, to put before its first line.

    `message` yields chunks of any size, with CRLF line ends; `domain` is in ASCII form. Blocks: call it in a thread.
    """
    chunks = iter(message)
    head, body_start = read_head(chunks)
    body_hash = hash_body(body_start, chunks)
    fields = split_fields(head)
    names = signed_names(fields)
    signed = canonical(fields, names)
    return b"".join(_signature(key, domain, names, signed, body_hash, at) for key in keys)


def has_signature(message: bytes, domain: str, keys: Mapping[str, bytes]) -> bool:
    """Whether a signature like those of `sign`, by one of a domain's keys, verifies. `keys`: the public keys by
    selector, as in DNS (RSA in DER, Ed25519 in 32 bytes). The time of the signature does not matter. Signatures of
    other forms (other canonicalization, `l=`, From or Message-ID not oversigned) do not count. Blocks: call it in a
    thread.
    """
    message = _LINE_END.sub(b"\r\n", message)
    chunks = iter([message])
    head, body_start = read_head(chunks)
    body_hash = hash_body(body_start, chunks)
    fields = split_fields(head)
    signatures = [value for name, value in fields if name == "dkim-signature"][:_MAX_SIGNATURES]
    return any(_verify(value, fields, body_hash.decode(), domain, keys) for value in signatures)


def _verify(value: bytes, fields: Sequence[Field], body_hash: str, domain: str, keys: Mapping[str, bytes]) -> bool:
    pairs = [each.partition("=") for each in value.decode("latin-1").split(";")]
    tags = {name.strip(): "".join(text.split()) for name, _, text in pairs}
    public = keys.get(tags.get("s", "").lower())
    names = [name.lower() for name in tags.get("h", "").split(":")]
    expected = {"c": "relaxed/relaxed", "d": domain, "bh": body_hash}
    is_ours = all(tags.get(name, "") == text for name, text in expected.items()) and "l" not in tags
    if public is None or not is_ours or len(names) > _MAX_NAMES:
        return False
    if any(names.count(name) <= sum(field == name for field, _ in fields) for name in ("from", "message-id")):
        return False  # not oversigned: another one may have been added
    data = canonical(fields, names) + relax("dkim-signature", _B_TAG.sub(rb"\1", value))
    try:
        signature = b64decode(tags.get("b", ""), validate=True)
        if tags.get("a") == "ed25519-sha256" and len(public) == _ED25519_BYTES:
            Ed25519PublicKey.from_public_bytes(public).verify(signature, hashlib.sha256(data).digest())
            return True
        key = load_der_public_key(public)
        if tags.get("a") == "rsa-sha256" and isinstance(key, RSAPublicKey):
            key.verify(signature, data, PKCS1v15(), SHA256())
            return True
    except (InvalidSignature, ValueError):
        return False
    return False


def read_head(chunks: Iterator[bytes]) -> tuple[bytes, bytes]:
    """Return the header without its empty line, and the start of the body."""
    content = b""
    for chunk in chunks:
        content += chunk
        head, empty_line, body_start = content.partition(b"\r\n\r\n")
        if empty_line:
            return head, body_start
    return content.removesuffix(b"\r\n"), b""


def split_fields(head: bytes) -> list[Field]:
    """Return the name (in lower case) and raw value of each header field, in order."""
    fields: list[Field] = []
    for line in _FIELD.split(head):
        name, _, value = line.partition(b":")
        fields.append((name.rstrip(b" \t").decode("latin-1").lower(), value))
    return fields


def signed_names(fields: Sequence[Field], more: Sequence[str] = ()) -> list[str]:
    """Return the names for `h=`: each signed name (and of `more`) as often as it occurs, oversigned ones once more."""
    names: list[str] = []
    for name in (*_SIGNED, *more):
        count = sum(1 for field, _ in fields if field == name)
        names += [name] * (count + (name in _OVERSIGNED))
    return names


def canonical(fields: Sequence[Field], names: Sequence[str]) -> bytes:
    """Return the signed fields in relaxed form (§3.4.2). Repeated fields are taken from the bottom up (§5.4.2)."""
    values: dict[str, list[bytes]] = {}
    for name, value in fields:
        values.setdefault(name, []).append(value)
    return b"".join(relax(name, values[name].pop()) + b"\r\n" for name in names if values.get(name))


def relax(name: str, value: bytes) -> bytes:
    """Return a field in relaxed form (§3.4.2), without its line end."""
    unfolded = value.replace(b"\r\n", b"")
    return name.encode("latin-1") + b":" + _WSP.sub(b" ", unfolded).strip(b" ")


def hash_body(start: bytes, chunks: Iterator[bytes]) -> bytes:
    """SHA-256 of the body in relaxed form (§3.4.4), in base64. `start`: the body's first bytes, before `chunks`."""
    digest = hashlib.sha256()
    empty_lines = 0  # not hashed yet: those at the end of the body are ignored
    pending = [start]  # content since the last whole line
    for chunk in chunks:
        pending.append(chunk)
        if b"\n" not in chunk:
            continue
        block = b"".join(pending)
        end = block.rfind(b"\r\n") + 2
        if end == 1:
            pending = [block]
            continue
        pending = [block[end:]]
        empty_lines = _hash_lines(digest, block[:end], empty_lines)
    last_line = b"".join(pending)
    if last_line:
        _hash_lines(digest, last_line if last_line.endswith(b"\r\n") else last_line + b"\r\n", empty_lines)
    return b64encode(digest.digest())


def _hash_lines(digest: _Digest, lines: bytes, empty_lines: int) -> int:
    """Hash whole lines that follow `empty_lines` empty ones not hashed yet. Returns the number of empty lines at the
    end of `lines`, which are not hashed yet.
    """
    if b" " in lines or b"\t" in lines:
        lines = _WSP.sub(b" ", _LINE_END_WSP.sub(b"\r\n", lines))
    end = len(lines)
    while lines.endswith(b"\r\n", 0, end):
        end -= 2
    if end == 0:
        return empty_lines + len(lines) // 2
    digest.update(b"\r\n" * empty_lines)
    digest.update(memoryview(lines)[: end + 2])
    return (len(lines) - end) // 2 - 1


def _signature(
    key: SigningKey, domain: str, names: Sequence[str], signed: bytes, body_hash: bytes, at: datetime
) -> bytes:
    family = "ed25519" if key.algorithm == "ed25519" else "rsa"
    value = (
        f" v=1; a={family}-sha256; c=relaxed/relaxed; d={domain};\r\n"
        f"\ts={key.selector}; t={int(at.timestamp())};\r\n"
        f"\th={fold_names(names)};\r\n"
        f"\tbh={body_hash.decode()};\r\n"
        "\tb="
    ).encode("ascii")
    return finish_field(key, "DKIM-Signature", value, signed)


def finish_field(key: SigningKey, name: str, value: bytes, signed: bytes) -> bytes:
    """Return a field whose `value` ends with `b=`, with the signature of `signed` and of itself (§3.7)."""
    signature = b64encode(_sign_digest(key, signed + relax(name.lower(), value)))
    lines = [signature[start : start + _LINE] for start in range(0, len(signature), _LINE)]
    return name.encode("ascii") + b":" + value + b"\r\n\t".join(lines) + b"\r\n"


def fold_names(names: Sequence[str]) -> str:
    """Return the value of `h=`, folded."""
    lines, length = [names[0]], len(names[0])
    for name in names[1:]:
        if length + len(name) > _LINE:
            lines.append(f":\r\n\t{name}")
            length = 0
        else:
            lines.append(f":{name}")
        length += len(name) + 1
    return "".join(lines)


def _sign_digest(key: SigningKey, data: bytes) -> bytes:
    # This server generated the key: checking its primes for every message would take longer than signing.
    private = load_pem_private_key(key.private_pem, None, unsafe_skip_rsa_key_validation=True)
    if isinstance(private, RSAPrivateKey):
        return private.sign(data, PKCS1v15(), SHA256())
    if isinstance(private, Ed25519PrivateKey):
        return private.sign(hashlib.sha256(data).digest())  # RFC 8463 §3
    raise ValueError("DKIM needs an RSA or Ed25519 key")
