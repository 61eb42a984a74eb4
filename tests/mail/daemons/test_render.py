"""The rendered configuration of the daemons."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from mailkeep.mail.daemons import render
from mailkeep.mail.daemons.paths import InstancePaths
from mailkeep.settings import load_settings

PATHS = InstancePaths(Path("/var/lib/mailkeep"), Path("/run/mailkeep/0123456789ab"))
FACTS = render.DaemonConfig(
    paths=PATHS,
    database_folder=PATHS.run / "pg",
    database="mailkeep",
    hostname="mx.example.test",
    account="mailkeep",
    mail_account="mailkeep-mail",
    mail_uid=990,
    logins_port=4712,
    logins_token="another",
    senders_mark="0123456789abcdef",
    double_bounce="fedcba9876543210",
    probe_hash="ab" * 32,
    probe_helo="cd.mailkeep.invalid",
    webmail_key="k" * 32,
    webmail_mark="webmail.invalid",
    certificate_file="/etc/tls/served.pem",
    lmtp_socket=PATHS.lmtp_socket,
    policy_socket=PATHS.policy_socket,
    edge_account="mailkeep-edge",
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


def test_no_placeholder_remains():
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
        ({"OUTBOUND__RELAY": "a.test:25"}, "default_transport", f"smarthost:unix:{PATHS.relay_socket}"),
        ({"LIMITS__MESSAGE_SIZE_MB": "100"}, "message_size_limit", str((100 << 20) * 103 // 100 + 65536)),
        ({"OUTBOUND__GIVE_UP_HOURS": "0.5"}, "maximal_queue_lifetime", "1800s"),
        ({"OUTBOUND__DANE": "true"}, "smtp_dns_support_level", "dnssec"),
        ({"OUTBOUND__DANE": "true"}, "smtp_tls_security_level", "dane"),
        # Servers without TLSA records still need TLS: the table of TLS policies says `dane-only` for those with them.
        ({"OUTBOUND__DANE": "true", "OUTBOUND__TLS": "encrypt"}, "smtp_tls_security_level", "encrypt"),
        (
            {"OUTBOUND__DANE": "true", "OUTBOUND__TLS": "encrypt"},
            "smtp_tls_policy_maps",
            "socketmap:unix:mailkeep/tls-policy.sock:tls",
        ),
        ({"OUTBOUND__MTA_STS": "true"}, "smtp_tls_policy_maps", "socketmap:unix:mailkeep/tls-policy.sock:tls"),
        ({"FILTER__NETWORK_CHECKS": "false"}, "smtpd_peername_lookup", "no"),
    ],
)
def test_settings_of_postfix(environ: dict[str, str], name: str, value: str):
    assert values(render.render_postfix(settings(**environ), FACTS)["main.cf"])[name] == value


def test_protective_parameters_are_always_set():
    main = values(render.render_postfix(settings(), FACTS)["main.cf"])
    assert main["milter_default_action"] == "tempfail"
    assert main["smtpd_forbid_bare_newline"] == "normalize"
    assert main["smtpd_forbid_unauth_pipelining"] == "yes"
    assert main["smtp_discard_ehlo_keywords"] == "dsn, silent-discard"
    assert main["smtpd_tls_auth_only"] == "yes"
    master = services(render.render_postfix(settings(), FACTS)["master.cf"])
    for name in ("api", "587", "465"):
        assert str(PATHS.sign_socket) in master[name], name
    assert str(PATHS.scan_socket) in master["25"]
    for name, options in master.items():
        assert options.split()[4] == "n", f"{name} is chrooted"


def test_only_incoming_mail_has_sender_rewriting_and_spam_handling():
    files = render.render_postfix(settings(), FACTS)
    master = services(files["master.cf"])
    assert [name for name, options in master.items() if "milter_header_checks" in options] == ["inbound-cleanup"]
    assert not [name for name, options in master.items() if "canonical_maps" in options and name != "bounce-cleanup"]
    marked = [name for name, options in master.items() if "policy_context=expanding/" in options]
    assert (
        marked == [name for name, options in master.items() if FACTS.paths.scan_socket.as_posix() in options] == ["25"]
    )
    assert "cleanup_service_name=inbound-cleanup" in master["25"]
    assert values(files["main.cf"])["smtpd_relay_restrictions"].endswith(", reject_unauth_destination")
    assert r"@mx\.example\.test)$/" in files["rewritten_senders"]
    assert files["spam_headers"].endswith(f"FILTER lmtp:unix:{FACTS.lmtp_socket}\n")


def test_port_0_omits_the_service():
    master = services(render.render_postfix(settings(PORTS__SUBMISSIONS="0", PORTS__SMTP="0"), FACTS)["master.cf"])
    assert "587" in master
    assert "465" not in master
    assert "25" not in master


def test_without_an_agent_there_is_no_policy_check():
    without = render.render_postfix(settings(), replace(FACTS, policy_socket=None))["master.cf"]
    assert "check_policy_service" in render.render_postfix(settings(), FACTS)["master.cf"]
    assert "check_policy_service" not in without


def test_thresholds_are_not_those_of_the_filter():
    changed = settings(FILTER__REJECT_SCORE="15", FILTER__SPAM_SCORE="5")
    assert render.render_rspamd(changed, FACTS) == render.render_rspamd(settings(), FACTS)


@pytest.mark.parametrize(
    "environ, expected",
    [
        ({}, None),
        ({"DNS__SERVERS": '["192.0.2.53", "[2001:db8::53]:5353"]'}, '["192.0.2.53:53", "[2001:db8::53]:5353"]'),
        ({"DNS__SERVERS": '["192.0.2.53"]', "FILTER__DNS_SERVERS": '["192.0.2.54:53"]'}, '["192.0.2.54:53"]'),
    ],
)
def test_the_filter_uses_its_own_dns_servers_or_the_instances(environ: dict[str, str], expected: str | None):
    options = render.render_rspamd(settings(**environ), FACTS)["local.d/options.inc"]
    assert f"nameserver = {expected};" in options if expected else "nameserver" not in options


def test_without_network_checks_no_module_queries_the_network():
    off = render.render_rspamd(settings(FILTER__NETWORK_CHECKS="false"), FACTS)
    on = render.render_rspamd(settings(), FACTS)
    for module in ("arc", "spf", "dkim", "dmarc"):
        assert "enabled = false" in off[f"local.d/{module}.conf"]
        assert "enabled = false" not in on.get(f"local.d/{module}.conf", "")
    lists = '[{"zone": "bl.example", "codes": ["127.0.0.2"], "score": 1}]'
    without = render.render_rspamd(settings(FILTER__NETWORK_CHECKS="false", FILTER__DNSBL=lists), FACTS)
    assert "local lists = {  }\n" in without["lua/dnsbl.lua"]


def test_a_dns_list_is_asked_once_for_all_its_codes():
    lists = json.dumps([
        {"zone": "a-b.example", "codes": ["127.0.0.2", "127.0.0.3"], "score": 2.5},
        {"zone": "a.b.example", "codes": ["127.0.0.2"], "score": 1},
        {"zone": "a-b.example", "codes": ["127.0.0.9"], "score": -1},
    ])  # fmt: skip
    text = render.render_rspamd(settings(FILTER__DNSBL=lists), FACTS)["lua/dnsbl.lua"]
    assert (
        "local lists = { { zone = 'a-b.example', rows = { "
        "{ symbol = 'DNSBL_A_B_EXAMPLE', codes = { '127.0.0.2', '127.0.0.3' }, score = 2.5 }, "
        "{ symbol = 'DNSBL_A_B_EXAMPLE__2', codes = { '127.0.0.9' }, score = -1 } } }, "
        "{ zone = 'a.b.example', rows = { "
        "{ symbol = 'DNSBL_A_B_EXAMPLE__3', codes = { '127.0.0.2' }, score = 1 } } } }\n"
    ) in text


def test_the_maps_call_only_functions():
    for name, text in render.render_postfix(settings(), FACTS).items():
        if name.endswith(".cf") and name not in ("main.cf", "master.cf"):
            assert re.search(
                r"^query = SELECT (\*|mta_encode\(r\)|'smarthost:[^']+') FROM mta_\w+\(", text, re.MULTILINE
            ), name


def test_a_value_with_a_line_break_raises():
    with pytest.raises(ValueError, match="control character"):
        render.render_postfix(settings(), replace(FACTS, hostname="mx\nrelayhost = evil"))


def test_dovecot_reports_usage_by_id_and_logins_without_passwords():
    files = render.render_dovecot(settings(), FACTS)
    target = f"'proxy:{PATHS.usage_socket}:' || mailbox_id AS"
    assert files["sql.conf"].count(target) == 2
    conf = values(files["dovecot.conf"])
    assert conf["auth_policy_server_url"] == "http://127.0.0.1:4712/logins"
    assert conf["auth_policy_server_api_header"] == "X-Token:another"
    # Only a few bits of a keyed hash leave Dovecot, and the digest of what has the form of an app password.
    assert (conf["auth_policy_hash_nonce"], conf["auth_policy_hash_truncate"]) == ("another", "12")
    assert "digest=%{if;%w;*;mk-*;%{sha256:password};}" in conf["auth_policy_request_attributes"]
    assert "key=%{if;%w;*;svc_sk_*;%{sha256:password};}" in conf["auth_policy_request_attributes"]
    assert conf["auth_policy_request_attributes"].count("%w") == 2
    assert (conf["auth_policy_check_before_auth"], conf["auth_policy_reject_on_fail"]) == ("yes", "no")


def test_deliveries_have_a_quota_and_only_our_agent_reports_them():
    conf = render.render_dovecot(settings(), FACTS)["dovecot.conf"]
    everywhere, *others = [line for line in conf.splitlines() if "mail_plugins =" in line]
    assert everywhere == "mail_plugins = $mail_plugins quota quota_clone"
    assert "protocol lmtp {\n  mail_plugins = quota sieve\n}" in conf
    assert len(others) == 2


def test_the_map_that_clears_caches_comes_first():
    files = render.render_postfix(settings(), FACTS)
    assert "generation" in files
    for name in ("virtual_mailbox_domains", "virtual_mailbox_maps"):
        assert values(files["main.cf"])[name].startswith(
            f"$default_database_type:{PATHS.postfix_conf}/generation, pgsql:"
        )


def test_the_queue_run_follows_the_first_retry():
    for first, seconds in (("60", "60"), ("900", "300")):
        changed = settings(OUTBOUND__FIRST_RETRY_SECONDS=first)
        assert services(render.render_postfix(changed, FACTS)["master.cf"])["qmgr"].split()[5] == seconds
