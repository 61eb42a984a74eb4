"""The child process of `parse_process`: parses messages, one at a time, with limits on time and memory, and confined
(`core.confinement`): not root, without access to database, network or secrets.

It receives a file descriptor over a Unix socket for each message. The response is a status, metadata (JSON) and content
(JSON, or the bytes of a single attachment). The process ends when the socket closes.
"""

from __future__ import annotations

import encodings
import importlib
import os
import pkgutil
import resource
import socket
import struct
import warnings
from base64 import b64encode
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import msgspec

from mailkeep.core.confinement import confine, limit_cpu_time

REQUEST = struct.Struct(">QQq")  # size of the message, maximum size of the content in the response, attachment's index
WHOLE = -1  # in place of an attachment's index: the whole message
REPORT = -2  # or: the report (`report.parse_report`)
ANSWER = struct.Struct(">cQQ")  # status, size of the metadata, size of the content
DONE, UNPARSABLE = b"+", b"-"

Answer = Callable[[bytes, int, int], tuple[bytes, bytes]]
"""Metadata and content of the response to a message, the maximum size of its content, and an attachment's index."""


def main(descriptor: int, cpu_seconds: int, memory: int) -> None:
    """Serve the socket with this file descriptor; `memory` in bytes, `cpu_seconds` for each message."""
    from mailkeep.mail.message.parse import parse
    from mailkeep.mail.message.report import parse_report

    def answer(content: bytes, max_size: int, number: int) -> tuple[bytes, bytes]:
        if number == REPORT:
            return msgspec.json.encode(parse_report(content)), b""
        parsed = parse(content)
        return _message(parsed, max_size) if number == WHOLE else _attachment(parsed, number)

    serve(descriptor, cpu_seconds, memory, answer)


def serve(descriptor: int, cpu_seconds: int, memory: int, answer: Answer) -> None:
    """Confine this process and serve the socket; `answer` may raise UnparsableMessage. All that it imports must have
    been imported.
    """
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    from mailkeep.mail.message.parse import UnparsableMessage

    _load_codecs()  # once confined, the process may be unable to read their files
    confine(memory)
    with socket.socket(fileno=descriptor) as channel:
        while True:
            request, descriptors, _, _ = socket.recv_fds(channel, REQUEST.size, 1)
            if len(request) < REQUEST.size or not descriptors:
                return
            size, max_size, number = REQUEST.unpack(request)
            limit_cpu_time(cpu_seconds)
            with open(descriptors[0], "rb") as file:  # noqa: PTH123 - a descriptor, not a path
                content = os.pread(file.fileno(), size, 0)
            try:
                meta, result = answer(content, max_size, number)
                status = DONE
            except UnparsableMessage as error:
                meta, result, status = str(error).encode(), b"", UNPARSABLE
            except MemoryError:
                meta, result, status = b"Parsing the message takes too much memory", b"", UNPARSABLE
            channel.sendall(ANSWER.pack(status, len(meta), len(result)))
            channel.sendall(meta)
            channel.sendall(result)


def _load_codecs() -> None:
    """Import the charsets that a message may name, and the modules that the email library imports late."""
    for module in pkgutil.iter_modules(encodings.__path__):
        with suppress(ImportError):  # some exist on other systems only
            importlib.import_module(f"encodings.{module.name}")
    for name in ("base64", "binascii", "email.parser", "email._header_value_parser", "email.generator", "quopri", "uu"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            importlib.import_module(name)


def _attachment(parsed: Any, number: int) -> tuple[bytes, bytes]:
    """Metadata (null: it does not exist or its encoding is invalid) and content of an attachment, by index from 0."""
    part = parsed.attachments[number] if number < len(parsed.attachments) else None
    if part is None or part.content is None:
        return b"null", b""
    return msgspec.json.encode({"filename": part.filename, "size": len(part.content)}), part.content


def _message(parsed: Any, max_size: int) -> tuple[bytes, bytes]:
    """Metadata and content of a message. The content has at most `max_size` bytes: without attachments if necessary."""
    encoded_parts = [(part, b64encode(part.content or b"")) for part in parsed.attachments]
    bodies = {"body_text": parsed.text, "body_html": parsed.html}
    available = max_size - len(msgspec.json.encode(bodies)) - sum(len(encoded) + 2 for _, encoded in encoded_parts)
    described = [
        {"filename": part.filename, "content_type": part.content_type, "size": part.size} for part in parsed.attachments
    ]
    # 40 bytes for the name `content_base64` of each attachment, 200 for the other names.
    fits = available - len(msgspec.json.encode(described)) - 40 * len(encoded_parts) - 200 > 0
    if not fits:
        bodies = _cut(bodies, max_size // 2)
    attachments: list[dict[str, Any]] = [
        fields | {"content_base64": encoded.decode() if fits and part.content is not None else None}
        for fields, (part, encoded) in zip(described, encoded_parts, strict=True)
    ]
    content_ids = [part.content_id for part in parsed.attachments]
    meta = msgspec.json.encode({"attachments": described, "content_ids": content_ids, "truncated": not fits})
    return meta, msgspec.json.encode({**bodies, "attachments": attachments})


def _cut(bodies: dict[str, str | None], max_size: int) -> dict[str, str | None]:
    """Limit the JSON of the bodies to `max_size` bytes: if it is larger, the HTML is dropped and the text cut. Without
    text, the start of the HTML takes its place.
    """
    if len(msgspec.json.encode(bodies)) <= max_size:
        return bodies
    # No character takes more than six bytes in JSON.
    return {"body_text": (bodies["body_text"] or bodies["body_html"] or "")[: max_size // 6], "body_html": None}
