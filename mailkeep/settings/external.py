"""The sections for services of others: identity providers and certificate authorities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from mailkeep.core.identity_provider import OidcProvider
from mailkeep.settings.declaration import ALL, setting as _setting
from mailkeep.settings.formats import (
    ACME_DIRECTORY,
    ACME_NAMES,
    ACME_PROFILE,
    EAB_KEY,
    EMAIL,
    NETWORKS,
    PATH,
    PROVIDERS,
)

_DIRECTORY = "acme.directory"
"""What belongs to the account takes effect with the authority."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OidcSettings:
    """Single sign-on by OpenID Connect; docs/howto/oidc.md has examples."""

    providers: tuple[OidcProvider, ...] = _setting(
        (), "The identity providers for administrators.", PROVIDERS, secret=True
    )
    allowed_networks: tuple[str, ...] = _setting(
        (),
        "Private, loopback or other special-purpose networks in which providers may be; an http:// issuer must be on a "
        "loopback network listed here.",
        NETWORKS,
    )
    extra_ca_file: str = _setting(
        "", "CA certificates (PEM) that are trusted for providers in addition to the system's.", PATH, read_at_start=ALL
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class AcmeSettings:
    """Full profile: certificates from an authority by ACME (RFC 8555); docs/howto/certificates.md."""

    enabled: bool = _setting(
        False,
        "Whether certificates are ordered and renewed: one for the server's host names, unless `tls.certificate_file` "
        "is set, and one for each domain. Needs `agree_terms`.",
    )
    directory: str = _setting(
        "https://acme-v02.api.letsencrypt.org/directory", "The authority's directory.", ACME_DIRECTORY
    )
    email: str = _setting("", "An address at which the authority may contact you.", EMAIL, applies_with=_DIRECTORY)
    agree_terms: bool = _setting(
        False, "Whether you agree to the authority's terms of service; without this no account is created."
    )
    eab_key_id: str = _setting(
        "", "The key ID of an external account binding, for authorities that require one.", applies_with=_DIRECTORY
    )
    eab_key: str = _setting(
        "", "The HMAC key of the external account binding, in base64url.", EAB_KEY, secret=True, applies_with=_DIRECTORY
    )
    profile: str = _setting(
        "", "The certificate profile, such as Let's Encrypt's `shortlived` (6 days); empty: the default.", ACME_PROFILE
    )
    challenge: Literal["http", "dns"] = _setting(
        "http",
        "How control of a name is proved: `http` by a file on port 80 of the name, `dns` by a TXT record, which "
        "`dns.provider` must be able to write.",
    )
    check_first: bool = _setting(
        True,
        "Whether this server fetches its own file on port 80 of a name before the authority is asked, with `challenge` "
        "`http`. Off only where it can't reach its public address from inside.",
    )
    domain_names: tuple[str, ...] = _setting(
        ("autoconfig", "autodiscover", "mta-sts"),
        "The host names below each domain for which certificates are ordered, as far as they lead to this server. With "
        "`mail`, Postfix and Dovecot present the domain's certificate to clients that ask for `mail.DOMAIN` (SNI).",
        ACME_NAMES,
    )
    extra_ca_file: str = _setting(
        "",
        "CA certificates (PEM) that are trusted for the directory in addition to the system's.",
        PATH,
        read_at_start=ALL,
    )
    allowed_networks: tuple[str, ...] = _setting(
        (),
        "Private, loopback or other special-purpose networks in which the authority and this server's names may be.",
        NETWORKS,
        read_at_start=ALL,
        stored=False,
    )
