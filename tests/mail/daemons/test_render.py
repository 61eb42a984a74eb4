"""The daemons' configuration, rendered: each value in its place, what protects always there, nothing that breaks it."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from mailkeep.mail.daemons import render
from mailkeep.mail.daemons.paths import InstancePaths
from mailkeep.settings import load_settings

PLACES = InstancePaths(Path("/var/lib/mailkeep"), Path("/run/mailkeep/0123456789ab"))
FACTS = render.DaemonConfig(
    paths=PLACES,
    database_folder=PLACES.run / "pg",
    database="mailkeep",
    hostname="mx.example.test",
    account="mailkeep",
    mail_account="mailkeep-mail",
    mail_uid=990,
    logins_port=4712,
    logins_token="another",
    certificate_file="/etc/tls/cert.pem",
    key_file="/etc/tls/key.pem",
    lmtp_socket=PLACES.lmtp_socket,
    policy_socket=PLACES.policy_socket,
)


def settings(**environ: str):
    return load_settings(Path("/nowhere"), {f"MAILKEEP_{key}": text for key, text in environ.items()}).settings


def values(text: str) -> dict[str, str]:
    """`name = value` lines, as postconf reads them."""
    pairs = (line.partition(" = ") for line in text.splitlines() if not line.startswith(("#", " ")))
    return {name: value for name, equals, value in pairs if equals}


def services(text: str) -> dict[str, str]:
    """The services of master.cf with their options."""
    found: dict[str, str] = {}
    name = ""
    for line in text.splitlines():
        if line.startswith("  "):
            found[name] += line + "\n"
        elif line and not line.startswith("#"):
            name = line.split()[0]
            found[name] = line + "\n"
    return found


def test_nothing_of_a_template_is_left_over():
    for files in (
        render.render_postfix(settings(), FACTS),
        render.render_dovecot(settings(), FACTS),
        render.render_rspamd(settings(), FACTS),
        render.render_redis(FACTS),
    ):
        for name, text in files.items():
            assert "@@" not in text.replace("postmaster@", ""), name


@pytest.mark.parametrize(
    "environ, name, value",
    [
        ({}, "inet_interfaces", "all"),
        ({"SERVER__ADDRESSES": '["192.0.2.1", "2001:db8::1"]'}, "inet_interfaces", "192.0.2.1, [2001:db8::1]"),
        ({"SERVER__ADDRESSES": '["192.0.2.1"]'}, "inet_protocols", "ipv4"),
        ({"SERVER__ADDRESSES": '["192.0.2.1"]'}, "smtp_bind_address", "192.0.2.1"),
        ({"OUTBOUND__RELAY": "a.test:25"}, "default_transport", f"smarthost:unix:{PLACES.relay_socket}"),
        ({"LIMITS__MESSAGE_SIZE_MB": "100"}, "message_size_limit", str((100 << 20) * 103 // 100 + 65536)),
        ({"OUTBOUND__GIVE_UP_HOURS": "0.5"}, "maximal_queue_lifetime", "1800s"),
        ({"OUTBOUND__TLS": "dane"}, "smtp_dns_support_level", "dnssec"),
        ({"FILTER__NETWORK_CHECKS": "false"}, "smtpd_peername_lookup", "no"),
    ],
)
def test_settings_of_postfix(environ: dict[str, str], name: str, value: str):
    assert values(render.render_postfix(settings(**environ), FACTS)["main.cf"])[name] == value


def test_what_protects_is_always_there():
    main = values(render.render_postfix(settings(), FACTS)["main.cf"])
    assert main["milter_default_action"] == "tempfail"
    assert main["smtpd_forbid_bare_newline"] == "normalize"
    assert main["smtpd_forbid_unauth_pipelining"] == "yes"
    assert main["smtp_discard_ehlo_keywords"] == "dsn, silent-discard"
    assert main["smtpd_tls_auth_only"] == "yes"
    master = services(render.render_postfix(settings(), FACTS)["master.cf"])
    for name in ("api", "587", "465"):
        assert str(PLACES.sign_socket) in master[name], name
    assert str(PLACES.scan_socket) in master["25"]
    for name, told in master.items():
        assert told.split()[4] == "n", f"{name} is chrooted"


def test_other_servers_mail_alone_has_its_sender_rewritten_and_its_spam_held_back():
    files = render.render_postfix(settings(), FACTS)
    master = services(files["master.cf"])
    assert [name for name, told in master.items() if "milter_header_checks" in told] == ["inbound-cleanup"]
    assert not [name for name, told in master.items() if "canonical_maps" in told and name != "bounce-cleanup"]
    marked = [name for name, told in master.items() if "policy_context=expanding/" in told]
    assert marked == [name for name, told in master.items() if FACTS.paths.scan_socket.as_posix() in told] == ["25"]
    assert "cleanup_service_name=inbound-cleanup" in master["25"]
    assert values(files["main.cf"])["smtpd_relay_restrictions"].endswith(", reject_unauth_destination")
    assert r"@mx\.example\.test)$/" in files["rewritten_senders"]
    assert files["spam_headers"].endswith(f"FILTER lmtp:unix:{FACTS.lmtp_socket}\n")


def test_a_port_of_zero_leaves_the_service_out():
    master = services(render.render_postfix(settings(PORTS__SUBMISSIONS="0", PORTS__SMTP="0"), FACTS)["master.cf"])
    assert "587" in master
    assert "465" not in master
    assert "25" not in master


def test_nobody_is_asked_before_a_submission_where_there_is_no_agent():
    without = render.render_postfix(settings(), replace(FACTS, policy_socket=None))["master.cf"]
    assert "check_policy_service" in render.render_postfix(settings(), FACTS)["master.cf"]
    assert "check_policy_service" not in without


def test_spam_is_refused_only_where_that_was_asked_for():
    assert "reject = null" in render.render_rspamd(settings(), FACTS)["local.d/actions.conf"]
    assert "reject = 15" in render.render_rspamd(settings(FILTER__REJECT_SCORE="15"), FACTS)["local.d/actions.conf"]


@pytest.mark.parametrize(
    "environ, asked",
    [
        ({}, None),
        ({"DNS__SERVERS": '["192.0.2.53", "[2001:db8::53]:5353"]'}, '["192.0.2.53:53", "[2001:db8::53]:5353"]'),
        ({"DNS__SERVERS": '["192.0.2.53"]', "FILTER__DNS_SERVERS": '["192.0.2.54:53"]'}, '["192.0.2.54:53"]'),
    ],
)
def test_the_filter_asks_the_servers_that_everybody_asks_unless_it_has_its_own(
    environ: dict[str, str], asked: str | None
):
    options = render.render_rspamd(settings(**environ), FACTS)["local.d/options.inc"]
    assert f"nameserver = {asked};" in options if asked else "nameserver" not in options


def test_without_network_checks_no_module_asks_the_network():
    off = render.render_rspamd(settings(FILTER__NETWORK_CHECKS="false"), FACTS)
    on = render.render_rspamd(settings(), FACTS)
    for module in ("rbl", "spf", "dkim", "dmarc", "surbl", "fuzzy_check"):
        assert "enabled = false" in off[f"local.d/{module}.conf"]
        assert f"local.d/{module}.conf" not in on


def test_the_maps_ask_functions_alone():
    for name, text in render.render_postfix(settings(), FACTS).items():
        if name.endswith(".cf") and name not in ("main.cf", "master.cf"):
            assert re.search(
                r"^query = SELECT (\*|mta_encode\(r\)|'smarthost:[^']+') FROM mta_\w+\(", text, re.MULTILINE
            ), name


def test_a_value_with_a_line_break_is_a_bug():
    with pytest.raises(ValueError, match="control character"):
        render.render_postfix(settings(), replace(FACTS, hostname="mx\nrelayhost = evil"))


def test_dovecot_tells_what_a_mailbox_holds_by_its_id_and_logins_without_a_password():
    files = render.render_dovecot(settings(), FACTS)
    told = f"'proxy:{PLACES.usage_socket}:' || mailbox_id AS"
    assert files["sql.conf"].count(told) == 2
    asked = values(files["dovecot.conf"])
    assert asked["auth_policy_server_url"] == "http://127.0.0.1:4712/logins"
    assert asked["auth_policy_server_api_header"] == "X-Token:another"
    assert "hashed_password" not in asked["auth_policy_request_attributes"]
    assert (asked["auth_policy_check_before_auth"], asked["auth_policy_check_after_auth"]) == ("no", "no")


def test_a_delivery_is_held_to_the_quota_and_told_by_our_agent_alone():
    conf = render.render_dovecot(settings(), FACTS)["dovecot.conf"]
    everywhere, *others = [line for line in conf.splitlines() if "mail_plugins =" in line]
    assert everywhere == "mail_plugins = $mail_plugins quota quota_clone"
    assert "protocol lmtp {\n  mail_plugins = quota sieve\n}" in conf
    assert len(others) == 2


def test_the_map_that_makes_processes_forget_stands_before_those_that_are_asked():
    files = render.render_postfix(settings(), FACTS)
    assert "generation" in files
    for name in ("virtual_mailbox_domains", "virtual_mailbox_maps"):
        assert values(files["main.cf"])[name].startswith(
            f"$default_database_type:{PLACES.postfix_conf}/generation, pgsql:"
        )


def test_the_queue_is_looked_through_as_often_as_the_first_retry_wants():
    for first, expected in (("60", "60"), ("900", "300")):
        asked = settings(OUTBOUND__FIRST_RETRY_SECONDS=first)
        assert services(render.render_postfix(asked, FACTS)["master.cf"])["qmgr"].split()[5] == expected
