"""The API of DKIM keys: create, import, activate, retire, delete."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)

from mailkeep.features.directory.dkim import rules
from mailkeep.settings.dns import DnsSettings
from mailkeep.settings.server import ServerSettings
from tests.support.builders import create_domain, list_audit_entries
from tests.support.caller import Answer
from tests.support.client import Api, faults, reason
from tests.support.dns_server import DnsServer

NAME = "new.test"


def pem_of(key: Any, form: PrivateFormat = PrivateFormat.PKCS8, password: bytes | None = None) -> str:
    encryption = BestAvailableEncryption(password) if password else NoEncryption()
    return key.private_bytes(Encoding.PEM, form, encryption).decode()


@pytest.fixture
def resolvers(api: Api) -> Iterator[tuple[DnsServer, DnsServer]]:
    """Two name servers, which are configured."""
    with DnsServer() as one, DnsServer() as two:
        servers = (one.address, two.address)
        api.app.settings = replace(api.app.settings, dns=DnsSettings(servers=servers))
        yield one, two


@pytest.fixture
async def keys(api: Api) -> str:
    """The path of the keys of a new domain."""
    return f"/domains/{await create_domain(api, NAME)}/dkim-keys"


async def create(api: Api, path: str, **body: Any) -> dict[str, Any]:
    answer = await api.adam.post(path, body or {"algorithm": "ed25519"})
    assert answer.status == 201, answer.body
    return answer.data


async def stages(api: Api, path: str) -> dict[str, list[str]]:
    """The stages of the keys of each algorithm, oldest first."""
    found: dict[str, list[str]] = {}
    for key in reversed((await api.adam.get(path, limit=200)).data):
        found.setdefault(key["algorithm"], []).append(key["stage"])
    return found


async def test_a_key_signs_when_every_name_server_finds_its_record(
    api: Api, keys: str, resolvers: tuple[DnsServer, DnsServer]
):
    one, two = resolvers
    api.clock.advance(days=1)
    key = await create(api, keys)
    path = f"{keys}/{key['id']}"
    assert (key["stage"], key["activated_at"], key["automatic"]) == ("pending", None, False)
    refused = await api.adam.post(f"{path}/activate", {})
    assert (refused.status, refused.code, reason(refused)) == (409, "CONFLICT", "not_published")
    details = refused.json["error"]["details"]
    assert details["record"] == {name: key["dns"][name] for name in ("name", "type", "value")}
    assert [each["status"] for each in details["resolvers"]] == ["missing", "missing"]
    one.publish(key["dns"]["name"], "TXT", key["dns"]["value"])
    two.fail(key["dns"]["name"], "servfail")
    refused = await api.adam.post(f"{path}/activate", {})
    assert [each["status"] for each in refused.json["error"]["details"]["resolvers"]] == ["ok", "dns_error"]
    assert "SERVFAIL" in refused.json["error"]["details"]["resolvers"][1]["problem"]
    assert (await api.adam.get(path)).data["dns"]["status"] == "dns_error"
    two.fail(key["dns"]["name"], None)
    two.publish(key["dns"]["name"], "TXT", key["dns"]["value"].replace("p=", "p=AAAA"))
    refused = await api.adam.post(f"{path}/activate", {})
    assert refused.json["error"]["details"]["resolvers"][1]["found"] == [key["dns"]["value"].replace("p=", "p=AAAA")]
    two.publish(key["dns"]["name"], "TXT", key["dns"]["value"])
    api.clock.advance(seconds=1)
    active = (await api.adam.post(f"{path}/activate", {})).data
    assert (active["stage"], active["dns"]["status"]) == ("active", "ok")
    assert await stages(api, keys) == {"rsa2048": ["active"], "ed25519": ["retiring", "active"]}
    again = await api.adam.post(f"{path}/activate", {})
    assert again.data == active  # nothing more changes
    actions = [entry for entry in await list_audit_entries(api) if entry[0].startswith("dkim.")]
    done = [(action, details["after"]["stage"]) for action, outcome, details in actions if outcome == "success"]
    assert done == [("dkim.create", "pending"), ("dkim.activate", "active"), ("dkim.retire", "retiring")]


async def test_force_activates_without_a_look_up(api: Api, keys: str, resolvers: tuple[DnsServer, DnsServer]):
    key = await create(api, keys, algorithm="rsa4096")
    assert (await api.adam.post(f"{keys}/{key['id']}/activate", {"force": True})).data["stage"] == "active"
    assert await stages(api, keys) == {"rsa2048": ["retiring"], "rsa4096": ["active"], "ed25519": ["active"]}
    assert not resolvers[0].queries
    # Back to the earlier key, whose record is still there.
    old = (await api.adam.get(keys, stage="retiring")).data[0]
    resolvers[0].publish(old["dns"]["name"], "TXT", old["dns"]["value"])
    resolvers[1].publish(old["dns"]["name"], "TXT", old["dns"]["value"])
    back = (await api.adam.post(f"{keys}/{old['id']}/activate", {})).data
    assert (back["stage"], back["retiring_at"]) == ("active", None)
    assert await stages(api, keys) == {"rsa2048": ["active"], "rsa4096": ["retiring"], "ed25519": ["active"]}


async def test_the_last_active_key_stays_and_keys_in_use_are_not_deleted(api: Api, keys: str):
    rsa_key = (await api.adam.get(keys, algorithm="rsa2048")).data[0]
    ed_key = (await api.adam.get(keys, algorithm="ed25519")).data[0]
    assert reason(await api.adam.delete(f"{keys}/{rsa_key['id']}")) == "in_use"
    retiring = (await api.adam.post(f"{keys}/{rsa_key['id']}/retire", {})).data
    assert (retiring["stage"], retiring["safe_to_remove_from_dns"]) == ("retiring", False)
    refused = await api.adam.post(f"{keys}/{ed_key['id']}/retire", {})
    assert (refused.status, reason(refused)) == (409, "last_active_key")
    assert reason(await api.adam.delete(f"{keys}/{rsa_key['id']}")) == "in_use"
    assert (await api.adam.post(f"{keys}/{rsa_key['id']}/retire", {})).data == retiring
    pending = await create(api, keys)
    path = f"{keys}/{pending['id']}"
    retired = (await api.adam.post(f"{path}/retire", {})).data
    assert (retired["stage"], retired["safe_to_remove_from_dns"]) == ("retired", True)
    assert reason(await api.adam.post(f"{path}/activate", {"force": True})) == "retired"
    assert (await api.sql("SELECT private_key FROM dkim_keys WHERE stage = 'retired'"))[0]["private_key"] == b""
    assert (await api.adam.delete(path)).data["id"] == pending["id"]
    assert (await api.adam.get(path)).code == "NOT_FOUND"
    other = await create_domain(api, "other-new.test")
    assert (await api.adam.get(f"/domains/{other}/dkim-keys/{ed_key['id']}")).code == "NOT_FOUND"


async def test_concurrent_changes_leave_one_active_key_of_each_family(api: Api, keys: str):
    made = [await create(api, keys) for _ in range(4)]
    calls = [api.adam.post(f"{keys}/{key['id']}/activate", {"force": True}) for key in made]
    assert {answer.status for answer in await asyncio.gather(*calls)} == {200}
    found = await stages(api, keys)
    assert sorted(found["ed25519"]) == ["active", "retiring", "retiring", "retiring", "retiring"]
    active = (await api.adam.get(keys, stage="active")).data
    retirements = [api.adam.post(f"{keys}/{key['id']}/retire", {}) for key in active]
    assert sorted(answer.status for answer in await asyncio.gather(*retirements)) == [200, 409]


@pytest.mark.parametrize(
    "bits, form",
    [(bits, PrivateFormat.PKCS8) for bits in (1024, 2048, 3072, 4096)] + [(2048, PrivateFormat.TraditionalOpenSSL)],
)
async def test_rsa_keys_are_imported(api: Api, keys: str, bits: int, form: PrivateFormat):
    pem = pem_of(rsa.generate_private_key(65537, bits), form)
    answer = await api.adam.post(keys, {"private_key": f"\r\n{pem}\r\n", "selector": "Mail.2026"})
    assert answer.status == 201, answer.body
    key = answer.data
    assert (key["algorithm"], key["selector"], key["stage"]) == (f"rsa{bits}", "mail.2026", "pending")
    assert bool(key["warnings"]) == (bits < 2048)
    assert "PRIVATE" not in json.dumps(await list_audit_entries(api), default=str)
    assert pem.splitlines()[-3] not in str(answer.body)  # the first lines have the public key
    refused = await api.adam.post(keys, {"algorithm": "ed25519", "selector": "mail.2026"})
    assert (refused.status, reason(refused)) == (409, "selector_taken")


def uneven_rsa() -> str:
    """An RSA key of 4096 bits with a factor of 4090: to test it would take seconds, in which no other thread runs."""
    p, q = 61, (1 << 4090) + 1
    numbers = rsa.RSAPrivateNumbers(p, q, 3, 1, 1, 1, rsa.RSAPublicNumbers(65537, p * q))
    return pem_of(numbers.private_key(unsafe_skip_rsa_key_validation=True))


@pytest.mark.parametrize("bits", [8192, 16384])
async def test_a_huge_rsa_key_is_refused_before_it_is_tested(
    api: Api, keys: str, bits: int, monkeypatch: pytest.MonkeyPatch
):
    numbers = rsa.RSAPrivateNumbers(
        (1 << bits // 2) - 1, (1 << bits // 2) + 1, 3, 1, 1, 1, rsa.RSAPublicNumbers(65537, (1 << bits) - 1)
    )
    huge = pem_of(numbers.private_key(unsafe_skip_rsa_key_validation=True))
    assert len(huge) <= 16_384
    for pem in (huge, uneven_rsa()):
        checked: list[bool] = []

        def load(*args: Any, _checked: list[bool] = checked, **options: Any) -> Any:
            _checked.append(not options.get("unsafe_skip_rsa_key_validation"))
            return load_pem_private_key(*args, **options)

        monkeypatch.setattr(rules, "load_pem_private_key", load)
        answer = await api.adam.post(keys, {"private_key": pem})
        assert answer.status == 400, answer.body
        assert not any(checked)


async def test_an_imported_ed25519_key_is_the_same_key(api: Api, keys: str):
    private = Ed25519PrivateKey.generate()
    key = await create(api, keys, private_key=pem_of(private))
    [row] = await api.sql("SELECT public_key FROM dkim_keys WHERE stage = 'pending'")
    assert key["algorithm"] == "ed25519"
    assert row["public_key"] == private.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)


WRONG = {
    "no PEM": ("hello", "must be a private key in PEM"),
    "encrypted": (pem_of(Ed25519PrivateKey.generate(), password=b"secret"), "is encrypted"),
    "encrypted PKCS#1": (
        pem_of(rsa.generate_private_key(65537, 1024), PrivateFormat.TraditionalOpenSSL, b"secret"),
        "is encrypted",
    ),
    "public": (
        Ed25519PrivateKey.generate()
        .public_key()
        .public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
        .decode(),
        "must be a private key (got public key)",
    ),
    "elliptic curve": (pem_of(ec.generate_private_key(ec.SECP256R1())), "must be an RSA or Ed25519 key"),
    "exponent": (pem_of(rsa.generate_private_key(3, 2048)), "must have the public exponent 65537 (got 3)"),
    "size": (pem_of(rsa.generate_private_key(65537, 1536)), "must have 1024, 2048, 3072 or 4096 bits"),
    "damaged": (
        "\n".join([*pem_of(rsa.generate_private_key(65537, 1024)).splitlines()[:4], "-----END PRIVATE KEY-----"]),
        "is not a valid private key",
    ),
    "two": (pem_of(Ed25519PrivateKey.generate()) * 2, "must contain one private key only"),
    "empty block": ("-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----\n", "is not a valid private key"),
}


@pytest.mark.parametrize("case", WRONG)
async def test_what_is_no_key_is_refused_without_showing_it(api: Api, keys: str, case: str):
    pem, expected = WRONG[case]
    refused = await api.adam.post(keys, {"private_key": pem})
    assert (refused.status, refused.code, faults(refused)) == (400, "INVALID_FIELD", ["private_key"])
    text = refused.json["error"]["details"]["fields"][0]["reason"]
    assert expected in text
    assert not any(line and line in text for line in pem.splitlines() if not line.startswith("-----") and len(line) > 8)


@pytest.mark.parametrize(
    "selector", ["", "a b", "-a", "a-", "a..b", ".a", "ä", "a_b", "x" * 64, ".".join(["x" * 60] * 3)]
)
async def test_a_selector_is_a_name(api: Api, selector: str):
    long_name = ".".join(["d" * 50] * 3) + ".test"
    path = f"/domains/{await create_domain(api, long_name)}/dkim-keys"
    refused = await api.adam.post(path, {"algorithm": "ed25519", "selector": selector})
    assert (refused.status, faults(refused)) == (400, ["selector"])


async def test_a_body_has_an_algorithm_or_a_key(api: Api, keys: str):
    assert (await api.adam.post(keys, {})).code == "MISSING_FIELDS"
    both = {"algorithm": "ed25519", "private_key": pem_of(Ed25519PrivateKey.generate())}
    assert faults(await api.adam.post(keys, both)) == ["algorithm"]
    for algorithm in ("rsa1024", "rsa3072", "rsa", 5):
        assert faults(await api.adam.post(keys, {"algorithm": algorithm})) == ["algorithm"]


async def test_a_domain_has_at_most_ten_keys_that_are_not_retired(api: Api, keys: str):
    for _ in range(7):
        await create(api, keys)
    answers = await asyncio.gather(*(api.adam.post(keys, {"algorithm": "ed25519"}) for _ in range(3)))
    assert sorted(answer.status for answer in answers) == [201, 409, 409]
    assert {reason(answer) for answer in answers if answer.status == 409} == {"limit_reached"}


async def test_a_repeated_request_creates_one_key(api: Api, keys: str):
    headers = {"idempotency-key": str(uuid4())}
    first, second = [await api.adam("POST", keys, {"algorithm": "ed25519"}, headers=headers) for _ in range(2)]
    assert (first.data, second.headers["idempotent-replayed"]) == (second.data, "true")
    assert len((await api.adam.get(keys)).data) == 3


async def test_activation_of_another_version_is_refused(api: Api, keys: str):
    key = await create(api, keys)
    path = f"{keys}/{key['id']}"
    tag = (await api.adam.get(path)).headers["etag"]

    async def call(action: str, if_match: str, body: Any) -> Answer:
        return await api.adam("POST", f"{path}/{action}", body, headers={"if-match": if_match})

    for action, body in (("activate", {"force": True}), ("retire", {})):
        assert (await call(action, '"0"', body)).code == "PRECONDITION_FAILED"
    api.clock.advance(seconds=1)
    assert (await call("activate", tag, {"force": True})).headers["etag"] != tag
    assert (await call("retire", tag, {})).code == "PRECONDITION_FAILED"


async def test_delegated_domains_alternate_between_fixed_selectors(api: Api):
    refused = await api.sue.post("/domains", {"name": NAME, "dkim_delegated": True})
    assert (refused.status, reason(refused)) == (409, "hostname_missing")
    api.app.settings = replace(api.app.settings, server=ServerSettings(hostname="mx.host.test"))
    domain_id = await create_domain(api, NAME, dkim_delegated=True)
    path = f"/domains/{domain_id}/dkim-keys"
    records = (
        (await api.dora.get(f"/domains/{domain_id}/dkim-delegation")).code,
        (await api.adam.get(f"/domains/{domain_id}/dkim-delegation")).data,
    )
    assert records[0] == "FORBIDDEN"
    assert records[1]["enabled"] is True
    targets = {record["name"]: record["value"] for record in records[1]["records"]}
    assert list(targets) == [f"mk-{slot}._domainkey.{NAME}" for slot in ("rsa1", "rsa2", "ed1", "ed2")]
    assert targets[f"mk-ed2._domainkey.{NAME}"] == f"mk-ed2-{domain_id.replace('-', '')}._domainkey.mx.host.test"
    first = {key["algorithm"]: key for key in (await api.adam.get(path)).data}
    assert (first["rsa2048"]["selector"], first["ed25519"]["selector"]) == ("mk-rsa1", "mk-ed1")
    assert first["ed25519"]["dns"]["type"] == "CNAME"
    assert first["ed25519"]["dns"]["target"]["value"].startswith("v=DKIM1; k=ed25519; p=")
    assert all(key["dns"]["value"] == targets[key["dns"]["name"]] for key in first.values())
    second = await create(api, path)
    assert second["selector"] == "mk-ed2"
    assert reason(await api.adam.post(path, {"algorithm": "ed25519"})) == "selectors_in_use"
    assert (await create(api, path, algorithm="ed25519", selector="own"))["dns"]["type"] == "TXT"
    # The record of the target is found through the CNAME.
    with DnsServer() as server:
        api.app.settings = replace(api.app.settings, dns=DnsSettings(servers=(server.address,)))
        server.publish(second["dns"]["name"], "CNAME", second["dns"]["value"] + ".")
        activate = f"{path}/{second['id']}/activate"
        assert reason(await api.adam.post(activate, {})) == "not_published"
        server.publish(second["dns"]["target"]["name"], "TXT", second["dns"]["target"]["value"])
        assert (await api.adam.post(activate, {})).data["stage"] == "active"


async def test_only_a_super_admin_lets_mailkeep_write_the_records_of_a_domain(api: Api):
    domain_id = await create_domain(api, NAME)
    refused = await api.adam.patch(f"/domains/{domain_id}", {"dns_managed": True})
    assert (refused.status, refused.code, reason(refused)) == (403, "FORBIDDEN", "super_admin_required")
    assert (await api.adam.post("/domains", {"name": "x.test", "dns_managed": True})).code == "FORBIDDEN"
    assert (await api.sue.patch(f"/domains/{domain_id}", {"dns_managed": True})).data["dns_managed"] is True
    # Others may change what else the domain has.
    assert (await api.adam.patch(f"/domains/{domain_id}", {"dns_managed": True, "description": "x"})).status == 200
    assert (await api.adam.patch(f"/domains/{domain_id}", {"dns_managed": False})).code == "FORBIDDEN"


async def test_a_record_that_is_not_ascii_is_another_one(api: Api, resolvers: tuple[DnsServer, DnsServer]):
    path = f"/domains/{await create_domain(api, NAME)}/dkim-keys"
    key = await create(api, path)
    for resolver in resolvers:
        resolver.publish(key["dns"]["name"], "TXT", "v=DKIM1; k=ed25519; p=\u00e9\x1b[2J")
    answer = await api.adam.post(f"{path}/{key['id']}/activate", {})
    assert (answer.status, reason(answer)) == (409, "not_published")
    [found, _] = answer.json["error"]["details"]["resolvers"]
    assert (found["status"], found["found"]) == ("mismatch", ["v=DKIM1; k=ed25519; p=\u00e9\ufffd[2J"])


async def test_a_name_that_is_too_long_for_the_record_of_a_key_is_not_published(
    api: Api, resolvers: tuple[DnsServer, DnsServer]
):
    path = f"/domains/{await create_domain(api, '.'.join(['a' * 61] * 4))}/dkim-keys"
    key = await create(api, path)
    answer = await api.adam.post(f"{path}/{key['id']}/activate", {})
    assert (answer.status, reason(answer)) == (409, "not_published")
