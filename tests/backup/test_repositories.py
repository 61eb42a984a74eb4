"""Repositories of each kind, at real servers: a folder, S3 (moto), REST (rclone, append-only) and SFTP (OpenSSH)."""

from __future__ import annotations

import asyncio
import base64
import os
import socket
import subprocess
import time
import urllib.error
import urllib.request
from dataclasses import replace
from pathlib import Path

import pytest

from mailkeep.backup import restic
from mailkeep.backup.restic import Repository, RepositoryMissing, WrongKey
from mailkeep.core.errors import Failure
from mailkeep.settings.backup import BackupSettings
from tests.support.ports import free_port
from tests.support.repository_servers import SSHD, serving, serving_s3, serving_sftp

pytestmark = pytest.mark.skipif(restic.find_program() is None, reason="restic is not installed: apt install restic")

RCLONE = "/usr/bin/rclone"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "password").write_text("correct horse\n")
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "file").write_bytes(os.urandom(4096))
    return tmp_path


def require_rclone() -> None:
    if not os.access(RCLONE, os.X_OK):
        pytest.skip("rclone is not installed: apt install rclone")


async def exercise(settings: BackupSettings, folder: Path, *, is_append_only: bool = False) -> Repository:
    """Create, store, list, read back, and remove."""
    repository = Repository.from_settings(settings, folder)
    with pytest.raises(RepositoryMissing):
        await repository.open()
    await repository.create()
    await repository.open()
    summary = await repository.backup(folder / "source", ["mailkeep", "id=1"], "host")
    (snapshot,) = await repository.list_snapshots(["mailkeep"])
    assert snapshot.id.startswith(summary.snapshot_id)
    assert (snapshot.hostname, snapshot.tags) == ("host", ["mailkeep", "id=1"])
    await repository.dump(snapshot.id, f"{folder}/source/file", folder / "copy")
    assert (folder / "copy").read_bytes() == (folder / "source" / "file").read_bytes()
    await repository.check("100%")
    (folder / "other").write_text("wrong\n")
    with pytest.raises(WrongKey):
        await Repository.from_settings(settings, folder, folder / "other").open()
    if not is_append_only:
        await repository.forget([snapshot.id])
        await repository.prune()
        assert await repository.list_snapshots() == []
    return repository


async def test_a_folder(folder: Path):
    await exercise(BackupSettings(repository=str(folder / "repository")), folder)


async def test_s3(folder: Path):
    with serving_s3() as port:
        location = f"s3:http://127.0.0.1:{port}/bucket"
        settings = BackupSettings(repository=location, s3_access_key="key", s3_secret_key="secret", s3_region="eu")
        repository = await exercise(settings, folder)
    # The server is away: an error after restic's retries, or as soon as the operation is cancelled.
    task = asyncio.create_task(repository.open())
    await asyncio.sleep(1)
    task.cancel()
    began = time.monotonic()
    await asyncio.wait({task})
    assert time.monotonic() - began < 6
    assert task.cancelled() or isinstance(task.exception(), Failure)


async def test_a_server_that_does_not_answer_can_be_cancelled(folder: Path):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        location = f"s3:http://127.0.0.1:{silent.getsockname()[1]}/bucket"
        settings = BackupSettings(repository=location, s3_access_key="key", s3_secret_key="secret")
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(2):
                await Repository.from_settings(settings, folder).open()


async def test_a_rest_server_that_only_appends(folder: Path):
    require_rclone()
    port = free_port()
    settings = BackupSettings(
        repository=f"rest:http://127.0.0.1:{port}/", rest_username="mail", rest_password="p@ss:/?", append_only=True
    )
    rclone = [RCLONE, "serve", "restic", "--append-only", "--addr", f"127.0.0.1:{port}", "--user", "mail"]
    with serving(port, [*rclone, "--pass", "p@ss:/?", str(folder / "remote")]):
        await exercise(settings, folder, is_append_only=True)
        (stored,) = (folder / "remote" / "snapshots").iterdir()
        request = urllib.request.Request(f"http://127.0.0.1:{port}/snapshots/{stored.name}", method="DELETE")
        request.add_header("Authorization", "Basic " + base64.b64encode(b"mail:p@ss:/?").decode())
        with pytest.raises(urllib.error.HTTPError, match="403"):
            await asyncio.to_thread(urllib.request.urlopen, request, timeout=30)
        wrong = Repository.from_settings(BackupSettings(repository=settings.repository), folder)
        with pytest.raises(Failure):
            await wrong.open()


async def test_sftp_with_a_key_and_a_known_host(folder: Path):
    if not os.access(SSHD, os.X_OK):
        pytest.skip("sshd is not installed: apt install openssh-server")
    for name in ("user", "host", "stranger"):
        command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)]
        subprocess.run(command, check=True, timeout=60)
    with serving_sftp(folder, folder / "host", folder / "user") as (user, port):
        settings = BackupSettings(
            repository=f"sftp://{user}@127.0.0.1:{port}/{folder}/repository",
            sftp_key_file=str(folder / "user"),
            sftp_known_hosts_file=str(folder / "known_hosts"),
        )

        def trust(name: str) -> None:
            kind, key, *_ = (folder / f"{name}.pub").read_text().split()
            (folder / "known_hosts").write_text(f"[127.0.0.1]:{port} {kind} {key}\n")

        trust("host")
        await exercise(settings, folder)
        # restic may end before it has printed what ssh said.
        unprinted = "unable to start the sftp session"
        with pytest.raises(Failure, match=f"Permission denied|{unprinted}"):
            await Repository.from_settings(replace(settings, sftp_key_file=str(folder / "stranger")), folder).open()
        trust("stranger")
        with pytest.raises(Failure, match=f"Host key verification failed|{unprinted}"):
            await Repository.from_settings(settings, folder).open()
