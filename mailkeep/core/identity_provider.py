"""An identity provider of OpenID Connect, as an operator describes it."""

from __future__ import annotations

import ipaddress

import msgspec


class OidcProvider(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A provider as the settings have it (`oidc.providers`).

    `id` names it in paths, `name` to people. `trust_email`: an account without an identity is logged in, and linked,
    by an email that the provider calls verified. `auto_create_role`: who has no account gets one of this role.
    `allowed_email_domains` bounds both. `trusted_mfa`: our second factor isn't asked for where the token tells of one.
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
        """The name for people."""
        return self.name or self.id

    @property
    def is_plain(self) -> bool:
        """Whether it is spoken to without TLS, on loopback."""
        return self.issuer.startswith("http://")

    def __repr__(self) -> str:
        return f"OidcProvider(id={self.id!r}, issuer={self.issuer!r})"


def is_loopback_name(host: str) -> bool:
    """Whether a URL's host is on this machine by its own words."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
