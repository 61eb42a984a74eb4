"""The certificate: what is served is a pair, what was renewed is served next, and what can't be is refused."""

from __future__ import annotations

import asyncio
import itertools
import os
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from mailkeep.core.clock import utc_now
from mailkeep.core.errors import Failure
from mailkeep.run.runtime import certificate
from mailkeep.run.runtime.certificate import KeyPair, Renewal
from mailkeep.settings import Settings, load_settings

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


def pair(
    begins: timedelta = -timedelta(days=1), ends: timedelta = timedelta(days=90), password: bytes = b""
) -> KeyPair:
    return pair_of("mx.example.test", NOW + begins, NOW + ends, password)


def pair_of(
    hostname: str, begins: datetime | None = None, ends: datetime | None = None, password: bytes = b""
) -> KeyPair:
    """A certificate of its own; without times one that is valid now."""
    private = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, hostname)])
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(private.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(begins or utc_now() - timedelta(days=1))
        .not_valid_after(ends or utc_now() + timedelta(days=90))
        .sign(private, SHA256())
    )
    secret = BestAvailableEncryption(password) if password else NoEncryption()
    return KeyPair(made.public_bytes(Encoding.PEM), private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, secret))


_LATER = itertools.count(1)


def put(path: Path, content: bytes) -> None:
    """Write a file as of another time than any before: within one tick of the kernel's clock times are the same."""
    path.write_bytes(content)
    at = next(_LATER)
    os.utime(path, (at, at))


def write(folder: Path, given: KeyPair) -> None:
    put(folder / "their.pem", given.certificate)
    put(folder / "their.key", given.key)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    environ = {
        "MAILKEEP_TLS__CERTIFICATE_FILE": str(tmp_path / "their.pem"),
        "MAILKEEP_TLS__KEY_FILE": str(tmp_path / "their.key"),
    }
    return load_settings(tmp_path, environ).settings


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "tls"
    made.mkdir()
    return made


def served(folder: Path) -> KeyPair:
    return KeyPair((folder / "served/certificate.pem").read_bytes(), (folder / "served/key.pem").read_bytes())


class Reloads:
    """Counts what the daemons were told."""

    count = 0

    async def __call__(self) -> None:
        self.count += 1


def test_without_a_setting_there_is_one_of_our_own_which_lasts(folder: Path, tmp_path: Path):
    none = load_settings(tmp_path, {}).settings
    told = certificate.install(none, folder, "mx.example.test", NOW)
    assert told == (str(folder / "served/certificate.pem"), str(folder / "served/key.pem"))
    first = served(folder)
    begins, ends = certificate.find_validity(first)
    assert begins < NOW < NOW + timedelta(days=3000) < ends
    certificate.install(none, folder, "mx.example.test", NOW)
    assert served(folder) == first
    certificate.install(none, folder, "other.example.test", NOW)
    assert served(folder) != first


def test_the_key_is_for_root_alone(folder: Path, settings: Settings, tmp_path: Path):
    write(tmp_path, pair())
    certificate.install(settings, folder, "mx.example.test", NOW)
    assert (folder / "served/key.pem").stat().st_mode & 0o777 == 0o600
    assert (folder / "served").resolve().stat().st_mode & 0o777 == 0o700


async def test_what_was_renewed_is_served_and_the_daemons_are_told(folder: Path, settings: Settings, tmp_path: Path):
    write(tmp_path, pair())
    certificate.install(settings, folder, "mx.example.test", NOW)
    reloads = Reloads()
    renewal = Renewal(settings, folder, reloads)
    assert not await renewal.renew_if_changed(NOW)
    assert not await renewal.renew_if_changed(NOW, force=True)
    renewed = pair()
    write(tmp_path, renewed)
    assert await renewal.renew_if_changed(NOW)
    assert served(folder) == renewed
    assert reloads.count == 1
    assert len(list(folder.glob("pair-*"))) == 1
    assert not await renewal.renew_if_changed(NOW)


async def test_a_certificate_that_comes_before_its_key_waits_for_it(folder: Path, settings: Settings, tmp_path: Path):
    write(tmp_path, pair())
    certificate.install(settings, folder, "mx.example.test", NOW)
    reloads = Reloads()
    renewal = Renewal(settings, folder, reloads)
    before, renewed = served(folder), pair()
    put(tmp_path / "their.pem", renewed.certificate)
    assert not await renewal.renew_if_changed(NOW)
    assert served(folder) == before
    put(tmp_path / "their.key", renewed.key)
    assert await renewal.renew_if_changed(NOW)
    assert served(folder) == renewed


OTHER = rsa.generate_private_key(65537, 2048).private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


@pytest.mark.parametrize(
    "bad, why",
    [
        pytest.param(KeyPair(pair().certificate, pair().key), "not the key", id="another's key"),
        pytest.param(KeyPair(pair().certificate, OTHER), "not the key", id="a key of another kind"),
        pytest.param(KeyPair(b"", pair().key), "no certificate", id="an empty file"),
        pytest.param(KeyPair(b"-----BEGIN CERTIFICATE-----\nAAAA\n", pair().key), "no certificate", id="a part of one"),
        pytest.param(KeyPair(pair().certificate, b"\xff\xfe"), "no private key", id="no key"),
        pytest.param(pair(password=b"secret"), "no private key", id="a key with a password"),
        pytest.param(pair(ends=-timedelta(hours=1)), "valid from", id="one that is over"),
        pytest.param(pair(begins=timedelta(hours=1)), "valid from", id="one that has not begun"),
        pytest.param(None, "can't be read", id="no file"),
    ],
)
async def test_what_cant_be_served_is_refused_and_the_one_before_stays(
    bad: KeyPair | None, why: str, folder: Path, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    write(tmp_path, pair())
    certificate.install(settings, folder, "mx.example.test", NOW)
    before, reloads = served(folder), Reloads()
    renewal = Renewal(settings, folder, reloads)
    if bad is None:
        (tmp_path / "their.key").unlink()
    else:
        write(tmp_path, bad)
    told: list[str] = []
    monkeypatch.setattr(certificate.log, "error", lambda _, reason: told.append(reason))
    assert not await renewal.renew_if_changed(NOW)
    assert served(folder) == before
    assert reloads.count == 0
    (reason,) = told
    assert why in reason


def test_a_pair_that_is_none_refuses_the_start(folder: Path, settings: Settings, tmp_path: Path):
    write(tmp_path, KeyPair(pair().certificate, pair().key))
    with pytest.raises(Failure, match=r"tls\.key_file is not the key of tls\.certificate_file"):
        certificate.install(settings, folder, "mx.example.test", NOW)
    (tmp_path / "their.pem").unlink()
    with pytest.raises(Failure, match="can't be read: No such file"):
        certificate.install(settings, folder, "mx.example.test", NOW)


def test_one_that_is_over_is_served_at_the_start_for_better_than_none(folder: Path, settings: Settings, tmp_path: Path):
    over = pair(ends=-timedelta(hours=1))
    write(tmp_path, over)
    certificate.install(settings, folder, "mx.example.test", NOW)
    assert served(folder) == over


async def test_the_files_are_looked_at_again_and_again_and_at_once_when_asked(
    folder: Path, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(certificate, "utc_now", lambda: NOW)
    write(tmp_path, pair())
    certificate.install(settings, folder, "mx.example.test", NOW)
    reloads, asked = Reloads(), asyncio.Event()

    async def reloaded(times: int) -> None:
        deadline = time.monotonic() + 60
        while reloads.count < times:
            assert time.monotonic() < deadline
            await asyncio.sleep(0.01)

    work = asyncio.create_task(Renewal(settings, folder, reloads).keep_renewing(asked))
    await asyncio.sleep(0.05)
    write(tmp_path, pair())
    asked.set()
    await reloaded(1)
    monkeypatch.setattr(certificate, "_LOOK_SECONDS", 0.01)
    write(tmp_path, pair())
    asked.set()
    await reloaded(2)
    write(tmp_path, pair())
    await reloaded(3)
    work.cancel()
