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
    """Check all providers. Raises ValueError with the provider and the problem, without secrets."""
    for number, provider in enumerate(providers):
        try:
            _check(provider)
        except ValueError as error:
            raise ValueError(f"provider {number + 1}: {error}") from error
    ids = [provider.id for provider in providers]
    if repeated := next((provider_id for provider_id in ids if ids.count(provider_id) > 1), None):
        raise ValueError(f"two providers have the id {repeated!r}")


def _check(provider: OidcProvider) -> None:
    if not _ID.fullmatch(provider.id):
        raise ValueError(f"its id {provider.id!r} must have 1 to 32 lower-case letters, digits and inner hyphens")
    _check_issuer(provider.issuer)
    if not provider.client_id or not provider.client_id.isprintable():
        raise ValueError("its client_id is empty or has non-printable characters")
    if not provider.name.isprintable() or len(provider.name) > 100:
        raise ValueError("its name has non-printable characters or more than 100 characters")
    if provider.client_secret and provider.client_secret_file:
        raise ValueError("it has both client_secret and client_secret_file; remove one")
    if "openid" not in provider.scopes:
        raise ValueError("its scopes do not include openid")
    if invalid := next((scope for scope in provider.scopes if not _SCOPE.fullmatch(scope)), None):
        raise ValueError(f"its scope {invalid!r} is not valid (RFC 6749 §3.3)")
    if provider.auto_create_role and provider.auto_create_role not in list(Role):
        raise ValueError(f"its auto_create_role must be one of {', '.join(Role)}")
    for domain in provider.allowed_email_domains:
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
        raise ValueError("its issuer must be a URL without query, fragment and spaces, in ASCII")
    if parts.scheme not in ("https", "http") or not parts.hostname or parts.username is not None:
        raise ValueError("its issuer is not of the form https://host[/path]")
    if parts.scheme == "http" and not is_loopback_name(parts.hostname):
        raise ValueError("its issuer is http:// and not on loopback (localhost, 127.0.0.1, [::1])")


def read_client_secrets(providers: Sequence[OidcProvider]) -> tuple[OidcProvider, ...]:
    """The providers with their client secrets, read from `client_secret_file` if set. Raises ValueError if a file can't
    be read.
    """
    return tuple(_read_client_secret(provider) for provider in providers)


def _read_client_secret(provider: OidcProvider) -> OidcProvider:
    if not provider.client_secret_file:
        return provider
    path = Path(provider.client_secret_file)
    if not path.is_absolute():
        raise ValueError(f"{provider.id}: client_secret_file is not an absolute path")
    try:
        with path.open(encoding="utf-8") as file:
            text = file.read(_MAX_SECRET_BYTES).rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{provider.id}: client_secret_file can't be read: {error}") from error
    if not text or not text.isprintable():
        raise ValueError(f"{provider.id}: client_secret_file contains no secret")
    return replace(provider, client_secret=text)
