"""The webmail: php-fpm with Roundcube in a private root, and the network where it reaches our process `webmail`.

PHP sees its program and libraries, Roundcube's files, its configuration, a folder for uploads, and the folder of the
database's socket. In its network only our process listens, which forwards to Dovecot, Postfix and the API
(docs/decisions/0104-webmail.md).
"""

from __future__ import annotations

import asyncio
import os
import pwd
import re
import socket
import struct
from functools import partial
from pathlib import Path

import psycopg
from psycopg.conninfo import make_conninfo

from mailkeep.app import App
from mailkeep.core import private_root
from mailkeep.core.clock import utc_now
from mailkeep.core.errors import Failure, Unavailable
from mailkeep.core.private_root import PrivateRoot
from mailkeep.db.postgres_cluster import WEBMAIL
from mailkeep.features.directory.mail_logins import service as mail_logins
from mailkeep.mail.daemons.paths import InstancePaths
from mailkeep.mail.daemons.webmail import PORTS
from mailkeep.mail.smtp import unix_socket
from mailkeep.run.cli import install
from mailkeep.run.runtime import generations
from mailkeep.run.runtime.child import Child, Command, spawn
from mailkeep.run.runtime.supervisor import Service

_ROUNDCUBE, _LIBRARIES = Path("/usr/share/roundcube"), Path("/usr/lib")
_SAME_PATHS = (
    "/usr/lib64", "/usr/share/javascript", "/usr/share/misc", "/usr/share/file", "/usr/share/php",
    "/usr/share/zoneinfo", "/etc/php", "/etc/localtime", "/etc/mime.types", "/etc/passwd", "/dev/null", "/dev/urandom",
    "/etc/roundcube/defaults.inc.php", "/etc/roundcube/mimetypes.php", "/etc/roundcube/plugins",
)  # fmt: skip
_TMP = Path("/tmp")  # noqa: S108 - a folder of its own
_PLUGINS = ("archive", "filesystem_attachments", "jqueryui", "managesieve", "markasjunk")
_UPLOAD_SECONDS = 86_400.0
_DATABASE_SECONDS = 10
_PING_SECONDS = 2.0


class WebmailNetwork:
    """PHP's network, which exists from its first use to the end of this process."""

    def __init__(self, paths: InstancePaths) -> None:
        self.paths = paths
        self._network: tuple[int, dict[str, socket.socket]] | None = None

    def open(self) -> tuple[int, dict[str, socket.socket]]:
        """The descriptor of the network namespace, and the sockets that listen there, by name. Failure."""
        if self._network is None:
            try:
                self._network = private_root.create_network(PORTS)
            except OSError as error:
                raise Failure(
                    f"The webmail's network can't be created: {error}. This needs CAP_SYS_ADMIN and IPv6; "
                    "without them set webmail.enabled to false.",
                    permanent=True,
                ) from error
        return self._network


def define_php(network: WebmailNetwork, wave: int) -> Service:
    """The service `php-fpm`, which is off unless the configuration in use has its files."""
    paths = network.paths
    output = paths.log / "php-fpm.log"

    async def launch() -> Child:
        namespace, _ = network.open()
        argv = [str(_find_php()), "--nodaemonize", "--fpm-config", "/etc/mailkeep/php-fpm.conf"]
        group = pwd.getpwnam(install.EDGE_ACCOUNT).pw_gid
        # In a folder of its own, PHP could replace the socket, by a link to one that nginx may connect to.
        with unix_socket.bind_unix_socket(paths.php_socket, 0o660, group) as listening:
            # php-fpm takes over a listening socket that this variable names.
            environment = {"FPM_SOCKETS": f"/run/php.sock={listening.fileno()}", "LC_ALL": "C.UTF-8"}
            command = private_root.make_command(argv, _describe_root(paths), environment, namespace)
            return spawn(Command(command, output, descriptors=(namespace, listening.fileno())))

    async def prepare() -> None:
        await asyncio.to_thread(_create_folders, paths)
        await asyncio.to_thread(update_schema, paths.run / "pg")

    return Service(
        "php-fpm",
        wave,
        launch,
        output,
        partial(_answers, paths),
        prepare,
        is_on=partial(generations.is_on, paths, "php-fpm"),
    )


def update_schema(socket_folder: Path, scripts: Path = _ROUNDCUBE / "SQL") -> None:
    """Create Roundcube's tables, or update them to the installed version, in one transaction. Failure."""
    url = _make_url(socket_folder)
    try:
        with psycopg.connect(url, application_name="webmail schema") as conn:
            conn.execute("SELECT pg_advisory_xact_lock(1)")
            row = conn.execute("SELECT to_regclass('public.system') IS NOT NULL").fetchone()
            if row is None or not row[0]:
                conn.execute((scripts / "postgres.initial.sql").read_bytes())
                return
            row = conn.execute("SELECT value FROM system WHERE name = 'roundcube-version'").fetchone()
            version = int(row[0]) if row else 0
            for path in sorted((scripts / "postgres").glob("*.sql")):
                if int(path.stem) > version:
                    conn.execute(path.read_bytes())
                    conn.execute("UPDATE system SET value = %s WHERE name = 'roundcube-version'", [path.stem])
    except (psycopg.Error, OSError, ValueError) as error:
        raise Failure(f"The webmail's tables could not be created or updated: {error}") from error


async def forget_former_owners(app: App, socket_folder: Path) -> None:
    """Delete what Roundcube keeps (contacts, identities, preferences) of mailboxes that were deleted: a new mailbox
    with the same address starts empty.
    """
    url = _make_url(socket_folder)
    try:
        async with await psycopg.AsyncConnection.connect(url, application_name="webmail owners") as webmail:
            cursor = await webmail.execute("SELECT username, created FROM users")
            logins = dict(await cursor.fetchall())
            async with app.db.autocommit() as conn:
                former = await mail_logins.find_former_logins(conn, logins)
            for name in former:
                query = "DELETE FROM users WHERE username = %(name)s AND created = %(created)s"
                await webmail.execute(query, {"name": name, "created": logins[name]})
    except psycopg.OperationalError as error:
        raise Unavailable from error


async def end_sessions(socket_folder: Path) -> None:
    """End all sessions of the webmail. Failure."""
    try:
        async with await psycopg.AsyncConnection.connect(_make_url(socket_folder), autocommit=True) as webmail:
            cursor = await webmail.execute("SELECT to_regclass('public.session') IS NOT NULL")
            if await cursor.fetchone() == (True,):
                await webmail.execute("DELETE FROM session")
    except psycopg.OperationalError as error:
        raise Failure(f"The sessions of the webmail could not be ended: {error}") from error


def _make_url(socket_folder: Path) -> str:
    return make_conninfo(
        host=str(socket_folder), port=5432, dbname=WEBMAIL, user=WEBMAIL, connect_timeout=_DATABASE_SECONDS
    )


def _find_php() -> Path:
    """The newest php-fpm; Failure without one."""
    found = sorted(
        Path("/usr/sbin").glob("php-fpm[0-9]*"), key=lambda path: [int(n) for n in re.findall(r"\d+", path.name)]
    )
    if not found:
        raise Failure("php-fpm is not installed: run `mailkeep install --webmail`.", permanent=True)
    return found[-1]


def _describe_root(paths: InstancePaths) -> PrivateRoot:
    site, entry = Path("/var/lib/roundcube"), pwd.getpwnam(install.WEBMAIL_ACCOUNT)
    conf, php = paths.conf("php-fpm").resolve(), _find_php()
    readable = {Path(path): Path(path) for path in (*_SAME_PATHS, str(php), str(_LIBRARIES), str(_ROUNDCUBE))}
    readable |= {
        Path("/etc/mailkeep"): conf,
        Path("/etc/hosts"): conf / "hosts",
        Path("/etc/nsswitch.conf"): conf / "nsswitch.conf",
        paths.run / "pg": paths.run / "pg",
        site / "public_html" / "index.php": site / "public_html" / "index.php",
    }
    password = _ROUNDCUBE / "plugins" / "password"
    links = {
        Path("/lib"): Path("usr/lib"),
        Path("/lib64"): Path("usr/lib64"),
        Path("/etc/roundcube/config.inc.php"): Path("/etc/mailkeep/config.inc.php"),
        site / "config": Path("/etc/roundcube"),
        site / "plugins" / "password" / "drivers" / "mailkeep.php": Path("/etc/mailkeep/mailkeep.php"),
        **{site / name: _ROUNDCUBE / name for name in ("index.php", "program", "skins", "SQL")},
        **{site / "plugins" / name: _ROUNDCUBE / "plugins" / name for name in _PLUGINS},
        **{
            site / "plugins" / "password" / path.name: path
            for path in password.iterdir()
            if path.name not in ("drivers", "helpers")
        },
    }
    return PrivateRoot(paths.webmail_root, (entry.pw_uid, entry.pw_gid), readable, {_TMP: paths.webmail_tmp}, links)


async def _answers(paths: InstancePaths) -> bool:
    """Whether PHP answers a request of its own page `/ping`."""
    try:
        async with asyncio.timeout(_PING_SECONDS):
            reader, writer = await asyncio.open_unix_connection(paths.php_socket)
            writer.write(_PING)
            answer = await reader.read()
            writer.close()
    except (OSError, TimeoutError):
        return False
    return b"pong" in answer


def _record(kind: int, content: bytes) -> bytes:
    """A record of FastCGI 1.0 for the request 1."""
    return struct.pack("!BBHHBB", 1, kind, 1, len(content), 0, 0) + content


def _make_ping() -> bytes:
    variables = {"REQUEST_METHOD": "GET", "SCRIPT_NAME": "/ping", "SCRIPT_FILENAME": "/ping"}
    pairs = (bytes([len(name), len(value)]) + (name + value).encode() for name, value in variables.items())
    begin, parameters, stdin, responder = 1, 4, 5, struct.pack("!HB5x", 1, 0)
    return b"".join(
        [_record(begin, responder), _record(parameters, b"".join(pairs)), _record(parameters, b""), _record(stdin, b"")]
    )


_PING = _make_ping()


def _create_folders(paths: InstancePaths) -> None:
    """Create PHP's folders, and remove old uploads."""
    entry = pwd.getpwnam(install.WEBMAIL_ACCOUNT)
    paths.webmail_root.mkdir(mode=0o700, parents=True, exist_ok=True)
    paths.webmail_tmp.mkdir(mode=0o700, exist_ok=True)
    os.chown(paths.webmail_tmp, entry.pw_uid, entry.pw_gid)
    oldest = utc_now().timestamp() - _UPLOAD_SECONDS
    for path in paths.webmail_tmp.iterdir():
        if path.lstat().st_mtime < oldest and not path.is_dir():
            path.unlink(missing_ok=True)
