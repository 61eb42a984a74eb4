"""Identity providers in the settings: valid ones, and how a wrong one is refused without showing its secret."""

from __future__ import annotations

import json
import re
import textwrap
from pathlib import Path
from typing import Any

import pytest

from mailkeep.features import access
from mailkeep.settings import OidcProvider, SettingsError, list_settings, load_settings
from mailkeep.settings.external import OidcSettings

ACME: dict[str, Any] = {"id": "acme", "issuer": "https://id.acme.example/realms/main", "client_id": "mailkeep"}


def load(tmp_path: Path, *providers: Any, **more: str) -> Any:
    return load_settings(tmp_path, {"MAILKEEP_OIDC__PROVIDERS": json.dumps(providers), **more})


def refusal(tmp_path: Path, *providers: Any, **more: str) -> str:
    with pytest.raises(SettingsError) as refused:
        load(tmp_path, *providers, **more)
    return str(refused.value)


def test_a_provider_in_the_file_is_a_table(tmp_path: Path):
    (tmp_path / "mailkeep.toml").write_text(
        """
        [oidc]
        allowed_networks = ["10.0.0.0/8"]

        [[oidc.providers]]
        id = "acme"
        name = "Acme"
        issuer = "https://id.acme.example/"
        client_id = "mailkeep"
        client_secret = "s3cret"
        scopes = ["openid", "email"]
        trust_email = true
        trusted_mfa = true
        auto_create_role = "domain_admin"
        allowed_email_domains = ["acme.example"]
        """
    )
    (one,) = load_settings(tmp_path, {}).settings.oidc.providers
    assert (one.label, one.client_secret, one.scopes) == ("Acme", "s3cret", ("openid", "email"))
    assert (one.trust_email, one.trusted_mfa, one.auto_create_role) == (True, True, "domain_admin")


def test_three_fields_are_enough(tmp_path: Path):
    (one,) = load(tmp_path, ACME).settings.oidc.providers
    assert one == OidcProvider(**ACME)
    assert (one.label, one.scopes, one.trust_email, one.auto_create_role) == (
        "acme",
        ("openid", "email", "profile"),
        False,
        "",
    )


def test_the_secret_may_be_in_a_file(tmp_path: Path):
    secret = tmp_path / "secret"
    secret.write_text("s3cret with spaces\n")
    (one,) = load(tmp_path, ACME | {"client_secret_file": str(secret)}).settings.oidc.providers
    assert one.client_secret == "s3cret with spaces"
    whole = tmp_path / "providers.json"
    whole.write_text(json.dumps([ACME | {"client_secret": "s3cret"}]))
    (one,) = load_settings(tmp_path, {"MAILKEEP_OIDC__PROVIDERS_FILE": str(whole)}).settings.oidc.providers
    assert one.client_secret == "s3cret"


def test_listed_settings_hide_the_secret(tmp_path: Path):
    loaded = load(tmp_path, ACME | {"client_secret": "s3cret"})
    (shown,) = list_settings(loaded, changed_only=True)
    (table,) = shown.value  # type: ignore[misc]
    assert (table["client_secret"], table["issuer"]) == ("********", ACME["issuer"])
    (shown,) = list_settings(load(tmp_path, ACME), changed_only=True)
    assert shown.value[0]["client_secret"] == ""  # type: ignore[index]
    assert "s3cret" not in repr(loaded.settings)


@pytest.mark.parametrize(
    "changes, expected",
    [
        ({"id": "Acme"}, "lower-case letters"),
        ({"id": "../x"}, "lower-case letters"),
        ({"id": ""}, "lower-case letters"),
        ({"id": "x" * 33}, "lower-case letters"),
        ({"issuer": "http://id.acme.example"}, "not on loopback"),
        ({"issuer": "ftp://id.acme.example"}, "https://host"),
        ({"issuer": "https://"}, "https://host"),
        ({"issuer": "https://a@id.acme.example"}, "https://host"),
        ({"issuer": "https://id.acme.example/?x=1"}, "without query, fragment"),
        ({"issuer": "https://id.acme.example/#x"}, "without query, fragment"),
        ({"issuer": "https://id acme.example/"}, "must be a URL"),
        ({"client_id": ""}, "client_id is empty"),
        ({"client_id": "a\nb"}, "non-printable"),
        ({"name": "a\x1b[1m"}, "its name has non-printable"),
        ({"scopes": ["email"]}, "openid"),
        ({"scopes": ["openid", "a b"]}, "scope 'a b' is not valid"),
        ({"auto_create_role": "root"}, "domain_admin, admin, super_admin"),
        ({"allowed_email_domains": ["*.acme.example"]}, "allowed_email_domains"),
        ({"allowed_email_domains": ["Acme.example"]}, "acme.example"),
        ({"client_secret": "", "client_secret_file": "/nonexistent/secret"}, "can't be read"),
        ({"client_secret": "", "client_secret_file": "secret"}, "not an absolute path"),
        ({"client_secret": "s3cret", "client_secret_file": "/x"}, "both"),
        ({"trust_mail": True}, "trust_mail"),
        ({"trust_email": "yes"}, "`trust_email` of entry 1 is text, not true or false"),
    ],
)
def test_a_wrong_provider_is_refused(tmp_path: Path, changes: dict[str, Any], expected: str):
    message = refusal(tmp_path, ACME | {"client_secret": "s3cret"} | changes)
    assert "oidc.providers (MAILKEEP_OIDC__PROVIDERS): expected a list of providers" in message
    assert expected in message
    assert "s3cret" not in message


def test_a_missing_field_is_named(tmp_path: Path):
    assert "issuer" in refusal(tmp_path, {"id": "acme", "client_id": "x", "client_secret": "s3cret"})


def test_an_empty_secret_file_is_refused(tmp_path: Path):
    (tmp_path / "secret").write_text("\n")
    assert "contains no secret" in refusal(tmp_path, ACME | {"client_secret_file": str(tmp_path / "secret")})


def test_two_providers_must_not_share_an_id(tmp_path: Path):
    assert "two providers have the id 'acme'" in refusal(tmp_path, ACME, ACME)


def test_http_needs_an_allowed_loopback_network(tmp_path: Path):
    plain = ACME | {"issuer": "http://localhost:8090"}
    assert "oidc.allowed_networks has no loopback network" in refusal(tmp_path, plain)
    assert "no loopback" in refusal(tmp_path, plain, MAILKEEP_OIDC__ALLOWED_NETWORKS='["10.0.0.0/8"]')
    allowed = {"MAILKEEP_OIDC__ALLOWED_NETWORKS": '["127.0.0.1"]'}
    assert load(tmp_path, plain, **allowed).settings.oidc.providers[0].is_plain


@pytest.mark.parametrize(
    "key, text, valid",
    [
        ("DNS__SERVERS", '["127.0.0.1", "127.0.0.1:5353", "[::1]:53", "::1", "[::1]"]', True),
        ("DNS__SERVERS", '["dns.example"]', False),
        ("DNS__SERVERS", '["127.0.0.1:0"]', False),
        ("DNS__SERVERS", '["127.0.0.1:99999"]', False),
        ("WEBHOOKS__RETRY_SECONDS", "[1, 2, 3]", True),
        ("WEBHOOKS__RETRY_SECONDS", "[]", False),
        ("WEBHOOKS__RETRY_SECONDS", "[0]", False),
        ("OIDC__EXTRA_CA_FILE", "/etc/ca.pem", True),
        ("OIDC__EXTRA_CA_FILE", "ca.pem", False),
    ],
)
def test_settings_of_the_outbound_client(tmp_path: Path, key: str, text: str, valid: bool):
    environ = {f"MAILKEEP_{key}": text}
    if valid:
        load_settings(tmp_path, environ)
    else:
        with pytest.raises(SettingsError, match=key.split("__")[1].lower()):
            load_settings(tmp_path, environ)


HOWTO = (Path(__file__).parents[2] / "docs/howto/oidc.md").read_text("utf-8")


def test_the_documented_examples_are_valid(tmp_path: Path):
    secret = tmp_path / "secret"
    secret.write_text("s3cret")
    examples = re.findall(r"```toml\n(.*?)```", HOWTO, re.DOTALL)
    assert len(examples) == 2
    for example in examples:
        text = textwrap.dedent(example).replace("/etc/mailkeep/acme-secret", str(secret))
        (tmp_path / "mailkeep.toml").write_text(text)
        assert load_settings(tmp_path, {}).settings.oidc != OidcSettings()


def test_every_field_is_documented():
    table = HOWTO.partition("## What a provider is permitted to do")[2].partition("\n\n-")[0]
    documented = {
        name for row in re.findall(r"^\| (`.*?) \|", table, re.MULTILINE) for name in re.findall(r"`(\w+)`", row)
    }
    assert documented == set(OidcProvider.__struct_fields__)


def test_every_documented_reason_exists():
    sources = "".join(path.read_text() for path in Path(access.__path__[0]).rglob("*.py"))
    reasons = set(re.findall(r"^\| `[A-Z_]+`, `(\w+)`", HOWTO, re.MULTILINE))
    assert len(reasons) > 6
    assert {reason for reason in reasons if f'"{reason}"' not in sources} <= {"network"}
