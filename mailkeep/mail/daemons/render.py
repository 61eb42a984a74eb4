"""The daemons' configuration: settings and facts in, files out; pure, so that it can be shown before it is used.

Templates stand in `templates/`, with the reason beside each parameter. In them `@@name@@` is a value, lines between
`@@if name@@` and `@@end@@` stand only where the value is not empty (or 0), and `@@include name@@` puts in a file beside
the template. A name that is not known, or a value with a line break in it, is a bug and raises.
"""

from __future__ import annotations

import hashlib
import ipaddress
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from mailkeep.mail.daemons.paths import InstancePaths
from mailkeep.mail.dovecot import sieve_spool
from mailkeep.settings import Settings, parse_dns_servers

TEMPLATES = Path(__file__).parent / "templates"
POSTFIX_ROLE, DOVECOT_ROLE = "mailkeep_postfix", "mailkeep_dovecot"
SIEVE = ("before.sieve", "learn-ham.sieve", "learn-spam.sieve")
"""Dovecot's own scripts: compiled where they stand, since those who run them may not write there."""
HYPERSCAN_CACHE = Path("/var/cache/mailkeep/rspamd")

_VALUE = re.compile(r"@@([a-z_0-9]+)@@")
_IF = re.compile(r"@@if ([a-z_0-9]+)@@")
_INCLUDE = re.compile(r"@@include ([a-z_0-9]+)@@")
MAPS = {
    "domains": "SELECT * FROM mta_domain('%s')",
    "mailboxes": "SELECT * FROM mta_mailbox(mta_decode('%u'), '%d')",
    "routes": "SELECT mta_encode(r) FROM mta_route(mta_decode('%u'), '%d') r",
    "recipients": "SELECT * FROM mta_recipient(mta_decode('%u'), '%d')",
    "paused": "SELECT * FROM mta_paused(mta_decode('%u'), '%d')",
    "relays": "SELECT 'smarthost:unix:@@relay_socket@@' FROM mta_relay(mta_decode('%u'), '%d')",
    "senders": "SELECT mta_encode(r) FROM mta_senders(mta_decode('%u'), '%d') r",
}
_SENDERS = ("rewritten_senders", "recipient_forms", "command_forms", "lmtp_replies", "bounce_lines")
# Modules of Rspamd that ask the network about a message or its sender.
_ASKS_NETWORK = (
    "arc", "asn", "bimi", "dcc", "dkim", "dmarc", "fuzzy_check", "hfilter", "mx_check", "p0f", "phishing", "rbl",
    "reputation", "spf", "surbl", "url_redirector", "whitelist",
)  # fmt: skip
# And those that nobody asked for: the first would fetch rules from the network by itself.
_NEVER = ("rspamd_update", "neural", "metric_exporter", "clickhouse", "elastic", "antivirus", "external_services")


@dataclass(frozen=True, slots=True)
class DaemonConfig:
    """What only a start knows: where things lie, which accounts there are, which port and token the listener of
    logins has, and where the certificate is.

    `lmtp_socket` is whom Postfix delivers to; `policy_socket` None: nobody is asked before a submission.
    """

    paths: InstancePaths
    database_folder: Path
    database: str
    hostname: str
    account: str
    mail_account: str
    mail_uid: int
    logins_port: int
    logins_token: str
    certificate_file: str
    key_file: str
    lmtp_socket: Path
    policy_socket: Path | None


Files = Mapping[str, str]
"""Texts by file name, below the daemon's configuration folder."""


def render_postfix(settings: Settings, facts: DaemonConfig) -> Files:
    """main.cf, master.cf and the maps."""
    values = _common(facts) | _postfix(settings, facts)
    headers = ("submission_headers", "api_headers", "passing_headers", "relay_replies", "spam_headers")
    names = ("main.cf", "master.cf", "generation", *headers, *_SENDERS)
    files = {name: _fill(f"postfix/{name}", values) for name in names}
    for name, query in MAPS.items():
        whole = _VALUE.sub(lambda found: values[found[1]], query)
        files[f"{name}.cf"] = _fill("postfix/map.cf", values | {"query": whole})
    return files


def render_dovecot(settings: Settings, facts: DaemonConfig) -> Files:
    """dovecot.conf, its questions to the database, and the Sieve scripts beside everybody's own."""
    places, ports = facts.paths, settings.ports
    values = _common(facts) | {
        "listen": ", ".join(settings.server.addresses) or "*, ::",
        "dovecot_run": str(places.dovecot_run),
        "dovecot_state": str(places.data / "dovecot" / "state"),
        "dovecot_conf": str(places.dovecot_conf),
        "dovecot_lmtp": str(places.dovecot_lmtp),
        "dovecot_answering": str(places.dovecot_lmtp_verified),
        "sieve_before": str(places.dovecot_conf / "before.sieve"),
        "mail_root": str(places.mail_root),
        "usage_socket": str(places.usage_socket),
        "logins_port": str(facts.logins_port),
        "logins_token": facts.logins_token,
        "mail_uid": str(facts.mail_uid),
        "imap_port": str(ports.imap),
        "imaps_port": str(ports.imaps),
        "pop3_port": str(ports.pop3),
        "pop3s_port": str(ports.pop3s),
        "sieve_port": str(ports.sieve),
        "sieve_spool": str(places.sieve_spool),
        "sieve_spool_messages": str(sieve_spool.MAX_MESSAGES),
        "sieve_spool_bytes": str(sieve_spool.MAX_BYTES),
    }
    names = ("dovecot.conf", "sql.conf", "bin/learn", "bin/delivered", "bin/sendmail", *SIEVE)
    return {name: _fill(f"dovecot/{name}", values) for name in names}


def render_rspamd(settings: Settings, facts: DaemonConfig) -> Files:
    """What differs from Debian's configuration, as Rspamd looks for it below its LOCAL_CONFDIR."""
    asked = settings.filter
    values = _common(facts) | {
        "keys_socket": str(facts.paths.keys_socket),
        "reject_score": f"{asked.reject_score:g}" if asked.reject_score else "null",
        "spam_score": f"{asked.spam_score:g}",
        "greylist_score": "4" if asked.greylisting else "null",
        "greylisting": "true" if asked.greylisting else "false",
        "dns_servers": ", ".join(f'"{server}"' for server in _dns_servers(settings)),
        "max_message": str(settings.limits.largest_message_bytes),
        "redis_socket": str(facts.paths.redis_socket),
        "hyperscan_cache": str(HYPERSCAN_CACHE),
    }
    root = TEMPLATES / "rspamd"
    names = [str(path.relative_to(root)) for path in sorted(root.rglob("*")) if path.is_file()]
    files = {name: _fill(f"rspamd/{name}", values) for name in names if name != "local.d/off.conf"}
    off = _fill("rspamd/local.d/off.conf", values)
    for module in (*_NEVER, *(() if asked.network_checks else _ASKS_NETWORK)):
        files[f"local.d/{module}.conf"] = off
    return files


def _dns_servers(settings: Settings) -> list[str]:
    """Whom the filter asks, each as ip:port: its own, else those of everybody here; none: the system's."""
    if settings.filter.dns_servers:
        return list(settings.filter.dns_servers)
    found = parse_dns_servers(settings.dns.servers)
    return [f"[{address}]:{port}" if ":" in address else f"{address}:{port}" for address, port in found]


def _longest_retry(settings: Settings) -> int:
    """Seconds at most from a try of a delivery to the next."""
    return max(settings.outbound.first_retry_seconds, settings.outbound.longest_retry_seconds)


def render_redis(facts: DaemonConfig) -> Files:
    """redis.conf."""
    places = facts.paths
    values = {"redis_socket": str(places.redis_socket), "redis_data": str(places.redis_data)}
    return {"redis.conf": _fill("redis.conf", values)}


def _common(facts: DaemonConfig) -> dict[str, str]:
    places = facts.paths
    return {
        "hostname": facts.hostname,
        "log": str(places.log),
        "database": facts.database,
        "database_folder": str(facts.database_folder),
        "postfix_role": POSTFIX_ROLE,
        "dovecot_role": DOVECOT_ROLE,
        "auth_socket": str(places.auth_socket),
        "scan_socket": str(places.scan_socket),
        "sign_socket": str(places.sign_socket),
        "controller_socket": str(places.controller_socket),
        "certificate_file": facts.certificate_file,
        "key_file": facts.key_file,
        "senders_mark": _derive_secret("senders", facts),
        "account": facts.account,
        "mail_account": facts.mail_account,
    }


def _postfix(settings: Settings, facts: DaemonConfig) -> dict[str, str]:
    places, ports, outbound = facts.paths, settings.ports, settings.outbound
    addresses = [ipaddress.ip_address(text) for text in settings.server.addresses]
    v4 = [str(address) for address in addresses if address.version == 4]
    v6 = [str(address) for address in addresses if address.version == 6]
    return {
        "postfix_conf": str(places.postfix_conf),
        "postfix_queue": str(places.postfix_queue),
        "postfix_data": str(places.postfix_data),
        "addresses": ", ".join([*v4, *(f"[{address}]" for address in v6)]) or "all",
        "protocols": "all" if bool(v4) == bool(v6) else ("ipv4" if v4 else "ipv6"),
        "bind4": v4[0] if v4 else "",
        "bind6": v6[0] if v6 else "",
        "lmtp_socket": str(facts.lmtp_socket),
        "policy_socket": str(facts.policy_socket or ""),
        "no_policy": "" if facts.policy_socket else "yes",
        "senders_socket": str(places.senders_socket),
        "double_bounce": _derive_secret("double bounce", facts),
        "hostname_pattern": re.escape(facts.hostname),
        "hide_client": "yes" if outbound.hide_client else "",
        "message_size": str(settings.limits.largest_message_bytes),
        "recipients": "1000",
        "quiet_dns": "" if settings.filter.network_checks else "yes",
        "outbound_tls": outbound.tls,
        "dane": "yes" if outbound.tls == "dane" else "",
        "relay_socket": str(places.relay_socket),
        "relay": "yes" if outbound.relay else "",
        "first_retry": str(outbound.first_retry_seconds),
        "longest_retry": str(_longest_retry(settings)),
        "queue_run": str(min(300, outbound.first_retry_seconds)),
        "lifetime": str(max(1, round(outbound.give_up_hours * 3600))),
        "smtp_port": _port(ports.smtp),
        "submission_port": _port(ports.submission),
        "submissions_port": _port(ports.submissions),
        # A redirect adds header fields to a message that was taken at the limit.
        "reinjection_size": str(settings.limits.largest_message_bytes + (512 << 10)),
    }


def _derive_secret(purpose: str, facts: DaemonConfig) -> str:
    """Letters that nobody guesses, others at each start."""
    return hashlib.sha256(f"{purpose} {facts.logins_token}".encode()).hexdigest()[:16]


def _port(number: int) -> str:
    return str(number) if number else ""


def _fill(template: str, values: Mapping[str, str]) -> str:
    return "\n".join(_lines(template, values)) + "\n"


def _lines(template: str, values: Mapping[str, str]) -> Iterator[str]:
    shown: list[bool] = []
    for line in _read(template).splitlines():
        if condition := _IF.fullmatch(line):
            shown.append(bool(values[condition[1]]))
        elif line == "@@end@@":
            shown.pop()
        elif not all(shown):
            continue
        elif include := _INCLUDE.fullmatch(line):
            yield from _lines(f"{template.rpartition('/')[0]}/{include[1]}", values)
        else:
            yield _VALUE.sub(lambda found: _plain(values[found[1]]), line)
    if shown:
        raise ValueError(f"{template}: a condition has no end")


def _plain(value: str) -> str:
    if any(ord(char) < 0x20 or ord(char) == 0x7F for char in value):
        raise ValueError(f"no value for a configuration file: {value!r}")
    return value


@cache
def _read(template: str) -> str:
    return (TEMPLATES / template).read_text("utf-8")
