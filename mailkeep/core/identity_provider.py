"""An OpenID Connect identity provider as configured by the operator."""

from __future__ import annotations

import ipaddress

import msgspec


class OidcProvider(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A provider in the settings (`oidc.providers`).

    `id` is used in paths, `name` is displayed. `trust_email`: a verified email from the provider logs in the account
    with this email and links the identity to it. `auto_create_role`: a user without an account gets one with this
    role. `allowed_email_domains` limits both. `trusted_mfa`: after a login whose
    token reports a second factor, Mailkeep asks for none.
    """

    id: str
    issuer: str
    client_id: str
    name: str = ""
    client_secret: str = ""
    client_secret_file: str = ""
    scopes: tuple[str, ...] = ("openid", "email", "profile")
    trust_email: bool = False
    trusted_mfa: bool = False
    auto_create_role: str = ""
    allowed_email_domains: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """The displayed name."""
        return self.name or self.id

    @property
    def is_plain(self) -> bool:
        """Whether the provider is reached without TLS (on loopback only)."""
        return self.issuer.startswith("http://")

    def __repr__(self) -> str:
        return f"OidcProvider(id={self.id!r}, issuer={self.issuer!r})"


def is_loopback_name(host: str) -> bool:
    """Whether a URL's host is `localhost` or a loopback address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
