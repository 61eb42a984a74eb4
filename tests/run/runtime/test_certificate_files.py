"""The files of certificates that were ordered."""

from __future__ import annotations

from pathlib import Path

from mailkeep.features.operations.certificates.model import StoredPair
from mailkeep.run.runtime.certificate_files import write_files
from mailkeep.settings import Settings


def test_only_our_own_folders_are_removed(tmp_path: Path) -> None:
    own = tmp_path / "of-the-administrator" / "key.pem"
    own.parent.mkdir()
    own.write_text("the only copy")
    pair = StoredPair("a.test", ("mta-sts.a.test",), "chain", b"key")
    assert "a.test" in write_files(Settings(), tmp_path, [pair], lambda: None)
    assert (tmp_path / "a.test" / "fullchain.pem").read_text() == "key\nchain"
    assert write_files(Settings(), tmp_path, [], lambda: None) == ["a.test"]
    assert not (tmp_path / "a.test").exists()
    assert own.read_text() == "the only copy"
