"""Runs the daemons' command-line tools: no shell, a minimal environment, a timeout."""

from __future__ import annotations

import asyncio
import tempfile

from mailkeep.core.errors import Failure

_SECONDS = 60.0
_ENVIRONMENT = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8"}


async def run(*argv: str, content: str = "") -> bytes:
    """Run a tool with `content` on standard input and return its output. Raises Failure with its last error line."""
    # A file, because writing to a pipe fails if the tool has already ended.
    with tempfile.TemporaryFile() as stdin:
        stdin.write(content.encode())
        stdin.seek(0)
        process = await asyncio.create_subprocess_exec(
            *argv,
            stdin=stdin,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=_ENVIRONMENT,
            cwd="/",
        )
    try:
        async with asyncio.timeout(_SECONDS):
            output, errors = await process.communicate()
    except TimeoutError:
        process.kill()
        await process.wait()
        raise Failure(f"{argv[0]} took longer than {_SECONDS:g} s") from None
    if process.returncode != 0:
        lines = errors.decode("utf-8", "replace").strip().splitlines()
        raise Failure(
            f"{argv[0]} failed with status {process.returncode}: {lines[-1] if lines else 'no error message'}"
        )
    return output
