"""SPF records: their syntax and macros (RFC 7208 §4.6, §5 to §7)."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from typing import Literal, cast
from urllib.parse import quote

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network
MechanismName = Literal["all", "include", "a", "mx", "ptr", "ip4", "ip6", "exists"]

_VERSION = "v=spf1"
_MACRO = r"%\{[slodiphcrtv]\d*r?[.\-+,/_=]*\}"
_MACRO_STRING = re.compile(rf"(?:[!-$&-~]|{_MACRO}|%%|%_|%-)*", re.IGNORECASE)
_EXPANSION = re.compile(r"%\{([a-z])(\d*)(r?)([.\-+,/_=]*)\}|%%|%_|%-", re.IGNORECASE)
# domain-end: a dot and a top label, which is not all digits, or a macro.
_DOMAIN_END = re.compile(
    rf".*(?:\.(?:[a-z0-9]*[a-z][a-z0-9]*|[a-z0-9]+-[a-z0-9-]*[a-z0-9])\.?|{_MACRO})", re.IGNORECASE | re.DOTALL
)
_ONLY_IN_EXPLANATIONS = re.compile(r"%\{[crt]", re.IGNORECASE)
_MODIFIER = re.compile(r"([a-z][a-z0-9\-_.]*)=(.*)", re.IGNORECASE)
_MECHANISM = re.compile(
    r"(?P<qualifier>[+\-~?]?)(?P<name>all|include|a|mx|ptr|ip4|ip6|exists)(?::(?P<value>.+?))?"
    r"(?:/(?P<bits4>0|[1-9]\d{0,2}))?(?://(?P<bits6>0|[1-9]\d{0,2}))?",
    re.IGNORECASE,
)
_MAX_NAME = 253
_MAX_TERM = 500
_MAX_RECORD = 10_000  # the RFC has no limit; a record of another administrator must not cost seconds


class SpfSyntaxError(ValueError):
    """A record is not valid; the message says which part and why."""


@dataclass(frozen=True, slots=True)
class Mechanism:
    """A mechanism. `text`: as written; `domain`: its domain with macros, None for the checked domain; `network` of ip4
    and ip6; `bits4`, `bits6`: prefix lengths of `a` and `mx`.
    """

    text: str
    qualifier: str
    name: MechanismName
    domain: str | None = None
    network: Network | None = None
    bits4: int = 32
    bits6: int = 128

    @property
    def needs_lookup(self) -> bool:
        """Whether it counts towards the limit of look-ups (§4.6.4)."""
        return self.name in ("include", "a", "mx", "ptr", "exists")


@dataclass(frozen=True, slots=True)
class SpfRecord:
    """A parsed record."""

    mechanisms: tuple[Mechanism, ...]
    redirect: str | None


def is_spf(text: str) -> bool:
    """Whether a TXT record is an SPF record (§4.5)."""
    return text.lower() == _VERSION or text.lower().startswith(_VERSION + " ")


def parse_record(text: str) -> SpfRecord:
    """Parse a record for which `is_spf` holds. Raises SpfSyntaxError: an error anywhere makes all of it invalid."""
    if not all(" " <= character <= "~" for character in text):
        raise SpfSyntaxError("the record has characters that are not printable ASCII")
    if len(text) > _MAX_RECORD or any(len(term) > _MAX_TERM for term in text.split(" ")):
        raise SpfSyntaxError(f"the record has more than {_MAX_RECORD} characters, or a term more than {_MAX_TERM}")
    mechanisms: list[Mechanism] = []
    modifiers: dict[str, str] = {}
    for term in text.split(" ")[1:]:
        if not term:
            continue
        if modifier := _MODIFIER.fullmatch(term):
            _add_modifier(modifiers, modifier[1].lower(), modifier[2], term)
        else:
            mechanisms.append(_parse_mechanism(term))
    return SpfRecord(tuple(mechanisms), modifiers.get("redirect"))


def _add_modifier(modifiers: dict[str, str], name: str, value: str, term: str) -> None:
    if not _MACRO_STRING.fullmatch(value):
        raise SpfSyntaxError(f"`{term}` is not valid")
    if name in ("redirect", "exp"):
        if name in modifiers:
            raise SpfSyntaxError(f"`{name}=` occurs twice")
        _check_domain(value, term)
    modifiers[name] = value


def _parse_mechanism(term: str) -> Mechanism:
    match = _MECHANISM.fullmatch(term)
    if not match:
        raise SpfSyntaxError(f"`{term}` is not a known term")
    name = cast(MechanismName, match["name"].lower())
    qualifier, value = match["qualifier"] or "+", match["value"]
    bits4, bits6 = match["bits4"], match["bits6"]
    if name in ("ip4", "ip6"):
        network = _parse_network(name, value, None if bits6 else bits4, term) if not bits6 else None
        if network is None:
            raise SpfSyntaxError(f"`{term}` is not valid")
        return Mechanism(term, qualifier, name, network=network)
    takes_bits, takes_value, needs_value = (
        name in ("a", "mx"),
        name != "all",
        name in ("include", "exists"),
    )
    if (not takes_bits and (bits4 or bits6)) or (not takes_value and value) or (needs_value and not value):
        raise SpfSyntaxError(f"`{term}` is not valid")
    if value is not None:
        _check_domain(value, term)
    if int(bits4 or 32) > 32 or int(bits6 or 128) > 128:
        raise SpfSyntaxError(f"`{term}` has a prefix length that is too large")
    return Mechanism(term, qualifier, name, value, bits4=int(bits4 or 32), bits6=int(bits6 or 128))


def _parse_network(name: str, value: str | None, bits: str | None, term: str) -> Network:
    family = ipaddress.IPv4Network if name == "ip4" else ipaddress.IPv6Network
    try:
        if value is None or "/" in value or "%" in value:
            raise ValueError
        return family(f"{value}/{bits}" if bits else value, strict=False)
    except ValueError:
        kind = "IPv4" if name == "ip4" else "IPv6"
        raise SpfSyntaxError(f"`{term}` has no valid {kind} address or network") from None


def _check_domain(text: str, term: str) -> None:
    """SpfSyntaxError unless `text` is a domain-spec (§7.1)."""
    if not _MACRO_STRING.fullmatch(text) or not _DOMAIN_END.fullmatch(text) or _ONLY_IN_EXPLANATIONS.search(text):
        raise SpfSyntaxError(f"`{term}` has no valid domain")


@dataclass(frozen=True, slots=True)
class MacroValues:
    """What macros stand for: the address of the client, the sender and the HELO name (§7.2)."""

    address: Address
    sender: str
    helo: str

    def expand(self, text: str, domain: str) -> str:
        """Expand a domain-spec of the record of `domain`. A result of over 253 characters loses labels on the left.

        `%{p}` is `unknown`, which the RFC allows: it is slow and unreliable.
        """
        expanded = _EXPANSION.sub(lambda match: self._expand_one(match, domain), text).rstrip(".")
        while len(expanded) > _MAX_NAME and "." in expanded:
            expanded = expanded.partition(".")[2]
        return expanded

    def _expand_one(self, match: re.Match[str], domain: str) -> str:
        if match[1] is None:
            return {"%%": "%", "%_": " ", "%-": "%20"}[match[0]]
        letter = match[1].lower()
        local, _, sender_domain = self.sender.rpartition("@")
        is_ipv4 = self.address.version == 4
        value = {
            "s": self.sender,
            "l": local or "postmaster",
            "o": sender_domain,
            "d": domain,
            "i": str(self.address) if is_ipv4 else ".".join(self.address.exploded.replace(":", "")),
            "h": self.helo,
            "v": "in-addr" if is_ipv4 else "ip6",
            "p": "unknown",
        }[letter]
        labels = re.split(f"[{re.escape(match[4] or '.')}]", value)
        if match[3]:
            labels.reverse()
        if match[2]:
            if int(match[2]) == 0:
                raise SpfSyntaxError(f"the macro {match[0]} keeps no part of its value")
            labels = labels[-int(match[2]) :]
        result = ".".join(labels)
        return quote(result, safe="-._~") if match[1].isupper() else result
