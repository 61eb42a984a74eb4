"""`mailkeep up --profile full`: a real mail server; each service is a process under our supervisor.

Order of start: lock, ports, folders, database, schema, first administrator, configuration (rendered and checked), then
in waves: Redis, Rspamd, Dovecot and most of our processes; Postfix; API, worker and sendmail. It stops in the reverse
order within 10 seconds of SIGTERM or SIGINT. SIGHUP checks for a renewed certificate at once (`certificate`).
It writes only to the data directory, the run folder and a cache of compiled patterns, and leaves Debian's own daemons
alone.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import pwd
import signal
import socket
from collections.abc import AsyncGenerator, Mapping, Sequence
from functools import partial
from pathlib import Path

import structlog
import uvloop

from mailkeep import __version__
from mailkeep.core.clock import iso, utc_now
from mailkeep.core.errors import Failure
from mailkeep.core.secret import Vault
from mailkeep.db import postgres
from mailkeep.db.instance import acquire_lock, run_folder, write_atomically
from mailkeep.db.migrate import migrate
from mailkeep.db.postgres_cluster import APP, DOVECOT, POSTFIX, WEBMAIL
from mailkeep.features.access.admins.model import INITIAL_ADMIN_FILE
from mailkeep.mail.daemons.paths import InstancePaths
from mailkeep.mail.daemons.render import DaemonConfig
from mailkeep.mail.smtp import unix_socket
from mailkeep.run.cli import install
from mailkeep.run.profiles.embedded import background, ensure_first_admin, print_banner, print_line
from mailkeep.run.runtime import (
    apply,
    certificate,
    configuration,
    control,
    folders,
    full_restore,
    http,
    logs,
    ports,
    postlog,
    privileges,
    process,
    service_status,
    services,
    state,
    stored_settings,
    tasks,
    upgrade_record,
)
from mailkeep.run.runtime.context import attach, make_data_dir, open_vault
from mailkeep.run.runtime.prefork import PreforkServer
from mailkeep.run.runtime.supervisor import Service, Supervisor
from mailkeep.settings import LoadedSettings, child_environment, load_settings, parse_endpoint

log = structlog.get_logger("mailkeep.full")

# Each process of a daemon has a connection for each of its maps: 67 were measured under load.
_DATABASE = {"max_connections": "400", "shared_buffers": "128MB"}


def run(data_dir: Path, options: Mapping[str, str]) -> int:
    """Run an instance in the foreground until SIGTERM or SIGINT; the exit code."""
    _require_root()
    install.require_installed()
    options = {"mta.mode": "postfix"} | dict(options)
    loaded = load_settings(data_dir, options=options)
    logs.configure(loaded.settings.log.level)
    uvloop.run(_run(data_dir.resolve(), loaded, options))
    return 0


async def _run(data_dir: Path, loaded: LoadedSettings, options: Mapping[str, str]) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for signal_number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(signal_number, stop.set)
    # In a terminal SIGHUP means that the terminal was closed, and stops the instance.
    check_certificate = asyncio.Event()
    loop.add_signal_handler(signal.SIGHUP, stop.set if os.isatty(0) else check_certificate.set)
    async with contextlib.AsyncExitStack() as stack:
        make_data_dir(data_dir)
        stack.callback(acquire_lock(data_dir).release)
        sockets = _listen(loaded, stack)
        vault = open_vault(data_dir, loaded)
        paths = InstancePaths(data_dir, run_folder(data_dir))
        supervisor = Supervisor(paths.run / "pids")
        await supervisor.end_leftovers(["prefork", *services.ORDER, *process.MODULES])
        # Before anything starts; the ports of newer stored settings are checked when the database runs.
        await ports.require_free(stored_settings.load_copy(data_dir, vault, loaded).settings)
        folders.create(paths)  # after leftover processes are gone, which could move files meanwhile
        sockets |= _listen_for_daemons(paths, stack)
        sockets["logins"] = _listen_for_dovecot(data_dir, stack)
        reads_all_files = _warn_if_unreachable()
        admin_line, loaded, revision = await stack.enter_async_context(_database(data_dir, loaded))
        await ports.require_free(settings := loaded.settings)
        stack.callback(folders.remove_runtime_files, paths)
        logins_port = sockets["logins"].getsockname()[1]
        config = await asyncio.to_thread(_install_configuration, loaded, paths, vault, logins_port, revision)
        stack.enter_context(background(postlog.keep_readable(paths.mail_log, pwd.getpwnam(install.ACCOUNT).pw_gid)))
        prefork = PreforkServer(child_environment(options), paths.log / "prefork.log")
        stack.callback(prefork.close)
        stack.push_async_callback(supervisor.stop)
        all_services = services.define_services(config, prefork, sockets, reads_all_files=reads_all_files)
        await _publish_services(supervisor, paths, stack)
        if not await _start_services(supervisor, all_services, stop):
            return
        url, internal = (http.HttpListener.on_socket(sockets[name]).url for name in ("public", "internal"))
        smtp = f"{(settings.server.addresses or ('0.0.0.0',))[0]}:{settings.ports.smtp}"  # noqa: S104 - for display
        state.write(
            data_dir, state.InstanceState(os.getpid(), __version__, iso(utc_now()), url, internal, smtp, "full")
        )
        stack.callback(state.remove, data_dir)
        renewal = certificate.Renewal(settings, paths.tls, partial(services.reload_daemons, paths))
        stack.enter_context(background(renewal.keep_renewing(check_certificate)))
        print_banner(url, smtp, admin_line)
        await stop.wait()
        log.info("Mailkeep is stopping")


def _listen(loaded: LoadedSettings, stack: contextlib.AsyncExitStack) -> dict[str, socket.socket]:
    """The API's listeners, by name."""
    sockets = {
        "public": http.bind(*parse_endpoint(loaded.settings.http.listen), http.API),
        "internal": http.bind_internal(loaded),
    }
    for listening in sockets.values():
        stack.callback(listening.close)
    return sockets


def _listen_for_daemons(paths: InstancePaths, stack: contextlib.AsyncExitStack) -> dict[str, socket.socket]:
    """The sockets that outlive our processes, in folders of `folders.create`: for Rspamd's requests for keys, for the
    messages that Postfix passes to the milter, for the API's requests for child processes that render templates, and
    for nginx's requests to the API.
    """
    clients = {
        "keys": (paths.keys_socket, "_rspamd"),
        "milter": (paths.milter_socket, "postfix"),
        "templates": (paths.templates_socket, install.ACCOUNT),
        "edge": (paths.api_socket, install.EDGE_ACCOUNT),
    }
    sockets: dict[str, socket.socket] = {}
    for name, (path, account) in clients.items():
        sockets[name] = unix_socket.bind_unix_socket(path, 0o660, pwd.getpwnam(account).pw_gid)
        stack.callback(sockets[name].close)
    return sockets


def _listen_for_dovecot(data_dir: Path, stack: contextlib.AsyncExitStack) -> socket.socket:
    """The listener for Dovecot, which reports logins only by HTTP over TCP.

    Its configuration names the port, so the port stays the same at every start as long as it is free.
    """
    file, info = data_dir / configuration.LOGINS_PORT, http.ListenerInfo("The listener for Dovecot's reports of logins")
    try:
        listening = http.bind("127.0.0.1", int(file.read_text("ascii")), info)
    except (OSError, ValueError, Failure):
        listening = http.bind("127.0.0.1", 0, info)
        write_atomically(file, f"{listening.getsockname()[1]}\n", 0o600)
    stack.callback(listening.close)
    return listening


async def _publish_services(supervisor: Supervisor, paths: InstancePaths, stack: contextlib.AsyncExitStack) -> None:
    """Let other processes read the state of the services, and the process `node` start and stop them."""
    stack.callback(service_status.remove, paths.run)
    stack.enter_context(background(service_status.keep_publishing(paths.run, supervisor.state)))
    control_server = await control.serve(paths.control_socket, supervisor)
    stack.callback(control_server.close)


async def _start_services(supervisor: Supervisor, all_services: Sequence[Service], stop: asyncio.Event) -> bool:
    """Start all services; returns False if the instance is asked to stop meanwhile."""
    starting = asyncio.create_task(supervisor.start_all(all_services))
    stopping = asyncio.create_task(stop.wait())
    await asyncio.wait({starting, stopping}, return_when=asyncio.FIRST_COMPLETED)
    stopping.cancel()
    if starting.done():
        await starting
        return True
    starting.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await starting
    return False


@contextlib.asynccontextmanager
async def _database(data_dir: Path, loaded: LoadedSettings) -> AsyncGenerator[tuple[str | None, LoadedSettings, int]]:
    """Run the private database server, migrated; yields the line about the first administrator, and the settings with
    the stored ones and their revision.
    """
    if loaded.settings.database.url:
        raise Failure(
            "The full profile does not support database.url: its daemons connect to the private database by a Unix "
            "socket, authenticated by their system account, so that their configuration has no password. Unset it.",
            permanent=True,
        )
    # The daemons' tools run as root. Only root can seal the audit log (`node`).
    accounts = {
        POSTFIX: ("root", "postfix"),
        DOVECOT: ("root", "dovecot"),
        WEBMAIL: ("root", install.WEBMAIL_ACCOUNT, install.ACCOUNT),
        APP: (install.ACCOUNT,),
    }
    options = postgres.ServerOptions(settings=_DATABASE, accounts=accounts)
    server = await postgres.start(data_dir, options)
    async with contextlib.AsyncExitStack() as stack:
        stack.push_async_callback(server.stop)
        stack.enter_context(background(server.supervise()))
        if server.notice:
            print_line(server.notice)
        await migrate(server.urls.owner, utc_now)
        async with attach(data_dir, "start") as app:
            await apply.recover_at_start(app, InstancePaths(data_dir, run_folder(data_dir)))
            if line := await full_restore.complete_at_start(app, run_folder(data_dir) / "pg"):
                print_line(line)
            await upgrade_record.settle_at_start(app)
            async with app.db.tx() as conn:
                loaded, revision = await stored_settings.apply_newest(conn, data_dir, app.vault, loaded)
                app.settings = loaded.settings
                logs.set_level(app.settings.log.level)
                await tasks.prepare(app, conn)
            admin_line = await ensure_first_admin(app, loaded.first_start)
        folders.change_owner(data_dir / INITIAL_ADMIN_FILE, pwd.getpwnam(install.ACCOUNT))
        yield admin_line, loaded, revision


def _install_configuration(
    loaded: LoadedSettings, paths: InstancePaths, vault: Vault, logins_port: int, revision: int
) -> DaemonConfig:
    """Install the certificate and the daemons' configuration; `revision` is that of the stored settings."""
    settings, at = loaded.settings, utc_now()
    certificate.install(settings, paths.tls, settings.server.name, at)
    config = configuration.make_config(paths, settings, vault, logins_port)
    configuration.install(settings, config, revision, at)
    return config


def _warn_if_unreachable() -> bool:
    """Warn if the account of our processes can't reach the program; True then: they may read all files."""
    unreachable = privileges.find_unreachable(install.ACCOUNT)
    if unreachable:
        print_line(
            f"The account {install.ACCOUNT} can't reach {unreachable}: its processes keep the right to read all files. "
            "To avoid that, put the program where all accounts can read it, such as /opt/mailkeep, with the system's "
            "Python."
        )
    return unreachable is not None


def _require_root() -> None:
    if os.geteuid() != 0:
        raise Failure("Run the full profile as root: its daemons switch to their own accounts.", permanent=True)
