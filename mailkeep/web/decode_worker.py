"""The child process of `decode_process`: decodes large bodies one after the other, within limits of time and memory.

A request has the size of the body, the name of its type and the body's file descriptor. A response has a status, a size
and the descriptor of a memory file with a pickle: the decoded body or the refusal. Large strings stay in the body; the
pickle has their offsets. The process ends when the socket is closed.
"""

from __future__ import annotations

import importlib
import io
import mmap
import os
import pickle
import socket
import struct
import sys
from functools import cache
from typing import Any

from mailkeep.core.confinement import confine, limit_cpu_time
from mailkeep.core.errors import InvalidJson, Refusal
from mailkeep.web.decode import read_json
from mailkeep.web.fields import OneOf
from mailkeep.web.string_views import StringView

REQUEST = struct.Struct(">QH")  # the body's size, and of the name that follows
ANSWER = struct.Struct(">cQ")  # status, the pickle's size
DECODED, REFUSED = b"+", b"-"
NAME_BYTES = 4096


def main(socket_number: int, cpu_seconds: int, memory: int, *modules: str) -> None:
    """Serve the socket with the descriptor `socket_number`; `cpu_seconds` per body, `memory` in bytes.

    `modules` define the types of bodies; they are imported before the process is confined.
    """
    for name in modules:
        importlib.import_module(name)
    confine(memory)
    with socket.socket(fileno=socket_number) as channel:
        while True:
            request, descriptors, _, _ = socket.recv_fds(channel, REQUEST.size + NAME_BYTES, 1)
            if len(request) < REQUEST.size or not descriptors:
                return
            size, length = REQUEST.unpack_from(request)
            name = request[REQUEST.size : REQUEST.size + length].decode()
            limit_cpu_time(cpu_seconds)
            _answer(channel, descriptors[0], size, name)


def _answer(channel: socket.socket, descriptor: int, size: int, name: str) -> None:
    try:
        status, content = _decode(descriptor, size, name)
    except MemoryError:
        status, content = REFUSED, pickle.dumps(InvalidJson("The body takes too much memory to decode."))
    finally:
        os.close(descriptor)
    file = os.memfd_create("decoded", os.MFD_CLOEXEC)
    try:
        view = memoryview(content)
        while view:
            view = view[os.write(file, view) :]
        socket.send_fds(channel, [ANSWER.pack(status, len(content))], [file])
    finally:
        os.close(file)


def _decode(descriptor: int, size: int, name: str) -> tuple[bytes, bytes | memoryview]:
    body = mmap.mmap(descriptor, size, prot=mmap.PROT_READ)
    buffer = io.BytesIO()
    try:
        _Pickler(buffer, pickle.HIGHEST_PROTOCOL).dump(read_json(body, resolve_type(name)))
    except Refusal as refusal:
        return REFUSED, pickle.dumps(refusal)
    return DECODED, buffer.getbuffer()


class _Pickler(pickle.Pickler):
    def persistent_id(self, obj: Any) -> Any:
        """A string view is pickled as its offset in the body."""
        return (obj.start, len(obj.raw), obj.plain) if isinstance(obj, StringView) else None


def type_name(into: Any) -> str:
    """The name of a body's type (a struct, a `OneOf` or None) in a request; `resolve_type` is the inverse."""
    kinds = into.variants if isinstance(into, OneOf) else () if into is None else (into,)
    joined = ",".join(f"{kind.__module__}:{kind.__qualname__}" for kind in kinds)
    return f"|{joined}" if isinstance(into, OneOf) else joined


@cache
def resolve_type(name: str) -> Any:
    """The type for a name from `type_name`; its module must be imported."""
    if not name:
        return None
    kinds = tuple(_find_type(each) for each in name.removeprefix("|").split(","))
    return OneOf(kinds) if name.startswith("|") else kinds[0]


def _find_type(name: str) -> Any:
    module, _, qualified = name.partition(":")
    value: Any = sys.modules[module]
    for part in qualified.split("."):
        value = getattr(value, part)
    return value
