"""Seals forwarded mail: the Authenticated Received Chain (ARC, RFC 8617). Sections (§) below are of this RFC.

An ARC set has three fields: what the receiving server found (ARC-Authentication-Results), a signature of the message
(ARC-Message-Signature, as DKIM's), and a signature of all sets (ARC-Seal). Here sealed is mail that Rspamd validated
when it arrived: its Authentication-Results say whether the chain of that time was valid.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from mailkeep.mail.message.dkim import (
    Field,
    SigningKey,
    canonical,
    finish_field,
    fold_names,
    hash_body,
    read_head,
    relax,
    signed_names,
    split_fields,
)

_RESULTS, _SIGNATURE, _SEAL = "ARC-Authentication-Results", "ARC-Message-Signature", "ARC-Seal"
_NAMES = (_RESULTS, _SIGNATURE, _SEAL)
_MAX_SETS = 50  # §4.2.1
_INSTANCE = re.compile(rb"(?:^|;)\s*i\s*=\s*([0-9]{1,4})\s*(?:;|$)")
_HAS_FAILED = re.compile(rb"(?:^|;)\s*cv\s*=\s*fail\s*(?:;|$)", re.IGNORECASE)
_RESULT = re.compile(rb";\s*arc\s*=\s*([a-z]+)", re.IGNORECASE)

Sets = Mapping[int, Mapping[str, bytes]]


def seal(message: Iterable[bytes], host: str, domain: str, key: SigningKey, at: datetime) -> bytes:
    """Return the ARC set of a message, to put before its first line; empty if it can't be sealed.

    `message` yields chunks with CRLF line ends and has Authentication-Results of `host`, which removes forged ones.
    Without them nothing is sealed: a set says what was found. Nor is a chain that has failed before (nobody adds to
    it), that has 50 sets, or whose result is unknown. `domain` is in ASCII form, `key` an RSA key: a set has only one
    seal, and few verify Ed25519. Blocks: call it in a thread.
    """
    chunks = iter(message)
    head, body_start = read_head(chunks)
    fields = split_fields(head)
    results = next((value for name, value in fields if name == "authentication-results" and _is_of(host, value)), None)
    sets = _read_sets(fields)
    instance = max(sets, default=0) + 1
    status = _chain_status(results, sets, instance - 1) if results else None
    if results is None or status is None or instance > _MAX_SETS:
        return b""
    new: dict[str, bytes] = {_RESULTS: b" i=%d;" % instance + results}
    new[_SIGNATURE] = _sign(fields, hash_body(body_start, chunks), instance, domain, key, at)
    earlier = [] if status == "fail" else [sets[number] for number in sorted(sets)]  # §5.1.1, §5.1.2
    data = b"".join(
        relax(name.lower(), each[name]) + b"\r\n" for each in [*earlier, new] for name in _NAMES if name in each
    )
    start = (
        f" i={instance}; a=rsa-sha256; t={int(at.timestamp())}; cv={status};\r\n\td={domain}; s={key.selector};\r\n\tb="
    )
    last = finish_field(key, _SEAL, start.encode("ascii"), data)
    return last + b"".join(name.encode("ascii") + b":" + new[name] + b"\r\n" for name in (_SIGNATURE, _RESULTS))


def _is_of(host: str, results: bytes) -> bool:
    words = results.partition(b";")[0].split()
    return bool(words) and words[0].decode("latin-1").lower() == host.lower()


def _read_sets(fields: Sequence[Field]) -> Sets:
    sets: dict[int, dict[str, bytes]] = {}
    for name in _NAMES:
        for field, value in fields:
            if field == name.lower() and (
                instance := _INSTANCE.search(value if name != _RESULTS else value.partition(b";")[0])
            ):
                sets.setdefault(int(instance[1]), {})[name] = value
    return sets


def _chain_status(results: bytes, sets: Sets, last: int) -> str | None:
    """The status of the chain for the new seal (§4.4); None if the chain has failed before or its result is unknown."""
    if not sets:
        return "none"
    if _HAS_FAILED.search(sets[last].get(_SEAL, b"")):
        return None
    if any(name not in sets.get(number, ()) for number in range(1, last + 1) for name in _NAMES):
        return "fail"  # Rspamd does not look at all of them
    found = _RESULT.search(results)
    status = found[1].decode("ascii").lower() if found else ""
    return status if status in ("pass", "fail") else None


def _sign(
    fields: Sequence[Field], body_hash: bytes, instance: int, domain: str, key: SigningKey, at: datetime
) -> bytes:
    names = signed_names(fields, ("dkim-signature",))
    value = (
        f" i={instance}; a=rsa-sha256; c=relaxed/relaxed; d={domain};\r\n"
        f"\ts={key.selector}; t={int(at.timestamp())};\r\n"
        f"\th={fold_names(names)};\r\n"
        f"\tbh={body_hash.decode()};\r\n"
        "\tb="
    ).encode("ascii")
    field = finish_field(key, _SIGNATURE, value, canonical(fields, names))
    return field.partition(b":")[2].removesuffix(b"\r\n")
