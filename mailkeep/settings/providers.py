"""Identity providers in the settings: checks, and client secrets from files."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

from msgspec.structs import replace

from mailkeep.core.address import AddressError, normalize_domain
from mailkeep.core.identity_provider import OidcProvider, is_loopback_name
from mailkeep.core.principal import Role

SECRET_MEMBERS = ("client_secret",)
"""Fields of a provider that are masked when it is shown."""

_ID = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?")
_SCOPE = re.compile(r"[!#-\[\]-~]+")  # RFC 6749 §3.3
_MAX_SECRET_BYTES = 4096


def check_providers(providers: Sequence[OidcProvider]) -> None:
    """ValueError with the provider and the problem, without secrets."""
    for number, one in enumerate(providers):
        try:
            _check(one)
        except ValueError as error:
            raise ValueError(f"provider {number + 1}: {error}") from error
    ids = [one.id for one in providers]
    if len(set(ids)) != len(ids):
        raise ValueError("two providers have the same id")


def _check(one: OidcProvider) -> None:
    if not _ID.fullmatch(one.id):
        raise ValueError("its id must have at most 32 lower-case letters, digits and inner hyphens")
    _check_issuer(one.issuer)
    if not one.client_id or not one.client_id.isprintable() or not one.name.isprintable() or len(one.name) > 100:
        raise ValueError("its client_id is empty, or its client_id or name has non-printable characters")
    if one.client_secret and one.client_secret_file:
        raise ValueError("it has both client_secret and client_secret_file")
    if "openid" not in one.scopes or not all(_SCOPE.fullmatch(scope) for scope in one.scopes):
        raise ValueError("its scopes lack `openid`, or one is invalid (RFC 6749 §3.3)")
    if one.auto_create_role and one.auto_create_role not in list(Role):
        raise ValueError(f"its auto_create_role must be one of {', '.join(Role)}")
    for domain in one.allowed_email_domains:
        try:
            canonical = normalize_domain(domain)
        except AddressError as error:
            raise ValueError(f"allowed_email_domains has {domain!r}: {error.reason}") from error
        if canonical != domain:
            raise ValueError(f"allowed_email_domains has {domain!r}, which must be written {canonical!r}")


def _check_issuer(issuer: str) -> None:
    """OpenID Connect Discovery §2: https, without query and fragment; http only on loopback."""
    parts = urlsplit(issuer)
    if not (issuer.isascii() and issuer.isprintable()) or " " in issuer or parts.query or parts.fragment:
        raise ValueError("its issuer is not a URL, or has a query or a fragment")
    if parts.scheme not in ("https", "http") or not parts.hostname or parts.username is not None:
        raise ValueError("its issuer is not of the form https://host[/path]")
    if parts.scheme == "http" and not is_loopback_name(parts.hostname):
        raise ValueError("its issuer is http:// and not on loopback (localhost, 127.0.0.1, [::1])")


def read_client_secrets(providers: Sequence[OidcProvider]) -> tuple[OidcProvider, ...]:
    """The providers with their secrets, from files if these are named; ValueError if one can't be read."""
    return tuple(_read_client_secret(one) for one in providers)


def _read_client_secret(one: OidcProvider) -> OidcProvider:
    if not one.client_secret_file:
        return one
    path = Path(one.client_secret_file)
    if not path.is_absolute():
        raise ValueError(f"{one.id}: client_secret_file is not an absolute path")
    try:
        with path.open(encoding="utf-8") as file:
            text = file.read(_MAX_SECRET_BYTES).rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{one.id}: client_secret_file can't be read: {error}") from error
    if not text or not text.isprintable():
        raise ValueError(f"{one.id}: client_secret_file contains no secret")
    return replace(one, client_secret=text)
