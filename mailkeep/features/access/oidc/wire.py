"""JSON and query parameters of single sign-on."""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from mailkeep.core.identity_provider import OidcProvider
from mailkeep.features.access.oidc.rules import LOGIN_PATH
from mailkeep.web.fields import Query


class ProviderRecord(Struct, frozen=True):
    """An identity provider; open `login_path` in the browser to sign in with it."""

    id: str
    name: str
    login_path: str


class LoginQuery(Query, frozen=True):
    """How a sign-in begins."""

    link: Annotated[
        int, Meta(ge=0, le=1, description="1: link the identity to the account of the session, instead of signing in")
    ] = 0
    next: (
        Annotated[
            str,
            Meta(
                max_length=500,
                description="The local path that the browser opens after sign-in; anything else is ignored",
            ),
        ]
        | UnsetType
    ) = UNSET


class CallbackQuery(Query, frozen=True):
    """The provider's response; other parameters are ignored."""

    state: (
        Annotated[str, Meta(description="The `state` of the authorization request (RFC 6749 §4.1.1)")] | UnsetType
    ) = UNSET
    code: Annotated[str, Meta(description="The code that is exchanged for the ID token")] | UnsetType = UNSET
    iss: Annotated[str, Meta(description="The provider's issuer (RFC 9207)")] | UnsetType = UNSET
    error: Annotated[str, Meta(description="Why there is no code (RFC 6749 §4.1.2.1)")] | UnsetType = UNSET


class Disconnected(Struct, frozen=True):
    """The account is no longer linked to an identity."""

    message: str
    oidc_provider: str | None


def to_provider(provider: OidcProvider) -> ProviderRecord:
    """The response for a provider."""
    return ProviderRecord(provider.id, provider.label, f"{LOGIN_PATH}{provider.id}")
