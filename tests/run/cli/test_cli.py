"""The command line with a running instance, a stopped one, and without any.

`mailkeep` runs the program; `inside` runs the same command in this process, which is ten times faster.
"""

import asyncio
import fcntl
import http.client
import json
import os
import pty
import pwd
import re
import select
import shlex
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from base64 import b32decode
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit
from uuid import UUID

import psycopg
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from typer.main import get_command
from typer.testing import CliRunner

from mailkeep import __version__
from mailkeep.core import totp
from mailkeep.core.ids import uuid7
from mailkeep.db.migrate import read_schema
from mailkeep.db.postgres import running_urls
from mailkeep.features.access.sign_in_protection import store as sign_in_blocks
from mailkeep.features.access.sign_in_protection.model import NewBlock
from mailkeep.features.operations.orchestrator import service as operations
from mailkeep.features.record.alerts import service as alerts
from mailkeep.features.record.alerts.model import AlertProblem
from mailkeep.run.cli.main import app
from mailkeep.run.runtime import context, state, stored_settings
from mailkeep.run.runtime.context import attach
from mailkeep.settings import Settings, describe_settings, load_settings
from tests.support.authenticator import SoftKey
from tests.support.dns_server import DnsServer
from tests.support.scratch import new_directory

pytestmark = pytest.mark.timeout(300)

ROOT = Path(__file__).parents[3]
FREE = "127.0.0.1:0"
ABSENT = "/nonexistent/mailkeep"


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        assert self.out.count("\n") == 1
        return json.loads(self.out)


def environment(more: Mapping[str, str] | None = None) -> dict[str, str]:
    ours = {name: text for name, text in os.environ.items() if not name.startswith("MAILKEEP_")}
    return {**ours, "PYTHONPATH": str(ROOT), **(more or {})}


def mailkeep(
    *args: str | Path, data: Path | None = None, stdin: str | bytes = b"", env: Mapping[str, str] | None = None
) -> Result:
    where = ["--data-dir", str(data)] if data else []
    done = subprocess.run(
        [sys.executable, "-m", "mailkeep.run.cli.main", *map(str, args), *where],
        input=stdin.encode() if isinstance(stdin, str) else stdin,
        capture_output=True,
        env=environment(env),
        cwd="/",
        timeout=90,
        check=False,
    )
    assert b"Traceback" not in done.stderr, done.stderr.decode()
    return Result(done.returncode, done.stdout.decode(), done.stderr.decode())


def inside(
    *args: str | Path, data: Path | None = None, stdin: str | bytes = b"", env: Mapping[str, str] | None = None
) -> Result:
    where = ["--data-dir", str(data)] if data else []
    unset: dict[str, str | None] = dict.fromkeys(name for name in os.environ if name.startswith("MAILKEEP_"))
    with CliRunner().isolation(stdin, env={**unset, **(env or {})}) as (out, err, _):
        code = 0
        try:
            app([*map(str, args), *where], prog_name="mailkeep")
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else -1
        sys.stdout.flush()
        return Result(code, out.getvalue().decode(), err.getvalue().decode())


@dataclass(frozen=True)
class Running:
    process: subprocess.Popen[bytes]
    data: Path
    state: dict[str, Any]

    def call(self, method: str, path: str, body: Any = None, key: str | None = None) -> tuple[int, Any]:
        connection = http.client.HTTPConnection(self.state["http"].removeprefix("http://"), timeout=60)
        headers = {"content-type": "application/json"} | ({"authorization": f"Bearer {key}"} if key else {})
        connection.request(method, f"/api/v1{path}", json.dumps(body) if body is not None else None, headers)
        answer = connection.getresponse()
        result = json.loads(answer.read())
        connection.close()
        return answer.status, result["data"] or result["error"]


@contextmanager
def directory() -> Iterator[Path]:
    """A data directory that the database's own account can enter; not below pytest's own folder."""
    path = new_directory("mailkeep-cli-", 0o755)
    try:
        yield path
    finally:
        shutil.rmtree(path)


@contextmanager
def instance() -> Iterator[Running]:
    """An instance started by `up --json`; the test may stop it."""
    listen = ["--http", FREE, "--smtp", FREE, "--internal", FREE]
    with (
        directory() as place,
        (place / "up.err").open("wb") as errors,
        subprocess.Popen(
            [sys.executable, "-m", "mailkeep.run.cli.main", "up", "--json", "--data-dir", str(place), *listen],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            env=environment(),
            cwd="/",
        ) as process,
    ):
        try:
            assert process.stdout
            assert select.select([process.stdout], [], [], 150)[0], "up printed nothing"
            line = process.stdout.readline()
            assert line, (place / "up.err").read_text()
            yield Running(process, place, json.loads(line))
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
            code = process.wait(60)
        assert code == 0


@pytest.fixture(scope="module")
def running() -> Iterator[Running]:
    with instance() as one:
        yield one


@pytest.fixture(scope="module")
def root_key(running: Running) -> str:
    """A key of the first administrator, created by the command."""
    return inside("key", "create", "tests", "--admin", "admin@localhost", "--json", data=running.data).json["key"]


@pytest.fixture(scope="module")
def domain_id(running: Running, root_key: str) -> str:
    status, domain = running.call("POST", "/domains", {"name": "example.test"}, root_key)
    assert status == 201
    return domain["id"]


@pytest.fixture(scope="module")
def dora(running: Running, domain_id: str) -> dict[str, Any]:
    """A domain_admin of example.test, created by the command."""
    made = inside(
        "admin", "create", "dora@example.test", "--role", "domain_admin", "--domain", "Example.TEST", "--json",
        data=running.data,
    )  # fmt: skip
    assert made.code == 0
    return made.json


def commands(group: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    for word, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, f"{name}{word} ")
        else:
            yield f"{name}{word}", command


# Other tests use these ports, on other addresses.
NO_MAIL_PORTS = {
    f"MAILKEEP_PORTS__{name}": "0"
    for name in ("SMTP", "SUBMISSION", "SUBMISSIONS", "IMAP", "IMAPS", "POP3", "POP3S", "SIEVE")
}

COMMANDS = dict(commands(get_command(app)))


# Help and usage


def test_the_list_of_commands():
    assert sorted(COMMANDS) == [
        "abuse overview",
        "admin create", "admin disable", "admin disconnect", "admin enable", "admin invite", "admin list",
        "admin password", "admin reset-factors", "alerts acknowledge", "alerts list", "alerts resolve",
        "alias export", "alias import", "alias list",
        "audit verify", "backup cancel", "backup contents", "backup create", "backup key change",
        "backup key create", "backup key verify", "backup list", "backup prune", "backup restore",
        "backup verify",
        "certificates account-key", "certificates list", "certificates renew",
        "certificates revoke", "config history", "config rollback", "config set", "config show",
        "config unset", "dkim activate", "dkim create", "dkim delete", "dkim import", "dkim list",
        "dkim retire", "dns", "doctor", "domain alias", "domain list", "down", "filter add",
        "filter entries", "filter import", "filter remove", "filter set", "filter show", "filter test",
        "incidents create", "incidents list", "incidents undo",
        "install", "junk list", "junk release", "key create", "listen", "mailbox export", "mailbox folders",
        "mailbox forward off", "mailbox forward set", "mailbox forward show", "mailbox import",
        "mailbox invite", "mailbox recalculate", "mailbox reset-factors", "mailbox send-as set",
        "mailbox send-as show", "mailbox setup", "mailbox setup-link", "mailbox vacation delete",
        "mailbox vacation off", "mailbox vacation on", "mailbox vacation set", "mailbox vacation show",
        "migrate", "openapi", "orchestrator apply", "orchestrator confirm", "orchestrator drift",
        "orchestrator operations", "orchestrator plan", "orchestrator rollback", "orchestrator service",
        "orchestrator status", "queue act", "queue list", "restore", "routing explain", "sendmail",
        "sign-in-blocks list", "sign-in-blocks remove", "status", "template export", "template import",
        "template list", "template publish", "template render", "template show", "thresholds set", "thresholds show",
        "up", "upgrade", "version", "worker",
    ]  # fmt: skip


# `sendmail` has the options of other mail servers' program: tests/run/cli/test_sendmail.py.
@pytest.mark.parametrize("name", [name for name in COMMANDS if name != "sendmail"])
def test_every_command_has_valid_examples_and_takes_json(name: str):
    command = COMMANDS[name]
    examples = re.findall(r"^  (mailkeep .*)$", command.epilog, re.MULTILINE)
    assert examples
    for example in examples:
        assert example.startswith(f"mailkeep {name}")
        arguments = shlex.split(re.split(r" [<>] ", example)[0])[1 + len(name.split()) :]
        assert command.make_context(name, arguments, resilient_parsing=False).args == []
    assert "as_json" in {parameter.name for parameter in command.params}


def test_help_keeps_its_line_breaks():
    result = mailkeep("admin", "create", "--help")
    assert result.code == 0
    assert result.err == ""
    assert (
        "  Examples:\n    mailkeep admin create dora@example.com --role domain_admin --domain example.com\n"
        in result.out
    )
    assert "Examples:" in inside("admin", "create", "-h").out


def test_help_imports_no_large_library():
    heavy = ("asyncio", "cryptography", "msgspec", "psycopg", "pydantic", "rich", "starlette", "structlog")
    script = f"import sys, mailkeep.run.cli.main; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, env=environment(), timeout=90, check=True, cwd="/"
    )
    assert done.stdout == b"[]\n"


@pytest.mark.parametrize(
    "line",
    [
        "",
        "fly",
        "up now",
        "admin create",
        "admin create a@b.test --role king",
        "admin create a@b.test --role admin --domain b.test",
        "admin create a@b.test --role super_admin --domain b.test",
        "admin create a@b.test --invite --password-stdin",
        "admin password",
        "key create",
        "key create name",
        "key create ' ' --admin a@b.test",
        "key create name --admin a@b.test --rate-limit -1",
        "key create name --admin a@b.test --expires-in-days soon",
        "config show --defaults --changed",
        "routing explain",
        "domain alias b.test",
        "domain alias b.test c.test --off",
        "mailbox forward set a@b.test",
        "mailbox vacation set a@b.test",
        "mailbox vacation set a@b.test --text x --days 31",
        "mailbox vacation set a@b.test --text x --start tomorrow",
        "mailbox vacation set a@b.test --text x --text-file /dev/null",
        "migrate --for-good",
    ],
)
def test_invalid_arguments_are_usage_errors(line: str):
    result = inside(*shlex.split(line))
    assert result.code == 2
    assert "Usage: mailkeep" in result.err + result.out


def test_usage_errors_go_to_standard_error():
    result = mailkeep("key", "create", "name")
    assert (result.code, result.out) == (2, "")
    assert "Missing option '--admin'" in result.err


def test_a_password_on_standard_input_must_be_utf8():
    result = inside("admin", "create", "a@b.test", "--password-stdin", data=Path(ABSENT), stdin=b"\xff\xfe")
    assert result.code == 2
    assert "UTF-8" in result.err


@pytest.mark.parametrize("more, coloured", [({}, True), ({"NO_COLOR": "1"}, False)])
def test_terminals_get_colour_unless_no_color_is_set(more: dict[str, str], coloured: bool):
    terminal, theirs = pty.openpty()
    try:
        env = environment({"TERM": "xterm-256color", **more})
        line = [sys.executable, "-m", "mailkeep.run.cli.main", "admin", "list", "--data-dir", ABSENT]
        done = subprocess.run(line, stdout=subprocess.DEVNULL, stderr=theirs, env=env, cwd="/", timeout=90, check=False)
        output = b""
        while b"\n" not in output:  # it may come in several reads
            output += os.read(terminal, 4096)
    finally:
        os.close(terminal)
        os.close(theirs)
    assert done.returncode == 1
    assert (b"\x1b[1;31m" in output) is coloured
    assert b"error:" in output


# Without an instance


def test_version():
    assert mailkeep("version").out == f"mailkeep {__version__}\n"
    assert inside("version", "--json").json["version"] == __version__


def test_openapi_prints_the_document():
    result = inside("openapi")
    assert result.code == 0
    document = json.loads(result.out)
    assert document["openapi"].startswith("3.1")
    assert document["info"]["version"] == __version__
    assert inside("openapi", "--json").json == document


def test_status_and_down_without_a_running_instance(tmp_path: Path):
    result = inside("status", data=tmp_path)
    assert (result.code, result.out) == (1, f"Mailkeep is not running on {tmp_path}.\n")
    assert inside("status", "--json", data=tmp_path).json == {"running": False, "data_dir": str(tmp_path)}
    result = inside("down", data=tmp_path)
    assert (result.code, result.out) == (0, f"Mailkeep is not running on {tmp_path}.\n")
    assert inside("down", "--json", data=tmp_path).json == {"was_running": False, "pid": None}


@pytest.mark.parametrize(
    "line",
    [
        "admin list",
        "admin password a@b.test",
        "key create name --admin a@b.test",
        "routing explain a@b.test",
        "queue list",
        "migrate --dry-run",
    ],
)
def test_a_missing_data_directory_is_refused_and_not_created(line: str):
    result = inside(*line.split(), "--json", data=Path(ABSENT))
    assert result.code == 1
    assert result.json["error"]["code"] == "FAILED"
    assert f"There is no data directory {ABSENT}" in result.err
    assert not Path(ABSENT).exists()


@pytest.mark.parametrize(
    "there, meant",
    [
        ([], "data"),
        (["full/pg/0123456789ab"], "data"),  # databases of other data directories, which are root's
        (["full/mailkeep.toml"], "full"),
        (["full/instance-id", "full/lock"], "full"),
        (["data/lock", "full/instance-id"], "data"),
    ],
)
def test_the_full_data_directory_is_used_if_there_is_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, there: list[str], meant: str
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(context, "FULL_DATA_DIR", tmp_path / "full")
    for name in there:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert inside("status", "--json").json["data_dir"] == str(tmp_path / meant)
    assert inside("status", "--json", data=tmp_path / "other").json["data_dir"] == str(tmp_path / "other")
    assert context.data_dir_to_start(None, "embedded") == tmp_path / "data", "`up` creates it"
    assert context.data_dir_to_start(None, "full") == tmp_path / "full"


def test_a_data_directory_that_is_a_file_is_an_error(tmp_path: Path):
    (tmp_path / "file").write_text("")
    result = inside("status", "--json", data=tmp_path / "file")
    assert result.code == 1
    assert result.json["error"]["message"] == f"Not a directory: {tmp_path}/file/lock"


def test_an_argument_that_is_not_utf8_is_printed(tmp_path: Path):
    odd = Path(os.fsdecode(bytes(tmp_path / "a") + b"\xff"))
    shown = f"{tmp_path}/a?"
    assert mailkeep("status", "--json", data=odd).json == {"running": False, "data_dir": shown}
    assert inside("doctor", "--json", data=odd).json["data_dir"] == shown
    assert f"no data directory {shown}: " in inside("admin", "list", "--json", data=odd).json["error"]["message"]
    assert (
        inside("dns", "a\udcff.test", "--json", data=odd)
        .json["error"]["message"]
        .startswith("a?.test is not a domain name")
    )
    for terminal, seen in [("utf-8", shown), ("utf-8:surrogateescape", f"{tmp_path}/a\udcff"), ("ascii", shown)]:
        done = subprocess.run(
            [sys.executable, "-m", "mailkeep.run.cli.main", "status", "--data-dir", odd],
            capture_output=True, env=environment({"PYTHONIOENCODING": terminal}), cwd="/", timeout=90, check=False,
        )  # fmt: skip
        assert (done.returncode, os.fsdecode(done.stdout)) == (1, f"Mailkeep is not running on {seen}.\n"), done.stderr


def test_the_exit_code_is_75_without_the_database(tmp_path: Path):
    away = {"MAILKEEP_DATABASE__URL": "postgresql://127.0.0.1:1/mailkeep"}
    result = inside("migrate", "--json", data=tmp_path, env=away)
    assert result.code == 75
    assert result.json["error"]["code"] == "UNAVAILABLE"
    result = mailkeep("routing", "explain", "a@b.test", data=tmp_path, env=away)
    assert result.code == 75
    assert result.err == "error: The database is not available.\n"


def test_the_exit_code_is_75_if_the_data_directory_is_locked(tmp_path: Path):
    with (tmp_path / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        lock.write(f"{os.getpid()}\n")
        lock.flush()
        result = inside("status", "--json", data=tmp_path)
        assert result.code == 75
        assert result.json == {"running": False, "data_dir": str(tmp_path), "pid": os.getpid()}
        result = inside("migrate", "--json", data=tmp_path)
        assert result.code == 75
        assert result.json["error"]["code"] == "UNAVAILABLE"


def test_all_invalid_settings_are_reported(tmp_path: Path):
    (tmp_path / "mailkeep.toml").write_text('[http]\nlisten = "nowhere"\n[mta]\nport = 0\n')
    result = inside("config", "show", "--json", data=tmp_path)
    assert result.code == 1
    error = result.json["error"]
    assert error["code"] == "INVALID_SETTINGS"
    assert [fault.split(" ")[0] for fault in error["details"]["faults"]] == ["http.listen", "mta.port"]
    assert result.err.startswith("error: http.listen (")
    assert "\n       mta.port (" in result.err
    assert inside("up", data=tmp_path).code == 1


def test_config_show_prints_values_and_their_sources(tmp_path: Path):
    (tmp_path / "mailkeep.toml").write_text('[http]\nlisten = "127.0.0.1:9090"\n[mta]\npassword = "hush"\n')
    env = {"MAILKEEP_CORS__ORIGINS": '["https://app.test"]'}
    result = mailkeep("config", "show", "--changed", data=tmp_path, env=env)
    assert result.out.splitlines() == [
        'http.listen = "127.0.0.1:9090"  # file',
        '# mta.password = "********"  # file',
        'cors.origins = ["https://app.test"]  # env',
    ]
    every = inside("config", "show", "--json", data=tmp_path, env=env).json["settings"]
    assert [one["key"] for one in every] == [one.key for one in describe_settings()]
    assert {one["key"]: one["source"] for one in every if one["source"] != "default"} == {
        "http.listen": "file",
        "mta.password": "file",
        "cors.origins": "env",
    }
    assert "hush" not in json.dumps(every)


def test_the_output_of_config_show_is_a_valid_settings_file(tmp_path: Path):
    result = inside("config", "show", data=tmp_path)
    tree = tomllib.loads(result.out)
    assert tree["limits"]["message_size_mb"] == 50
    (tmp_path / "mailkeep.toml").write_text(result.out)
    assert inside("config", "show", data=tmp_path).code == 0


def test_config_show_prints_tables_as_valid_toml(tmp_path: Path):
    provider = {"id": "acme", "issuer": "https://id.example", "client_id": "x", "auto_create_role": "admin"}
    result = mailkeep(
        "config", "show", "--changed", data=tmp_path, env={"MAILKEEP_OIDC__PROVIDERS": json.dumps([provider])}
    )
    (tmp_path / "mailkeep.toml").write_text(result.out)
    (one,) = load_settings(tmp_path, {}).settings.oidc.providers
    assert (one.id, one.auto_create_role, one.scopes) == ("acme", "admin", ("openid", "email", "profile"))
    env = {"MAILKEEP_OIDC__PROVIDERS": json.dumps([provider | {"client_secret": "s3cret"}])}
    result = inside("config", "show", "--changed", data=tmp_path, env=env)
    assert result.out.startswith("# oidc.providers = [{id = ")
    assert "s3cret" not in result.out


def test_config_show_defaults_ignores_the_settings_file(tmp_path: Path):
    (tmp_path / "mailkeep.toml").write_text("this is no TOML")
    result = inside("config", "show", "--defaults", data=tmp_path)
    assert result.code == 0
    assert 'http.listen = "127.0.0.1:8080"' in result.out.splitlines()
    assert inside("config", "show", "--changed", data=tmp_path).code == 1


def test_config_show_changed_reports_that_nothing_is_set(tmp_path: Path):
    assert inside("config", "show", "--changed", data=tmp_path).out == ("All settings have their defaults.\n")
    assert inside("config", "show", "--changed", "--json", data=tmp_path).json == {"settings": []}


# Beside a running instance


def test_stored_settings_are_changed_beside_a_running_instance(running: Running):
    data = running.data
    result = inside("config", "set", "abuse.sender_per_hour=321", "smtp.max_sessions=77", "--comment", "why", data=data)
    assert (result.code, result.err) == (0, ""), result.err
    assert result.out.splitlines() == [
        "abuse.sender_per_hour: (not stored) -> 321",
        "smtp.max_sessions: (not stored) -> 77",
        "Stored as revision 1.",
        "Restart Mailkeep to apply: smtp.max_sessions.",
    ]
    deadline = time.monotonic() + 20
    while "abuse.sender_per_hour = 321  # database" not in inside("config", "show", "--changed", data=data).out:
        assert time.monotonic() < deadline, "the running instance did not take over the setting"
        time.sleep(0.1)
    assert "max_sessions" not in inside("config", "show", "--changed", data=data).out
    dry = inside("config", "unset", "abuse.sender_per_hour", "--dry-run", data=data).out
    assert dry.splitlines() == [
        "abuse.sender_per_hour: 321 -> (not stored)",
        "Nothing was stored.",
        "Settings: revision 0 -> 2",
        "mailkeep: restart (smtp.max_sessions). The API and the SMTP listener do not answer meanwhile.",
        "Takes effect: smtp.max_sessions",
    ]
    refused = inside("config", "set", "abuse.sender_per_hour=lots", "filter.spam_scor=1", "--json", data=data)
    assert (refused.code, refused.json["error"]["code"]) == (1, "INVALID_FIELD")
    assert inside("config", "set", "no-value", data=data).code == 2
    back = inside("config", "rollback", "0", "--json", data=data).json
    assert (back["revision"], back["needs_restart"]) == (2, [])
    history = inside("config", "history", "--json", data=data).json["revisions"]
    assert [(each["n"], each["state"], each["comment"]) for each in history] == [
        (2, "applied", "Rollback to revision 0"), (1, "superseded", "why")
    ]  # fmt: skip
    assert history[0]["author"].startswith("cli:")


def test_stored_settings_are_changed_without_a_running_instance():
    with directory() as data:
        assert inside("config", "set", "filter.spam_score=7", "server.hostname=mx.example.test", data=data).code == 0
        password = inside("config", "set", "outbound.relay=relay.example:25", "outbound.relay_username=we",
                            "outbound.relay_password=-", data=data, stdin="s3cret\n")  # fmt: skip
        assert password.out.splitlines()[1] == 'outbound.relay_password: (not stored) -> "********"'
        assert inside("config", "unset", "filter.spam_score", data=data).out.splitlines()[1] == "Stored as revision 3."
        assert inside("config", "rollback", "0", data=data).code == 0
        assert "s3cret" not in inside("config", "history", "--json", data=data).out


def test_a_change_without_a_running_instance_does_not_use_what_was_rolled_back():
    async def start() -> Settings:
        async with context.open_app(data, {"mta.mode": "postfix"}) as app, app.db.tx() as conn:
            return (await stored_settings.apply_newest(conn, data, app.vault, app.loaded))[0].settings

    async def roll_back(revision: int) -> None:
        async with context.open_app(data, {"mta.mode": "postfix"}) as app:
            assert await operations.take_effect(app, revision)
            await operations.restore(app, 0, revision)

    with directory() as data:
        asyncio.run(start())
        stored = inside("config", "set", "ports.imap=2143", data=data).out
        assert stored.splitlines()[-1] == "The next start uses: ports.imap."
        asyncio.run(roll_back(1))
        dry = inside("config", "set", "abuse.sender_per_hour=801", "--dry-run", data=data)
        assert "Mailkeep does not run" in dry.out
        stored = inside("config", "set", "abuse.sender_per_hour=801", data=data).out
        assert "the next start does not use these" in stored.splitlines()[-1]
        settings = asyncio.run(start())
        assert (settings.ports.imap, settings.abuse.sender_per_hour) == (Settings().ports.imap, 801)
        history = inside("config", "history", "--json", data=data).json["revisions"]
        assert [(each["n"], each["state"]) for each in history] == [(2, "desired"), (1, "superseded")]


def test_up_prints_its_addresses(running: Running):
    result = running.state
    assert result["pid"] == running.process.pid
    assert result["version"] == __version__
    assert result["http"].startswith("http://127.0.0.1:")
    password = Path(result["initial_admin_file"]).read_text().strip()
    deadline = time.monotonic() + 60
    while "Mailkeep" not in (running.data / "up.err").read_text():  # the banner is printed last
        assert time.monotonic() < deadline
        time.sleep(0.05)
    status, who = running.call("POST", "/auth/login", {"email": "admin@localhost", "password": password})
    assert status == 200, who


def test_a_second_up_is_refused(running: Running):
    result = inside("up", "--json", data=running.data)
    assert result.code == 1
    assert result.json["error"]["code"] == "FAILED"
    assert f"already runs on {running.data} (process {running.process.pid})" in result.err


def test_status_of_a_running_instance(running: Running):
    deadline = time.monotonic() + 60
    while True:  # on a busy machine health may not answer within three seconds
        late = time.monotonic() > deadline
        result = inside("status", "--json", data=running.data)
        found = result.json
        if late or (result.code == 0 and found["health"]["status"] == "ok"):
            break
    assert result.code == 0
    assert found["running"] is True
    assert {name: found[name] for name in ("pid", "http", "smtp", "internal", "started_at")} == {
        name: running.state[name] for name in ("pid", "http", "smtp", "internal", "started_at")
    }
    assert found["database"] == {"up": True, "error": None}
    assert found["memory_bytes"] > 20 << 20  # the interpreter and PostgreSQL
    assert found["health"]["status"] == "ok"
    assert "database" in {check["component"] for check in found["health"]["checks"]}
    lines = inside("status", data=running.data).out.splitlines()
    assert f"process {running.process.pid}" in lines[0]
    assert f"  API       {running.state['http']}" in lines


def test_doctor_of_a_running_instance(running: Running):
    result = mailkeep("doctor", data=running.data, env=NO_MAIL_PORTS)
    assert result.code == 0, result.out
    assert "In use by this instance" in result.out
    assert "its schema is up to date" in result.out
    assert result.out.endswith("No problems found.\n")


def test_migrate_beside_a_running_instance_has_nothing_to_do(running: Running):
    assert inside("migrate", "--json", data=running.data).json == {"dry_run": False, "migrations": []}
    assert inside("migrate", data=running.data).out == "Nothing to apply: the schema is up to date.\n"


def test_an_administrator_can_log_in_with_the_password_that_was_printed(
    running: Running, dora: dict[str, Any], domain_id: str
):
    assert dora["admin"]["role"] == "domain_admin"
    assert dora["admin"]["domain_ids"] == [domain_id]
    login = {"email": "dora@example.test", "password": dora["password"]}
    assert running.call("POST", "/auth/login", login)[0] == 200


def test_a_password_can_be_given_on_standard_input(running: Running):
    result = inside(
        "admin", "create", "sam@example.test", "--role", "super_admin", "--password-stdin",
        data=running.data, stdin="seven green bottles\n",
    )  # fmt: skip
    assert (result.code, result.out) == (0, "Administrator sam@example.test (super_admin) was created.\n")
    login = {"email": "sam@example.test", "password": "seven green bottles"}
    assert running.call("POST", "/auth/login", login)[0] == 200


def test_an_administrator_created_for_a_domain_has_only_that(running: Running, domain_id: str):
    result = inside("admin", "create", "dan@example.test", "--domain", "example.test", "--json", data=running.data)
    assert result.code == 0
    assert (result.json["admin"]["role"], result.json["admin"]["domain_ids"]) == ("domain_admin", [domain_id])
    result = inside("admin", "create", "ada@example.test", "--json", data=running.data)
    assert (result.json["admin"]["role"], result.json["admin"]["domain_ids"]) == ("admin", [])


def test_a_new_password_replaces_the_old_one(running: Running):
    assert inside("admin", "create", "paul@example.test", data=running.data).code == 0
    result = inside("admin", "password", "Paul@example.test", "--json", data=running.data)
    assert result.code == 0
    login = {"email": "paul@example.test", "password": result.json["password"]}
    assert running.call("POST", "/auth/login", login)[0] == 200
    again = inside("admin", "password", "paul@example.test", data=running.data)
    assert re.fullmatch(
        r"Administrator paul@example\.test has a new password; all its sessions have ended\.\n"
        r"Password, shown only once: \w{20}\n",
        again.out,
    )
    assert running.call("POST", "/auth/login", login)[0] == 401


def test_an_invited_administrator_is_disabled_and_enabled(running: Running):
    result = inside("admin", "create", "ines@example.test", "--invite", "--json", data=running.data)
    assert (result.code, result.json["password"], result.json["invitation"]["sent_to"]) == (0, None, None)
    again = inside("admin", "invite", "ines@example.test", "--json", data=running.data).json["invitation"]
    old, new = (urlsplit(each["url"]).fragment for each in (result.json["invitation"], again))
    password = {"password": "seven green bottles"}
    assert running.call("POST", f"/invitations/{old}", password)[0] == 404
    assert running.call("POST", f"/invitations/{new}", password)[0] == 200
    login = {"email": "ines@example.test"} | password
    for command, status in (("disable", 401), ("enable", 200)):
        assert inside("admin", command, "ines@example.test", data=running.data).code == 0
        assert running.call("POST", "/auth/login", login)[0] == status
    assert inside("admin", "password", "ines@example.test", "--must-change-password", data=running.data).code == 0
    [row] = [
        each for each in inside("admin", "list", "--json", data=running.data).json["admins"]
        if each["email"] == "ines@example.test"
    ]  # fmt: skip
    assert (row["active"], row["must_change_password"]) == (True, True)


def test_a_mailbox_is_set_up(running: Running, root_key: str, domain_id: str, tmp_path: Path):
    body = {"domain_id": domain_id, "local_part": "sam", "password": "seven green bottles"}
    assert running.call("POST", "/mailboxes", body, root_key)[0] == 201
    created = inside("mailbox", "setup-link", "sam@example.test", data=running.data)
    assert created.code == 0
    shown, link, *code = created.out.splitlines()
    assert shown.startswith("Setup link for sam@example.test, until 20")
    assert len(code) > 10
    profile = tmp_path / "sam.mobileconfig"
    setup = inside("mailbox", "setup", "sam@example.test", "--profile", profile, "--json", data=running.data)
    assert (setup.json["login"], setup.json["link"]["url"]) == ("sam@example.test", link)
    assert b"com.apple.mail.managed" in profile.read_bytes()
    assert inside("mailbox", "setup-link", "sam@example.test", "--delete", data=running.data).code == 0
    again = inside("mailbox", "setup-link", "sam@example.test", "--delete", "--json", data=running.data)
    assert (again.code, again.json["error"]["code"]) == (1, "NOT_FOUND")


def test_the_owner_of_a_mailbox_is_invited(running: Running, root_key: str, domain_id: str):
    body = {"domain_id": domain_id, "local_part": "ivan", "password": "seven green bottles"}
    assert running.call("POST", "/mailboxes", body, root_key)[0] == 201
    result = inside("mailbox", "invite", "ivan@example.test", data=running.data)
    assert result.code == 0
    shown, link, note = result.out.splitlines()
    assert "http.public_url" in note  # it is localhost
    assert shown.startswith("Link for ivan@example.test, shown only once. It works once, until 20")
    status, data = running.call("POST", "/invitations/lookup", {"token": urlsplit(link).fragment})
    assert (status, data["type"], data["address"]) == (200, "mailbox", "ivan@example.test")


@pytest.mark.parametrize(
    "line, stdin, code",
    [
        ("admin create admin@localhost", "", "CONFLICT"),
        ("admin create nobody", "", "INVALID_FIELD"),
        ("admin create new@example.test --domain unknown.test", "", "DOMAIN_NOT_FOUND"),
        ("admin create new@example.test --domain nodots", "", "INVALID_FIELD"),
        ("admin create new@example.test --password-stdin", "short", "WEAK_PASSWORD"),
        ("admin create new@example.test --password-stdin", "", "WEAK_PASSWORD"),
        ("admin create new@example.test --invite-to nobody", "", "INVALID_FIELD"),
        ("admin create new@example.test --invite-to n@elsewhere.test", "", "CONFLICT"),  # there is no server.hostname
        ("admin invite nobody@example.test", "", "NOT_FOUND"),
        ("admin disable nobody@example.test", "", "NOT_FOUND"),
        ("admin password nobody@example.test", "", "NOT_FOUND"),
        ("admin password admin@localhost --password-stdin", "password123", "WEAK_PASSWORD"),
        ("key create name --admin nobody@example.test", "", "NOT_FOUND"),
        ("key create name --admin admin@localhost --domain unknown.test", "", "DOMAIN_NOT_FOUND"),
        ("routing explain nobody", "", "INVALID_FIELD"),
    ],
)
def test_refusals_have_the_codes_of_the_api(running: Running, line: str, stdin: str, code: str):
    result = inside(*line.split(), "--json", data=running.data, stdin=stdin)
    assert result.code == 1
    error = result.json["error"]
    assert error["code"] == code
    assert result.err == f"error: {error['message']}\n"


def test_a_refusal_without_json_goes_to_standard_error_only(running: Running):
    result = inside("admin", "password", "nobody@example.test", data=running.data)
    assert result == Result(
        1, "", "error: There is no administrator nobody@example.test; `mailkeep admin list` shows all.\n"
    )


@pytest.mark.parametrize("kinds", ["authenticator", "passkey", "authenticator and passkey"])
def test_a_lost_second_factor_is_reset(running: Running, kinds: str):
    """Set up over HTTP, removed by the command: then the password is enough to log in."""
    email = f"{kinds.replace(' ', '-')}@example.test"
    made = inside("admin", "create", email, "--json", data=running.data).json
    login = {"email": email, "password": made["password"]}
    connection = http.client.HTTPConnection(running.state["http"].removeprefix("http://"), timeout=60)
    headers = {"content-type": "application/json"}

    def call(path: str, body: Any = None) -> Any:
        connection.request("POST", f"/api/v1{path}", json.dumps(body) if body else None, headers)
        answer = connection.getresponse()
        headers["cookie"] = (answer.headers["set-cookie"] or headers.get("cookie", "")).partition(";")[0]
        return json.loads(answer.read())["data"]

    call("/auth/login", login)
    if "authenticator" in kinds:
        (secret,) = parse_qs(urlsplit(call("/auth/totp/setup")["provisioning_uri"]).query)["secret"]
        code = totp.hotp(b32decode(secret), totp.step_of(datetime.now(UTC)))
        assert call("/auth/totp/verify", {"code": code})["totp_enabled"] is True
    if "passkey" in kinds:
        credential = SoftKey().create(call("/auth/passkeys/register/options")["options"])
        assert call("/auth/passkeys/register/verify", {"credential": credential})["passkey"]["name"] == "Passkey"
    assert running.call("POST", "/auth/login", login)[1]["requires_totp"] is True
    result = inside("admin", "reset-factors", email, data=running.data)
    assert (result.code, result.out) == (
        0,
        f"Administrator {email} has no second factor now; all its sessions have ended.\n",
    )
    connection.request("GET", "/api/v1/auth/me", headers=headers)
    assert connection.getresponse().status == 401
    connection.close()
    assert "session_id" in running.call("POST", "/auth/login", login)[1]
    again = inside("admin", "reset-factors", email, "--json", data=running.data)
    assert (again.code, again.json["error"]["code"]) == (1, "CONFLICT")


def test_the_lost_second_factor_of_a_mailbox_is_reset(running: Running, root_key: str, domain_id: str):
    password = "incorrect pony charger clip"
    new = {"domain_id": domain_id, "local_part": "lost", "password": password}
    address = running.call("POST", "/mailboxes", new, root_key)[1]["address"]
    login = {"address": address, "password": password}
    connection = http.client.HTTPConnection(running.state["http"].removeprefix("http://"), timeout=60)
    headers = {"content-type": "application/json"}

    def call(path: str, body: Any) -> Any:
        connection.request("POST", f"/api/v1{path}", json.dumps(body), headers)
        answer = connection.getresponse()
        headers["cookie"] = (answer.headers["set-cookie"] or headers.get("cookie", "")).partition(";")[0]
        return json.loads(answer.read())["data"]

    call("/me/login", login)
    (secret,) = parse_qs(urlsplit(call("/me/totp/setup", {})["provisioning_uri"]).query)["secret"]
    code = totp.hotp(b32decode(secret), totp.step_of(datetime.now(UTC)))
    assert call("/me/totp/verify", {"code": code})["totp_enabled"] is True
    connection.close()
    assert running.call("POST", "/me/login", login)[1]["requires_totp"] is True
    result = inside("mailbox", "reset-factors", address, data=running.data)
    line = f"The owner of {address} has no second factor now; all sessions of the owner have ended.\n"
    assert (result.code, result.out) == (0, line)
    assert running.call("POST", "/me/login", login)[1]["mailbox"]["second_factor"] is False
    again = inside("mailbox", "reset-factors", address, "--json", data=running.data)
    assert (again.code, again.json["error"]["code"]) == (1, "CONFLICT")


def test_an_identity_is_disconnected(running: Running, dora: dict[str, Any]):
    urls = running_urls(running.data)
    assert urls is not None
    with psycopg.connect(urls.app) as conn:
        row = (dora["admin"]["id"], datetime.now(UTC))
        conn.execute("INSERT INTO oidc_identities VALUES (%s, 'https://id.test', 'd', %s)", row)
        conn.execute("UPDATE admins SET oidc_provider = 'acme' WHERE id = %s", row[:1])
    result = inside("admin", "disconnect", "dora@example.test", data=running.data)
    assert (result.code, result.out) == (
        0,
        "Administrator dora@example.test is no longer linked to an identity; all its sessions have ended.\n",
    )
    again = inside("admin", "disconnect", "dora@example.test", "--json", data=running.data)
    assert (again.code, again.json["error"]["code"]) == (1, "CONFLICT")


def test_sign_in_blocks_are_listed_and_removed(running: Running):
    async def block() -> None:
        async with attach(running.data, "tests") as app, app.db.tx() as conn:
            at = app.clock()
            for account, source in ((None, "192.0.2.10"), ("mailbox:alice@example.test", None)):
                new = NewBlock(account, source, 30, at + timedelta(hours=1))
                await sign_in_blocks.upsert_block(conn, uuid7(at), new, uuid7(at), at)

    asyncio.run(block())
    listed = inside("sign-in-blocks", "list", data=running.data)
    assert re.search(r"^unknown addresses +alice@example.test +30 ", listed.out, re.MULTILINE)
    removed = inside("sign-in-blocks", "remove", "ALICE@example.test", data=running.data)
    assert removed.out == "Sign-ins to the mailbox alice@example.test from unknown addresses are possible again.\n"
    (left,) = inside("sign-in-blocks", "list", "--json", data=running.data).json["blocks"]
    assert (left["address"], left["account"], left["account_kind"]) == ("192.0.2.10", None, None)
    assert inside("sign-in-blocks", "remove", left["id"], "--json", data=running.data).json["removed"] == [left["id"]]
    assert (
        "There is no sign-in block of 192.0.2.10"
        in inside("sign-in-blocks", "remove", "192.0.2.10", data=running.data).err
    )


def test_an_incident_is_opened_listed_and_undone(running: Running, root_key: str, domain_id: str):
    def run(*words: str) -> Result:
        return inside("incidents", *words, data=running.data)

    new = {"domain_id": domain_id, "local_part": "incident", "password": "incorrect pony charger clip"}
    address = running.call("POST", "/mailboxes", new, root_key)[1]["address"]
    opened = run("create", address, "--action", "hold_queue", "--action", "suspend", "--note", "phishing")
    lines = opened.out.splitlines()
    assert lines[1:] == [
        "suspend: done",
        "hold_queue: failed (The queue is available in the full profile only.)",
    ], opened.err
    (incident,) = [each for each in run("list", "--open", "--json").json["incidents"] if each["subject"] == address]
    (row,) = [each for each in run("list", "--open").out.splitlines() if address in each]
    assert f"{incident['created_at'][:19]}Z" in row.split()  # to the second
    assert run("undo", incident["id"]).out.splitlines() == ["suspend: restored", "hold_queue: unchanged"]
    assert "There is no mailbox nobody@example.test" in run("create", "nobody@example.test", "--action", "suspend").err
    refused = run("create", address, "--action", "disable_keys", "--json")
    assert refused.json["error"]["code"] == "INVALID_FIELD"
    assert "The incident is undone" in run("undo", incident["id"]).err


def test_thresholds_and_the_overview_of_abuse(running: Running, root_key: str, domain_id: str):
    def run(*words: str) -> Result:
        return inside(*words, data=running.data)

    new = {"domain_id": domain_id, "local_part": "limits", "password": "incorrect pony charger clip"}
    mailbox = running.call("POST", "/mailboxes", new, root_key)[1]
    address = mailbox["address"]
    name = address.partition("@")[2]
    changed = run("thresholds", "set", name, "sender_per_hour=50", "forward_per_hour=20")
    assert re.search(r"^sender_per_hour +50 +domain$", changed.out, re.MULTILINE), changed.err
    values = run("thresholds", "set", address, "sender_per_hour=7", "--json").json["values"]
    assert values["sender_per_hour"] == {"value": 7, "source": "mailbox"}
    assert "is no threshold of" in run("thresholds", "set", address, "domain_per_hour=7").err
    assert "must be a whole number" in run("thresholds", "set", address, "sender_per_hour=1.5").err
    assert "between 1 and" in run("thresholds", "set", address, "sender_per_hour=0").err
    assert "There is no domain nowhere.test" in run("thresholds", "show", "nowhere.test").err
    running.call("POST", f"/mailboxes/{mailbox['id']}/suspend", {"reason": "sold its password"}, root_key)
    shown = run("abuse", "overview", name)
    assert re.search(rf"^Suspended:\n  ADDRESS .*\n  {address} .* sold its password$", shown.out, re.MULTILINE), (
        shown.err
    )
    assert [each["address"] for each in run("abuse", "overview", "--json").json["suspended"]].count(address) == 1
    assert run("thresholds", "set", name, "sender_per_hour=default", "forward_per_hour=default").code == 0
    assert re.search(r"^sender_per_hour +1000 +global$", run("thresholds", "show", name).out, re.MULTILINE)


def test_an_alert_is_listed_acknowledged_and_resolved(running: Running, domain_id: str):
    async def report() -> None:
        async with attach(running.data, "tests") as app, app.db.tx() as conn:
            problem = AlertProblem("bounce_rate", "shop@example.test", UUID(domain_id), "warning", "Many bounces.")
            await alerts.report(conn, app.clock(), "abuse", [problem], kinds=["bounce_rate"])

    def run(*words: str) -> Result:
        return inside("alerts", *words, data=running.data)

    asyncio.run(report())
    assert re.search(r"^shop@example.test +bounce_rate +warning +open .*Many bounces", run("list").out, re.MULTILINE)
    (alert,) = run("list", "--json").json["alerts"]
    assert (
        run("acknowledge", alert["id"], "--note", "Mine.").out == "The alert about shop@example.test is acknowledged.\n"
    )
    assert run("resolve", alert["id"], "--json").json["note"] == "Mine."
    assert run("list", "--json").json["alerts"] == []
    assert [each["id"] for each in run("list", "--all", "--json").json["alerts"]] == [alert["id"]]
    assert "The alert is resolved" in run("resolve", alert["id"]).err
    assert "is not the ID of an alert" in run("resolve", domain_id).err


def test_filter_settings_and_lists(running: Running, domain_id: str):
    def run(*words: str, stdin: str = "") -> Result:
        return inside("filter", *words, data=running.data, stdin=stdin)

    assert re.search(r"^junk_score +6 +default$", run("show").out, re.MULTILINE)
    changed = run("set", "junk_score=off", "learn=false", "--domain", "example.test")
    assert re.search(r"^junk_score +off +domain$", changed.out, re.MULTILINE)
    assert run("set", "digest=weekly", "--json").json["effective"]["digest"] == {"value": "weekly", "scope": "server"}
    assert run("set", "digest=inherit", "--json").json["effective"]["digest"] == {"value": "off", "scope": "default"}
    assert "digest: must be one of" in run("set", "digest=hourly").err
    assert run("set", "digest").code == run("show", "--domain", "a.test", "--mailbox", "a@a.test").code == 2
    assert "There is no domain a.test." in run("show", "--domain", "a.test").err

    assert run("add", "deny", "Bad.test", "--enforced", "--comment", "Phishing").out == "Added: deny domain bad.test.\n"
    assert "already" in run("add", "deny", "bad.test").err
    assert run("add", "allow", "192.0.2.9", "--domain", "example.test").code == 0
    assert re.search(r"^deny \(enforced\) +domain +bad.test +0 +Phishing$", run("entries").out, re.MULTILINE)
    table = "list,kind,value\ndeny,address,a@x.test\n\ndeny,domain,com\n"
    imported = run("import", "-", "--domain", "example.test", stdin=table)
    assert (imported.code, imported.out.splitlines()[0]) == (1, "1 of 2 rows imported.")
    assert imported.out.splitlines()[1].startswith("row 4: value: must not be a public suffix")

    explained = run("test", "--from", "x@bad.test", "--mail-from", "x@bad.test", "--domain", "example.test")
    assert explained.out.splitlines()[-1] == "Result: refuse (at rcpt)"
    assert run("test", "--client", "192.0.2.9", "--domain", "example.test", "--json").json["action"] == "inbox"
    assert "message_id" in run("test", "--message-id", "7").err

    (entry,) = run("entries", "--json").json["entries"]
    assert run("remove", entry["id"]).out == "Removed: deny domain bad.test.\n"
    assert run("remove", "192.0.2.9", "--domain", "example.test").code == 0
    assert "There is no entry BAD.test" in run("remove", "BAD.test").err


def test_administrators_are_listed(running: Running, dora: dict[str, Any]):
    shown = inside("admin", "list", "--json", data=running.data).json["admins"]
    emails = [one["email"] for one in shown]
    assert {"dora@example.test", "admin@localhost"} <= set(emails)
    assert emails[-1] == "admin@localhost"
    assert "password" not in shown[0]
    title, *rows = inside("admin", "list", data=running.data).out.splitlines()
    assert title.split()[:2] == ["EMAIL", "ROLE"]
    assert [row.split()[0] for row in rows] == emails


def test_a_key_works_within_its_limits(running: Running, dora: dict[str, Any], domain_id: str):
    result = inside(
        "key", "create", "newsletter", "--admin", "dora@example.test", "--domain", "example.test",
        "--rate-limit", "120", "--expires-in-days", "90", "--json",
        data=running.data,
    )  # fmt: skip
    made = result.json
    assert (made["name"], made["rate_limit"], made["scoped_domain_ids"]) == ("newsletter", 120, [domain_id])
    assert made["expires_at"] > running.state["started_at"]
    status, shown = running.call("GET", "/domains", key=made["key"])
    assert status == 200
    assert [one["name"] for one in shown] == ["example.test"]
    assert running.call("GET", "/sandbox/messages", key=made["key"])[0] == 403


def test_a_key_can_be_limited_to_networks(running: Running):
    result = inside(
        "key", "create", "far", "--admin", "admin@localhost", "--network", "192.0.2.0/24", "--json", data=running.data
    ).json
    assert result["allowed_networks"] == ["192.0.2.0/24"]
    status, refused = running.call("GET", "/domains", key=result["key"])
    assert (status, refused["details"]) == (403, {"reason": "network"})
    wrong = inside("key", "create", "x", "--admin", "admin@localhost", "--network", "lan", "--json", data=running.data)
    assert (wrong.code, wrong.json["error"]["code"]) == (1, "INVALID_FIELD")


def test_a_key_is_printed_on_its_own_line(running: Running):
    result = inside("key", "create", "deploy", "--admin", "admin@localhost", data=running.data)
    shown = state.read(running.data)
    assert shown is not None
    host, port = shown.smtp.rsplit(":", 1)  # of the running listener, not of the settings
    assert re.fullmatch(
        r"Key of admin@localhost, shown only once:\nsvc_sk_[\w-]{43}\n"
        rf"To send by SMTP: server {re.escape(host)}, port {port} \(STARTTLS\), user apikey, "
        r"the key as the password.\n",
        result.out,
    )


@pytest.mark.parametrize("line", ["queue list", "queue act flush --all"])
def test_queue_commands_fail_on_the_embedded_profile(running: Running, tmp_path: Path, line: str):
    result = inside(*line.split(), "--json", data=running.data)
    assert result.code == 1
    assert (
        result.json["error"]["message"] == f"Mailkeep on {running.data} has the embedded profile, which has no daemons."
    )
    result = inside(*line.split(), "--json", data=tmp_path)
    assert (result.code, result.json["error"]["code"]) == (75, "UNAVAILABLE")
    assert list(tmp_path.iterdir()) == [], "no database is created for that"


def test_changes_are_audited_with_the_command_line_as_actor(running: Running, dora: dict[str, Any], root_key: str):
    status, entries = running.call("GET", "/audit?limit=100", key=root_key)
    assert status == 200
    made = next(one for one in entries if one["action"] == "admin.create" and one["resource_id"] == dora["admin"]["id"])
    assert made["actor"]["type"] == "cli"
    assert made["actor"]["label"] == f"cli:{pwd.getpwuid(os.getuid()).pw_name}"
    assert dora["password"] not in json.dumps(entries)
    assert root_key not in json.dumps(entries)


def test_routing_explain_prints_decision_and_deliveries(running: Running, root_key: str, domain_id: str):
    box = {"domain_id": domain_id, "local_part": "alice", "password": "seven green bottles", "name": "Alice"}
    assert running.call("POST", "/mailboxes", box, root_key)[0] == 201
    alias = {"domain_id": domain_id, "source_local_part": "sales", "destination": "alice@example.test, x@away.test"}
    assert running.call("POST", "/aliases", alias, root_key)[0] == 201
    result = inside("routing", "explain", "Sales+spring@example.test", data=running.data)
    assert result.code == 0
    assert result.out.splitlines()[-3:] == [
        "Decision: deliver",
        "  to mailbox alice@example.test",
        "  to external address x@away.test",
    ]
    found = inside("routing", "explain", "nobody@example.test", "--json", data=running.data).json
    assert found["decision"] == "unknown_user"
    assert found["deliveries"] == []
    assert {"domain", "mailbox", "alias", "catch_all"} <= {step["step"] for step in found["steps"]}


def test_vacation_and_forward_of_a_mailbox(running: Running, root_key: str, domain_id: str, tmp_path: Path):
    body = {"domain_id": domain_id, "local_part": "vera", "password_hash": "{SHA}x", "time_zone": "Europe/Berlin"}
    mailbox_id = running.call("POST", "/mailboxes", body, root_key)[1]["id"]

    def run(*args: str | Path) -> Result:
        return inside("mailbox", *args, "--json", data=running.data)

    assert run("vacation", "show", "vera@example.test").json == {"address": "vera@example.test", "active": False}
    refused = run("vacation", "set", "vera@example.test", "--text", "Away.")
    assert (refused.code, refused.json["error"]["details"]["reason"]) == (1, "needs_full_profile")
    (tmp_path / "away.txt").write_text("Ich bin im Urlaub.\nVera\n")
    period = ("--start", "2027-08-01T18:00", "--end", "2027-08-15T00:00:00Z")
    stored = run("vacation", "set", "vera@example.test", "--text-file", tmp_path / "away.txt", "--inactive", *period)
    assert stored.json == {
        "address": "vera@example.test", "active": False, "subject": None, "text": "Ich bin im Urlaub.\nVera\n",
        "html": None, "start_at": "2027-08-01T16:00:00.000Z", "end_at": "2027-08-15T00:00:00.000Z", "days": 7,
        "warnings": [],
    }  # fmt: skip
    assert running.call("GET", f"/mailboxes/{mailbox_id}/vacation", None, root_key)[1]["text"] == stored.json["text"]
    shown = inside("mailbox", "vacation", "show", "VERA@example.test", data=running.data).out
    assert "2027-08-01 18:00 Europe/Berlin" in shown
    assert "Ich bin im Urlaub." in shown
    assert run("vacation", "on", "vera@example.test").json["error"]["details"]["reason"] == "needs_full_profile"
    assert run("vacation", "off", "vera@example.test").json["active"] is False
    assert run("vacation", "delete", "vera@example.test").code == 0
    assert "has no vacation" in run("vacation", "off", "vera@example.test").err
    assert "There is no mailbox" in run("vacation", "show", "nobody@example.test").err
    (tmp_path / "away.txt").write_bytes(b"\xff")
    assert run("vacation", "set", "vera@example.test", "--text-file", tmp_path / "away.txt").code == 2

    forwarded = run("forward", "set", "vera@example.test", "vera@far.test", "--no-copy")
    expected = {"address": "vera@example.test", "destinations": ["vera@far.test"], "keep_copy": False}
    assert forwarded.json == run("forward", "show", "vera@example.test").json == expected
    assert run("forward", "set", "vera@example.test", "vera@example.test").json["error"]["code"] == "CONFLICT"
    assert run("forward", "off", "vera@example.test").json["destinations"] == []


def test_alias_domains_senders_and_the_status_of_aliases(running: Running, root_key: str, domain_id: str):
    box = {"domain_id": domain_id, "local_part": "sally", "password_hash": "{SHA}x"}
    assert running.call("POST", "/mailboxes", box, root_key)[0] == 201
    for source, to in (("good", "sally@example.test"), ("bad", "nobody@example.test, sally@example.test")):
        alias = {"domain_id": domain_id, "source_local_part": source, "destination": to}
        assert running.call("POST", "/aliases", alias, root_key)[0] == 201
    assert running.call("POST", "/domains", {"name": "second.test"}, root_key)[0] == 201

    def run(*args: str) -> Result:
        return inside(*args, "--json", data=running.data)

    made = inside("domain", "alias", "second.test", "example.test", data=running.data)
    assert made.out == "Addresses in second.test are routed as those in example.test.\n"
    listed = {row["name"]: row["alias_of"] for row in run("domain", "list").json["domains"]}
    assert listed["second.test"] == "example.test"
    assert listed["example.test"] is None
    assert run("routing", "explain", "sally@second.test").json["steps"][0]["step"] == "domain_alias"
    refused = run("domain", "alias", "example.test", "second.test")
    assert (refused.code, refused.json["error"]["details"]["reason"]) == (1, "alias_chain")
    assert "There is no domain third.test" in run("domain", "alias", "second.test", "third.test").err
    assert run("domain", "alias", "second.test", "--off").json == {"name": "second.test", "alias_of": None}

    senders = run("mailbox", "send-as", "set", "sally@example.test", "SECOND.test", "sales@example.test")
    expected = {"address": "sally@example.test", "send_as": ["sales@example.test", "second.test"]}
    assert senders.json == run("mailbox", "send-as", "show", "sally@example.test").json == expected
    assert (
        run("mailbox", "send-as", "set", "sally@example.test", "x@unmanaged.test").json["error"]["code"]
        == "INVALID_FIELD"
    )
    assert run("mailbox", "send-as", "set", "sally@example.test").json["send_as"] == []

    found = run("alias", "list", "--domain", "example.test", "--search", "sally@").json["aliases"]
    assert [(row["address"], row["state"]) for row in found] == [
        ("bad@example.test", "partial"),
        ("good@example.test", "ok"),
    ]
    problems = inside("alias", "list", "--problems", "--search", "sally", data=running.data).out.splitlines()
    assert [line.split()[0] for line in problems] == ["ALIAS", "bad@example.test"]
    assert "Some destinations get no mail: nobody@example.test leads nowhere" in problems[1]
    assert "There is no domain none.test" in run("alias", "list", "--domain", "none.test").err


def test_dkim_keys_are_managed(running: Running, domain_id: str, tmp_path: Path):
    def dkim(*line: str, code: int = 0, stdin: str = "") -> Any:
        result = inside("dkim", *line, "--json", data=running.data, stdin=stdin)
        assert result.code == code, result
        return result.json

    made = dkim("create", "example.test", "--algorithm", "ed25519", "--selector", "ours")
    assert (made["stage"], made["dns"]["name"]) == ("pending", "ours._domainkey.example.test")
    text = inside("dkim", "create", "example.test", "--algorithm", "ed25519", data=running.data).out
    assert "Publish its record" in text
    assert dkim("activate", "example.test", "OURS", "--force")["stage"] == "active"
    listed = {key["selector"]: key for key in dkim("list", "example.test")["keys"]}
    assert listed["ours"]["stage"] == "active"
    assert dkim("delete", "example.test", "ours", code=1)["error"]["details"]["reason"] == "in_use"
    assert dkim("retire", "example.test", made["id"])["stage"] == "retiring"
    assert dkim("retire", "example.test", "nothing", code=1)["error"]["code"] == "NOT_FOUND"
    assert dkim("list", "unknown.test", code=1)["error"]["code"] == "DOMAIN_NOT_FOUND"
    private = Ed25519PrivateKey.generate()
    pem = private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    (tmp_path / "key.pem").write_bytes(pem)
    imported = dkim("import", "example.test", str(tmp_path / "key.pem"), "--selector", "old")
    assert "PRIVATE" not in str(imported)
    assert dkim("import", "example.test", "-", stdin="no key", code=1)["error"]["code"] == "INVALID_FIELD"
    assert dkim("import", "example.test", str(tmp_path / "absent.pem"), code=1)["error"]["code"] == "FAILED"
    assert dkim("delete", "example.test", "old")["selector"] == "old"


def test_dns_prints_the_records_to_publish(running: Running, domain_id: str):
    env = {"MAILKEEP_SERVER__HOSTNAME": "mx.example.test", "MAILKEEP_SERVER__ADDRESSES": '["192.0.2.10", "127.0.0.1"]'}
    lines = inside("dns", "Example.test", data=running.data, env=env).out.splitlines()[2::2]
    assert lines[:2] == [
        "example.test. 3600 IN MX 10 mx.example.test.",
        'example.test. 3600 IN TXT "v=spf1 mx -all"',
    ]
    assert lines[2].split()[0].partition("._domainkey.")[2] == "example.test."
    records = inside("dns", "example.test", "--json", data=running.data, env=env).json["records"]
    assert [f"{one['name']}. 3600 IN {one['type']}" for one in records] == [" ".join(x.split()[:4]) for x in lines]
    lines = inside("dns", "--server", data=running.data, env=env).out.splitlines()[2::2]
    assert lines[:3] == [
        "mx.example.test. 3600 IN A 192.0.2.10",
        "; 10.2.0.192.in-addr.arpa. 3600 IN PTR mx.example.test.",
        'mx.example.test. 3600 IN TXT "v=spf1 a -all"',
    ]
    assert lines[3].split()[0].partition("._domainkey.")[2] == "mx.example.test."  # of mail of Mailkeep itself


def test_dns_asks_for_the_name_of_the_server(running: Running, domain_id: str):
    result = inside("dns", "example.test", data=running.data)
    assert result.code == 0
    assert "; Set `server.hostname` to the name" in result.out
    assert '"v=spf1 mx -all"' in result.out
    assert " MX " not in result.out
    result = inside("dns", "example.test", "--check", data=running.data)
    assert result.code == 1
    assert result.out.count("Set `server.hostname`") == 1
    assert inside("dns", data=running.data).code == 2


def test_a_running_instance_checks_dns_on_request(running: Running, domain_id: str, root_key: str):
    path = f"/domains/{domain_id}/dns"
    assert running.call("POST", f"{path}/check", None, root_key)[0] in (202, 429)
    deadline = time.monotonic() + 60
    while running.call("GET", path, None, root_key)[1]["check"]["state"] != "idle":
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_dns_check_says_what_is_wrong(running: Running, domain_id: str):
    with DnsServer() as names:
        env = {
            "MAILKEEP_SERVER__HOSTNAME": "mx.example.test",
            "MAILKEEP_SERVER__ADDRESSES": '["192.0.2.10"]',
            "MAILKEEP_DNS__SERVERS": f'["{names.address}"]',
        }

        def check() -> Result:
            return inside("dns", "example.test", "--check", "--json", data=running.data, env=env)

        names.publish("mx.example.test", "A", "192.0.2.10")
        assert check().code == 1
        for record in check().json["records"]:
            if record["required"] or record["purpose"] == "dkim":  # also keys that other tests have left pending
                names.publish(record["name"], record["type"], record["value"])
        result = inside("dns", "example.test", "--check", data=running.data, env=env)
        assert result.code == 0, result.out
        assert "missing     TXT _smtp._tls.example.test (optional)" in result.out
        assert result.out.endswith("Status: ok.\n")
        names.fail("*.test", "servfail")
        names.fail("example.test", "servfail")
        result = check()
        assert (result.code, result.json["status"]) == (75, "ok")
        assert {each["status"] for each in result.json["records"]} == {"dns_error"}


def test_status_reports_a_database_that_does_not_answer(running: Running):
    """PostgreSQL is suspended: it accepts connections and never answers."""
    postmaster = int((running.data / "pg/postmaster.pid").read_text().split()[0])
    os.kill(postmaster, signal.SIGSTOP)
    try:
        result = inside("status", "--json", data=running.data)
    finally:
        os.kill(postmaster, signal.SIGCONT)
    assert result.code == 75
    assert result.json["running"] is True
    assert result.json["database"]["up"] is False


def test_after_down_commands_start_the_database_themselves():
    with instance() as one:
        result = mailkeep("down", "--json", data=one.data)
        assert (result.code, result.json) == (0, {"was_running": True, "pid": one.process.pid})
        assert one.process.wait(60) == 0
        result = mailkeep("admin", "list", "--json", data=one.data)
        assert result.code == 0
        assert [admin["email"] for admin in result.json["admins"]] == ["admin@localhost"]
        assert inside("status", data=one.data).code == 1


def test_migrate_creates_the_database_of_a_new_data_directory():
    with directory() as data:
        applied = mailkeep("migrate", "--json", data=data).json
        assert applied == {
            "dry_run": False,
            "migrations": [one.file for one in read_schema().migrations] + ["functions/*.sql"],
        }
        tried = mailkeep("doctor", "--json", data=data, env={
            "MAILKEEP_HTTP__LISTEN": FREE, "MAILKEEP_HTTP__INTERNAL": FREE, "MAILKEEP_SMTP__LISTEN": FREE,
            **NO_MAIL_PORTS,
        })  # fmt: skip
        assert tried.code == 0, tried.out
        assert tried.json["ok"] is True
