"""A restic repository written by hand (format 1, https://restic.readthedocs.io, "References"), with snapshots that
restic itself would not make.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import struct
import subprocess
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.poly1305 import Poly1305

from mailkeep.backup.restic import Repository, Snapshot

_TIME = "2026-11-25T02:30:00Z"
_DATA, _TREE = 0, 1


class HostileRepository:
    """A repository in a folder, and the key that encrypts its files."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        password = folder / "password"
        password.write_text("hostile")
        self.repository = Repository(str(folder / "repository"), password, folder / "cache")
        _run_restic(self.repository, "init", "--repository-version", "1")
        self._key = replace_key(self.repository)
        self._blobs: list[tuple[int, bytes]] = []

    def data(self, content: bytes) -> str:
        """Add the content of a file; returns its ID."""
        return self._blob(_DATA, content)

    def tree(self, nodes: Sequence[Mapping[str, Any]]) -> str:
        """Add a folder of nodes, in this order; returns its ID."""
        return self._blob(_TREE, json.dumps({"nodes": nodes}).encode() + b"\n")

    def file(self, name: str, content: bytes = b"content", **fields: Any) -> dict[str, Any]:
        """The node of a file."""
        return self.node(name, "file", mode=0o600, size=len(content), content=[self.data(content)]) | fields

    def folder(self, name: str, nodes: Sequence[Mapping[str, Any]], **fields: Any) -> dict[str, Any]:
        """The node of a folder."""
        return self.node(name, "dir", mode=0o700 | 1 << 31, subtree=self.tree(nodes)) | fields

    def node(self, name: str, kind: str, **fields: Any) -> dict[str, Any]:
        """A node. The mode is Go's."""
        times = {"mtime": _TIME, "atime": _TIME, "ctime": _TIME}
        return {"name": name, "type": kind, "uid": os.getuid(), "gid": os.getgid(), "content": None, **times, **fields}

    def snapshot(self, path: str, nodes: Sequence[Mapping[str, Any]]) -> Snapshot:
        """Store a snapshot of the folder `path`, which has these nodes."""
        for name in reversed(path.strip("/").split("/")):
            nodes = [self.folder(name, nodes)]
        return self.snapshot_of_root(path, nodes)

    def snapshot_of_root(self, path: str, nodes: Sequence[Mapping[str, Any]]) -> Snapshot:
        """Store a snapshot that says that it is of `path`, with these nodes at its root."""
        root = self.tree(nodes)
        self._write_pack()
        document = {"time": _TIME, "tree": root, "paths": [path], "hostname": "host", "username": "root"}
        snapshot_id = self._write_file("snapshots", self._encrypt(json.dumps(document).encode()))
        return Snapshot(snapshot_id, paths=[path], time=datetime.fromisoformat(_TIME))

    def _blob(self, kind: int, content: bytes) -> str:
        if (kind, content) not in self._blobs:
            self._blobs.append((kind, content))
        return hashlib.sha256(content).hexdigest()

    def _write_pack(self) -> None:
        pack, header, entries = b"", b"", []
        for kind, content in self._blobs:
            stored, blob_id = self._encrypt(content), hashlib.sha256(content).hexdigest()
            name = "tree" if kind == _TREE else "data"
            entries.append({"id": blob_id, "type": name, "offset": len(pack), "length": len(stored)})
            header += struct.pack("<BI", kind, len(stored)) + bytes.fromhex(blob_id)
            pack += stored
        sealed = self._encrypt(header)
        pack_id = self._write_file("data", pack + sealed + struct.pack("<I", len(sealed)))
        index = {"packs": [{"id": pack_id, "blobs": entries}]}
        self._write_file("index", self._encrypt(json.dumps(index).encode()))
        self._blobs = []

    def _write_file(self, kind: str, content: bytes) -> str:
        name = hashlib.sha256(content).hexdigest()
        folder = Path(self.repository.location) / kind / (name[:2] if kind == "data" else "")
        folder.mkdir(exist_ok=True)
        (folder / name).write_bytes(content)
        return name

    def _encrypt(self, content: bytes) -> bytes:
        return self._key.encrypt(content)


@dataclass(frozen=True, slots=True)
class Key:
    """A key that encrypts and authenticates: AES-256-CTR and Poly1305-AES."""

    encrypt_key: bytes
    mac_k: bytes
    mac_r: bytes

    def encrypt(self, content: bytes) -> bytes:
        """Nonce, sealed content and its authentication code."""
        nonce = secrets.token_bytes(16)
        cipher = Cipher(algorithms.AES(self.encrypt_key), modes.CTR(nonce)).encryptor()
        sealed = cipher.update(content) + cipher.finalize()
        block = Cipher(algorithms.AES(self.mac_k), modes.ECB()).encryptor()
        one_time_key = self.mac_r + block.update(nonce) + block.finalize()
        return nonce + sealed + Poly1305.generate_tag(one_time_key, sealed)


def replace_key(repository: Repository) -> Key:
    """Let a new repository's password be verified at once, not in a second of CPU time; returns its master key."""
    master = _run_restic(repository, "cat", "masterkey")
    salt = secrets.token_bytes(64)
    derived = hashlib.scrypt(repository.password_file.read_bytes().strip(), salt=salt, n=2, r=1, p=1, dklen=64)
    sealed = Key(derived[:32], derived[32:48], derived[48:]).encrypt(master)
    document = {"created": _TIME, "username": "root", "hostname": "host", "kdf": "scrypt", "N": 2, "r": 1, "p": 1}
    content = json.dumps({**document, "salt": b64encode(salt).decode(), "data": b64encode(sealed).decode()}).encode()
    folder = Path(repository.location) / "keys"
    for earlier in folder.iterdir():
        earlier.unlink()
    (folder / hashlib.sha256(content).hexdigest()).write_bytes(content)
    key = json.loads(master)
    return Key(b64decode(key["encrypt"]), b64decode(key["mac"]["k"]), b64decode(key["mac"]["r"]))


def _run_restic(repository: Repository, *arguments: str) -> bytes:
    return subprocess.run(
        ["restic", *arguments], env=repository.variables(), check=True, capture_output=True, timeout=60
    ).stdout
