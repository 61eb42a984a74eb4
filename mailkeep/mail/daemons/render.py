"""Renders the daemons' configuration files from the settings and a `DaemonConfig`. No I/O except for reading the
templates.

The templates in `templates/` explain each parameter. `@@name@@` is a value, lines between `@@if name@@` and `@@end@@`
are omitted if the value is empty, and `@@include name@@` inserts another file of the template's folder. An unknown
name, or a value with a control character, is a bug and raises.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from mailkeep.mail.daemons import nginx, overlays, probe_mailbox, scanning, webmail
from mailkeep.mail.daemons.paths import InstancePaths
from mailkeep.mail.dovecot import sieve_spool
from mailkeep.settings import Settings, parse_dns_servers

TEMPLATES = Path(__file__).parent / "templates"
POSTFIX_ROLE, DOVECOT_ROLE = "mailkeep_postfix", "mailkeep_dovecot"
SIEVE = ("before.sieve", "learn-ham.sieve", "learn-spam.sieve")
"""Our Sieve scripts. They are compiled in advance: the mailboxes' account can't write to their folder."""
CA_FILE = "/etc/ssl/certs/ca-certificates.crt"
"""The certificate authorities of the system. Postfix reads this file before it enters a chroot, unlike a folder."""
ROOT_KEY = Path("/usr/share/dns/root.key")
"""The trust anchor of the Internet's DNS, kept current by the package dns-root-data."""
HYPERSCAN_CACHE = Path("/var/cache/mailkeep/rspamd")

_VALUE = re.compile(r"@@([a-z_0-9]+)@@")
_IF = re.compile(r"@@if ([a-z_0-9]+)@@")
_INCLUDE = re.compile(r"@@include ([a-z_0-9]+)@@")
MAPS = {
    "domains": "SELECT * FROM mta_domain('%s')",
    "mailboxes": "SELECT * FROM mta_mailbox(mta_decode('%u'), '%d')",
    "routes": "SELECT mta_encode(r) FROM mta_route(mta_decode('%u'), '%d') r",
    "recipients": "SELECT * FROM mta_recipient(mta_decode('%u'), '%d')",
    "paused": "SELECT * FROM mta_domain_inactive(mta_decode('%u'), '%d')",
    "relays": "SELECT 'smarthost:unix:@@relay_socket@@' FROM mta_relay(mta_decode('%u'), '%d')",
    "senders": "SELECT mta_encode(r) FROM mta_senders(mta_decode('%u'), '%d') r",
}
_SENDERS = ("rewritten_senders", "recipient_forms", "command_forms", "lmtp_replies", "bounce_lines")
# Modules of Rspamd that query the network about a message or its sender.
_NETWORK_MODULES = ("arc", "dkim", "dmarc", "spf")
# Modules that are always off: they ask or download from servers of third parties, store what is not used, or have a
# part of ours instead (docs/decisions/0096). On are those above, regexp, mime_types, chartable, forged_recipients,
# maillist and once_received, besides Bayes.
_UNUSED = (
    "antivirus", "asn", "aws_s3", "bimi", "clickhouse", "dcc", "elastic", "external_relay",
    "external_services", "fuzzy_check", "greylist", "hfilter", "history_redis", "http_headers", "metadata_exporter",
    "metric_exporter", "mid", "multimap", "mx_check", "neural", "p0f", "phishing", "ratelimit", "rbl", "replies",
    "reputation", "rspamd_update", "spamassassin", "spamtrap", "trie", "url_redirector", "whitelist",
)  # fmt: skip


Files = overlays.Files
"""Texts by file name, below the daemon's configuration folder."""


@dataclass(frozen=True, slots=True)
class DaemonConfig:
    """What the configuration depends on besides settings: paths, accounts, the certificate, and secrets.

    The same settings and values always give the same files, also after a restart. `certificate_file` holds the private
    key and the certificates. Postfix delivers to `lmtp_socket`. `policy_socket` None: there is no policy service.
    `trust_anchor` is the file with the keys of the root zone. `senders_mark` and `double_bounce` are secrets of 16
    characters or more that are valid in an address. `probe_hash` is the SHA-256 of the probe's password in hexadecimal;
    `probe_helo`, also a secret, is the name that the probe gives in HELO. `webmail_key` encrypts what the webmail keeps
    of a session; with `webmail_mark`, a secret host name, our process `webmail` identifies itself. `overlays` are an
    administrator's lines from files of root, by daemon and file.
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
    senders_mark: str
    double_bounce: str
    probe_hash: str
    probe_helo: str
    webmail_key: str
    webmail_mark: str
    certificate_file: str
    lmtp_socket: Path
    policy_socket: Path | None
    edge_account: str
    has_ipv6: bool = True
    trust_anchor: Path = ROOT_KEY
    overlays: Mapping[str, Files] = field(default_factory=dict[str, Files])


def render_all(settings: Settings, config: DaemonConfig) -> dict[str, Files]:
    """Return the files of each daemon by its name, in the order of their start, with an administrator's own lines."""
    rendered = {
        "redis": render_redis(config),
        "unbound": render_unbound(settings, config),
        **scanning.render(settings, config.paths, _fill),
        "webmail": webmail.render_upstreams(settings, config.paths),
        "php-fpm": webmail.render_php(settings, config.database_folder, config.webmail_key, _fill),
        "rspamd": render_rspamd(settings, config),
        "dovecot": render_dovecot(settings, config),
        "postfix": render_postfix(settings, config),
        "nginx": render_nginx(settings, config),
    }
    of_settings = overlays.of_settings(settings.overlays)
    return {
        service: overlays.merge(
            overlays.merge(files, config.overlays.get(service, {}), overlays.OF_ROOT),
            of_settings.get(service, {}),
            overlays.OF_SETTINGS,
        )
        for service, files in rendered.items()
    }


def render_postfix(settings: Settings, config: DaemonConfig) -> Files:
    """Return main.cf, master.cf and the maps."""
    values = _common(settings, config) | _postfix(settings, config)
    headers = (
        "submission_headers",
        "api_headers",
        "inbound_headers",
        "leaving_headers",
        "passing_headers",
        "returned_headers",
        "relay_replies",
        "spam_headers",
    )
    names = ("main.cf", "master.cf", "generation", *headers, *_SENDERS)
    files = {name: _fill(f"postfix/{name}", values) for name in names}
    for name, query in MAPS.items():
        filled_query = _VALUE.sub(lambda match: values[match[1]], query)
        files[f"{name}.cf"] = _fill("postfix/map.cf", values | {"query": filled_query})
    return files


def render_dovecot(settings: Settings, config: DaemonConfig) -> Files:
    """Return dovecot.conf, its SQL queries, programs and global Sieve scripts."""
    paths, ports = config.paths, settings.ports
    values = _common(settings, config) | {
        "listen": ", ".join(settings.server.addresses) or "*, ::",
        "dovecot_run": str(paths.dovecot_run),
        "dovecot_state": str(paths.data / "dovecot" / "state"),
        "dovecot_conf": str(paths.dovecot_conf),
        "dovecot_lmtp": str(paths.dovecot_lmtp),
        "dovecot_answering": str(paths.dovecot_lmtp_verified),
        "sieve_before": str(paths.dovecot_conf / "before.sieve"),
        "mail_root": str(paths.mail_root),
        "usage_socket": str(paths.usage_socket),
        "logins_port": str(config.logins_port),
        "logins_token": config.logins_token,
        "mail_uid": str(config.mail_uid),
        "imap_port": str(ports.imap),
        "imaps_port": str(ports.imaps),
        "pop3_port": str(ports.pop3),
        "pop3s_port": str(ports.pop3s),
        "sieve_port": str(ports.sieve),
        "webmail": "yes" if settings.webmail.enabled else "",
        "webmail_address": paths.own_address,
        "webmail_imap_port": str(webmail.IMAP_PORT),
        "webmail_sieve_port": str(webmail.SIEVE_PORT),
        "webmail_mark": config.webmail_mark,
        "probe_home": str(paths.probe_home),
        "probe_hash": config.probe_hash,
        "probe_networks": probe_mailbox.IMAP_NETWORKS,
        "probe_quota": str(probe_mailbox.QUOTA_BYTES),
        "full_text": "yes" if settings.search.full_text == "words" else "",
        "learn_folder": f"../{paths.learn_socket.parent.name}",  # Pigeonhole has no absolute paths here
        "sieve_spool": str(paths.sieve_spool),
        "sieve_spool_messages": str(sieve_spool.MAX_MESSAGES),
        "sieve_spool_bytes": str(sieve_spool.MAX_BYTES),
    }
    programs = ("bin/index", "bin/delivered", "bin/sendmail")
    names = ("dovecot.conf", "app-passwords.conf", "sql.conf", "sieve-dict.conf", *programs, *SIEVE)
    return {name: _fill(f"dovecot/{name}", values) for name in names}


def render_rspamd(settings: Settings, config: DaemonConfig) -> Files:
    """Return what differs from Debian's configuration, below LOCAL_CONFDIR."""
    filtering = settings.filter
    values = _common(settings, config) | {
        "keys_socket": str(config.paths.keys_socket),
        "drain_socket": str(config.paths.drain_socket),
        "rspamd_conf": str(config.paths.rspamd_conf),
        "dns_servers": ", ".join(f'"{server}"' for server in scanning.list_dns_servers(settings, config.paths)),
        "max_message": str(settings.limits.largest_message_bytes),
        "redis_socket": str(config.paths.redis_socket),
        "hyperscan_cache": str(HYPERSCAN_CACHE),
    }
    values |= scanning.filter_values(settings, config.paths)
    root = TEMPLATES / "rspamd"
    names = [str(path.relative_to(root)) for path in sorted(root.rglob("*")) if path.is_file()]
    files = {name: _fill(f"rspamd/{name}", values) for name in names if name != "local.d/off.conf"}
    off = _fill("rspamd/local.d/off.conf", values)
    for module in (*_UNUSED, *(() if filtering.network_checks else _NETWORK_MODULES)):
        files[f"local.d/{module}.conf"] = off
    return files


def render_unbound(settings: Settings, config: DaemonConfig) -> Files:
    """Return unbound.conf; nothing if the private resolver is off."""
    if settings.dns.resolver != "unbound":
        return {}
    servers = parse_dns_servers(settings.dns.servers)
    values = {
        "resolver_address": config.paths.own_address,
        "trust_anchor": str(config.trust_anchor),
        "local_forwarders": "yes" if any(ipaddress.ip_address(address).is_loopback for address, _ in servers) else "",
        "forwarders": " ".join(f"forward-addr: {address}@{port}" for address, port in servers),
    }
    return {"unbound.conf": _fill("unbound/unbound.conf", values)}


def render_nginx(settings: Settings, config: DaemonConfig) -> Files:
    """Return nginx.conf and what it includes; nothing if nginx is off."""
    edge = nginx.EdgeConfig(config.paths, config.certificate_file, config.edge_account, config.has_ipv6)
    return nginx.render(settings, edge, _fill)


def _longest_retry(settings: Settings) -> int:
    """The longest time between two delivery attempts, in seconds."""
    return max(settings.outbound.first_retry_seconds, settings.outbound.longest_retry_seconds)


def render_redis(config: DaemonConfig) -> Files:
    """Return redis.conf."""
    paths = config.paths
    values = {"redis_socket": str(paths.redis_socket), "redis_data": str(paths.redis_data)}
    return {"redis.conf": _fill("redis.conf", values)}


def _common(settings: Settings, config: DaemonConfig) -> dict[str, str]:
    paths = config.paths
    return {
        "hostname": config.hostname,
        "log": str(paths.log),
        "database": config.database,
        "database_folder": str(config.database_folder),
        "postfix_role": POSTFIX_ROLE,
        "dovecot_role": DOVECOT_ROLE,
        "auth_socket": str(paths.auth_socket),
        "scan_socket": str(paths.scan_socket),
        "sign_socket": str(paths.sign_socket),
        "milter_socket": str(paths.milter_socket),
        "controller_socket": str(paths.controller_socket),
        "certificate_file": config.certificate_file,
        "sni": "yes" if "mail" in settings.acme.domain_names else "",
        "sni_map": str(paths.sni_map),
        "sni_conf": str(paths.sni_conf),
        "senders_mark": config.senders_mark,
        "probe": probe_mailbox.ADDRESS,
        "probe_helo": config.probe_helo,
        "account": config.account,
        "mail_account": config.mail_account,
    }


def _postfix(settings: Settings, config: DaemonConfig) -> dict[str, str]:
    paths, ports, outbound = config.paths, settings.ports, settings.outbound
    addresses = [ipaddress.ip_address(text) for text in settings.server.addresses]
    v4 = [str(address) for address in addresses if address.version == 4]
    v6 = [str(address) for address in addresses if address.version == 6]
    return {
        "postfix_conf": str(paths.postfix_conf),
        "postfix_queue": str(paths.postfix_queue),
        "postfix_data": str(paths.postfix_data),
        "addresses": ", ".join([*v4, *(f"[{address}]" for address in v6)]) or "all",
        "protocols": "all" if bool(v4) == bool(v6) else ("ipv4" if v4 else "ipv6"),
        "bind4": v4[0] if v4 else "",
        "bind6": v6[0] if v6 else "",
        "lmtp_socket": str(config.lmtp_socket),
        "policy_socket": str(config.policy_socket or ""),
        "no_policy": "" if config.policy_socket else "yes",
        "senders_socket": str(paths.senders_socket),
        "double_bounce": config.double_bounce,
        "hostname_pattern": re.escape(config.hostname),
        "hide_client": "yes" if outbound.hide_client else "",
        "message_size": str(settings.limits.largest_message_bytes),
        "recipients": "1000",
        "client_message_rate": str(settings.smtp.client_message_rate or ""),
        "quiet_dns": "" if settings.filter.network_checks else "yes",
        "outbound_tls": "dane" if outbound.dane and outbound.tls == "may" else outbound.tls,
        "dane": "yes" if outbound.dane else "",
        "tls_policies": "yes" if outbound.mta_sts or (outbound.dane and outbound.tls == "encrypt") else "",
        "ca_file": CA_FILE,
        # In a chroot, deliveries have a resolv.conf of their own.
        "smtp_chroot": "y" if settings.dns.resolver == "unbound" else "n",
        "relay_socket": str(paths.relay_socket),
        "relay": "yes" if outbound.relay else "",
        "first_retry": str(outbound.first_retry_seconds),
        "longest_retry": str(_longest_retry(settings)),
        "queue_run": str(min(300, outbound.first_retry_seconds)),
        "lifetime": str(max(1, round(outbound.give_up_hours * 3600))),
        "smtp_port": _port(ports.smtp),
        "submission_port": _port(ports.submission),
        "submissions_port": _port(ports.submissions),
        "webmail": "yes" if settings.webmail.enabled else "",
        # A redirect adds header fields to a message that may be as large as the limit.
        "reinjection_size": str(settings.limits.largest_message_bytes + (512 << 10)),
    }


def _port(number: int) -> str:
    return str(number) if number else ""


def _fill(template: str, values: Mapping[str, str]) -> str:
    return "\n".join(_lines(template, values)) + "\n"


def _lines(template: str, values: Mapping[str, str]) -> Iterator[str]:
    conditions: list[bool] = []
    for line in _read(template).splitlines():
        if condition := _IF.fullmatch(line):
            conditions.append(bool(values[condition[1]]))
        elif line == "@@end@@":
            conditions.pop()
        elif not all(conditions):
            continue
        elif include := _INCLUDE.fullmatch(line):
            yield from _lines(f"{template.rpartition('/')[0]}/{include[1]}", values)
        else:
            yield _VALUE.sub(lambda match: _plain(values[match[1]]), line)
    if conditions:
        raise ValueError(f"{template}: a condition has no end")


def _plain(value: str) -> str:
    if any(ord(char) < 0x20 or ord(char) == 0x7F for char in value):
        raise ValueError(f"control character in a configuration value: {value!r}")
    return value


@cache
def _read(template: str) -> str:
    return (TEMPLATES / template).read_text("utf-8")
