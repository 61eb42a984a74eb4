"""The parts of a full instance: how each is started, and how it is told that it serves."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from pathlib import Path

from mailkeep.mail.places import Places
from mailkeep.mail.render import Facts
from mailkeep.run import configuration, process
from mailkeep.run.child import Command
from mailkeep.run.supervisor import Part
from mailkeep.settings import Settings

ORDER = ("redis", "rspamd", "dovecot", "postfix")
"""The daemons, in the order of their start; our own processes stand between and after them."""

_SECONDS = 2.0
_BEFORE_POSTFIX = ("lmtp", "policy")


def environment(options: Mapping[str, str]) -> Mapping[str, str]:
    """What our own processes get: our environment, and the command line's options as if they stood there."""
    given = {f"MAILKEEP_{key.replace('.', '__').upper()}": text for key, text in options.items()}
    return dict(os.environ) | given


def all_parts(
    settings: Settings, facts: Facts, environ: Mapping[str, str], sockets: Mapping[str, socket.socket]
) -> list[Part]:
    """Every part, in the order of start."""
    own = {
        name: _own(
            name, facts.places, environ, {"keys": ["keys"], "api": ["public", "internal"]}.get(name, []), sockets
        )
        for name in process.present()
    }
    first = [_redis(facts), _rspamd(facts), own.pop("keys"), _dovecot(facts)]
    agents = [own.pop(name) for name in _BEFORE_POSTFIX if name in own]
    return [*first, *agents, _postfix(settings, facts), *own.values()]


def _own(
    name: str,
    places: Places,
    environ: Mapping[str, str],
    names: list[str],
    sockets: Mapping[str, socket.socket],
) -> Part:
    given = {key: sockets[key].fileno() for key in names}
    argv = [sys.executable, "-m", "mailkeep.run.cli", "process", name, "--data-dir", str(places.data)]
    for key, number in given.items():
        argv += ["--socket", f"{key}={number}"]

    async def ready() -> bool:
        try:
            told = int(process.ready_file(places.run, name).read_text("ascii"))
            return Path(f"/proc/{told}").exists()
        except (FileNotFoundError, ValueError):
            return False

    async def prepare() -> None:
        process.ready_file(places.run, name).unlink(missing_ok=True)

    command = Command(argv, places.log / f"{name}.log", environ, tuple(given.values()))
    return Part(name, command, ready, prepare, patience=6.0)


def _redis(facts: Facts) -> Part:
    places = facts.places
    argv = ["setpriv", "--reuid=_rspamd", "--regid=_rspamd", "--clear-groups"]
    argv += ["redis-server", str(places.redis_conf / "redis.conf")]
    return Part("redis", Command(argv, places.log / "redis.log"), partial(answers, places.redis_socket))


def _rspamd(facts: Facts) -> Part:
    places = facts.places
    variables = configuration.rspamd_variables(facts, places.rspamd_conf)
    argv = ["rspamd", "-f", "-u", "_rspamd", "-g", "_rspamd", "-c", configuration.RSPAMD, *variables]
    wanted = (places.scan_socket, places.sign_socket)
    return Part("rspamd", Command(argv, places.log / "rspamd.log"), _all_answer(wanted), _cleared(wanted))


def _dovecot(facts: Facts) -> Part:
    places = facts.places
    argv = ["dovecot", "-F", "-c", str(places.dovecot_conf / "dovecot.conf")]
    wanted = (places.dovecot_lmtp, places.auth_socket)
    return Part("dovecot", Command(argv, places.log / "dovecot.out.log"), _all_answer(wanted))


def _postfix(settings: Settings, facts: Facts) -> Part:
    places = facts.places
    # What `postfix start-fg` runs in the end, but without the shell before it, so that signals reach it.
    argv = ["/usr/lib/postfix/sbin/master", "-s", "-c", str(places.postfix_conf)]
    inner = places.postfix_queue / "public" / "api"

    async def prepare() -> None:
        places.api_smtp.unlink(missing_ok=True)
        places.api_smtp.symlink_to(inner)

    return Part("postfix", Command(argv, places.log / "postfix.out.log"), partial(greets, places.api_smtp), prepare)


async def answers(path: Path) -> bool:
    """Whether somebody takes connections on a Unix socket."""
    try:
        _, writer = await asyncio.wait_for(asyncio.open_unix_connection(path), _SECONDS)
    except (OSError, TimeoutError):
        return False
    writer.close()
    return True


async def greets(path: Path) -> bool:
    """Whether an SMTP server greets on a Unix socket."""
    try:
        async with asyncio.timeout(_SECONDS):
            reader, writer = await asyncio.open_unix_connection(path)
            line = await reader.readline()
            writer.write(b"QUIT\r\n")
            writer.close()
    except (OSError, TimeoutError):
        return False
    return line.startswith(b"220 ")


def _all_answer(paths: tuple[Path, ...]) -> Callable[[], Awaitable[bool]]:
    async def ready() -> bool:
        return all([await answers(path) for path in paths])

    return ready


def _cleared(paths: tuple[Path, ...]) -> Callable[[], Awaitable[None]]:
    """Sockets that a killed run has left would pass for its successor's."""

    async def prepare() -> None:
        for path in paths:
            path.unlink(missing_ok=True)

    return prepare
