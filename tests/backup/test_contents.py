"""The index of a backup, which whoever can write to the repository chooses."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from mailkeep.backup import index
from mailkeep.backup.contents import FOLDER, ContentsQuery, ContentsSlice, list_entries
from mailkeep.backup.restic import Repository
from mailkeep.core.errors import Failure

MAILBOX = "0198c0de-0000-7000-8000-000000000001"


@pytest.mark.parametrize("value", ["9e999", "1e300", "x'00'"])
async def test_a_hostile_index_is_refused(value: str, tmp_path: Path):
    index.begin_index(tmp_path, tmp_path / "none")
    path = tmp_path / FOLDER / "snapshot.sqlite"
    path.parent.mkdir()
    (tmp_path / "index.sqlite").rename(path)
    with sqlite3.connect(path) as connection:
        connection.execute("INSERT INTO mailboxes VALUES (?, ?, 'a@b.test', 1, 1)", (MAILBOX, MAILBOX))
        connection.execute("INSERT INTO messages VALUES (?, '', 'a', 'cur/a', 1, 1, x'', 'i')", (MAILBOX,))
        connection.execute(f"UPDATE messages SET mtime = {value}")
    connection.close()
    unused = Repository(str(tmp_path / "repository"), tmp_path / "password", tmp_path / "cache")
    with pytest.raises(Failure, match="can't be read"):
        await list_entries(unused, tmp_path, "snapshot", ContentsQuery(message_id="i"), ContentsSlice(10))
