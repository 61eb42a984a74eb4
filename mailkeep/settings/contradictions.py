"""Settings that are valid alone, but not together."""

from __future__ import annotations

import dataclasses
from urllib.parse import urlsplit

from mailkeep.core.network import covers
from mailkeep.settings.tree import Settings


def list_contradictions(settings: Settings) -> list[str]:
    """Errors, each as `KEY: text`."""
    checks = (_check_providers, _check_ports, _check_credentials, _check_acme, _check_webmail)
    return [fault for check in checks for fault in check(settings)]


def _check_providers(settings: Settings) -> list[str]:
    """Errors: providers with an http:// issuer, if no loopback network is allowed."""
    loopback = ("127.0.0.0/8", "::1/128")
    if any(covers(loopback, allowed) for allowed in settings.oidc.allowed_networks):
        return []
    return [
        f"oidc.providers: {provider.id} has an http:// issuer, but oidc.allowed_networks has no loopback network"
        for provider in settings.oidc.providers
        if provider.is_plain
    ]


def _check_credentials(settings: Settings) -> list[str]:
    """Errors: credentials for relays and name servers that are incomplete, or would be sent without verified TLS; no
    smarthost; DANE without TLS.
    """
    outbound, mta = settings.outbound, settings.mta
    faults: list[str] = []
    if mta.mode == "smtp" and not mta.host:
        faults.append("mta.host: expected a host name, because mta.mode is smtp")
    if mta.username and mta.tls == "none":
        faults.append("mta.tls: expected starttls or tls, because mta.username is set")
    if outbound.tls == "none" and (outbound.dane or outbound.mta_sts):
        name = "dane" if outbound.dane else "mta_sts"
        faults.append(f"outbound.tls: expected may or encrypt, because outbound.{name} is set")
    if outbound.relay_username and outbound.relay_tls == "none":
        faults.append("outbound.relay_tls: expected starttls or tls, because outbound.relay_username is set")
    if outbound.relay_username and not outbound.relay:
        faults.append("outbound.relay: expected host:port, because outbound.relay_username is set")
    if bool(outbound.relay_username) != bool(outbound.relay_password):
        set_, missing = ("username", "password") if outbound.relay_username else ("password", "username")
        faults.append(f"outbound.relay_{missing}: expected a value, because outbound.relay_{set_} is set")
    if settings.dns.provider == "rfc2136":
        required = ("update_server", "tsig_key", "tsig_secret")
        missing_keys = [f"dns.{name}" for name in required if not getattr(settings.dns, name)]
        faults += [f"{key}: expected a value, because dns.provider is rfc2136" for key in missing_keys]
    return faults


def _check_acme(settings: Settings) -> list[str]:
    """Errors: no agreement to the terms, half an external account binding, or DNS-01 without a DNS provider."""
    acme = settings.acme
    faults: list[str] = []
    if acme.enabled and not acme.agree_terms:
        faults.append("acme.agree_terms: expected true, because acme.enabled is set")
    if acme.enabled and acme.challenge == "dns" and settings.dns.provider == "none":
        faults.append("acme.challenge: expected http, because dns.provider is none")
    if bool(acme.eab_key_id) != bool(acme.eab_key):
        set_, missing = ("key_id", "key") if acme.eab_key_id else ("key", "key_id")
        faults.append(f"acme.eab_{missing}: expected a value, because acme.eab_{set_} is set")
    return faults


def _check_ports(settings: Settings) -> list[str]:
    """Errors: two services on the same port."""
    faults: list[str] = []
    names: dict[int, str] = {}
    found = {f"ports.{name}": port for name, port in dataclasses.asdict(settings.ports).items()}
    if settings.edge.enabled:
        found |= {"edge.http_port": settings.edge.http_port, "edge.https_port": settings.edge.https_port}
    for key, port in found.items():
        if port and port in names:
            faults.append(f"{key}: expected another port than {names[port]}, which is {port} too")
        names.setdefault(port, key)
    return faults


def _check_webmail(settings: Settings) -> list[str]:
    """Errors: the webmail without a host name of its own."""
    host = settings.webmail.host.lower()
    faults: list[str] = []
    if settings.webmail.enabled and not host:
        faults.append("webmail.host: expected a host name, because webmail.enabled is true")
    if settings.webmail.enabled and not settings.edge.enabled:
        faults.append("webmail.enabled: expected false, because edge.enabled is false")
    others = {
        "http.public_url": urlsplit(settings.http.public_url).hostname,
        "server.hostname": settings.server.hostname,
    }
    faults += [
        f"webmail.host: expected another host name than that of {key}"
        for key, other in others.items()
        if host and other and host == other.lower()
    ]
    return faults
