"""Passwords that open a repository: new ones, and files that hold them for restic."""

from __future__ import annotations

import base64
import contextlib
import os
import re
import secrets
from collections.abc import Generator
from pathlib import Path

RECOVERY_USER = "mailkeep-recovery"
"""The user name of recovery keys in the repository."""
PASSWORD_USER = "mailkeep"
"""The user name of passwords that `mailkeep backup key change` has added."""
_KEY_BYTES = 25
_GROUP = 5
_PLAIN = re.compile(r"[A-Z2-7]{40}")


def new_recovery_key() -> str:
    """200 random bits in base32, in groups of five characters: it can be written down."""
    return _group(base64.b32encode(secrets.token_bytes(_KEY_BYTES)).decode("ascii"))


def new_password() -> str:
    """A random password for the file."""
    return secrets.token_urlsafe(32)


def read_recovery_key(text: str) -> str:
    """A recovery key as somebody typed it: case, spaces and hyphens do not matter. Other passwords stay as they are."""
    plain = re.sub(r"[\s-]", "", text).upper()
    return _group(plain) if _PLAIN.fullmatch(plain) else text.strip()


@contextlib.contextmanager
def password_file(folder: Path, password: str) -> Generator[Path]:
    """A file with a password while the block lasts, that only this account can read."""
    path = folder / f"password.{secrets.token_hex(8)}"
    try:
        write_password(path, password)
        yield path
    finally:
        path.unlink(missing_ok=True)


def write_password(path: Path, password: str) -> None:
    """Write a new file with a password, and sync it."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(f"{password}\n")
        file.flush()
        os.fsync(file.fileno())


def replace_password(path: Path, new: Path) -> None:
    """Put the synced file `new` in the place of `path`, so that it survives a crash."""
    new.replace(path)
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _group(text: str) -> str:
    return "-".join(text[start : start + _GROUP] for start in range(0, len(text), _GROUP))
