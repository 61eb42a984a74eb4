"""The receivers of docs/webhooks.md, run: each takes what is genuine and refuses all else.

Python and Node come with the tests, PHP from Debian. Go is not installed for this alone: where it is at hand it
runs, else its case is left out, by name.
"""

from __future__ import annotations

import base64
import hmac
import importlib.util
import json
import os
import re
import shutil
import subprocess
import time
from base64 import b64encode
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.support.node import NODE
from tests.webhook_receivers.deliveries import BODY, Given, bare, deliveries

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "docs/examples/webhooks"
RECEIVERS = ROOT / "tests/webhook_receivers"
Verdict = dict[str, Any] | str


def by_python(given: Sequence[Given], scratch: Path) -> list[Verdict]:
    spec = importlib.util.spec_from_file_location("verify", EXAMPLES / "verify.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    verdicts: list[Verdict] = []
    for each in given:
        try:
            verdicts.append(module.verify(each.secret, each.headers, each.body))
        except ValueError as wrong:
            verdicts.append(str(wrong))
    return verdicts


def by_node(given: Sequence[Given], scratch: Path) -> list[Verdict]:
    return judged([NODE, RECEIVERS / "judge.mjs", EXAMPLES / "verify.mjs"], given)


def by_php(given: Sequence[Given], scratch: Path) -> list[Verdict]:
    return judged([at_hand("php"), RECEIVERS / "judge.php", EXAMPLES / "verify.php"], given)


def by_go(given: Sequence[Given], scratch: Path) -> list[Verdict]:
    (scratch / "webhook").mkdir()
    shutil.copy(EXAMPLES / "verify.go", scratch / "webhook")
    shutil.copy(RECEIVERS / "judge.go.txt", scratch / "main.go")
    (scratch / "go.mod").write_text("module receiver\n\ngo 1.19\n")
    program = scratch / "judge"
    local = {"GOTOOLCHAIN": "local", "GOPROXY": "off", "GOFLAGS": "-mod=mod", "CGO_ENABLED": "0"}
    subprocess.run([at_hand("go"), "build", "-o", program, "."], cwd=scratch, env=os.environ | local, check=True)
    return judged([program], given)


def at_hand(command: str) -> str:
    found = shutil.which(command)
    if found is None:
        pytest.skip(f"there is no {command} here")
    return found


def judged(command: Sequence[str | Path], given: Sequence[Given]) -> list[Verdict]:
    sent = [{"secret": each.secret, "body": b64encode(each.body).decode(), "headers": each.headers} for each in given]
    done = subprocess.run(command, input=json.dumps(sent).encode(), capture_output=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout.decode() + done.stderr.decode()
    return json.loads(done.stdout)


LANGUAGES: dict[str, Callable[[Sequence[Given], Path], list[Verdict]]] = {
    "python": by_python,
    "node": by_node,
    "php": by_php,
    "go": by_go,
}


def by_the_documentation_page(given: Sequence[Given], scratch: Path) -> list[Verdict]:
    """The lines that stand in /docs."""
    text = (ROOT / "mailkeep/web/docs_page/conventions.md").read_text()
    [lines] = re.findall(r"```\n(key = .*?)```", text, re.DOTALL)
    verdicts: list[Verdict] = []
    for each in given:
        known: dict[str, Any] = {"base64": base64, "hmac": hmac, "time": time}
        known |= {"secret": each.secret, "headers": each.headers, "body": each.body}
        try:
            exec(lines, known)
        except (KeyError, ValueError):
            verdicts.append("missing or invalid timestamp")
            continue
        if known["genuine"]:
            verdicts.append(json.loads(each.body) if known["fresh"] else "the timestamp is more than five minutes off")
        else:
            verdicts.append("no matching signature")
    return verdicts


LANGUAGES["the documentation page"] = by_the_documentation_page
# Where everything is required, only what is set up for the tests is.
if os.environ.get("MAILKEEP_REQUIRE_ALL") == "1" and shutil.which("go") is None:
    del LANGUAGES["go"]


@pytest.mark.timeout(180)  # Go compiles its library the first time
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_receiver_takes_what_is_genuine_and_refuses_all_else(language: str, tmp_path: Path):
    given = deliveries()
    given.append(bare(given[0].secret))
    verdicts = LANGUAGES[language](given, tmp_path)
    assert len(verdicts) == len(given)
    for each, verdict in zip(given, verdicts, strict=True):
        if each.genuine:
            assert verdict == json.loads(BODY), each.name
        else:
            assert isinstance(verdict, str), each.name
    said = {each.name: verdict for each, verdict in zip(given, verdicts, strict=True)}
    assert said["no headers"] == "missing or invalid timestamp"
    assert (
        said["from the future"] == said["replayed after five minutes"] == "the timestamp is more than five minutes off"
    )
    assert said["another body"] == "no matching signature"
