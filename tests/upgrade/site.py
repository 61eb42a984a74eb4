"""An installed, running instance that is upgraded under a stream of mail; what was accepted is counted afterwards."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import smtplib
import subprocess
import threading
import time
import uuid
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

from mailkeep import __version__
from mailkeep.db.instance import lock_holder
from mailkeep.run.runtime import state
from mailkeep.run.runtime.state import InstanceState
from tests.support.ledger import Ledger
from tests.support.ports import free_port
from tests.upgrade.installation import NEW

ALICE = "alice@upgrade.test"
_SUBJECT = re.compile(rb"^Subject: (token-\w+)\r?$", re.MULTILINE)
# `mailkeep` that is killed, or fails, when it reaches a failpoint of the upgrade.
_TRAPPED = """
import os, sys
from mailkeep.core import failpoint
from mailkeep.core.errors import Failure
from mailkeep.run.runtime import upgrade
upgrade._HEALTHY_SECONDS = 4
action, name = sys.argv[1:3]
def reach(reached):
    if reached == name:
        if action == "kill":
            os.kill(os.getpid(), 9)
        raise Failure(f"injected at {name}")
failpoint.reach = reach
sys.argv[1:3] = []
from mailkeep.run.cli.main import main
main()
"""


@dataclass
class Site:
    """An installation in `prefix`, and `mailkeep up` on `data`, started through the link."""

    folder: Path
    profile: Sequence[str]
    environ: Mapping[str, str] = field(default_factory=dict[str, str])
    process: subprocess.Popen[bytes] | None = None

    def __post_init__(self) -> None:
        self.prefix, self.data = self.folder / "prefix", self.folder / "data"
        self.program = self.prefix / "current/bin/mailkeep"
        self._key = ""

    @property
    def log(self) -> str:
        """The output of all versions of `up`."""
        return (self.folder / "up.log").read_text(errors="replace")

    def start(self, seconds: float = 120) -> InstanceState:
        """Start it and wait until it is ready."""
        with (self.folder / "up.log").open("ab") as log:
            command = [str(self.program), "up", "--data-dir", str(self.data), *self.profile]
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd="/", env=self._environment
            )
        return self.wait_for(__version__, seconds)

    def wait_for(self, version: str, seconds: float = 120) -> InstanceState:
        """The state of the instance when this version is ready, which must be within the process that was started."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            assert self.process
            assert self.process.poll() is None, self.log
            instance = state.read(self.data)
            if instance and instance.version == version:
                return instance
            time.sleep(0.05)
        raise AssertionError(f"{version} did not run within {seconds} s (process {lock_holder(self.data)}): {self.log}")

    def stop(self, seconds: float = 60) -> int:
        """Stop it; its exit status."""
        assert self.process
        self.process.terminate()
        return self.process.wait(seconds)

    def upgrade(self, wheel: Path, *options: str, trap: Sequence[str] = ()) -> subprocess.CompletedProcess[str]:
        """`mailkeep upgrade`; `trap` is `kill` or `fail` and the name of a failpoint."""
        command = [str(self.program)]
        if trap:
            command = [str(self.prefix / "versions" / __version__ / "bin/python"), "-c", _TRAPPED, *trap]
        return subprocess.run(
            [*command, "upgrade", str(wheel), "--data-dir", str(self.data), "--watch", "1", *options],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=400,
            check=False,
            cwd="/",
            env=self._environment,
        )

    @property
    def _environment(self) -> dict[str, str]:
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("MAILKEEP_", "PYTHON"))}
        return kept | {"MAILKEEP_DNS__CHECK_MINUTES": "0"} | dict(self.environ)

    def mailkeep(self, *words: str, stdin: str = "") -> Any:
        """A command of the version that the link leads to; its JSON."""
        result = subprocess.run(
            [str(self.program), *words, "--data-dir", str(self.data), "--json"],
            input=stdin, capture_output=True, text=True, timeout=120, check=False, cwd="/", env=self._environment,
        )  # fmt: skip
        assert result.returncode == 0, result
        return json.loads(result.stdout)

    def create_mailbox(self, http: str) -> None:
        """Create a domain and a mailbox by the API."""
        self.mailkeep("admin", "create", "root@upgrade.test", "--role", "super_admin", "--password-stdin",
                      stdin="correct-horse-battery")  # fmt: skip
        self._key = self.mailkeep("key", "create", "upgrade", "--admin", "root@upgrade.test")["key"]
        local_part, _, domain = ALICE.partition("@")
        domain_id = self.call(http, "/domains", {"name": domain})["id"]
        mailbox = {"domain_id": domain_id, "local_part": local_part, "password": "a long way to Tipperary"}
        self.call(http, "/mailboxes", mailbox)

    def call(self, http: str, path: str, body: Any = None) -> Any:
        """A GET, or with a body a POST; its data."""
        fields = {"Authorization": f"Bearer {self._key}", "Content-Type": "application/json"}
        content = None if body is None else json.dumps(body).encode()
        with urlopen(Request(f"{http}/api/v1{path}", content, fields), timeout=30) as answer:
            return json.load(answer)["data"]

    def read_tokens(self) -> list[str]:
        """The tokens of all messages in the mailbox."""
        found: list[str] = []
        for path in (self.data / "mail").rglob("*"):
            if path.is_file() and path.parent.name in ("new", "cur"):
                found += [match.decode() for match in _SUBJECT.findall(path.read_bytes())]
        return found

    def end_unaccepted(self) -> None:
        """End the new version, which runs although nobody is left to accept it."""
        instance = self.wait_for(NEW)
        assert (self.prefix / "current").readlink().name == __version__
        os.kill(instance.pid, signal.SIGTERM)
        self.wait_for(__version__)

    def assert_runs(self, version: str, pid: int | None = None) -> InstanceState:
        """This version runs and answers, and the link leads to the one that is accepted."""
        instance = self.wait_for(version)
        assert pid in (None, instance.pid)
        assert (self.prefix / "current").readlink().name == version
        with urlopen(f"{instance.http}/health", timeout=10) as answer:
            assert json.load(answer)["data"]["status"] != "down"
        return instance


@contextlib.contextmanager
def stream(host: str, port: int, pause: float) -> Generator[Ledger]:
    """Mail by SMTP until the block ends, each message with a token, which is not tried again."""
    ledger, ended = Ledger("mail"), threading.Event()

    def send() -> None:
        while not ended.wait(pause):
            token = f"token-{uuid.uuid4().hex}"
            ledger.invoke(token)
            in_data = False
            try:
                with smtplib.SMTP(host, port, timeout=30) as client:
                    client.ehlo("client.upgrade.test")
                    if client.mail("someone@elsewhere.test")[0] != 250 or client.rcpt(ALICE)[0] != 250:
                        raise smtplib.SMTPException
                    in_data = True
                    code, _ = client.data(f"From: someone@elsewhere.test\nSubject: {token}\n\nHello.\n")
                    in_data = False
                    if code != 250:
                        raise smtplib.SMTPException
                    ledger.ok(token)
            except (OSError, smtplib.SMTPException):
                if token not in ledger.succeeded:
                    (ledger.info if in_data else ledger.fail)(token)

    threads = [threading.Thread(target=send) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        yield ledger
    finally:
        ended.set()
        for thread in threads:
            thread.join(60)


def embedded(folder: Path) -> Site:
    """A site of the embedded profile on free ports."""
    addresses = [f"127.0.0.1:{free_port('127.0.0.1')}" for _ in range(3)]
    options = [word for pair in zip(("--http", "--smtp", "--internal"), addresses, strict=True) for word in pair]
    return Site(folder, options)


BEHAVIOUR = """
from pathlib import Path as _Path
BEHAVIOUR = _Path({path!r}).read_text()
if BEHAVIOUR == "crash":
    import sys as _sys
    if "up" in _sys.argv:
        raise SystemExit("it crashes")
"""
UNHEALTHY = """
import mailkeep as _mailkeep
if _mailkeep.BEHAVIOUR == "unhealthy":
    async def health(app):
        raise RuntimeError("it is not healthy")
"""
