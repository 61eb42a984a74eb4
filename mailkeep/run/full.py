"""`mailkeep up --profile full`: a real mail server, each part a process of its own under our supervision.

Order of start: lock, ports, folders, database, schema, first administrator, configuration (rendered and checked), then
in waves Redis, Rspamd, the listener of keys, Dovecot and the agents; Postfix; API and worker. It ends in the reverse
order within 10 seconds of SIGTERM or SIGINT. Nothing is written outside the data directory, the run folder and a cache
of compiled patterns, and no daemon of Debian's own is touched.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import pwd
import secrets
import shutil
import signal
import socket
from collections.abc import AsyncGenerator, Mapping, Sequence
from pathlib import Path

import structlog
import uvloop

from mailkeep import __version__
from mailkeep.core.clock import iso, utc_now
from mailkeep.core.errors import Failure
from mailkeep.db import postgres
from mailkeep.db.instance import acquire_lock, own_folder, run_folder, write_whole
from mailkeep.db.migrate import migrate
from mailkeep.db.mta_role import grant
from mailkeep.db.partitions import ensure_partitions
from mailkeep.db.postgres_cluster import DATABASE, Account, can_reach
from mailkeep.mail.places import Places
from mailkeep.mail.render import HYPERSCAN_CACHE, Facts
from mailkeep.run import certificate, configuration, http, install, keys, logs, parts, process, state
from mailkeep.run.nursery import Nursery
from mailkeep.run.supervisor import Part, Supervisor
from mailkeep.run.toolbox import attached, make_data_dir, open_vault
from mailkeep.run.up import background, banner, first_admin, say
from mailkeep.settings import Loaded, endpoint, environment, load

log = structlog.get_logger("mailkeep.full")

# The daemons keep connections of their own: one for each map and process, 67 were seen under load.
_DATABASE = {"max_connections": "400", "shared_buffers": "128MB"}
_DAEMONS = ("postfix", "dovecot", "_rspamd", install.MAIL_ACCOUNT)


def run(data_dir: Path, options: Mapping[str, str]) -> int:
    """Run an instance in the foreground until it is told to end; the exit code."""
    _expect_root()
    install.expect_installed()
    options = {"mta.mode": "postfix"} | dict(options)
    loaded = load(data_dir, options=options)
    logs.configure(loaded.settings.log.level)
    uvloop.run(_run(data_dir.resolve(), loaded, options))
    return 0


async def _run(data_dir: Path, loaded: Loaded, options: Mapping[str, str]) -> None:
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, ended.set)
    async with contextlib.AsyncExitStack() as stack:
        make_data_dir(data_dir)
        stack.callback(acquire_lock(data_dir).release)
        settings = loaded.settings
        sockets = {
            "public": http.bind(*endpoint(settings.http.listen), "The API"),
            "internal": http.bind(*endpoint(settings.http.internal), "The internal listener"),
            "keys": http.bind("127.0.0.1", 0, "The listener of keys"),
        }
        for listening in sockets.values():
            stack.callback(listening.close)
        open_vault(data_dir, loaded)
        places = Places(data_dir, run_folder(data_dir))
        make_folders(places)
        supervisor = Supervisor(places.run / "pids")
        await supervisor.end_leftovers(["nursery", *parts.ORDER, *process.MODULES])
        first = await stack.enter_async_context(_database(data_dir, loaded))
        stack.callback(_sweep, places)
        facts = find_facts(places, loaded, sockets["keys"])
        await asyncio.to_thread(configuration.put_in_place, settings, facts)
        nursery = Nursery(environment(options), places.log / "nursery.log")
        stack.callback(nursery.close)
        stack.push_async_callback(supervisor.stop)
        if not await _started(supervisor, parts.all_parts(settings, facts, nursery, sockets), ended):
            return
        url = http.HttpListener.on(sockets["public"]).url
        internal = http.HttpListener.on(sockets["internal"]).url
        address = f"{(settings.server.addresses or ('0.0.0.0',))[0]}:{settings.ports.smtp}"  # noqa: S104 - told, not bound
        state.write(data_dir, state.State(os.getpid(), __version__, iso(utc_now()), url, internal, address, "full"))
        stack.callback(state.remove, data_dir)
        banner(url, address, first)
        await ended.wait()
        log.info("ending")


async def _started(supervisor: Supervisor, all_parts: Sequence[Part], ended: asyncio.Event) -> bool:
    """Start all parts; False where we are told to end meanwhile."""
    starting = asyncio.create_task(supervisor.start_all(all_parts))
    told = asyncio.create_task(ended.wait())
    await asyncio.wait({starting, told}, return_when=asyncio.FIRST_COMPLETED)
    told.cancel()
    if starting.done():
        await starting
        return True
    starting.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await starting
    return False


@contextlib.asynccontextmanager
async def _database(data_dir: Path, loaded: Loaded) -> AsyncGenerator[str | None]:
    """The private server with the daemons' role, migrated; what to tell of the first administrator."""
    if loaded.settings.database.url:
        raise Failure("The full profile brings its database along: unset database.url.", permanent=True)
    accounts = ("root", "postfix", "dovecot")
    server = await postgres.start(data_dir, postgres.Options(settings=_DATABASE, mta_accounts=accounts))
    async with contextlib.AsyncExitStack() as stack:
        stack.push_async_callback(server.stop)
        stack.enter_context(background(server.supervise()))
        if server.notice:
            say(server.notice)
        await migrate(server.urls.owner, utc_now)
        await grant(server.urls.owner)
        async with attached(data_dir, "start") as app:
            async with app.db.tx() as conn:
                await ensure_partitions(conn, app.clock())
            first = await first_admin(app, loaded.first_start)
        yield first


def make_folders(places: Places) -> None:
    """The folders of all parts, each for who needs it; Failure where a daemon's account can't get there."""
    postfix, rspamd = pwd.getpwnam("postfix"), pwd.getpwnam("_rspamd")
    mail = pwd.getpwnam(install.MAIL_ACCOUNT)
    for folder in (
        places.log,
        places.data / "postfix",
        places.data / "dovecot",
        places.data / "rspamd",
        places.data / "redis",
    ):
        folder.mkdir(mode=0o755, exist_ok=True)
    for folder in (places.tls, places.data / "tmp"):
        folder.mkdir(mode=0o700, exist_ok=True)
    places.postfix_queue.mkdir(mode=0o755, exist_ok=True)
    (places.data / "dovecot" / "state").mkdir(mode=0o755, exist_ok=True)
    HYPERSCAN_CACHE.parent.mkdir(mode=0o755, exist_ok=True)
    own = (places.postfix_data, postfix), (places.rspamd_data, rspamd), (places.redis_data, rspamd)
    for folder, owner in (*own, (HYPERSCAN_CACHE, rspamd)):
        folder.mkdir(mode=0o700, exist_ok=True)
        os.chown(folder, owner.pw_uid, owner.pw_gid)
    _take_over_mail(places.mail_root, mail)
    for folder, mode in ((places.run / "pids", 0o700), (places.for_filter, 0o711)):
        own_folder(folder, mode)
    own_folder(places.for_postfix, 0o750)
    os.chown(places.for_postfix, 0, postfix.pw_gid)
    redis = places.redis_socket.parent
    redis.mkdir(mode=0o700, exist_ok=True)
    os.chown(redis, rspamd.pw_uid, rspamd.pw_gid)
    for name in _DAEMONS:
        found = pwd.getpwnam(name)
        if not can_reach(Account(name, found.pw_uid, found.pw_gid), places.data):
            raise Failure(
                f"The account {name} can't enter {places.data}: take a data directory whose folders above are open to "
                "pass through (chmod o+x), such as /var/lib/mailkeep.",
                permanent=True,
            )


def _sweep(places: Places) -> None:
    """Remove what lies in the run folder for as long as we run; the database's part is its own."""
    folders = (
        places.for_postfix,
        places.for_filter,
        places.redis_socket.parent,
        places.run / "pids",
        places.dovecot_run,
    )
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)
    for path in (places.api_smtp, places.dovecot_lmtp, places.run / keys.TOKEN_FILE):
        path.unlink(missing_ok=True)


def _take_over_mail(root: Path, account: pwd.struct_passwd) -> None:
    """Mailboxes belong to the account that Dovecot works as; those of an embedded instance are taken over once."""
    root.mkdir(mode=0o700, exist_ok=True)
    if root.stat().st_uid == account.pw_uid:
        return
    for path in (*root.rglob("*"), root):
        os.chown(path, account.pw_uid, account.pw_gid, follow_symlinks=False)


def find_facts(places: Places, loaded: Loaded, listening: socket.socket) -> Facts:
    """What the configuration needs to know of this start; draws the token of the keys' listener."""
    token = secrets.token_urlsafe(32)
    write_whole(places.run / keys.TOKEN_FILE, token + "\n", 0o600)
    settings = loaded.settings
    hostname = settings.server.hostname or socket.getfqdn()
    present = process.present()
    certificate_file, key_file = certificate.files(settings, places.tls, hostname, utc_now())
    return Facts(
        places=places,
        database_folder=places.run / "pg",
        database=DATABASE,
        hostname=hostname,
        mail_account=install.MAIL_ACCOUNT,
        mail_uid=pwd.getpwnam(install.MAIL_ACCOUNT).pw_uid,
        keys_port=listening.getsockname()[1],
        keys_token=token,
        certificate_file=certificate_file,
        key_file=key_file,
        lmtp_socket=places.lmtp_socket if "lmtp" in present else places.dovecot_lmtp,
        policy_socket=places.policy_socket if "policy" in present else None,
    )


def _expect_root() -> None:
    if os.geteuid() != 0:
        raise Failure("The full profile needs root: its daemons change to accounts of their own.", permanent=True)
