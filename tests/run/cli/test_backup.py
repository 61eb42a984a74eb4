"""`mailkeep backup` with an instance of the embedded profile: restores, what runs, and what is refused."""

from __future__ import annotations

import json
import os
import pty
import shutil
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from mailkeep.backup.restic import INSTALL_COMMAND, find_program
from mailkeep.core.landlock import MIN_VERSION, find_version
from mailkeep.run.cli.main import app
from tests.support import instance as instances
from tests.support.backup_server import FIRST, Server
from tests.support.backups import place_repository
from tests.support.instance import PROGRAM
from tests.support.scratch import new_directory

pytestmark = pytest.mark.timeout(300)
if find_program() is None:
    pytest.skip(f"restic is not installed: {INSTALL_COMMAND}", allow_module_level=True)
if find_version() < MIN_VERSION:
    pytest.skip("the kernel has no Landlock", allow_module_level=True)

ALICE = "alice@example.test"


class Scene:
    """A server with a backup of Alice's two messages, and her mailbox."""

    def __init__(self, server: Server) -> None:
        self.server = server
        place_repository(server.data_dir)
        self.alice = server.add_mailbox(server.add_domain("example.test"), "Alice")
        server.deliver(ALICE, "one", "two")
        created = self.run("create", "--wait", "--json")
        assert created.exit_code == 0, created.output
        self.backup_id = json.loads(created.stdout)["backup_id"]

    def run(self, *words: str) -> Result:
        unset: dict[str, str | None] = dict.fromkeys(name for name in os.environ if name.startswith("MAILKEEP_"))
        command = ["backup", *words, "--data-dir", str(self.server.data_dir)]
        return CliRunner(env=unset).invoke(app, command, prog_name="mailkeep")

    def read(self, *words: str) -> Any:
        done = self.run(*words, "--json")
        assert done.exit_code == 0, done.output
        return json.loads(done.stdout)

    def messages(self) -> int:
        return len([path for path in self.server.maildir(self.alice).rglob("*") if path.parent.name in ("new", "cur")])

    def delete_one(self) -> None:
        next((self.server.maildir(self.alice) / "new").iterdir()).unlink()

    def answer(self, text: str, *words: str) -> tuple[int, str]:
        """Run the command on a terminal on which somebody types this; its exit code and what it shows."""
        ours, theirs = pty.openpty()
        os.write(ours, text.encode())
        command = [*PROGRAM, "backup", *words, "--data-dir", str(self.server.data_dir)]
        done = subprocess.run(command, stdin=theirs, capture_output=True, text=True, timeout=120, check=False)
        os.close(ours)
        os.close(theirs)
        return done.returncode, done.stdout + done.stderr


@pytest.fixture(scope="module")
def scene() -> Iterator[Scene]:
    folder = new_directory("mailkeep-test-", 0o755, programs=True)
    server = Server(instances.start(folder / "data", FIRST, 90))
    server.log_in()
    yield Scene(server)
    if server.instance.process.poll() is None:
        assert server.instance.stop() == 0, server.instance.log
    shutil.rmtree(folder)


def test_a_mailbox_is_restored_by_its_address(scene: Scene):
    scene.delete_one()
    counted = scene.read("restore", "--mailbox", "ALICE@Example.TEST", "--in-place", "--dry-run")
    assert (counted["result"]["messages"], scene.messages()) == ({"restored": 1, "present": 1, "newer": 0}, 1)
    done = scene.run("restore", scene.backup_id, "--mailbox", ALICE, "--in-place", "--yes", "--wait")
    assert (done.exit_code, scene.messages()) == (0, 2), done.output
    assert "Restored 1 messages" in done.stdout
    assert "1 are there already" in done.stdout


def test_a_restore_asks_first(scene: Scene):
    words = ("restore", "--domain", "example.test", "--wait")
    code, shown = scene.answer("n\n", *words)
    assert (code, scene.messages()) == (1, 2), shown
    assert "Would restore 2 messages" in shown
    code, shown = scene.answer("y\n", *words)
    assert (code, scene.messages()) == (0, 4), shown
    assert "Restored 2 messages" in shown
    assert "into the folder “Restored 20" in shown
    for path in scene.server.maildir(scene.alice).glob(".Restored*"):
        shutil.rmtree(path)


@pytest.mark.parametrize(
    "words, code, text",
    [
        (["restore", "--yes"], 2, "--domain or --mailbox"),
        (["restore", "--mailbox", ALICE], 2, "there is no terminal to ask on"),
        (["restore", "--mailbox", "nobody@example.test", "--yes"], 1, "does not have the mailbox nobody@example.test."),
        (["restore", "--mailbox", "a@other.test", "--yes"], 1, "does not have the domain other.test."),
        (["restore", "--mailbox", "no address", "--yes"], 1, "no address: "),
        (["restore", "x", "--mailbox", ALICE, "--yes"], 1, "x is not the ID of a backup: `mailkeep backup list`"),
        (["contents", "--domain", "example.test", "--mailbox", ALICE], 2, "--domain or --mailbox"),
        (["contents", "--mailbox", "nobody@example.test"], 1, "does not have the mailbox"),
        (["verify", "01234567-89ab-7def-8123-456789abcdef"], 1, "There is no backup 01234567-89ab-7def"),
        (["cancel"], 1, "No operation on backups waits or runs."),
    ],
)
def test_what_is_refused_is_said_in_a_sentence(scene: Scene, words: list[str], code: int, text: str):
    done = scene.run(*words)
    assert done.exit_code == code, done.output
    assert text in " ".join(done.output.replace("│", " ").split())


def test_contents_are_found_by_name_and_message_id(scene: Scene):
    [domain] = scene.read("contents")["contents"]
    assert (domain["name"], domain["mailboxes"], domain["messages"]) == ("example.test", 1, 2)
    [folder] = scene.read("contents", "--mailbox", ALICE)["contents"]
    assert (folder["folder"], folder["messages"]) == ("INBOX", 2)
    [found] = scene.read("contents", "--message-id", "<two@elsewhere.test>", "--domain", "example.test")["contents"]
    assert found["mailbox_id"] == scene.alice
    assert scene.read("contents", "--message-id", "two@elsewhere.test")["contents"] == [found], "without its brackets"
    absent = scene.run("contents", "--message-id", "<absent@elsewhere.test>")
    assert (absent.exit_code, absent.stdout) == (0, "No message with this Message-ID is there.\n")


def test_a_recovery_key_is_not_replaced_unasked(scene: Scene):
    first = scene.read("key", "create")["key"]
    code, shown = scene.answer("n\n", "key", "create")
    assert (code, "will not open the repository any more" in shown) == (1, True), shown
    file = scene.server.data_dir / "tmp" / "recovery-key"
    file.write_text(first)
    assert scene.run("key", "verify", "--key-file", str(file)).exit_code == 0
    code, shown = scene.answer("", "key", "create", "--yes")
    assert (code, "Replace it?" in shown) == (0, False), shown
    assert scene.run("key", "verify", "--key-file", str(file)).exit_code == 1


def test_a_running_backup_is_shown_and_cancelled(scene: Scene):
    scene.server.call("PATCH", "/config", {"changes": {"backup.upload_kib_per_second": 200}}, 200)
    (scene.server.maildir(scene.alice) / "cur" / "3.large:2,S").write_bytes(os.urandom(4 << 20))
    operation = scene.read("create")
    while "upload" not in scene.run("list").stdout.splitlines()[-1]:
        assert scene.read("list")["backups"][0]["state"] == "running"
    busy = scene.run("restore", "--mailbox", ALICE, "--yes")
    assert (busy.exit_code, "Another operation on backups is running" in busy.output) == (1, True)
    assert scene.read("contents", "--mailbox", ALICE)["contents"][0]["messages"] == 2, "of the backup before"
    assert scene.read("cancel")["id"] == operation["id"]
    ended = scene.server.wait(operation["id"], 20)
    assert ended["state"] == "cancelled"
    assert [each["state"] for each in scene.read("list")["backups"]] == ["cancelled", "succeeded"]
    assert "Now:" not in scene.run("list").stdout


def test_nothing_is_requested_of_a_stopped_instance(scene: Scene):
    assert scene.server.instance.stop() == 0, scene.server.instance.log
    for words in (["create"], ["verify"], ["prune"], ["restore", "--mailbox", ALICE, "--yes"]):
        done = scene.run(*words)
        assert (done.exit_code, "start it with `mailkeep up`" in done.output) == (75, True), done.output
