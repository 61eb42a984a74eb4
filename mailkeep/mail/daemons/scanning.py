"""The parts of the daemons' configuration for DNS lists and the virus scanner."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from itertools import groupby

from mailkeep.mail.daemons.paths import InstancePaths
from mailkeep.settings import Settings, parse_dns_servers

_PUBLIC_MIRROR = "database.clamav.net"
_UNPACKED = 4
"""How many times the size limit of messages is scanned of an unpacked archive."""

OWN_SIGNATURES = "mailkeep.ndb"
"""The file with the signature of the EICAR test file: clamd does not start without any, and it shows that scanning
works.
"""
EICAR = rb"X5O!P%@AP[4\PZX54(P^)7CC)7}$" + b"EICAR-STANDARD-ANTIVIRUS-TEST-FILE!$H+H*"


def render(
    settings: Settings, paths: InstancePaths, fill: Callable[[str, Mapping[str, str]], str]
) -> dict[str, Mapping[str, str]]:
    """The files of clamd and freshclam; none for one that is off."""
    filtering, largest = settings.filter, settings.limits.largest_message_bytes
    mirror = filtering.antivirus_mirror
    values = {
        "clamd_conf": str(paths.conf("clamd")),
        "clamd_socket": str(paths.clamd_socket),
        "clamd_tmp": str(paths.clamd_tmp),
        "signatures": str(paths.signatures),
        "max_message": str(largest),
        "max_scan": str(largest * _UNPACKED),
        "mirror": mirror,
        "public_mirror": "yes" if mirror == _PUBLIC_MIRROR else "",
        "private_mirror": "yes" if mirror != _PUBLIC_MIRROR else "",
    }
    is_on = filtering.antivirus
    return {
        "clamd": {"clamd.conf": fill("clamd/clamd.conf", values)} if is_on else {},
        "freshclam": {"freshclam.conf": fill("freshclam/freshclam.conf", values)} if is_on and mirror else {},
    }


def filter_values(settings: Settings, paths: InstancePaths) -> dict[str, str]:
    """The values in Rspamd's files."""
    filtering = settings.filter
    return {
        "antivirus": "yes" if filtering.antivirus else "",
        "antivirus_on_failure": filtering.antivirus_on_failure,
        "antivirus_encrypted": filtering.antivirus_encrypted,
        "clamd_socket": str(paths.clamd_socket),
        "dnsbl": _lua_lists(settings),
    }


def list_zones(settings: Settings) -> list[str]:
    """The DNS lists that the filter asks."""
    return list(dict.fromkeys(each.zone for each in settings.filter.dnsbl)) if settings.filter.network_checks else []


def list_dns_servers(settings: Settings, paths: InstancePaths) -> list[str]:
    """The filter's DNS servers as ip:port: its own, or else the instance's, or else the private resolver. Empty: the
    system's.
    """
    if settings.filter.dns_servers:
        return list(settings.filter.dns_servers)
    if not settings.dns.servers and settings.dns.resolver == "unbound":
        return [f"{paths.own_address}:53"]
    servers = parse_dns_servers(settings.dns.servers)
    return [f"[{address}]:{port}" if ":" in address else f"{address}:{port}" for address, port in servers]


def _lua_lists(settings: Settings) -> str:
    """The DNS lists as a table of Lua, by zone: a zone is asked once."""
    zones = set(list_zones(settings))
    entries = sorted((each for each in settings.filter.dnsbl if each.zone in zones), key=lambda each: each.zone)
    lists: list[str] = []
    symbols: Counter[str] = Counter()
    for zone, of_zone in groupby(entries, key=lambda each: each.zone):
        name = "DNSBL_" + re.sub("[^A-Z0-9]", "_", zone.upper())
        rows: list[str] = []
        for entry in of_zone:
            codes = ", ".join(f"'{code}'" for code in entry.codes)
            symbols[name] += 1
            symbol = name if symbols[name] == 1 else f"{name}__{symbols[name]}"
            rows.append(f"{{ symbol = '{symbol}', codes = {{ {codes} }}, score = {entry.score:g} }}")
        lists.append(f"{{ zone = '{zone}', rows = {{ {', '.join(rows)} }} }}")
    return f"{{ {', '.join(lists)} }}"
