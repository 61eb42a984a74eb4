"""Generated files are current."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def test_generated_files_are_current(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(ROOT / "docs")
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs/generate.py")
    assert spec
    assert spec.loader
    generate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generate)
    assert generate.stale() == []
