"""The table of actions has a row for each parameter of each template."""

from __future__ import annotations

from typing import Any

import pytest

from mailkeep.mail.daemons import actions, render
from tests.mail.daemons.test_render import FACTS, settings

# Together they render all conditional parts.
VARIANTS: list[dict[str, str]] = [
    {},
    {
        "OUTBOUND__RELAY": "relay.example:587",
        "OUTBOUND__DANE": "true",
        "OUTBOUND__MTA_STS": "true",
        "DNS__RESOLVER": "unbound",
        "FILTER__DNS_SERVERS": '["127.0.0.1:53"]',
        "FILTER__NETWORK_CHECKS": "false",
        "FILTER__ANTIVIRUS": "true",
        "SMTP__CLIENT_MESSAGE_RATE": "60",
        "SEARCH__FULL_TEXT": "words",
        "EDGE__ENABLED": "true",
        "WEBMAIL__ENABLED": "true",
        "WEBMAIL__HOST": "webmail.example",
        "SERVER__ADDRESSES": '["192.0.2.1", "2001:db8::1"]',
        "PORTS__POP3": "0",
        "EDGE__PROXY_NETWORKS": '["192.0.2.0/24"]',
        "ACME__DOMAIN_NAMES": '["mail"]',
    },
    {"SERVER__ADDRESSES": '["192.0.2.1"]', "OUTBOUND__HIDE_CLIENT": "false"},
]
LISTS = {("postfix", "main.cf"), ("dovecot", "dovecot.conf"), ("redis", "redis.conf")}


def rendered_rows() -> set[tuple[str, str, str]]:
    rows: set[tuple[str, str, str]] = set()
    for variant in VARIANTS:
        for service, files in render.render_all(settings(**variant), FACTS).items():
            for path, text in files.items():
                names = actions.list_parameters(service, text) if (service, path) in LISTS else [""]
                rows |= {(service, path, name) for name in names}
    return rows


def test_each_templated_parameter_has_a_row():
    rows = rendered_rows()
    assert len(rows) > 200
    assert [row for row in sorted(rows) if actions.find_row(*row) is None] == []


def test_each_row_is_a_parameter_of_a_template():
    known = {name for _, _, name in rendered_rows()}
    for rows in actions._PARAMETERS.values():
        assert sorted(rows.keys() - known) == []


@pytest.mark.parametrize(
    "environ, service, expected",
    [
        ({"FILTER__DNS_SERVERS": '["192.0.2.53:53"]'}, "rspamd", {"local.d/options.inc": "reload"}),
        ({"SERVER__ADDRESSES": '["192.0.2.7"]'}, "dovecot", {"dovecot.conf: listen": "reload"}),
        (
            {"SERVER__ADDRESSES": '["192.0.2.7"]'},
            "postfix",
            {
                "main.cf: inet_interfaces": "restart", "main.cf: inet_protocols": "restart",
                "main.cf: smtp_bind_address": "reload",
            },
        ),
        ({"PORTS__IMAP": "1143"}, "dovecot", {"dovecot.conf: service/inet_listener/port": "reload"}),
        ({"PORTS__SMTP": "1125"}, "postfix", {"master.cf": "reload"}),
        ({"EDGE__ENABLED": "true"}, "nginx", {"nginx.conf": "reload", "errors.conf": "reload", "errors.js": "reload",
            "hosted.conf": "reload", "https.conf": "restart"}),
        ({"OUTBOUND__FIRST_RETRY_SECONDS": "100"}, "postfix",
            {"main.cf: minimal_backoff_time": "reload", "main.cf: queue_run_delay": "reload",
             "master.cf": "reload"}),
    ],
)  # fmt: skip
def test_a_changed_setting_has_these_actions(environ: dict[str, str], service: str, expected: dict[str, Any]):
    before = render.render_all(settings(), FACTS)[service]
    after = render.render_all(settings(**environ), FACTS)[service]
    changes: dict[str, Any] = {}
    for path in before.keys() | after.keys():
        changes |= actions.list_changes(service, path, before.get(path), after.get(path))
    assert changes == expected


def test_an_unknown_parameter_needs_a_restart():
    changes = actions.list_changes("postfix", "main.cf", "a = 1\nmyhostname = x\n", "a = 2\n b\nmyhostname = x\n")
    assert changes == {"main.cf: a": "restart"}
    assert actions.strongest(["none", "restart", "reload"]) == "restart"
    assert actions.strongest([]) == "none"
