"""The checks of the daemons' configuration reject what is wrong, and hostile lines can do nothing in them."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from mailkeep.core.errors import Failure
from mailkeep.mail.daemons.render import DaemonConfig
from mailkeep.run.runtime import checks, generations
from tests.support.configuration import create_folders, install

pytestmark = pytest.mark.root

# What a module or a map of an administrator could do: here it tries to read, write and connect.
LUA = """
local results = {}
local function try(name, ok) results[#results + 1] = name .. '=' .. tostring(ok) end
local uid = io.popen('id -u')
try('uid', uid:read('*l'))
for _, path in ipairs{'%(secret)s', '%(other)s', '/etc/shadow'} do try('read', io.open(path, 'r') ~= nil) end
for _, path in ipairs{'%(data)s/stolen', '/etc/stolen', '/usr/stolen'} do try('write', io.open(path, 'w') ~= nil) end
try('connect', (os.execute("bash -c 'echo x > /dev/tcp/127.0.0.1/%(port)d' 2>/dev/null")))
error('RESULTS ' .. table.concat(results, ' '))
"""


@pytest.fixture(scope="module")
def config() -> Iterator[DaemonConfig]:
    """The configuration of an installed generation, which all tests use; they restore its files."""
    with create_folders() as paths:
        yield install(paths)


def check(config: DaemonConfig, **files: str) -> dict[str, checks.Check]:
    """The results by service, after lines were added to files of the generation (`postfix__main_cf`)."""
    folder = generations.folder_of(config.paths, 1)
    names = {"postfix__main_cf": "postfix/main.cf", "postfix__master_cf": "postfix/master.cf"}
    names |= {"dovecot": "dovecot/dovecot.conf", "lua": "rspamd/rspamd.local.lua"}
    names |= {"rspamd": "rspamd/local.d/greylist.conf", "sieve": "dovecot/before.sieve"}
    originals = {names[key]: (folder / names[key]).read_text() for key in files}
    for key, lines in files.items():
        (folder / names[key]).write_text(f"{originals[names[key]]}\n{lines}\n")
    try:
        return {each.service: each for each in checks.check_all(folder, config, ["127.0.0.1", "192.0.2.25"])}
    finally:
        for name, text in originals.items():
            (folder / name).write_text(text)


def test_a_hostile_module_of_rspamd_can_do_nothing(config: DaemonConfig, tmp_path: Path) -> None:
    paths = config.paths
    secret, other = paths.data / "master.secret", tmp_path / "other"
    secret.write_text("secret")
    other.write_text("of another instance")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0.1)
        values = {"secret": secret, "other": other, "data": paths.data, "port": listener.getsockname()[1]}
        result = check(config, lua=LUA % values)["rspamd"]
        with pytest.raises(TimeoutError):
            listener.accept()
    assert not result.ok
    expected = "uid=65534 read=false read=false read=false write=false write=false write=false connect="
    assert f"RESULTS {expected}" in result.output
    assert not [path for path in (paths.data, Path("/etc"), Path("/usr")) if (path / "stolen").exists()]


WRONG = [
    {
        "postfix__main_cf": (
            "default_process_limit = many",
            "bad numerical configuration: default_process_limit = many",
        ),
        "dovecot": ("no_such_setting = 1", "no_such_setting"),
        "rspamd": ("x = {", "greylist.conf"),
    },
    {
        "postfix__main_cf": ("no equals sign", "missing '='"),
        "dovecot": ("!include /etc/shadow", "Permission denied"),
        "rspamd": ('.include(try=false) "%(data)s/master.secret"', "master.secret"),
    },
    {
        "postfix__main_cf": ("inet_interfaces = 192.0.2.99", "192.0.2.99"),
        "dovecot": ("!include %(data)s/master.secret", "No matches"),
        "lua": ("this is wrong(", "rspamd.local.lua"),
    },
    {"postfix__main_cf": ("smtpd_banner = ${broken", "broken"), "sieve": ("no such command;", "before")},
    {
        "postfix__main_cf": ("mail_owner = nobody-here", "nobody-here"),
        "dovecot": ("mail_plugin_dir = /no-such-folder", "no-such-folder"),
    },
    {"postfix__master_cf": ("smtp inet n", "master.cf"), "dovecot": ("protocol imap {", "dovecot.conf")},
]
SERVICES = {"sieve": "dovecot", "lua": "rspamd"}


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_lines_are_rejected(config: DaemonConfig, wrong: dict[str, tuple[str, str]]) -> None:
    (config.paths.data / "master.secret").write_text("secret")
    data = str(config.paths.data)
    results = check(config, **{key: lines.replace("%(data)s", data) for key, (lines, _) in wrong.items()})
    for key, (_, output) in wrong.items():
        result = results.pop(SERVICES.get(key, key.partition("__")[0]))
        assert (result.ok, output in result.output) == (False, True), result
    assert [each for each in results.values() if not each.ok] == []


def test_environment_and_programs_of_postfix_have_no_effect(config: DaemonConfig) -> None:
    marker = config.paths.data / "ran"
    lines = "import_environment = LD_PRELOAD=/x/evil.so MAIL_CONFIG=/etc\nshlib_directory = /x\n"
    lines += f"command_directory = {marker.parent}"
    for name in ("postconf", "postmap", "postlog"):
        program = marker.parent / name
        program.write_text(f"#!/bin/sh\ntouch {marker}\n")
        program.chmod(0o755)
    check(config, postfix__main_cf=lines)
    assert not marker.exists()


def test_compiled_patterns_that_the_sandbox_cannot_read_are_not_reported() -> None:
    line = "rspamd_hyperscan: cannot open hyperscan cache file /var/cache/mailkeep/rspamd/0a.hs: Permission denied"
    assert checks.judge("rspamd", 0, f"{line}\nsyntax OK\n").output == "syntax OK"
    assert checks.judge("rspamd", 1, f"{line}\nsyntax BAD\n").output == "syntax BAD"


def test_a_configuration_that_passes_changes_nothing(config: DaemonConfig) -> None:
    def list_files() -> dict[str, int]:
        return {
            os.path.relpath(path, config.paths.data): path.lstat().st_mtime_ns for path in config.paths.data.rglob("*")
        }

    before = list_files()
    assert [each.output for each in check(config).values() if not each.ok] == []
    assert list_files() == before


def test_a_tool_that_hangs_or_is_missing_is_a_failure(
    config: DaemonConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "postfix"
    program.write_text("#!/bin/sh\nexec sleep 60\n")
    monkeypatch.setattr(checks, "_SECONDS", 0.2)
    for mode in (0o755, 0o644):
        program.chmod(mode)
        monkeypatch.setenv("PATH", str(tmp_path))
        monkeypatch.setitem(checks.ENVIRONMENT, "PATH", f"{tmp_path}:/usr/bin:/bin")
        with pytest.raises(Failure, match="postfix"):
            checks.prepare_queue(config.paths.postfix_conf)
