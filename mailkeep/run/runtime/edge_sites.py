"""The host names that nginx serves, and the file with the servers for the names of hosted domains.

The names of the server and of the webmail depend on settings: they are in the generated configuration. Domains come and
go: the process `node` writes their servers to `nginx/sites.conf` in the data directory, and reloads nginx.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import structlog

from mailkeep.app import App
from mailkeep.core.errors import Failure, Unavailable
from mailkeep.db.instance import write_atomically
from mailkeep.features.directory.domains import service as domains
from mailkeep.mail.daemons import nginx
from mailkeep.mail.daemons.paths import InstancePaths
from mailkeep.run.runtime import certificate, checks, generations, process
from mailkeep.settings import Settings

log = structlog.get_logger("mailkeep.edge")

SiteKind = Literal["server", "webmail", "hosted"]
HOSTED = ("autoconfig", "autodiscover", "mta-sts")
"""The first labels of the names of a hosted domain."""
_MAX_NAME = 253
_CHECK_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Site:
    """Host names that share a certificate, and what they serve. Of a hosted domain `name` is the domain, else the
    first host name; it names the folder `tls/NAME` of a certificate of their own.
    """

    kind: SiteKind
    name: str
    hosts: tuple[str, ...]
    certificate_file: str
    key_file: str


def list_sites(settings: Settings, domain_names: Sequence[str], tls: Path) -> list[Site]:
    """All sites. `tls` is the folder of the certificates; a site without one of its own has that of the server."""
    servers = nginx.list_server_names(settings)
    sites = [_make_site("server", tuple(servers), tls)]
    if settings.webmail.enabled:
        sites.append(_make_site("webmail", (settings.webmail.host.lower(),), tls))
    taken = {host for site in sites for host in site.hosts}
    for domain in domain_names:
        hosts = tuple(host for label in HOSTED if len(host := f"{label}.{domain}") <= _MAX_NAME and host not in taken)
        if hosts:
            sites.append(_make_site("hosted", hosts, tls, domain))
    return sites


def _make_site(kind: SiteKind, hosts: tuple[str, ...], tls: Path, domain: str = "") -> Site:
    name = domain or hosts[0]
    chain, key = tls / name / "fullchain.pem", tls / name / "key.pem"
    if kind == "hosted" and chain.is_file() and key.is_file():
        return Site(kind, name, hosts, str(chain), str(key))
    served = certificate.find_served_file(tls)
    return Site(kind, name, hosts, served, served)


def render(sites: Sequence[Site]) -> str:
    """The servers of the hosted sites: one for each certificate."""
    hosts: dict[tuple[str, str], list[str]] = {}
    for site in sites:
        if site.kind == "hosted":
            hosts.setdefault((site.certificate_file, site.key_file), []).extend(site.hosts)
    return nginx.render_sites([(names, *files) for files, names in hosts.items()])


def reload(paths: InstancePaths) -> None:
    """Let nginx read configuration and certificates again, if it runs. Open connections stay."""
    pid = process.find_service_pid(paths.run, "nginx")
    if pid is not None:
        os.kill(pid, signal.SIGHUP)


async def refresh(app: App, paths: InstancePaths) -> bool:
    """Write the servers of the present domains, and reload nginx; False if nothing has changed, or nginx is off.
    Failure if nginx rejects them: then the earlier ones stay. UNAVAILABLE.
    """
    if not app.settings.edge.enabled or not generations.is_on(paths, "nginx"):
        return False
    async with app.db.autocommit() as conn:
        names = await domains.list_active_names(conn)
    return await asyncio.to_thread(_install, paths, list_sites(app.settings, names, paths.tls))


def _install(paths: InstancePaths, sites: Sequence[Site]) -> bool:
    text, before = render(sites), paths.nginx_sites.read_text("utf-8")
    if text == before:
        return False
    write_atomically(paths.nginx_sites, text, 0o640)
    check = checks.check_nginx(paths.conf("nginx"))
    if not check.ok:
        write_atomically(paths.nginx_sites, before, 0o640)
        raise Failure(f"nginx rejects the names of hosted domains: {check.output}")
    reload(paths)
    return True


async def keep_current(app: App, paths: InstancePaths, requested: asyncio.Event) -> None:
    """Refresh every minute, and when `requested` is set, until cancelled."""
    while True:
        try:
            if await refresh(app, paths):
                log.info("nginx serves the present domains")
        except Unavailable:
            pass  # tried again
        except Failure as failure:
            log.error("the names of hosted domains are not served", reason=str(failure))
        except Exception:
            log.exception("the names of hosted domains could not be served")
        try:
            async with asyncio.timeout(_CHECK_SECONDS):
                await requested.wait()
        except TimeoutError:
            pass
        requested.clear()
