"""The journal of an apply: what is read after a crash, and what can't be."""

from __future__ import annotations

import asyncio
from pathlib import Path

import msgspec
import pytest

from mailkeep.core.clock import utc_now
from mailkeep.core.errors import Failure
from mailkeep.core.ids import uuid7
from mailkeep.mail.daemons.paths import InstancePaths
from mailkeep.run.runtime import generations, journal
from mailkeep.run.runtime.journal import ApplyJournal, DamagedJournal


@pytest.fixture
def paths(tmp_path: Path) -> InstancePaths:
    paths = InstancePaths(tmp_path, tmp_path / "run")
    for n in (1, 2):
        folder = generations.folder_of(paths, n)
        for service in generations.SERVICES:
            (folder / service).mkdir(parents=True)
            paths.conf(service).parent.mkdir(exist_ok=True)
            generations.switch(paths, service, n)
        manifest = generations.GenerationManifest(n, utc_now(), 0, {}, {})
        (folder / "manifest.json").write_bytes(msgspec.json.encode(manifest))
    return paths


def entry(**links: int) -> ApplyJournal:
    return ApplyJournal(uuid7(utc_now()), 2, 0, 1, links, dict.fromkeys(links, "reload"), ["imap"])


def test_what_was_written_is_read(paths: InstancePaths) -> None:
    assert journal.read(paths) is None
    journal.write(paths, written := entry(postfix=1))
    assert journal.read(paths) == written
    journal.remove(paths)
    journal.remove(paths)
    assert journal.read(paths) is None


@pytest.mark.parametrize("text", ["", "{", "[]", '{"n": 1}', "\x00" * 200, "unknown service"])
def test_a_damaged_journal_is_an_error_until_it_is_set_aside(paths: InstancePaths, text: str) -> None:
    journal.file_of(paths).write_text(text)
    if text == "unknown service":
        journal.write(paths, msgspec.structs.replace(entry(), links={"../postfix": 1}))
    with pytest.raises(DamagedJournal, match=r"operation\.json"):
        journal.read(paths)
    kept = journal.set_aside(paths)
    assert (journal.read(paths), kept.exists()) == (None, True)


def test_a_journal_that_can_not_be_written_changes_nothing(paths: InstancePaths) -> None:
    journal.file_of(paths).mkdir()
    with pytest.raises(Failure, match="Nothing was changed"):
        journal.write(paths, entry(postfix=1))


def test_only_complete_generations_are_restored(paths: InstancePaths) -> None:
    (generations.folder_of(paths, 1) / "dovecot").rmdir()
    assert journal.restore_links(paths, entry(rspamd=1, dovecot=1, postfix=1)) == ["dovecot"]
    linked = {service: generations.find_linked(paths, service) for service in generations.SERVICES}
    assert linked == dict.fromkeys(generations.SERVICES, 2) | {"rspamd": 1, "postfix": 1}


async def test_another_process_waits(paths: InstancePaths) -> None:
    async def hold() -> None:
        async with journal.lock(paths):
            pass

    async with journal.lock(paths):
        other = asyncio.create_task(hold())
        await asyncio.wait({other}, timeout=0.5)
        assert not other.done()
    await asyncio.wait_for(other, 30)
