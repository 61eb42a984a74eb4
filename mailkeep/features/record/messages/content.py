"""Message contents: files in a directory for each day, `content/YYYY-MM-DD/<id>.eml` in the data directory."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from uuid import UUID

import structlog

from mailkeep.core.ids import uuid7_time

log = structlog.get_logger("mailkeep.messages")

_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def content_folder(data_dir: Path) -> Path:
    """The directory of contents, with a subdirectory for each day (UTC)."""
    return data_dir / "content"


def content_path(data_dir: Path, message_id: UUID, submitted_at: datetime | None = None) -> Path:
    """The content file of a message; it exists until it is pruned. `submitted_at`: that of a scheduled message."""
    return content_folder(data_dir) / f"{submitted_at or uuid7_time(message_id):%Y-%m-%d}" / f"{message_id}.eml"


def save_contents(
    data_dir: Path, contents: Iterable[tuple[UUID, Iterable[bytes]]], submitted_at: datetime | None = None
) -> None:
    """Save the contents of messages for the history (`content_path`). Blocks: call it in a thread.

    An error (a full disk, for example) is logged; the send or delivery continues without a saved content.
    """
    for message_id, chunks in contents:
        path = content_path(data_dir, message_id, submitted_at)
        temporary = path.with_suffix(".part")
        try:
            _write(temporary, chunks)
            temporary.replace(path)
        except OSError as error:
            log.warning("message content not saved", message=str(message_id), error=str(error))
            with suppress(OSError):
                temporary.unlink(missing_ok=True)


def _write(path: Path, chunks: Iterable[bytes]) -> None:
    """Write a new file; the first of a day creates its directory."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
    try:
        descriptor = os.open(path, flags, 0o600)
    except FileNotFoundError:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(path, flags, 0o600)
    with open(descriptor, "wb") as file:  # noqa: PTH123
        file.writelines(chunks)


def link_content(data_dir: Path, message_id: UUID, file: Path, submitted_at: datetime | None = None) -> None:
    """Save the content of a message as a hard link to `file`, which must not change; it takes no disk space. Blocks."""
    path = content_path(data_dir, message_id, submitted_at)
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with suppress(FileExistsError):
            os.link(file, path)
    except OSError as error:
        log.warning("message content not saved", message=str(message_id), error=str(error))


def delete_content(data_dir: Path, message_id: UUID) -> None:
    """Delete the content of a message, if it was saved. Blocks."""
    content_path(data_dir, message_id).unlink(missing_ok=True)


def prune_content(data_dir: Path, before: datetime) -> int:
    """Delete the directories of days that ended before `before`, and return their number. Blocks."""
    folder, last = content_folder(data_dir), f"{before:%Y-%m-%d}"
    old = [day for day in folder.glob("*-*-*") if _DAY.fullmatch(day.name) and day.name < last]
    for day in old:
        shutil.rmtree(day, ignore_errors=True)
    return len(old)
