"""Mail addresses and domain names: a strict grammar, and a canonical form for every comparison.

Domains are IDNA2008 (RFC 5890–5893) A-labels in lower case. Only ASCII letters are folded. Labels that are not
valid U-labels are refused, never mapped, so that no look-alike (full-width dot, soft hyphen, KELVIN SIGN,
capital Ü) becomes another domain.

Mailboxes follow RFC 5321 §4.1.2 with Dot-string local parts, extended to UTF-8 by RFC 6531 §3.3. Quoted strings,
comments, address literals and display names are refused, so the text that was checked is used unchanged.

Local parts compare by `fold_local`: NFC, then full case folding (CaseFolding.txt statuses C and F), then NFC.
Unassigned code points are refused, so that a key never changes with the Unicode version.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from unicodedata import category, normalize

import idna

MAX_ADDRESS_OCTETS = 254
"""RFC 5321 §4.5.3.1.3: a path of 256 octets, without its angle brackets."""
MAX_LOCAL_OCTETS = 64
MAX_DOMAIN_OCTETS = 253

_ATEXT = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]"
_UTF8_ATEXT = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~\x80-\U0010ffff-]"
_LOCAL = re.compile(rf"{_ATEXT}+(?:\.{_ATEXT}+)*")
_UTF8_LOCAL = re.compile(rf"{_UTF8_ATEXT}+(?:\.{_UTF8_ATEXT}+)*")
_ENCODED_WORD = re.compile(r"=\?[^?]*\?[^?]*\?.*\?=")
_LDH_LABEL = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")
_ESCAPED = re.compile(r"\\(.)")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_TO_LOWER = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}
_REFUSED_CATEGORIES = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp", "Zs"})
_INVISIBLE = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0") | {
    chr(code) for span in (range(0xFE00, 0xFE10), range(0xE0100, 0xE01F0)) for code in span
}


class AddressError(ValueError):
    """A malformed address or domain; `reason` is a phrase that fits after the field's name."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Address:
    """A parsed mailbox address: the local part unchanged, the domain in canonical A-label form."""

    local_part: str
    domain: str

    @property
    def smtputf8(self) -> bool:
        """Whether the address needs SMTPUTF8 (RFC 6531): its local part is not ASCII."""
        return not self.local_part.isascii()

    @property
    def text(self) -> str:
        """The address for header and envelope; with U-labels only if the local part is UTF-8."""
        if self.local_part.isascii():
            return f"{self.local_part}@{self.domain}"
        return f"{self.local_part}@{unicode_domain(self.domain)}"

    @property
    def key(self) -> str:
        """The key for comparing addresses: folded local part, `@`, A-label domain."""
        return f"{fold_local(self.local_part)}@{self.domain}"

    def __str__(self) -> str:
        return self.text


@lru_cache(maxsize=10_000)  # errors are not cached
def normalize_domain(text: str, *, min_labels: int = 1) -> str:
    """The canonical form of a domain name: IDNA2008 A-labels, ASCII lower case, no trailing dot.

    Only ASCII case is changed. Raises AddressError for IP literals, numeric top labels, underscores, empty labels,
    labels over 63 octets, names over 253, fewer labels than `min_labels`, and invalid U- and A-labels.
    """
    if not text:
        raise AddressError("the domain is empty")
    if len(text) > MAX_DOMAIN_OCTETS:
        raise AddressError("the domain is longer than 253 characters (in ASCII form)")
    labels = [_normalize_label(label) for label in text.translate(_TO_LOWER).split(".")]
    name = ".".join(labels)
    if len(name) > MAX_DOMAIN_OCTETS:
        raise AddressError("the domain is longer than 253 characters (in ASCII form)")
    if len(labels) < min_labels:
        raise AddressError(
            f"the domain {name!r} must have at least {min_labels} parts separated by dots, such as example.com"
        )
    if _NUMBER.fullmatch(labels[-1]):
        raise AddressError(f"the domain {name!r} is an IP address or ends in a number; use a domain name")
    return name


def _normalize_label(label: str) -> str:
    if not label:
        raise AddressError("the domain begins or ends with a dot or has two dots in a row")
    if label.startswith("xn--"):
        _unicode_label(label)
        return label
    if label.isascii():
        if len(label) > 63:
            raise _long_label(label)
        if not _LDH_LABEL.fullmatch(label):
            raise AddressError(
                f"{label!r} in the domain may contain only letters, digits and hyphens (not at its start or end)"
            )
        return label
    try:
        return idna.alabel(label).decode("ascii")
    except ValueError:
        raise AddressError(
            f"{label[:63]!r} in the domain is not allowed in an internationalized domain name (IDNA2008)"
        ) from None


def _long_label(label: str) -> AddressError:
    return AddressError(f"{label[:20]!r}… in the domain is longer than 63 characters")


def _unicode_label(label: str) -> str:
    """The U-label of an A-label; refused unless it converts back to the same A-label (RFC 5891 §5.4)."""
    if len(label) > 63:
        raise _long_label(label)
    try:
        u_label = idna.ulabel(label)
        if idna.alabel(u_label) == label.encode():
            return u_label
    except (ValueError, OverflowError):
        pass
    raise AddressError(f"{label!r} in the domain is not the valid ASCII (punycode) form of an international name")


@lru_cache(maxsize=10_000)
def unicode_domain(a_label: str) -> str:
    """The U-label form, for display, of a name from `normalize_domain`."""
    if "xn--" not in a_label:
        return a_label
    labels = a_label.split(".")
    return ".".join(_unicode_label(label) if label.startswith("xn--") else label for label in labels)


def fold_local(local: str) -> str:
    """The form for comparing local parts: NFC(casefold(NFC(local))). `straße` and `STRASSE` are equal.

    The result may be up to three times as long as the input, in octets.
    """
    if local.isascii():
        return local.lower()
    return normalize("NFC", normalize("NFC", local).casefold())


def unquote_local_part(address: str) -> str:
    """An address with its local part unquoted: `"alice"@…` is `alice@…` (RFC 5321 §4.1.2)."""
    local_part, at, domain = address.rpartition("@")
    if len(local_part) < 2 or not (local_part.startswith('"') and local_part.endswith('"')):
        return address
    return _ESCAPED.sub(r"\1", local_part[1:-1]) + at + domain


def strip_tag(local: str, delimiter: str) -> str | None:
    """The local part before the first `delimiter` (`alice` of `alice+news`), or None without a tag.

    Also None if that is not a valid local part (`+x`, `a.+x`). `delimiter` is one ASCII atext
    character; folding before or after gives the same result.
    """
    base, separator, _ = local.partition(delimiter)
    return base if separator and base and not base.endswith(".") else None


def parse_address(text: str, *, min_labels: int = 1) -> Address:
    """Parse an addr-spec (RFC 5321 §4.1.2 Mailbox without quoted strings; RFC 6531 §3.3 for UTF-8).

    Nothing is trimmed, unfolded or repaired. Raises AddressError, also for local parts over 64 octets,
    addresses over 254, and control, space, bidi, format, invisible or unassigned characters.
    """
    local, separator, domain = text.partition("@")
    if not separator:
        raise AddressError("the address has no @")
    if len(text) > MAX_ADDRESS_OCTETS:
        raise AddressError(f"the address is longer than {MAX_ADDRESS_OCTETS} bytes")
    if not _LOCAL.fullmatch(local):
        _check_utf8_local(local)
    # RFC 2047 §5 forbids them in an addr-spec, but parsers decode them there, into any text.
    if "=?" in local and _ENCODED_WORD.search(local):
        raise AddressError("the part before the @ must not contain an encoded word (=?…?=)")
    if len(local.encode()) > MAX_LOCAL_OCTETS:
        raise AddressError(f"the part before the @ is longer than {MAX_LOCAL_OCTETS} bytes")
    address = Address(local, normalize_domain(domain, min_labels=min_labels))
    if len(address.text.encode()) > MAX_ADDRESS_OCTETS:
        raise AddressError(f"the address is longer than {MAX_ADDRESS_OCTETS} bytes")
    return address


def parse_destination(text: str) -> Address:
    """`parse_address` for a forwarding destination; its domain must contain a dot to be deliverable."""
    return parse_address(text, min_labels=2)


def _check_utf8_local(local: str) -> None:
    """Refuse a local part that is not a Dot-string before and after NFC (U+037E becomes a semicolon)."""
    if not local:
        raise AddressError("the part before the @ is empty")
    if not _UTF8_LOCAL.fullmatch(local) or not _UTF8_LOCAL.fullmatch(normalize("NFC", local)):
        raise AddressError("the part before the @ contains a forbidden character (such as a space), or a misplaced dot")
    if any(category(char) in _REFUSED_CATEGORIES or char in _INVISIBLE for char in local):
        raise AddressError("the part before the @ contains an invisible, control or unassigned character")
    if any(category(atom[0])[0] == "M" for atom in local.split(".")):
        raise AddressError("the part before the @ contains a combining mark without a base character")
