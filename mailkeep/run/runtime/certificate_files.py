"""Writes the certificates that were ordered by ACME as files, and lets the daemons read them.

Each has a folder `tls/NAME` (`server` or the domain), accessible for root only: `pair.pem` with the key and the chain,
which is replaced atomically, so that nobody reads a key with the certificate of another; `key.pem` and `fullchain.pem`
are links to it, for programs that want two names. The server's is also the served certificate, unless an
administrator's files are (`certificate`). With `mail` in `acme.domain_names`, Postfix and Dovecot get tables for SNI.

Runs in the process `node`: when a certificate changes, and every ten seconds. A reload ends no session.
"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import structlog

from mailkeep.app import App
from mailkeep.core.errors import Failure, Unavailable
from mailkeep.db.instance import write_atomically
from mailkeep.features.operations.certificates import service as certificates
from mailkeep.features.operations.certificates.model import SERVER, Source, StoredPair
from mailkeep.mail.daemons.paths import InstancePaths
from mailkeep.run.runtime import certificate
from mailkeep.settings import Settings

log = structlog.get_logger("mailkeep.certificates")

_CHECK_SECONDS = 10.0
_PAIR, _LINKS = "pair.pem", ("key.pem", "fullchain.pem")
_MAIL = "mail."


class CertificateFiles:
    """Keeps the files like the database; `reload` lets the daemons read them. `problem`: what is wrong, in words."""

    def __init__(self, app: App, paths: InstancePaths, reload: Callable[[], Awaitable[None]]) -> None:
        self._app, self._folder, self._reload = app, paths.tls, reload
        self._wake = asyncio.Event()
        self.problem: str | None = None

    def wake(self) -> None:
        """Look again now."""
        self._wake.set()

    async def run(self) -> None:
        """Keep the files current until cancelled."""
        while True:
            try:
                await self.sync()
            except Unavailable:
                pass  # the files stay as they are
            except Exception:
                log.exception("the files of certificates could not be written")
            with suppress(TimeoutError):
                async with asyncio.timeout(_CHECK_SECONDS):
                    await self._wake.wait()
            self._wake.clear()

    async def sync(self) -> bool:
        """Write what has changed, and reload the daemons then; whether anything has."""
        async with self._app.db.autocommit() as conn:
            pairs = await certificates.list_pairs(self._app, conn)
            self.problem = await certificates.find_problem(conn)
        changed = await asyncio.to_thread(write_files, self._app.settings, self._folder, pairs, self._install)
        if changed:
            log.info("the daemons get new certificates", changed=changed)
            await self._reload()
        await self._record_served(any(pair.name == SERVER for pair in pairs))
        return bool(changed)

    def _install(self) -> None:
        settings = self._app.settings
        if not settings.tls.certificate_file:  # else `certificate.Renewal` replaces it, and refuses an expired one
            certificate.install(settings, self._folder, settings.server.name, self._app.clock())

    async def _record_served(self, is_ordered: bool) -> None:
        """Note the administrator's or self-signed certificate in the list; one that was ordered is there already."""
        is_file = bool(self._app.settings.tls.certificate_file)
        if is_ordered and not is_file:
            return
        try:
            chain = await asyncio.to_thread(Path(certificate.find_served_file(self._folder)).read_text, "ascii")
        except OSError:
            return  # before the first start has ended
        source: Source = "file" if is_file else "self_signed"
        async with self._app.db.autocommit() as conn:
            await certificates.record_served(self._app, conn, source, chain)


def write_files(
    settings: Settings, folder: Path, pairs: Sequence[StoredPair], install: Callable[[], None]
) -> list[str]:
    """Write the files that differ, and remove the folders of others; the names of what has changed. `install` puts the
    served certificate in place. Blocks.
    """
    changed = [pair.name for pair in pairs if _write_pair(folder / pair.name, pair)]
    served = Path(certificate.find_served_file(folder))
    before = served.read_bytes() if served.exists() else b""
    try:
        install()
    except Failure as error:
        log.error("the served certificate was not replaced", reason=str(error))
    for path, lines in ((certificate.sni_map(folder), _map_lines), (certificate.sni_conf(folder), _conf_lines)):
        text = "".join(f"{line}\n" for line in lines(folder, list(_list_hosts(settings, folder, pairs))))
        if not path.exists() or path.read_text("utf-8") != text:
            write_atomically(path, text, 0o600)
            changed.append(path.name)
    if served.exists() and served.read_bytes() != before and SERVER not in changed:
        changed.append(SERVER)
    names = {pair.name for pair in pairs}
    # A folder without our file is an administrator's.
    for old in [each for each in folder.iterdir() if each.name not in names and (each / _PAIR).is_file()]:
        shutil.rmtree(old)  # nothing names it any more
        changed.append(old.name)
    return changed


def _write_pair(folder: Path, pair: StoredPair) -> bool:
    folder.mkdir(mode=0o700, exist_ok=True)
    for name in _LINKS:
        if not (folder / name).is_symlink():
            (folder / name).symlink_to(_PAIR)
    path, text = folder / _PAIR, f"{pair.key.decode('ascii').strip()}\n{pair.chain}"
    if path.exists() and path.read_text("ascii") == text:
        return False
    write_atomically(path, text, 0o600)
    return True


def _list_hosts(settings: Settings, folder: Path, pairs: Sequence[StoredPair]) -> Iterator[tuple[str, Path]]:
    """The host names that have a certificate for SNI, with its file; the server's own one too, because Postfix logs
    every name that its table lacks.
    """
    if _MAIL.removesuffix(".") not in settings.acme.domain_names:
        return
    if settings.server.hostname:
        yield settings.server.hostname.lower(), Path(certificate.find_served_file(folder))
    for pair in pairs:
        for name in pair.names:
            if pair.name != SERVER and name.startswith(_MAIL):
                yield name, certificate.pair_file(folder, pair.name)


def _map_lines(folder: Path, hosts: Sequence[tuple[str, Path]]) -> Iterator[str]:
    for name, path in hosts:
        yield f"{name} {path}"


def _conf_lines(folder: Path, hosts: Sequence[tuple[str, Path]]) -> Iterator[str]:
    for name, path in hosts:
        yield from (f"local_name {name} {{", f"  ssl_cert = <{path}", f"  ssl_key = <{path}", "}")
