"""The locks hold every requirement of pyproject.toml, pinned and hashed, agree, and name no address."""

import json
import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
NAMES = ("build", "runtime", "dev", "node")


def pins(name: str) -> dict[str, Requirement]:
    text = (ROOT / "requirements" / f"{name}.lock").read_text().replace("\\\n", "")
    requirements = [Requirement(line.partition("--hash")[0]) for line in text.splitlines() if line]
    return {canonicalize_name(requirement.name): requirement for requirement in requirements}


@pytest.mark.parametrize("name", NAMES)
def test_every_line_of_a_lock_is_a_pin_with_hashes_and_nothing_else(name: str):
    text = (ROOT / "requirements" / f"{name}.lock").read_text()
    for entry in text.replace("\\\n", "").splitlines():
        assert re.fullmatch(r"[\w.-]+==[\w.!+-]+( ; [^;]+?)? +(--hash=sha256:[0-9a-f]{64} *)+", entry), entry
    assert "://" not in text


@pytest.mark.parametrize(
    "name, declared",
    [
        ("build", PROJECT["dependency-groups"]["build"]),
        ("build", PROJECT["build-system"]["requires"]),
        ("runtime", PROJECT["project"]["dependencies"]),
        ("dev", PROJECT["dependency-groups"]["dev"]),
        ("node", PROJECT["dependency-groups"]["node"]),
    ],
)
def test_what_the_project_declares_is_locked(name: str, declared: list[str]):
    locked = pins(name)
    for wanted in map(Requirement, declared):
        (pin,) = locked[canonicalize_name(wanted.name)].specifier
        assert wanted.specifier.contains(pin.version)


def test_the_locks_agree():
    dev = pins("dev")
    for name in ("build", "runtime", "node"):
        for package, requirement in pins(name).items():
            assert str(dev[package].specifier) == str(requirement.specifier), package


@pytest.mark.parametrize("folder", ["dashboard", "tests/oidc_provider", "tests/webhook_receivers"])
def test_packages_of_node_are_pinned_by_hash_and_from_no_address(folder: str):
    text = (ROOT / folder / "package-lock.json").read_text()
    assert "://" not in text  # also not of those who fund a package, which npm writes there and does not need
    lock = json.loads(text)
    declared = json.loads((ROOT / folder / "package.json").read_text())
    whole = lock["packages"].pop("")
    for name, package in lock["packages"].items():
        assert package["integrity"].startswith("sha512-"), name
        assert "resolved" not in package, name
    for kind in ("dependencies", "devDependencies"):
        assert whole.get(kind, {}) == declared.get(kind, {})
