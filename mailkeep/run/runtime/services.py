"""The services of a full instance: how each is started, and how the supervisor sees that it is ready."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import dns.asyncquery
import dns.exception
import dns.message
import structlog

from mailkeep.mail.daemons import nginx, tool
from mailkeep.mail.daemons.paths import InstancePaths
from mailkeep.mail.daemons.render import DaemonConfig
from mailkeep.mail.daemons.webmail import PORTS
from mailkeep.mail.dovecot import dict as dovecot_dict, script_server
from mailkeep.mail.postfix import queue as postfix_queue
from mailkeep.run.cli import install
from mailkeep.run.runtime import antivirus, checks, edge_sites, filter_parts, generations, privileges, process, webmail
from mailkeep.run.runtime.child import ENVIRONMENT, Child, Command, spawn
from mailkeep.run.runtime.postlog import PostlogWatch
from mailkeep.run.runtime.prefork import ForkedProcess, ForkRequest, PreforkServer
from mailkeep.run.runtime.supervisor import Service, prepare_nothing, tolerate

log = structlog.get_logger("mailkeep.services")

ORDER = ("redis", "unbound", "clamd", "freshclam", "rspamd", "dovecot", "postfix", "php-fpm", "nginx")
"""The daemons in the order of their start; our own processes start between and after them."""

_TIMEOUT_SECONDS = 2.0
# Longer than a busy machine, or a large message, keeps a process of the filter from answering.
_HUNG_SECONDS = 60.0
# Services start in this order: the prefork server, what Postfix needs, Postfix, the processes that accept requests.
_PREFORK_WAVE, _BACKEND_WAVE, _POSTFIX_WAVE, _FRONTEND_WAVE = 0, 1, 2, 3
_FRONTENDS = ("api", "worker", "sendmail", "webmail")
# `node` and `backup` need root for the daemons' tools and other accounts' files. The others run as our own account;
# those that submit mail with the group that may enter the folder of Postfix's sockets.
_AS_ROOT = ("node", "backup")
_GROUPS = {name: ["postdrop"] for name in ("api", "lmtp", "reinjection", "sendmail", "worker")}
_GROUPS["webmail"] = ["postdrop", install.EDGE_ACCOUNT]  # for the API's Unix socket too
_SOCKETS = {
    "keys": ["keys"],
    "milter": ["milter"],
    "usage": ["logins"],
    "node": ["templates"],
    "api": ["public", "edge", "internal"],
    "webmail": list(PORTS),
}


def define_services(
    config: DaemonConfig, prefork: PreforkServer, sockets: Mapping[str, socket.socket], *, reads_all_files: bool
) -> list[Service]:
    """All services. `reads_all_files`: our own processes keep the right to read every file (`privileges`)."""
    first = Service("prefork", _PREFORK_WAVE, prefork.launch, config.paths.log / "prefork.log", prefork.is_ready)
    define_daemons = (_define_redis, _define_unbound, _define_rspamd, _define_dovecot, _define_postfix, _define_nginx)
    daemons = [define(config) for define in define_daemons]
    daemons += antivirus.define_services(config.paths, _BACKEND_WAVE)
    network = webmail.WebmailNetwork(config.paths)
    daemons.append(webmail.define_php(network, _FRONTEND_WAVE))
    own = [
        _define_process(name, config.paths, prefork, _Sockets(sockets, network), reads_all_files)
        for name in process.list_names()
    ]
    return [first, *daemons, *own]


@dataclass(frozen=True, slots=True)
class _Sockets:
    """The sockets that our processes inherit. Those in the webmail's network are created when they are needed."""

    always: Mapping[str, socket.socket]
    network: webmail.WebmailNetwork

    def find(self, process_name: str) -> Mapping[str, socket.socket]:
        return self.network.open()[1] if process_name == "webmail" else self.always


def _define_process(
    name: str, paths: InstancePaths, prefork: PreforkServer, sockets: _Sockets, reads_all_files: bool
) -> Service:
    socket_names = _SOCKETS.get(name, [])
    output = paths.log / f"{name}.log"
    credentials = None
    if name not in _AS_ROOT:
        groups = _GROUPS.get(name, [])
        credentials = privileges.find_credentials(install.ACCOUNT, groups, reads_all_files=reads_all_files)
    request = ForkRequest(name, str(paths.data), str(output), socket_names, credentials)

    async def launch() -> ForkedProcess:
        available = sockets.find(name)
        return await prefork.fork(request, [available[key] for key in socket_names])

    async def ready() -> bool:
        pid = process.find_ready_pid(paths.run, name)
        return pid is not None and Path(f"/proc/{pid}").exists()

    async def prepare() -> None:
        process.ready_file(paths.run, name).unlink(missing_ok=True)

    async def usage_answers() -> bool:
        return not await dovecot_dict.is_unresponsive(paths.usage_socket)

    async def learner_answers() -> bool:
        return not await script_server.is_unresponsive(paths.learn_socket)

    wave = _FRONTEND_WAVE if name in _FRONTENDS else _BACKEND_WAVE
    # Dovecot sessions wait for these processes if they hang: those that change a mailbox up to half a minute for
    # `usage`, those that move mail to Junk or out of it two seconds a message for `learner`.
    hang_checks = {"usage": usage_answers, "learner": learner_answers} | {
        each: tolerate(partial(filter_parts.does_not_hang, paths, each), _HUNG_SECONDS) for each in ("keys", "policy")
    }
    is_alive = hang_checks.get(name)
    is_on = partial(generations.is_on, paths, name)
    return Service(name, wave, launch, output, ready, prepare, is_alive, is_on, stop_seconds=6.0)


def _define_daemon(
    name: str,
    argv: Sequence[str],
    output: Path,
    is_ready: Callable[[], Awaitable[bool]],
    prepare: Callable[[], Awaitable[None]] = prepare_nothing,
) -> Service:
    async def launch() -> Child:
        return spawn(Command(argv, output, ENVIRONMENT))

    return Service(name, _BACKEND_WAVE, launch, output, is_ready, prepare)


def _define_redis(config: DaemonConfig) -> Service:
    paths = config.paths
    argv = ["setpriv", "--reuid=_rspamd", "--regid=_rspamd", "--clear-groups"]
    argv += ["redis-server", str(paths.redis_conf / "redis.conf")]
    return _define_daemon("redis", argv, paths.log / "redis.log", partial(accepts_connections, paths.redis_socket))


def _define_unbound(config: DaemonConfig) -> Service:
    paths = config.paths
    file = paths.unbound_conf / "unbound.conf"
    is_ready = partial(_resolves, paths.own_address)
    # It drops root itself, after it has bound port 53.
    service = _define_daemon("unbound", ["unbound", "-d", "-c", str(file)], paths.log / "unbound.log", is_ready)
    return replace(service, is_alive=is_ready, is_on=partial(generations.is_on, paths, "unbound"))


async def _resolves(address: str) -> bool:
    """Whether a resolver answers for a name that it knows itself, so that no other server is asked."""
    query = dns.message.make_query("localhost.", "A")
    try:
        await dns.asyncquery.udp(query, address, timeout=_TIMEOUT_SECONDS)
    except (OSError, dns.exception.DNSException):
        return False
    return True


def _define_rspamd(config: DaemonConfig) -> Service:
    paths = config.paths
    variables = checks.rspamd_variables(config)
    argv = ["rspamd", "-f", "-u", "_rspamd", "-g", "_rspamd", "-c", checks.RSPAMD, *variables]
    sockets = (paths.scan_socket, paths.sign_socket)
    service = _define_daemon("rspamd", argv, paths.log / "rspamd.log", _all_accept(sockets), _remove_sockets(sockets))
    return replace(service, is_alive=tolerate(partial(filter_parts.does_not_hang, paths, "rspamd"), _HUNG_SECONDS))


def _define_dovecot(config: DaemonConfig) -> Service:
    paths = config.paths
    argv = ["dovecot", "-F", "-c", str(paths.dovecot_conf / "dovecot.conf")]
    sockets = (paths.dovecot_lmtp, paths.dovecot_lmtp_verified, paths.auth_socket)
    return _define_daemon("dovecot", argv, paths.log / "dovecot.out.log", _all_accept(sockets))


def _define_postfix(config: DaemonConfig) -> Service:
    paths = config.paths
    # The command that `postfix start-fg` runs, without its shell, so that signals reach it.
    argv = ["/usr/lib/postfix/sbin/master", "-s", "-c", str(paths.postfix_conf)]
    watch = PostlogWatch(paths)
    sockets = {
        paths.api_smtp: "api",
        paths.reinjection_smtp: "reinjection",
        paths.system_smtp: "system",
        paths.returned_smtp: "returned",
        paths.webmail_smtp: "webmail",
    }

    async def prepare() -> None:
        for link, service in sockets.items():
            link.unlink(missing_ok=True)
            link.symlink_to(paths.postfix_queue / "public" / service)
        watch.reset()

    output, is_ready = paths.log / "postfix.out.log", partial(sends_greeting, paths.api_smtp)
    service = _define_daemon("postfix", argv, output, is_ready, prepare)
    return replace(service, wave=_POSTFIX_WAVE, log=paths.mail_log, is_alive=watch.is_alive)  # errors are in mail.log


def _define_nginx(config: DaemonConfig) -> Service:
    paths = config.paths
    file = paths.conf("nginx") / "nginx.conf"

    async def is_ready() -> bool:
        return all([await accepts_tcp(*each) for each in nginx.list_listeners(file.parent)])

    # Messages about the start go to standard error too.
    argv = ["nginx", "-c", str(file), "-e", "stderr", "-g", "daemon off;"]
    service = _define_daemon("nginx", argv, paths.log / "nginx.log", is_ready)
    return replace(service, wave=_FRONTEND_WAVE, is_on=partial(generations.is_on, paths, "nginx"))


async def accepts_tcp(host: str, port: int) -> bool:
    """Whether a TCP port accepts connections."""
    try:
        _, writer = await asyncio.wait_for(asyncio.open_connection(host, port), _TIMEOUT_SECONDS)
    except (OSError, TimeoutError):
        return False
    writer.close()
    return True


async def reload_daemons(paths: InstancePaths) -> None:
    """Reload Postfix, Dovecot and nginx; failures are logged. A daemon that is just starting needs no reload."""
    reloads = {
        "postfix": postfix_queue.reload(paths.postfix_conf),
        "dovecot": tool.run("doveadm", "-c", str(paths.dovecot_conf / "dovecot.conf"), "reload"),
        "nginx": asyncio.to_thread(edge_sites.reload, paths),
    }
    for name, result in zip(reloads, await asyncio.gather(*reloads.values(), return_exceptions=True), strict=True):
        if isinstance(result, BaseException):
            log.warning("a daemon was not reloaded", service=name, why=str(result))


async def accepts_connections(path: Path) -> bool:
    """Whether a Unix socket accepts connections."""
    try:
        _, writer = await asyncio.wait_for(asyncio.open_unix_connection(path), _TIMEOUT_SECONDS)
    except (OSError, TimeoutError):
        return False
    writer.close()
    return True


async def sends_greeting(path: Path) -> bool:
    """Whether an SMTP or LMTP server on a Unix socket sends its greeting."""
    try:
        async with asyncio.timeout(_TIMEOUT_SECONDS):
            reader, writer = await asyncio.open_unix_connection(path)
            line = await reader.readline()
            writer.write(b"QUIT\r\n")
            writer.close()
    except (OSError, TimeoutError):
        return False
    return line.startswith(b"220 ")


def _all_accept(paths: tuple[Path, ...]) -> Callable[[], Awaitable[bool]]:
    async def ready() -> bool:
        return all([await accepts_connections(path) for path in paths])

    return ready


def _remove_sockets(paths: tuple[Path, ...]) -> Callable[[], Awaitable[None]]:
    """Remove the sockets of a killed process, which would make the next one look ready too early."""

    async def prepare() -> None:
        for path in paths:
            path.unlink(missing_ok=True)

    return prepare
