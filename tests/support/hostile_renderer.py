"""A child process for rendering in which a template has taken over the interpreter: it reports what it could do."""

from __future__ import annotations

import ctypes
import json
import os
import socket
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mailkeep.mail.templates import render_worker
from mailkeep.mail.templates.exchange import RenderRequest, RenderResult


def main(descriptor: int, cpu_seconds: int, memory: int) -> None:
    render_worker._answer = attack
    render_worker.main(descriptor, cpu_seconds, memory)


def attack(request: RenderRequest, _templates: Any) -> RenderResult:
    """Try everything; `variables` has the paths and addresses."""
    assert request.variables is not None
    secret, host, port = (request.variables[name] for name in ("secret", "host", "port"))
    attempts: dict[str, Callable[[], Any]] = {
        "secret": Path(secret).read_text,
        "file_url": lambda: urllib.request.urlopen(f"file://{secret}").read(),
        "etc": Path("/etc/hostname").read_text,
        "list": lambda: list(Path("/").iterdir()),
        "environ_file": Path("/proc/self/environ").read_bytes,
        "parent_environ": Path(f"/proc/{os.getppid()}/environ").read_bytes,
        "write": Path(f"{secret}.written").touch,
        "remove": Path(secret).unlink,
        "socket": socket.socket,
        "tcp": lambda: socket.create_connection((host, port), 2),
        "metadata": lambda: urllib.request.urlopen("http://169.254.169.254/latest/meta-data/", timeout=2).read(),
        "unix": lambda: socket.socket(socket.AF_UNIX),
        "run": lambda: os.execv("/bin/true", ["true"]),
        "fork": _fork,
        "kill": lambda: os.kill(os.getppid(), 0),
        "root": lambda: os.setuid(0),
        "trace": _trace,
    }
    report: dict[str, Any] = {"environ": dict(os.environ), "uid": os.geteuid(), "files": _open_files()}
    for name, do in attempts.items():
        try:
            report[name] = f"done: {do()!r}"
        except Exception:  # noqa: BLE001 - also modules that can't be imported any more
            report[name] = "refused"
    return RenderResult(subject="report", text_body=json.dumps(report))


def _fork() -> None:
    if os.fork() == 0:
        os._exit(0)


def _trace() -> None:
    if ctypes.CDLL(None, use_errno=True).ptrace(16, os.getppid(), 0, 0) != 0:  # PTRACE_ATTACH
        raise PermissionError


def _open_files() -> int:
    """The number of open files, besides the three standard ones."""
    count = 0
    for descriptor in range(3, 1024):
        try:
            os.fstat(descriptor)
            count += 1
        except OSError:
            pass
    return count
