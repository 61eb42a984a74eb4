"""A full restore of the full profile: owners of this machine, and the queue on hold. That such an instance starts and
continues is proved by `make prove-restore`.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.stack.harness import Stack, eventually
from tests.support.backups import back_up_now
from tests.support.restoring import restore
from tests.support.scratch import new_directory


@pytest.fixture
def folder() -> Iterator[Path]:
    path = new_directory("mailkeep-restored-", 0o755)
    yield path
    shutil.rmtree(path)


def owner(path: Path) -> str:
    return path.owner()


def test_a_restored_instance_belongs_to_the_accounts_of_this_machine(stack: Stack, folder: Path) -> None:
    stack.get_domain("restored.test")
    assert stack.send("shop@restored.test", "fail+restored@remote.test").status == 200
    hold = {"action": "hold", "filter": {"recipient": "fail+restored"}}
    eventually(lambda: stack.do("POST", "/queue/actions", hold)["affected"], what="the message")
    assert stack.send("shop@restored.test", "fail+restored2@remote.test").status == 200
    eventually(lambda: stack.do("GET", "/queue?recipient=fail%2Brestored2"), what="the second message")
    key = stack.data_dir / "backup" / "password"
    back_up_now(stack.data_dir)
    data = folder / "data"
    code, done, errors = restore(stack.data_dir / "backup" / "repository", data, key)
    stack.do("POST", "/queue/actions", {"action": "delete", "filter": {"recipient": "fail+restored"}})
    assert code == 0, errors
    assert (done["profile"], done["warning"]) == ("full", None)
    queue = data / "postfix" / "queue"
    held = list((queue / "hold").iterdir())
    assert len(held) == done["messages_on_hold"] >= 2
    assert not [path for name in ("incoming", "active", "deferred") for path in (queue / name).rglob("*")]
    assert {owner(path) for path in held} == {"postfix"}
    owners = {"redis/data": "_rspamd", "secret": "root", "tls": "root", "generations": "root", "pg": "postgres"}
    for name, account in owners.items():
        assert {owner(path) for path in (data / name, *(data / name).rglob("*"))} == {account}, name
    assert (data / "redis").stat().st_mode & 0o777 == 0o755, "the filter's account can enter it"
