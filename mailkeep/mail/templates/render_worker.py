"""The child process of `render_process`: renders templates, one at a time.

It opens no file (Landlock), socket or program, has no environment, and is not root (`core.confinement`). It ends when
its socket closes, and when a template takes more CPU time or elapsed time than it may.
"""

from __future__ import annotations

import importlib
import resource
import signal
import socket

import msgspec

from mailkeep.core.confinement import confine, limit_cpu_time
from mailkeep.core.landlock import restrict_files
from mailkeep.mail.templates.exchange import LENGTH, RenderRequest, RenderResult, TemplateProblem, TemplateSource
from mailkeep.mail.templates.render import CompiledTemplate, RenderFailure, check

_MAX_KEPT = 4 << 20  # characters of the sources whose compiled templates are kept
_SECONDS = 5.0  # elapsed, for each template
# What Jinja2 and Python import late, for which they would open a file.
_LATE_MODULES = (
    "encodings.latin_1",
    "encodings.unicode_escape",
    "jinja2.debug",
    "jinja2.ext",
    "json",
    "linecache",
    "pprint",
    "random",
)


def main(descriptor: int, cpu_seconds: int, memory: int) -> None:
    """Serve the socket with this file descriptor; `memory` in bytes, `cpu_seconds` for each template."""
    for name in _LATE_MODULES:
        importlib.import_module(name)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    restrict_files((), ())
    confine(memory)
    resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))
    signal.signal(signal.SIGALRM, signal.SIG_DFL)  # ends the process
    templates = _KeptTemplates()
    decoder, encoder = msgspec.msgpack.Decoder(RenderRequest), msgspec.msgpack.Encoder()
    with socket.socket(fileno=descriptor) as channel, channel.makefile("rwb") as stream:
        stream.write(LENGTH.pack(0))
        stream.flush()
        is_last = False
        while not is_last and (head := stream.read(LENGTH.size)):
            request = decoder.decode(stream.read(LENGTH.unpack(head)[0]))
            limit_cpu_time(cpu_seconds)
            signal.setitimer(signal.ITIMER_REAL, _SECONDS)
            try:
                result = _answer(request, templates)
                content = encoder.encode(result)
            except MemoryError:
                problem = TemplateProblem("", "takes too much memory")
                content, is_last = encoder.encode(RenderResult(problems=[problem], is_last=True)), True
            except UnicodeEncodeError:
                content = encoder.encode(RenderResult(problems=[TemplateProblem("", "contains half of a character")]))
            signal.setitimer(signal.ITIMER_REAL, 0)
            stream.write(LENGTH.pack(len(content)) + content)
            stream.flush()


def _answer(request: RenderRequest, templates: _KeptTemplates) -> RenderResult:
    if request.variables is None:
        return check(request.source) if request.source else RenderResult(needs_source=True)
    try:
        compiled = templates.find(request.key, request.source)
    except RenderFailure as failure:
        return RenderResult(problems=[failure.problem])
    return compiled.render(request.variables) if compiled else RenderResult(needs_source=True)


class _KeptTemplates:
    """Compiled templates by key; the least recently used ones are dropped."""

    def __init__(self) -> None:
        self._by_key: dict[str, tuple[CompiledTemplate, int]] = {}
        self._size = 0

    def find(self, key: str | None, source: TemplateSource | None) -> CompiledTemplate | None:
        """The compiled template; compiles `source` if the key is new. None without a source."""
        if key is not None and (entry := self._by_key.pop(key, None)):
            self._by_key[key] = entry
            return entry[0]
        if source is None:
            return None
        compiled = CompiledTemplate(source)
        if key is not None:
            size = sum(len(text or "") for text in (source.subject, source.text_body, source.html_body))
            self._by_key[key] = compiled, size
            self._size += size
            while self._size > _MAX_KEPT:
                self._size -= self._by_key.pop(next(iter(self._by_key)))[1]
        return compiled
