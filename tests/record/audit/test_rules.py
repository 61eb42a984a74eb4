"""Chains without a database: valid and forged seals, arbitrary lines, arbitrary cells."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

import pytest
from hypothesis import given, settings, strategies as st

from mailkeep.core.ids import uuid7
from mailkeep.core.secret import Vault, is_signed_publicly
from mailkeep.features.record.audit import rules, service, wire
from mailkeep.features.record.audit.model import SEAL_KEY_PURPOSE, Leaf, Seal
from tests.support.client import START, VAULT

KEY = VAULT.public_key(SEAL_KEY_PURPOSE)


def signed(seal: Seal) -> Seal:
    return replace(seal, signature=VAULT.sign_publicly(SEAL_KEY_PURPOSE, seal.hash))


def chain(*sizes: int) -> tuple[list[Seal], list[list[Leaf]]]:
    """Seals, each over one of these numbers of entries."""
    seals: list[Seal] = []
    batches: list[list[Leaf]] = []
    for size in sizes:
        leaves = [(uuid7(START), rules.hash_line(bytes([number]))) for number in range(size)]
        last = (len(seals) + 1, leaves[-1][0])
        seals.append(signed(rules.next_seal(seals[-1] if seals else None, START, last, leaves)))
        batches.append(leaves)
    return seals, batches


def verdict(seals: list[Seal], batches: list[list[Leaf]]) -> dict[UUID | int | None, str]:
    paper = rules.ExportVerifier(KEY)
    for seal, leaves in zip(seals, batches, strict=True):
        for leaf in leaves:
            paper.add_line(leaf, [seal] if leaf is leaves[-1] else [])
    return {fault.id if fault.seal is None else fault.seal: fault.problem for fault in paper.end().faults}


def test_a_signature_depends_on_purpose_secret_and_data():
    signature = VAULT.sign_publicly("a", b"data")
    assert is_signed_publicly(VAULT.public_key("a"), b"data", signature)
    assert not is_signed_publicly(VAULT.public_key("b"), b"data", signature)
    assert not is_signed_publicly(Vault(bytes(32)).public_key("a"), b"data", signature)
    assert not is_signed_publicly(VAULT.public_key("a"), b"datum", signature)
    assert not is_signed_publicly(b"short", b"data", signature)
    assert not is_signed_publicly(VAULT.public_key("a"), b"data", b"")


def test_a_valid_chain():
    seals, batches = chain(3, 1, 2)
    assert verdict(seals, batches) == {}
    assert [seal.previous for seal in seals[1:]] == [seal.hash for seal in seals[:-1]]
    assert list(rules.split_leaves(seals[0])) == batches[0]


@pytest.mark.parametrize(
    "changes",
    [
        {"sequence": 9}, {"sealed_at": datetime(2020, 1, 1, tzinfo=UTC)}, {"entries": 0}, {"last": (9, UUID(int=1))},
        {"latest_id": None}, {"first_sequence": 2}, {"dropped_before": START}, {"previous": bytes(32)},
        {"hash": bytes(32)}, {"signature": bytes(64)}, {"leaves": b""},
    ],
    ids=str,
)  # fmt: skip
def test_every_field_of_a_seal_is_signed(changes: dict[str, object]):
    seal = chain(2, 2)[0][1]
    assert rules.is_genuine(seal, KEY)
    forged = replace(seal, **changes)
    assert not rules.is_genuine(forged, KEY)
    if "hash" not in changes and "signature" not in changes:
        assert not rules.is_genuine(replace(forged, hash=rules.hash_seal(forged)), KEY)


def test_a_seal_of_another_chain_is_rejected():
    """Both are signed by us: of a database, and of a copy that has diverged."""
    (ours, batches), (theirs, others) = chain(2, 2, 2), chain(2, 2)
    assert verdict([ours[0], theirs[1], ours[2]], [batches[0], others[1], batches[2]])[2] == "seal_altered"


@settings(max_examples=60)
@given(st.lists(st.integers(1, 4), min_size=1, max_size=5), st.data())
def test_removed_altered_and_inserted_lines_are_named(sizes: list[int], data: st.DataObject):
    seals, batches = chain(*sizes)
    number = data.draw(st.integers(0, len(sizes) - 1))
    place = data.draw(st.integers(0, sizes[number] - 1))
    leaf = batches[number][place]
    kind = data.draw(st.sampled_from(["altered", "removed", "inserted"]))
    if kind == "altered":
        batches[number][place] = (leaf[0], bytes(32))
    elif kind == "removed":
        batches[number][place] = leaf = (leaf[0], leaf[1])
        if len(batches[number]) == 1:
            return
        batches[number].pop(place)
    else:
        leaf = (uuid7(START), bytes(32))
        batches[number].insert(place, leaf)
    assert verdict(seals, batches) == {leaf[0]: kind}


@settings(max_examples=200)
@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode) | st.just(b"[" * 100_000))
def test_any_line_is_parsed_or_refused(line: bytes):
    with pytest.raises(ValueError, match=r"line 1 is not an entry|no seal"):
        service.verify_export([line], None)


@settings(max_examples=200)
@given(st.lists(st.text(), min_size=1, max_size=4))
def test_cells_are_escaped_for_spreadsheets_and_csv(cells: list[str]):
    cells = [cell.encode("utf-8", "ignore").decode() for cell in cells]
    [row] = list(csv.reader(io.StringIO(wire.to_csv([cells]).decode(), newline="")))
    assert len(row) == len(cells)
    for cell in row:
        assert not cell.startswith(("=", "+", "-", "@"))
        assert not any(character < " " or "\x7f" <= character < "\xa0" for character in cell)
