"""Where settings come from, which source wins, and how a wrong one is refused."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from mailkeep.settings import (
    FIRST_START_VARIABLES,
    SettingsError,
    describe_settings,
    list_settings,
    load_settings,
    parse_endpoint,
    parse_networks,
)

NOTHING: dict[str, str] = {}


def refusal(data_dir: Path, environ: dict[str, str] | None = None) -> str:
    with pytest.raises(SettingsError) as refused:
        load_settings(data_dir, environ or {})
    return str(refused.value)


def test_without_any_source_the_defaults_hold(tmp_path: Path):
    loaded = load_settings(tmp_path, {"PATH": "/bin"})
    assert loaded.settings.http.listen == "127.0.0.1:8080"
    assert loaded.settings.limits.message_size_bytes == 50 * 1024 * 1024
    assert set(loaded.sources.values()) == {"default"}
    assert list_settings(loaded, changed_only=True) == []


def test_every_default_is_a_valid_value(tmp_path: Path):
    for setting in describe_settings():
        section, _, name = setting.key.partition(".")
        value = list(setting.default) if isinstance(setting.default, tuple) else setting.default
        text = str(value).lower() if isinstance(value, bool) else repr(value)
        (tmp_path / "mailkeep.toml").write_text(f"[{section}]\n{name} = {text}\n")
        assert load_settings(tmp_path, NOTHING).sources[setting.key] == "file"


def test_options_win_over_environment_over_file_over_default(tmp_path: Path):
    (tmp_path / "mailkeep.toml").write_text(
        '[http]\nlisten = "127.0.0.1:1"\ninternal = "127.0.0.1:2"\npublic_url = "https://mail.example"\n'
    )
    environ = {"MAILKEEP_HTTP__LISTEN": "127.0.0.1:3", "MAILKEEP_HTTP__INTERNAL": "127.0.0.1:4"}
    loaded = load_settings(tmp_path, environ, {"http.listen": "[::1]:5"})
    http = loaded.settings.http
    assert (http.listen, http.internal, http.public_url) == ("[::1]:5", "127.0.0.1:4", "https://mail.example")
    names = ("listen", "internal", "public_url", "trusted_proxies")
    assert [loaded.sources[f"http.{name}"] for name in names] == ["option", "env", "file", "default"]
    assert [setting.key for setting in list_settings(loaded, changed_only=True)] == [
        f"http.{name}" for name in ("listen", "public_url", "internal")
    ]


def test_lists_and_numbers_in_the_environment_are_json(tmp_path: Path):
    environ = {
        "MAILKEEP_CORS__ORIGINS": '["https://app.example", "http://localhost:5173"]',
        "MAILKEEP_SESSIONS__TTL_HOURS": "0.5",
        "MAILKEEP_LIMITS__LOGIN_PER_SECOND": "0",
    }
    settings = load_settings(tmp_path, environ).settings
    assert settings.cors.origins == ("https://app.example", "http://localhost:5173")
    assert settings.sessions.ttl_hours == 0.5
    assert settings.limits.login_per_second == 0


@pytest.mark.parametrize(
    "text, roles",
    [
        ("off", ()),
        ("[]", ()),
        ('["super_admin"]', ("super_admin",)),
        ('["admin", "super_admin"]', ("admin", "super_admin")),
    ],
)
def test_required_second_factor_is_a_list_of_roles_or_off(tmp_path: Path, text: str, roles: tuple[str, ...]):
    assert (
        load_settings(tmp_path, {"MAILKEEP_AUTH__REQUIRE_SECOND_FACTOR": text}).settings.auth.require_second_factor
        == roles
    )
    value = '"off"' if text == "off" else text
    (tmp_path / "mailkeep.toml").write_text(f"[auth]\nrequire_second_factor = {value}\n")
    assert load_settings(tmp_path, NOTHING).settings.auth.require_second_factor == roles


@pytest.mark.parametrize(
    "variable, text, expected",
    [
        ("HTTP__LISTEN", "8080", "host:port"),
        ("HTTP__LISTEN", "127.0.0.1:65536", "host:port"),
        ("HTTP__LISTEN", "127.0.0.1:８０８０", "host:port"),
        ("HTTP__LISTEN", "::1:8080", "host:port"),
        ("HTTP__LISTEN", "a b:80", "host:port"),
        ("HTTP__LISTEN", "", "host:port"),
        ("HTTP__PUBLIC_URL", "", "http:// or https://"),
        ("HTTP__PUBLIC_URL", "mail.example", "http:// or https://"),
        ("HTTP__PUBLIC_URL", "ftp://mail.example", "http:// or https://"),
        ("HTTP__PUBLIC_URL", "https://user@mail.example", "http:// or https://"),
        ("HTTP__PUBLIC_URL", "https://mail.example/path", "http:// or https://"),
        ("HTTP__PUBLIC_URL", "https://mail.example\\@other", "http:// or https://"),
        ("HTTP__TRUSTED_PROXIES", "10.0.0.0/8", "a list of networks in CIDR form"),
        ("HTTP__TRUSTED_PROXIES", '["10.0.0.1/8"]', "a list of networks in CIDR form"),
        ("AUTH__REQUIRE_SECOND_FACTOR", "on", "a list of roles (domain_admin, admin, super_admin), or `off`"),
        ("AUTH__REQUIRE_SECOND_FACTOR", '["root"]', "a list of roles"),
        ("AUTH__REQUIRE_SECOND_FACTOR", '["off"]', "a list of roles"),
        ("AUTH__ALLOWED_NETWORKS", "off", "a list of networks in CIDR form"),
        ("AUTH__ALLOWED_NETWORKS", '["10.0.0.1/8"]', "a list of networks in CIDR form"),
        ("LIMITS__MESSAGE_SIZE_MB", "101", "a whole number from 1 to 100"),
        ("LIMITS__MESSAGE_SIZE_MB", "0", "a whole number from 1 to 100"),
        ("LIMITS__MESSAGE_SIZE_MB", "1_0", "a whole number from 1 to 100"),
        ("LIMITS__MESSAGE_SIZE_MB", "2.5", "a whole number from 1 to 100"),
        ("LIMITS__MESSAGE_SIZE_MB", "true", "a whole number from 1 to 100"),
        ("LIMITS__LOGIN_PER_SECOND", "-1", "a number from 0 to"),
        ("LIMITS__LOGIN_PER_SECOND", "NaN", "a number from 0 to"),
        ("LIMITS__LOGIN_PER_SECOND", "1e400", "a number from 0 to"),
        ("SESSIONS__TTL_HOURS", "0", "a number from"),
        ("DATABASE__URL", "mysql://localhost/mail", "postgresql://"),
        ("MTA__MODE", "sendmail", "one of sandbox, postfix, smtp, none"),
        ("MTA__HOST", "smart_host", "a host name, or an empty string"),
        ("SERVER__HOSTNAME", "mail.example\n", "a host name, or an empty string"),
        ("CORS__ORIGINS", '["*"]', "a list of origins"),
        ("CORS__ORIGINS", '["https://App.example"]', "a list of origins"),
        ("CORS__ORIGINS", '["https://app.example/"]', "a list of origins"),
        ("LOG__LEVEL", "INFO", "one of debug, info, warning, error"),
        ("ALERTS__DIGEST", "٠٨:٠٠", "a time like 02:30"),
        ("ALERTS__QUIET_HOURS", "２２:００-07:00", "two times like 22:00-07:00"),
        ("ALERTS__TIME_ZONE", "localtime", "the name of a time zone"),
    ],
)
def test_a_wrong_value_is_refused_with_key_source_and_expectation(
    tmp_path: Path, variable: str, text: str, expected: str
):
    message = refusal(tmp_path, {f"MAILKEEP_{variable}": text})
    key = variable.lower().replace("__", ".")
    assert message.startswith(f"{key} (MAILKEEP_{variable}): expected {expected}")


@pytest.mark.parametrize("text", ["nan", "inf", "-inf", "'5'", "true", "[5]", "1979-05-27"])
def test_a_wrong_value_in_the_file_is_refused(tmp_path: Path, text: str):
    (tmp_path / "mailkeep.toml").write_text(f"[limits]\nlogin_per_second = {text}\n")
    assert refusal(tmp_path).startswith(f"limits.login_per_second ({tmp_path}/mailkeep.toml): expected a number from 0")


@pytest.mark.parametrize(
    "variable, hint",
    [
        ("MAILKEEP_HTTP__LISTN", "did you mean MAILKEEP_HTTP__LISTEN?"),
        ("MAILKEEP_HTTP_LISTEN", "did you mean MAILKEEP_HTTP__LISTEN?"),
        ("MAILKEEP_HTTP__LISTEN_FILE", "unknown setting"),
        ("MAILKEEP_QUITE__ELSE", "unknown setting"),
    ],
)
def test_an_unknown_variable_is_refused_with_the_nearest_name(tmp_path: Path, variable: str, hint: str):
    message = refusal(tmp_path, {variable: "127.0.0.1:1"})
    assert message.startswith(f"{variable}: unknown setting")
    assert hint in message


@pytest.mark.parametrize(
    "text, expected",
    [
        ("[http]\nlistn = 'x'", "http.listn ({file}): unknown setting; did you mean http.listen?"),
        ("[limit]\nx = 1", "limit ({file}): unknown setting; did you mean limits?"),
        ("http = 1", "http ({file}): expected a table, [http]"),
        ("[http]\nlisten = 1\nlisten = 2", "{file}: Cannot overwrite a value"),
        ("[http\n", "{file}: "),
    ],
)
def test_a_wrong_file_is_refused(tmp_path: Path, text: str, expected: str):
    file = tmp_path / "mailkeep.toml"
    file.write_text(text)
    assert refusal(tmp_path).startswith(expected.format(file=file))


def test_a_file_that_is_not_text_is_refused(tmp_path: Path):
    (tmp_path / "mailkeep.toml").write_bytes(b"[http]\nlisten = '\xff'\n")
    assert "mailkeep.toml" in refusal(tmp_path)


def test_all_faults_are_reported_at_once(tmp_path: Path):
    (tmp_path / "mailkeep.toml").write_text("[mta]\nport = 0\n")
    message = refusal(tmp_path, {"MAILKEEP_MTA__MODE": "x", "MAILKEEP_NO__SUCH": "1"})
    assert len(message.splitlines()) == 3


def test_a_smarthost_needs_a_host(tmp_path: Path):
    assert "mta.host" in refusal(tmp_path, {"MAILKEEP_MTA__MODE": "smtp"})
    environ = {"MAILKEEP_MTA__MODE": "smtp", "MAILKEEP_MTA__HOST": "smart.example"}
    assert load_settings(tmp_path, environ).settings.mta.host == "smart.example"


def test_two_services_on_one_port_are_refused_unless_disabled(tmp_path: Path):
    options = {"ports.smtp": "2525", "ports.submission": "2525", "ports.sieve": "993", "ports.pop3": "0"}
    with pytest.raises(SettingsError) as refused:
        load_settings(tmp_path, {}, options)
    assert refused.value.faults == (
        "ports.submission: expected another port than ports.smtp, which is 2525 too",
        "ports.sieve: expected another port than ports.imaps, which is 993 too",
    )
    assert load_settings(tmp_path, {}, {"ports.pop3": "0", "ports.pop3s": "0"}).settings.ports.pop3 == 0


def test_a_secret_is_read_from_a_file_and_shown_nowhere(tmp_path: Path):
    (tmp_path / "secret").write_text("s3cret-word\n")
    loaded = load_settings(tmp_path, {"MAILKEEP_MTA__PASSWORD_FILE": str(tmp_path / "secret")})
    assert loaded.settings.mta.password == "s3cret-word"
    assert loaded.sources["mta.password"] == "env"
    assert "s3cret-word" not in repr(list_settings(loaded)) + repr(loaded)
    assert next(one.value for one in list_settings(loaded) if one.key == "mta.password") == "********"


def test_a_wrong_secret_is_not_repeated(tmp_path: Path):
    message = refusal(tmp_path, {"MAILKEEP_DATABASE__URL": "s3cret-word"})
    assert message.startswith("database.url (MAILKEEP_DATABASE__URL): expected postgresql://")
    assert "s3cret-word" not in message


def test_a_secret_and_its_file_together_are_refused(tmp_path: Path):
    environ = {"MAILKEEP_MTA__PASSWORD": "x", "MAILKEEP_MTA__PASSWORD_FILE": "/nowhere"}
    assert "both MAILKEEP_MTA__PASSWORD and" in refusal(tmp_path, environ)


def test_a_missing_secret_file_is_refused(tmp_path: Path):
    assert "MAILKEEP_MTA__PASSWORD_FILE" in refusal(tmp_path, {"MAILKEEP_MTA__PASSWORD_FILE": "/nowhere"})


def test_first_start_values_come_from_the_environment(tmp_path: Path):
    assert load_settings(tmp_path, NOTHING).first_start.admin_email is None
    (tmp_path / "password").write_text("correct horse\n")
    environ = {
        "MAILKEEP_SECRET_FILE": "/run/secret",
        "MAILKEEP_ADMIN_EMAIL": "root@mail.example",
        "MAILKEEP_ADMIN_PASSWORD_FILE": str(tmp_path / "password"),
    }
    first = load_settings(tmp_path, environ).first_start
    assert (first.secret_file, first.admin_email) == ("/run/secret", "root@mail.example")
    assert first.admin_password == "correct horse"
    assert "correct horse" not in repr(first)


def test_every_first_start_variable_is_documented(tmp_path: Path):
    names: set[str] = set()

    class Environment(dict[str, str]):
        def get(self, name: str, default: Any = None) -> Any:
            names.add(name)
            return super().get(name, default)

    load_settings(tmp_path, Environment())
    assert names == {*FIRST_START_VARIABLES}
    page = (Path(__file__).parents[2] / "docs/reference/settings.md").read_text("utf-8")
    assert all(f"\n| `{name}` | {meaning} |\n" in page for name, meaning in FIRST_START_VARIABLES.items())


@pytest.mark.parametrize(
    "text, parsed",
    [
        ("127.0.0.1:0", ("127.0.0.1", 0)),
        ("localhost:25", ("localhost", 25)),
        ("[::1]:25", ("::1", 25)),
        ("[0:0:0:0:0:0:0:1]:25", ("::1", 25)),
    ],
)
def test_an_endpoint_is_host_and_port(text: str, parsed: tuple[str, int]):
    assert parse_endpoint(text) == parsed


def test_a_bare_address_is_a_network_of_one():
    assert [str(network) for network in parse_networks(["10.0.0.1", "fd00::/8"])] == ["10.0.0.1/32", "fd00::/8"]


@given(st.text(max_size=40))
def test_any_text_is_an_endpoint_or_a_value_error(text: str):
    try:
        host, port = parse_endpoint(text)
    except ValueError:
        return
    assert host
    assert 0 <= port <= 65535


@given(st.sampled_from([setting.key for setting in describe_settings()]), st.text(max_size=30))
def test_any_environment_value_is_accepted_or_refused(key: str, text: str):
    try:
        load_settings(Path("/nonexistent"), {f"MAILKEEP_{key.replace('.', '__').upper()}": text})
    except SettingsError as refused:
        message = str(refused)
    else:
        message = key
    assert key in message


@pytest.mark.parametrize(
    "environ, fault",
    [
        ({"OUTBOUND__RELAY_TLS": "none"}, "outbound.relay_tls: expected starttls or tls"),
        ({"OUTBOUND__RELAY": ""}, "outbound.relay: expected host:port"),
        ({"OUTBOUND__RELAY_PASSWORD": ""}, "outbound.relay_password: expected a value"),
        ({"MTA__USERNAME": "shop", "MTA__TLS": "none"}, "mta.tls: expected starttls or tls"),
    ],
)
def test_a_login_at_a_relay_without_tls_is_refused(tmp_path: Path, environ: dict[str, str], fault: str):
    whole = {"OUTBOUND__RELAY": "relay.test:587", "OUTBOUND__RELAY_USERNAME": "a", "OUTBOUND__RELAY_PASSWORD": "b"}
    load_settings(tmp_path, {f"MAILKEEP_{name}": text for name, text in whole.items()})
    with pytest.raises(SettingsError, match=fault):
        load_settings(tmp_path, {f"MAILKEEP_{name}": text for name, text in (whole | environ).items()})
