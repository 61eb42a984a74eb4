"""The child process of `parse_process`: parses messages, one at a time, with limits on time and memory, and confined
(`core.confinement`): not root, without access to database, network or secrets.

It receives a file descriptor over a Unix socket for each message. The response is a status and two parts: metadata
(JSON), and the content (JSON, or the bytes of a single attachment). It ends when the socket closes.
"""

from __future__ import annotations

import encodings
import importlib
import math
import os
import pkgutil
import resource
import socket
import struct
import warnings
from base64 import b64encode
from contextlib import suppress
from typing import Any

import msgspec

from mailkeep.core.confinement import confine

REQUEST = struct.Struct(">QQq")  # the message's size, the most bytes of content to answer with, which attachment
WHOLE = -1  # no single attachment
ANSWER = struct.Struct(">cQQ")  # status, lengths of the two texts
DONE, UNPARSABLE = b"+", b"-"


def main(number: int, cpu_seconds: int, memory: int) -> None:
    """Serve the socket with this file descriptor; `memory` in bytes, `cpu_seconds` for each message."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    from mailkeep.mail.message.parse import UnparsableMessage, parse

    _load_codecs()  # afterwards the process may not be able to read them
    confine(memory)
    with socket.socket(fileno=number) as channel:
        while True:
            request, descriptors, _, _ = socket.recv_fds(channel, REQUEST.size, 1)
            if len(request) < REQUEST.size or not descriptors:
                return
            size, most, number = REQUEST.unpack(request)
            _allow(cpu_seconds)
            with open(descriptors[0], "rb") as file:  # noqa: PTH123 - a descriptor, not a path
                content = os.pread(file.fileno(), size, 0)
            try:
                parsed = parse(content)
                meta, text = _texts(parsed, most) if number == WHOLE else _attachment(parsed.attachments, number)
                status = DONE
            except UnparsableMessage as error:
                meta, text, status = str(error).encode(), b"", UNPARSABLE
            except MemoryError:
                meta, text, status = b"too large for the memory at hand", b"", UNPARSABLE
            channel.sendall(ANSWER.pack(status, len(meta), len(text)))
            channel.sendall(meta)
            channel.sendall(text)


def _load_codecs() -> None:
    """Every charset that a message may name, and what the library imports late."""
    for found in pkgutil.iter_modules(encodings.__path__):
        with suppress(ImportError):  # some are of other systems
            importlib.import_module(f"encodings.{found.name}")
    for name in ("base64", "binascii", "email._header_value_parser", "email.generator", "quopri", "uu"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            importlib.import_module(name)


def _allow(cpu_seconds: int) -> None:
    """Grant more CPU time; the kernel kills the process when it is used up."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(used.ru_utime + used.ru_stime) + cpu_seconds, hard))


def _attachment(attachments: list[Any], number: int) -> tuple[bytes, bytes]:
    """One attachment (from 0): what it is, null where there is no such one or its encoding is broken; and its bytes."""
    part = attachments[number] if number < len(attachments) else None
    if part is None or part.content is None:
        return b"null", b""
    return msgspec.json.encode({"filename": part.filename, "size": len(part.content)}), part.content


def _texts(parsed: Any, most: int) -> tuple[bytes, bytes]:
    """What the attachments are, and the content, of at most `most` bytes, with what does not fit left out."""
    whole = [(part, b64encode(part.content or b"")) for part in parsed.attachments]
    bodies = {"body_text": parsed.text, "body_html": parsed.html}
    room = most - len(msgspec.json.encode(bodies)) - sum(len(encoded) + 2 for _, encoded in whole)
    described = [
        {"filename": part.filename, "content_type": part.content_type, "size": part.size} for part in parsed.attachments
    ]
    fits = room - len(msgspec.json.encode(described)) - 40 * len(whole) - 200 > 0
    if not fits:
        bodies = _cut(bodies, most // 2)
    attachments: list[dict[str, Any]] = [
        about | {"content_base64": encoded.decode() if fits and part.content is not None else None}
        for about, (part, encoded) in zip(described, whole, strict=True)
    ]
    content_ids = [part.content_id for part in parsed.attachments]
    meta = msgspec.json.encode({"attachments": described, "content_ids": content_ids, "truncated": not fits})
    return meta, msgspec.json.encode({**bodies, "attachments": attachments})


def _cut(bodies: dict[str, str | None], most: int) -> dict[str, str | None]:
    """Bodies whose JSON has at most `most` bytes: as they are, else without the HTML and with what fits of the text."""
    if len(msgspec.json.encode(bodies)) <= most:
        return bodies
    # No character takes more than six bytes in JSON.
    return {"body_text": (bodies["body_text"] or bodies["body_html"] or "")[: most // 6], "body_html": None}
