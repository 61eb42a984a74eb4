"""Errors of search indexes in Dovecot's log, and the removal of an index's files."""

from __future__ import annotations

from pathlib import Path

from mailkeep.mail.dovecot import search_index
from mailkeep.mail.dovecot.search_index import IndexErrorReader

FAILURE = (
    "2026-11-26T14:43:08+0000 indexer-worker({})<27637><OZQq9i5h4sR/AAAB:wHvo>: Error: lucene index /m/1/Maildir/"
    "lucene-indexes: IndexWriter() failed (#1): Lock obtain timed out\n"
)


def test_logins_with_a_failed_index_are_found_once_also_over_a_rotation(tmp_path: Path):
    path = tmp_path / "dovecot.log"
    failures = IndexErrorReader(path)
    assert failures.read() == set()
    path.write_text("2026-11-26T14:43:08+0000 master: Info: started\n" + FAILURE.format("a@x.test"))
    assert failures.read() == {"a@x.test"}
    assert failures.read() == set()
    with path.open("a") as log:
        log.write(FAILURE.format("b@x.test")[:60])
        log.flush()
        assert failures.read() == set()  # half a line
        log.write(FAILURE.format("b@x.test")[60:])
        log.flush()
        path.rename(tmp_path / "dovecot.log.1")
        path.write_text(FAILURE.format("c@x.test").replace("indexer-worker", "imap"))
        assert failures.read() == {"b@x.test", "c@x.test"}
    failures.close()


def test_a_login_that_only_a_user_wrote_is_not_taken(tmp_path: Path):
    path = tmp_path / "dovecot.log"
    path.write_text(
        "2026-11-26T14:43:08+0000 imap(a@x.test)<1><2>: Info: lucene index said: Error: lucene index\n"
        "2026-11-26T14:43:08+0000 auth: Info: sql( imap(a@x.test)<1>: Error: lucene index ,1): unknown\n"
    )
    failures = IndexErrorReader(path)
    assert failures.read() == set()
    failures.close()


def test_an_index_is_emptied_but_nothing_behind_a_link(tmp_path: Path):
    home, other = tmp_path / "home", tmp_path / "other"
    index = home / "Maildir" / search_index.FOLDER
    index.mkdir(parents=True)
    other.mkdir()
    (other / "kept").touch()
    (index / "segments.gen").touch()
    search_index.empty(home)
    assert list(index.iterdir()) == []
    search_index.remove_empty(home)
    assert not index.exists()
    index.symlink_to(other)
    search_index.empty(home)
    assert (other / "kept").exists()
    search_index.empty(tmp_path / "nobody")
