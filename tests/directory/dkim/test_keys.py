from __future__ import annotations

import hashlib
import re
from typing import Any

import dkim
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_der_public_key

from mailkeep.core.secret import Vault
from mailkeep.features.directory.dkim import rules, service
from mailkeep.features.directory.dkim.model import DkimKey
from mailkeep.mail.message.dkim import sign
from tests.support.builders import create_domain, list_audit_entries
from tests.support.client import START, VAULT, Api

MAIL = b"From: alice@new.test\r\nTo: bob@elsewhere.test\r\nSubject: Hi\r\n\r\nHello\r\n"
ED25519 = service.generate_key(VAULT, service.uuid7(START), START, "ed25519")
P = ED25519.dns_value.rpartition("p=")[2]


async def test_a_new_domain_signs_with_the_two_keys_that_it_shows(api: Api):
    domain_id = await create_domain(api, "new.test")
    answer = await api.adam.get(f"/domains/{domain_id}/dkim-keys")
    assert answer.json["meta"]["pagination"] == {"next_cursor": "", "has_more": False}
    assert {key["algorithm"] for key in answer.data} == {"rsa2048", "ed25519"}
    for key in answer.data:
        assert re.fullmatch(r"mk202603[a-z0-9]{4}", key["selector"])
        assert (key["stage"], key["safe_to_remove_from_dns"], key["warnings"]) == ("active", False, [])
        assert key["dns"]["name"] == f"{key['selector']}._domainkey.new.test"
        assert (key["dns"]["type"], key["dns"]["status"], key["dns"]["checked_at"]) == ("TXT", "not_checked", None)
    async with api.app.db.autocommit() as conn:
        keys = await service.list_signing_keys(conn, api.app.vault, "new.test")
    message = sign([MAIL], "new.test", keys, START) + MAIL
    records = {f"{key['dns']['name']}.": key["dns"]["value"].encode() for key in answer.data}
    assert message.count(b"DKIM-Signature:") == 2
    for index in range(2):
        assert dkim.DKIM(message).verify(index, lambda name, timeout=5: records[name.decode()])


async def test_the_fingerprint_is_that_of_the_subject_public_key_info(api: Api):
    await create_domain(api, "new.test")
    for row in await api.sql("SELECT algorithm, public_key FROM dkim_keys"):
        if row["algorithm"] == "ed25519":
            public: Any = Ed25519PublicKey.from_public_bytes(row["public_key"])
        else:
            public = load_der_public_key(row["public_key"])
        info = public.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        key = DkimKey(ED25519.id, None, "x", row["algorithm"], "active", b"", row["public_key"], START, None)
        assert key.fingerprint_sha256 == hashlib.sha256(info).hexdigest()


async def test_the_private_key_is_nowhere_in_the_clear(api: Api):
    await create_domain(api, "new.test")
    rows = await api.sql("SELECT id, private_key, public_key FROM dkim_keys WHERE algorithm = 'rsa2048'")
    [row] = rows
    assert b"PRIVATE" not in row["private_key"]
    assert load_der_public_key(row["public_key"]).key_size == 2048  # pyright: ignore[reportAttributeAccessIssue]
    opened = api.app.vault.open("dkim", row["private_key"], row["id"].bytes)
    assert opened is not None
    assert opened.startswith(b"-----BEGIN PRIVATE KEY-----")
    text = str(await list_audit_entries(api))
    assert "BEGIN" not in text
    assert "dkim_selectors" in text
    assert "PRIVATE" not in repr(ED25519)


async def test_a_key_that_can_not_be_unsealed_stops_signing(api: Api):
    await create_domain(api, "new.test")
    async with api.app.db.autocommit() as conn:
        with pytest.raises(RuntimeError, match="can't be decrypted"):
            await service.list_signing_keys(conn, Vault(b"x" * 32), "new.test")


async def test_a_domain_that_is_not_managed_has_no_keys(api: Api):
    async with api.app.db.autocommit() as conn:
        assert await service.list_signing_keys(conn, api.app.vault, "nowhere.test") == []


@pytest.mark.parametrize("algorithm, kind, size", [("ed25519", "ed25519", 32), ("rsa2048", "rsa", 294)])
def test_a_record_has_the_public_key_of_its_algorithm(algorithm: str, kind: str, size: int):
    key = service.generate_key(Vault(b"s" * 32), service.uuid7(START), START, algorithm)  # pyright: ignore[reportArgumentType]
    assert key.dns_value.startswith(f"v=DKIM1; k={kind}; p=")
    assert len(key.public_key) == size


@pytest.mark.parametrize(
    "texts, status",
    [
        ([ED25519.dns_value], "ok"),
        ([f"v=DKIM1;k=ed25519;p={P};"], "ok"),
        ([f"k = ed25519 ; p= {P[:20]} {P[20:]} ; n=a note"], "ok"),
        ([f"v=DKIM1; k=ed25519; h=sha1:sha256; s=email; t=y; p={P}"], "ok"),
        ([], "missing"),
        ([ED25519.dns_value, ED25519.dns_value + ";"], "multiple"),
        (["v=spf1 -all"], "mismatch"),
        ([f"v=DKIM2; k=ed25519; p={P}"], "mismatch"),
        ([f"v=DKIM1; p={P}"], "mismatch"),  # as an RSA key
        (["v=DKIM1; k=ed25519; p="], "mismatch"),
        ([f"v=DKIM1; k=ed25519; p={P[:-4]}AAA="], "mismatch"),
        (["v=DKIM1; k=ed25519; p=%%%"], "mismatch"),
        ([f"v=DKIM1; k=ed25519; p={P}; p={P}"], "mismatch"),
        ([f"v=DKIM1; k=ed25519; h=sha1; p={P}"], "mismatch"),
        ([f"v=DKIM1; k=ed25519; s=tlsrpt; p={P}"], "mismatch"),
    ],
)
def test_a_record_publishes_a_key(texts: list[str], status: str):
    found, problem = rules.judge_record(ED25519, texts)
    assert found == status
    assert bool(problem) == (status != "ok")
