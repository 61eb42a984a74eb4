"""MTA-STS (RFC 8461): the record `_mta-sts.DOMAIN`, the policy, and its retrieval over HTTPS."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast, get_args

from mailkeep.core.address import AddressError, normalize_domain
from mailkeep.core.network import Network
from mailkeep.net.client import OutboundClient, OutboundError, OutboundRequest

Mode = Literal["none", "testing", "enforce"]
PATH = "/.well-known/mta-sts.txt"
MAX_POLICY_BYTES = 64 * 1024  # RFC 8461 §3.3
LONGEST_MAX_AGE = 31_557_600
_MAX_ID = 32
_FETCH_SECONDS = 10.0
_MAX_AGE_DIGITS = 10

PolicyFault = Literal[
    "dns", "address_refused", "connect", "tls", "timeout", "protocol", "redirect", "status", "media_type", "too_large",
    "malformed",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class MtaStsPolicy:
    """A policy: the servers that mail for the domain must go to (`mx`: names, or `*.` and a name for one label before
    it), and for how many seconds a sender keeps it.
    """

    mode: Mode
    mx: tuple[str, ...]
    max_age: int


class PolicyError(Exception):
    """There is no valid policy. `detail` is a sentence; `certificate` is the problem with the server's certificate."""

    def __init__(self, fault: PolicyFault, detail: str, certificate: str | None = None) -> None:
        super().__init__(detail)
        self.fault: PolicyFault = fault
        self.detail = detail
        self.certificate = certificate


def host_of(domain: str) -> str:
    """The host with the policy of a domain."""
    return f"mta-sts.{domain}"


def format_policy(policy: MtaStsPolicy) -> str:
    """The text of a policy (RFC 8461 §3.2)."""
    lines = ["version: STSv1", f"mode: {policy.mode}", *(f"mx: {name}" for name in policy.mx)]
    return "\n".join([*lines, f"max_age: {policy.max_age}", ""])


def parse_policy(text: str) -> MtaStsPolicy:
    """The policy in a text; PolicyError `malformed`. Of a repeated field other than `mx` the first counts, and unknown
    fields do not count (RFC 8461 §3.2).
    """
    fields: dict[str, str] = {}
    servers: list[str] = []
    for line in text.replace("\r\n", "\n").split("\n"):
        if not line.strip():
            continue
        key, colon, value = line.partition(":")
        if not colon:
            raise _make_error(f"has a line without a colon: {line[:80]!r}")
        if (name := key.strip()) == "mx":
            servers.append(_parse_server(value.strip()))
        else:
            fields.setdefault(name, value.strip())
    if fields.get("version") != "STSv1":
        raise _make_error("does not have the line `version: STSv1`")
    mode, max_age = fields.get("mode", ""), fields.get("max_age", "")
    if mode not in get_args(Mode):
        raise _make_error(f"has the mode {mode[:80]!r}, which is not none, testing or enforce")
    if not (max_age.isascii() and max_age.isdigit() and len(max_age) <= _MAX_AGE_DIGITS):
        raise _make_error(f"has the max_age {max_age[:80]!r}, which is not a number of seconds")
    if mode != "none" and not servers:
        raise _make_error("names no server (mx)")
    return MtaStsPolicy(cast(Mode, mode), tuple(dict.fromkeys(servers)), min(int(max_age), LONGEST_MAX_AGE))


def _parse_server(text: str) -> str:
    prefix = "*." if text.startswith("*.") else ""
    try:
        return prefix + normalize_domain(text.removeprefix(prefix))
    except AddressError as error:
        raise _make_error(f"has an invalid server (mx): {error.reason}") from None


def _make_error(problem: str) -> PolicyError:
    return PolicyError("malformed", f"The policy {problem}.")


def find_id(values: Sequence[str]) -> str | None:
    """The policy's ID from the TXT records of `_mta-sts.DOMAIN`; None unless exactly one is of MTA-STS and is valid
    (RFC 8461 §3.1).
    """
    records = [value for value in values if value.partition(";")[0].strip() == "v=STSv1"]
    if len(records) != 1:
        return None
    for part in records[0].split(";")[1:]:
        name, _, value = part.partition("=")
        if name.strip() == "id":
            text = value.strip()
            return text if text.isascii() and text.isalnum() and len(text) <= _MAX_ID else None
    return None


async def fetch_policy(
    client: OutboundClient, domain: str, allowed_networks: tuple[Network, ...] = (), extra_ca_file: Path | None = None
) -> MtaStsPolicy:
    """Fetch the policy of a domain in A-labels; PolicyError. Only over HTTPS with a valid certificate, without
    redirects (RFC 8461 §3.3).
    """
    request = OutboundRequest(
        method="GET",
        url=f"https://{host_of(domain)}{PATH}",
        allowed_networks=allowed_networks,
        extra_ca_file=extra_ca_file,
        timeout=_FETCH_SECONDS,
        max_answer=MAX_POLICY_BYTES,
    )
    try:
        response = await client.send(request)
    except OutboundError as error:
        fault = cast(PolicyFault, "dns" if error.kind == "url" else error.kind)
        raise PolicyError(fault, error.detail, error.certificate) from error
    if 300 <= response.status < 400:
        raise PolicyError("redirect", f"The server redirects (HTTP {response.status}).")
    if response.status != 200:
        raise PolicyError("status", f"The server answers HTTP {response.status}.")
    media_type = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != "text/plain":
        raise PolicyError("media_type", f"The media type is {media_type[:80]!r}, not text/plain.")
    if response.truncated:
        raise PolicyError("too_large", f"The policy is larger than {MAX_POLICY_BYTES >> 10} KiB.")
    return parse_policy(response.body.decode("utf-8", "replace"))
