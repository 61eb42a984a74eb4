"""What is generated is fresh: the same as its generator would write now."""

import importlib.util
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_generated_documents_are_fresh():
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs/generate.py")
    assert spec
    assert spec.loader
    generate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generate)
    assert generate.stale() == []
