"""Takes the report out of what was sent: a message, a gzip file or a zip archive. One level, with limits on the
size.
"""

from __future__ import annotations

import io
import zipfile
import zlib

from mailkeep.mail.message.parse import MimeContent, ParsedAttachment, UnparsableMessage, parse
from mailkeep.mail.reports.model import InvalidReport

MAX_BYTES = 64 << 20
"""Of an unpacked report. 100,000 records of a DMARC report have about 50 MB."""
_GZIP, _ZIP = b"\x1f\x8b", b"PK\x03\x04"
_EMPTY_ZIP = b"PK\x05\x06"
_BOM = b"\xef\xbb\xbf"
_PIECE = 256 << 10
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


def unpack(content: bytes) -> bytes:
    """The XML or JSON in a file. InvalidReport for an archive in an archive, several files, or more than MAX_BYTES."""
    unpacked = content
    if content.startswith(_GZIP):
        unpacked = _gunzip(content)
    elif is_archive(content):
        unpacked = _unzip(content)
    if unpacked is not content and is_archive(unpacked):
        raise InvalidReport("The archive contains another archive")
    if len(unpacked) > MAX_BYTES:
        raise InvalidReport(_TOO_LARGE)
    return unpacked.removeprefix(_BOM).lstrip()


_TOO_LARGE = f"The unpacked report is larger than {MAX_BYTES >> 20} MB"


def _gunzip(content: bytes) -> bytes:
    unpacked = bytearray()
    rest = content
    try:
        while rest.startswith(_GZIP):
            stream = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
            unpacked += stream.decompress(rest, MAX_BYTES + 1 - len(unpacked))
            if len(unpacked) > MAX_BYTES:
                raise InvalidReport(_TOO_LARGE)
            if not stream.eof:
                raise InvalidReport("The gzip file is incomplete")
            rest = stream.unused_data
    except zlib.error:
        raise InvalidReport("The gzip file is damaged") from None
    return bytes(unpacked)


def _unzip(content: bytes) -> bytes:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            files = [info for info in archive.infolist() if not info.is_dir()]
            if len(files) != 1:
                raise InvalidReport(f"The zip archive must have exactly one file (it has {len(files)})")
            if files[0].flag_bits & 1:
                raise InvalidReport("The zip archive is encrypted")
            if files[0].compress_type not in _METHODS:
                raise InvalidReport("The zip archive has an unusual compression method")
            unpacked = bytearray()
            with archive.open(files[0]) as file:
                while piece := file.read(_PIECE):
                    unpacked += piece
                    if len(unpacked) > MAX_BYTES:
                        raise InvalidReport(_TOO_LARGE)
    except InvalidReport:
        raise
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError, OSError):
        raise InvalidReport("The zip archive is damaged") from None
    return bytes(unpacked)


def open_message(content: bytes) -> MimeContent:
    """The parts of a message. InvalidReport."""
    try:
        return parse(content)
    except UnparsableMessage as error:
        raise InvalidReport(str(error)) from None


def find_report(attachments: list[ParsedAttachment]) -> bytes:
    """The one attachment that is a report. InvalidReport without one, or if there are several."""
    found = [part.content for part in attachments if part.content and _is_report(part.content)]
    if len(found) != 1:
        many = "has more than one report" if found else "has no report: no attachment is XML, JSON, gzip or zip"
        raise InvalidReport(f"The message {many}")
    return found[0]


def _is_report(content: bytes) -> bool:
    return is_archive(content) or is_text_report(content)


def is_archive(content: bytes) -> bool:
    """Whether a file is gzip or zip."""
    return content.startswith((_GZIP, _ZIP, _EMPTY_ZIP))


def is_text_report(content: bytes) -> bool:
    """Whether a file looks like XML or JSON."""
    return content[:1024].removeprefix(_BOM).lstrip().startswith((b"<", b"{"))
