from __future__ import annotations

import re

import dkim
import pytest
from cryptography.hazmat.primitives.serialization import load_der_public_key

from mailkeep.core.secret import Vault
from mailkeep.features.directory.dkim import service
from mailkeep.mail.message.dkim import sign
from tests.support.builders import create_domain, list_audit_entries
from tests.support.client import START, Api

MAIL = b"From: alice@new.test\r\nTo: bob@elsewhere.test\r\nSubject: Hi\r\n\r\nHello\r\n"


async def test_a_new_domain_signs_with_the_key_that_it_shows(api: Api):
    domain_id = await create_domain(api, "new.test")
    answer = await api.adam.get(f"/domains/{domain_id}/dkim-keys")
    [key] = answer.data
    assert answer.json["meta"]["pagination"] == {"next_cursor": "", "has_more": False}
    assert re.fullmatch(r"mk202603[a-z0-9]{2}", key["selector"])
    assert (key["algorithm"], key["stage"], key["safe_to_remove_from_dns"]) == ("rsa2048", "active", False)
    assert key["dns"]["name"] == f"{key['selector']}._domainkey.new.test"
    assert (key["dns"]["status"], key["dns"]["checked_at"]) == ("not_checked", None)
    assert re.fullmatch("[0-9a-f]{64}", key["fingerprint_sha256"])
    async with api.app.db.autocommit() as conn:
        keys = await service.list_signing_keys(conn, api.app.vault, "new.test")
    message = sign([MAIL], "new.test", keys, START) + MAIL

    def records(name: bytes, timeout: int = 5) -> bytes | None:
        record_name = key["dns"]["name"].encode()
        return key["dns"]["value"].encode() if name.rstrip(b".") == record_name else None

    assert dkim.verify(message, dnsfunc=records)


async def test_the_private_key_is_nowhere_in_the_clear(api: Api):
    await create_domain(api, "new.test")
    [row] = await api.sql("SELECT id, private_key, public_key FROM dkim_keys")
    assert b"PRIVATE" not in row["private_key"]
    assert load_der_public_key(row["public_key"]).key_size == 2048  # pyright: ignore[reportAttributeAccessIssue]
    opened = api.app.vault.open("dkim", row["private_key"], row["id"].bytes)
    assert opened is not None
    assert opened.startswith(b"-----BEGIN PRIVATE KEY-----")
    text = str(await list_audit_entries(api))
    assert "BEGIN" not in text
    assert "dkim_selector" in text


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
