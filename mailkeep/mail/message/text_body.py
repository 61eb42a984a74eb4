"""Encodes text as a MIME entity with CRLF line endings, in 7 bit.

ASCII with lines of up to 998 octets is not encoded, mostly ASCII text is quoted-printable, and other text is base64
(RFC 2045 §6, RFC 5322 §2.1.1).
"""

from __future__ import annotations

import binascii
import re
from dataclasses import dataclass

from mailkeep.core.errors import invalid_field
from mailkeep.mail.message.base64_content import Base64

_LONGEST_LINE = 998
_PLAIN = bytes(range(0x20, 0x7F)) + b"\t\r\n"
# binascii makes lines that end with an encoded space 77 characters long (RFC 2045 §6.7 rule 5: at most 76).
_OVERLONG = re.compile(rb"(?m)^([^\r\n]{74})(=20|=09)\r$")


@dataclass(frozen=True, slots=True)
class MimeEntity:
    """A MIME entity: its header fields (each ended by CRLF) and its body in segments.

    The body ends with CRLF. Before a boundary, that CRLF is part of the boundary (RFC 2046 §5.1.1).
    """

    head: str
    body: tuple[bytes | Base64, ...]


def text_entity(field: str, subtype: str, text: str, *, exact: bool) -> MimeEntity:
    """Encode `text` as `text/<subtype>`. INVALID_FIELD for `field` if it has a lone surrogate.

    `exact`: a boundary follows, and the CRLF at the end is part of it, so that the content is exactly the text.
    Otherwise the content gets a final line ending if the text has none.
    """
    try:
        data = text.encode()
    except UnicodeEncodeError:
        raise invalid_field(field, "contains a lone surrogate, which UTF-8 can't encode") from None
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    if exact or not data.endswith(b"\n"):
        data += b"\n"
    data = data.replace(b"\n", b"\r\n")
    unsafe = data.translate(None, _PLAIN)
    if not unsafe and _lines_fit(data):
        return MimeEntity(_head(subtype, "us-ascii", "7bit"), (data,))
    if 6 * len(unsafe) <= len(data):
        return MimeEntity(_head(subtype, "utf-8", "quoted-printable"), (_encode_quoted_printable(data),))
    # The line ending added above belongs to the boundary; base64 content must not include it.
    encoded = Base64.encode(data[:-2] if exact else data)
    return MimeEntity(_head(subtype, "utf-8", "base64"), (encoded,) if encoded.length else (b"\r\n",))


def _head(subtype: str, charset: str, encoding: str) -> str:
    return f"Content-Type: text/{subtype}; charset={charset}\r\nContent-Transfer-Encoding: {encoding}\r\n"


def _lines_fit(data: bytes) -> bool:
    start = 0
    while len(data) - start > _LONGEST_LINE:
        end = data.rfind(b"\n", start, start + _LONGEST_LINE + 2)
        if end < 0:
            return False
        start = end + 1
    return True


def _encode_quoted_printable(data: bytes) -> bytes:
    """Encode lines ended by CRLF as quoted-printable."""
    encoded = binascii.b2a_qp(data, istext=True)
    if b"=20\r\n" in encoded or b"=09\r\n" in encoded:
        encoded = _OVERLONG.sub(rb"\1=\r\n\2\r", encoded)
    return encoded
