"""Attachments: validation, and header fields with file names in any script (RFC 2183, RFC 2231)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import quote

from mailkeep.core.errors import invalid_field
from mailkeep.mail.message.base64_content import Base64
from mailkeep.mail.message.headers import check_text, fold
from mailkeep.mail.message.text_body import MimeEntity

MAX_FILE_NAME_OCTETS = 255
_RESTRICTED_NAME = r"[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]{0,126}"
_CONTENT_TYPE = re.compile(rf"({_RESTRICTED_NAME})/{_RESTRICTED_NAME}")
_CONTENT_ID = re.compile(r"[A-Za-z0-9!#$&'*+/=?^_`{|}~@.-]{1,200}")
_QUOTABLE = re.compile(r"[!#-\[\]-~](?:[ !#-\[\]-~]{0,46}[!#-\[\]-~])?")
_ATTRIBUTE_CHARS = "!#$&+-.^_`|~"  # with letters and digits: not percent-encoded (RFC 2231 §7)
_MAX_SECTION = 54  # characters of a file name in one parameter


@dataclass(frozen=True, slots=True)
class OutgoingAttachment:
    """A file of a message. `content_type` is `type/subtype`; the HTML refers to `content_id` (without brackets) with
    `cid:`; `inline`: the Content-Disposition is inline, not attachment.
    """

    file_name: str
    content_type: str
    content: Base64
    content_id: str = ""
    inline: bool = False


def clean_file_name(field: str, text: str) -> str:
    """Return the last path component. INVALID_FIELD if it is empty, has control characters or exceeds 255 octets."""
    name = re.split(r"[/\\]", text)[-1]
    check_text(field, name)
    if not name.strip(" ."):
        raise invalid_field(field, "must contain more than spaces and dots")
    if len(name.encode()) > MAX_FILE_NAME_OCTETS:
        raise invalid_field(field, f"must be at most {MAX_FILE_NAME_OCTETS} bytes in UTF-8")
    return name


def check_content_type(field: str, text: str) -> None:
    """Check a content type: `type/subtype` (RFC 6838 §4.2), neither multipart nor message. Raises INVALID_FIELD."""
    match = _CONTENT_TYPE.fullmatch(text)
    if not match:
        raise invalid_field(field, "must have the form type/subtype, such as application/pdf")
    if match[1].lower() in ("multipart", "message"):
        raise invalid_field(field, "must not be multipart/* or message/*")


def check_content_id(field: str, text: str) -> None:
    """Check a content ID: 1 to 200 ASCII characters of an address. Raises INVALID_FIELD."""
    if not _CONTENT_ID.fullmatch(text):
        raise invalid_field(field, "must be 1 to 200 ASCII letters, digits and characters allowed in an address")


def attachment_entity(field: str, attachment: OutgoingAttachment) -> MimeEntity:
    """Check an attachment, and encode it. Raises INVALID_FIELD for a field of `field` (`attachments[0].filename`)."""
    name = clean_file_name(f"{field}.filename", attachment.file_name)
    check_content_type(f"{field}.content_type", attachment.content_type)
    disposition = "inline;" if attachment.inline else "attachment;"
    head = (
        f"Content-Type: {attachment.content_type}\r\n"
        "Content-Transfer-Encoding: base64\r\n"
        f"{fold('Content-Disposition', [disposition, *_file_name_parameters(name)])}"
    )
    if attachment.content_id:
        check_content_id(f"{field}.content_id", attachment.content_id)
        head += fold("Content-ID", [f"<{attachment.content_id}>"])
    return MimeEntity(head, (attachment.content,) if attachment.content.length else (b"\r\n",))


def _file_name_parameters(name: str) -> list[str]:
    """Return `filename="…"` for a simple name, otherwise RFC 2231 `filename*`, in sections if it is long.

    There is no ASCII `filename` next to `filename*`: programs would disagree about which name counts.
    """
    if _QUOTABLE.fullmatch(name) and "=?" not in name:
        return [f'filename="{name}"']
    sections = [""]
    for char in name:
        encoded = quote(char, safe=_ATTRIBUTE_CHARS)
        if len(sections[-1]) + len(encoded) > _MAX_SECTION:
            sections.append("")
        sections[-1] += encoded
    if len(sections) == 1:
        return [f"filename*=utf-8''{sections[0]}"]
    sections[0] = f"utf-8''{sections[0]}"
    parameters = [f"filename*{number}*={section}" for number, section in enumerate(sections)]
    return [*(f"{each};" for each in parameters[:-1]), parameters[-1]]
