"""The files of a rotated log: complete lines only, oldest file first."""

from __future__ import annotations

from pathlib import Path

from mailkeep.mail.postfix.log_files import log_files, read_piece, split_lines


def test_files_are_listed_oldest_first_without_empty_ones(tmp_path: Path) -> None:
    log = tmp_path / "mail.log"
    for name in ("mail.log.20261121-100001", "mail.log.20261121-100000", "mail.log.20261120-000000.gz", "mail.log"):
        (tmp_path / name).write_bytes(b"a line\n")
    (tmp_path / "mail.log.20261121-100002").write_bytes(b"half a line")
    found = log_files(log)
    assert [each.path.name for each in found] == ["mail.log.20261121-100000", "mail.log.20261121-100001", "mail.log"]
    assert [each.current for each in found] == [False, False, True]


def test_a_piece_ends_with_a_complete_line(tmp_path: Path) -> None:
    log = tmp_path / "mail.log"
    log.write_bytes(b"one\ntwo\r\nthree")
    (file,) = log_files(log)
    piece = read_piece(file, 0, 1000)
    assert piece is not None
    assert (piece.lines, piece.end) == ([b"one", b"two\r"], 9)
    assert read_piece(file, 9, 1000) is None
    assert [(each.start, each.end, each.lines) for each in split_lines(piece)] == [
        (0, 4, [b"one"]),
        (4, 9, [b"two\r"]),
    ]


def test_an_incomplete_last_line_and_a_too_long_line_are_skipped(tmp_path: Path) -> None:
    log = tmp_path / "mail.log"
    (tmp_path / "mail.log.1").write_bytes(b"one\nhalf")
    log.write_bytes(b"two\n" + b"x" * 100)
    old, new = log_files(log)
    assert (piece := read_piece(old, 4, 1000)) is not None
    assert (piece.lines, piece.end) == ([], 8)
    assert (piece := read_piece(new, 4, 50)) is not None
    assert (piece.lines, piece.end) == ([], 54)


def test_a_file_renamed_or_removed_meanwhile_gives_no_piece(tmp_path: Path) -> None:
    log = tmp_path / "mail.log"
    log.write_bytes(b"one\n")
    (file,) = log_files(log)
    log.rename(tmp_path / "mail.log.1")
    assert read_piece(file, 0, 1000) is None
    log.write_bytes(b"another\n")
    assert read_piece(file, 0, 1000) is None
