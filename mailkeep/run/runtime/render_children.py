"""Starts the child processes that render templates for the API, as the account `nobody` (full profile).

The API has an account that can read mail and reach the database, and can't give it up for a child. So the process
`node`, which is root, starts the children; each serves one connection of the API, and ends with it. They inherit
nothing else: their environment is empty, and they run a program of their own.
"""

from __future__ import annotations

import asyncio
import socket
import subprocess

import structlog

from mailkeep.core.child_process import start_worker
from mailkeep.mail.templates.render_process import WORKER, RenderLimits

log = structlog.get_logger("mailkeep.node")

_MAX_CHILDREN = 16
_CHECK_SECONDS = 1.0


class RenderChildren:
    """The children of this process that render."""

    def __init__(self, listening: socket.socket, limits: RenderLimits | None = None) -> None:
        """Only the API may connect to the socket `listening`."""
        self._listening, self._limits = listening, limits or RenderLimits()
        self._children: list[subprocess.Popen[bytes]] = []

    async def run(self) -> None:
        """Start a child for each connection, until cancelled; then end them."""
        loop = asyncio.get_running_loop()
        self._listening.setblocking(False)
        try:
            while True:
                await self._wait_for_room()
                try:
                    channel, _ = await loop.sock_accept(self._listening)
                    with channel:
                        channel.setblocking(True)
                        self._children.append(await asyncio.to_thread(self._start, channel.fileno()))
                except OSError as error:
                    log.warning("a process that renders templates was not started", why=str(error))
                    await asyncio.sleep(_CHECK_SECONDS)
        finally:
            for child in self._children:
                child.kill()

    async def _wait_for_room(self) -> None:
        while True:
            self._children = [child for child in self._children if child.poll() is None]
            if len(self._children) < _MAX_CHILDREN:
                return
            await asyncio.sleep(_CHECK_SECONDS)

    def _start(self, descriptor: int) -> subprocess.Popen[bytes]:
        return start_worker(WORKER, descriptor, str(self._limits.cpu_seconds), str(self._limits.memory))
