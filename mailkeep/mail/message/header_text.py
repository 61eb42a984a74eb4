"""Decodes the text of header fields for display: encoded words and address lists, in linear time, without errors.

RFC 2047 (encoded words) and RFC 5322 §3.4 (address lists), leniently: invalid text is kept as it is or omitted. The
results must not be used for decisions.
"""

from __future__ import annotations

import binascii
import re
from dataclasses import dataclass
from encodings.aliases import aliases

MAX_ADDRESSES = 1000
_MAX_EMAIL = 320
_MAX_NAME = 500

_WORD = re.compile(r"=\?([^?\s]{1,80}+)\?([bBqQ])\?([^?]*+)\?=")
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]+")
_NOT_BASE64 = re.compile(r"[^A-Za-z0-9+/]+")
_TOKEN = re.compile(r"""(?xs)
    (?P<quoted>  "(?:[^"\\]++|\\.)*+"?  )
  | (?P<angle>   <[^<>]*+>?             )
  | (?P<literal> \[[^\[\]]*+\]?         )
  | (?P<other>   [^"<\[(),;:]++         )
  | .""")
_IN_COMMENT = re.compile(r"(?s)(?:[^()\\]++|\\.)*+")
_ESCAPED = re.compile(r"(?s)\\(.)")
# Text codecs without escape sequences. Only these are looked up: Python imports a module for each name that it looks
# up, and keeps unknown names in memory.
_CHARSETS = (
    frozenset({*aliases, *aliases.values(), "iso8859_1", "koi8_u", "cp874", "cp1006"})
    - {name for name, codec in aliases.items() if codec.endswith("_codec") or codec in ("rot_13", "mbcs")}
    - {"base64_codec", "bz2_codec", "hex_codec", "quopri_codec", "uu_codec", "zlib_codec", "rot_13", "mbcs"}
)
# The codec to use for a charset, by Python's codec name, or by the charset's name if Python has no codec: mail often
# names a charset and uses a superset of it (WHATWG's Encoding Standard).
_SUPERSETS = {
    "latin_1": "cp1252",
    "iso8859_1": "cp1252",
    "iso8859_9": "cp1254",
    "iso8859_11": "cp874",
    "tis_620": "cp874",
    "windows_874": "cp874",
    "iso_8859_8_e": "iso8859_8",
    "iso_8859_8_i": "iso8859_8",
    "big5": "big5hkscs",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "x_gbk": "gb18030",
    "euc_kr": "cp949",
    "shift_jis": "cp932",
    "windows_31j": "cp932",
    "x_sjis": "cp932",
}


@dataclass(frozen=True, slots=True)
class NamedAddress:
    """An address in a header field: `email` as written, and the display name (decoded, or empty)."""

    name: str
    email: str


def printable(text: str) -> str:
    """Replace runs of control characters and surrogates, which the database can't store, with a space."""
    return _UNPRINTABLE.sub(" ", text).strip()


def is_utf8(content: bytes) -> bool:
    """Whether bytes are valid UTF-8. Non-ASCII text in another charset hardly ever is."""
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True


def decode_words(text: str) -> str:
    """Decode encoded words (RFC 2047) and make the text printable. Adjacent words are joined."""
    if "=?" not in text:
        return printable(text)
    decoded: list[str] = []
    adjacent: list[bytes] = []  # the content of adjacent words in the same charset: they may split a character
    adjacent_charset, end = "", 0
    for match in _WORD.finditer(text):
        gap = text[end : match.start()]
        charset = match[1].partition("*")[0].lower().replace("-", "_")
        if adjacent and (gap.strip() or charset != adjacent_charset):
            decoded.append(_decode(b"".join(adjacent), adjacent_charset))
            adjacent = []
        if gap.strip() or not end:
            decoded.append(gap)
        adjacent.append(_decode_transfer(match))
        adjacent_charset, end = charset, match.end()
    if adjacent:
        decoded.append(_decode(b"".join(adjacent), adjacent_charset))
    decoded.append(text[end:])
    return printable("".join(decoded))


def _decode_transfer(word: re.Match[str]) -> bytes:
    """Decode the Q or B encoding of a match of `_WORD`."""
    encoded = word[3].encode("utf-8", "replace")
    if word[2] in "qQ":
        return binascii.a2b_qp(encoded, header=True)
    plain = _NOT_BASE64.sub("", word[3]).encode()
    try:
        return binascii.a2b_base64(plain[: len(plain) - (len(plain) % 4 == 1)] + b"==")
    except binascii.Error:
        return encoded


def _decode(content: bytes, charset: str) -> str:
    codec = aliases.get(charset, charset)
    codec = _SUPERSETS.get(codec, codec)
    if codec not in _CHARSETS or codec == "ascii":
        codec = "utf-8" if is_utf8(content) else "cp1252"
    try:
        return content.decode(codec, "replace")
    except ValueError:  # a codec without "replace"
        return content.decode("utf-8", "replace")


def parse_addresses(text: str) -> list[NamedAddress]:
    """Return the addresses of a list and of its groups, at most 1,000. Entries without `@` are omitted."""
    addresses: list[NamedAddress] = []
    entry = _ListEntry()
    position = 0
    while position < len(text) and len(addresses) < MAX_ADDRESSES:
        match = _TOKEN.match(text, position)
        assert match is not None
        token, position = match[0], match.end()
        match token:
            case "," | ";":
                addresses += entry.finish()
                entry = _ListEntry()
            case ":":
                entry = _ListEntry()
            case "(":
                position, comment = _read_comment(text, position)
                entry.comment = entry.comment or comment
            case _:
                entry.add(match.lastgroup, token)
    addresses += entry.finish()
    return addresses[:MAX_ADDRESSES]


def _read_comment(text: str, position: int) -> tuple[int, str]:
    """Return the end and the text of the comment that starts before `position`. Comments nest (RFC 5322 §3.2.2)."""
    start, depth = position, 1
    while depth and position < len(text):
        match = _IN_COMMENT.match(text, position)
        position = match.end() if match else position
        depth += {"(": 1, ")": -1}.get(text[position : position + 1], 0)
        position += 1
    return position, text[start : position - 1]


class _ListEntry:
    """One entry of an address list, while it is parsed."""

    __slots__ = ("angle", "comment", "phrase")

    def __init__(self) -> None:
        self.phrase: list[str] = []
        self.angle: str | None = None
        self.comment = ""

    def add(self, kind: str | None, token: str) -> None:
        if kind == "angle":
            self.angle = self.angle or token.strip("<>")
        elif kind == "quoted" and (len(token) < 2 or not token.endswith('"')):
            return  # an unterminated string contains no address
        elif self.angle is None:
            self.phrase.append(token)

    def finish(self) -> list[NamedAddress]:
        """Return the entry's address; an empty list if it has none."""
        phrase = "".join(self.phrase)
        email = printable("".join((phrase if self.angle is None else self.angle).split()))
        if "@" not in email or len(email) > _MAX_EMAIL:
            return []
        return [NamedAddress(_display_name(self.comment if self.angle is None else phrase), email)]


def _display_name(text: str) -> str:
    """Decode a phrase or a comment: without quotes and escapes, encoded words decoded."""
    text = text.strip()
    if text.startswith('"') and text.endswith('"') and len(text) > 1:
        text = text[1:-1]
    return decode_words(_ESCAPED.sub(r"\1", text[: 8 * _MAX_NAME]))[:_MAX_NAME]
