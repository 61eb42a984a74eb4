"""The table "To change X, edit these files" of CONTRIBUTING.md.

Each patch in `example_changes/` makes one of these changes; its first line names the row. Applied to a copy of the
project they work, and they edit no other files than the row lists. If a patch no longer applies, update it, and the
table with it.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PATCHES = sorted((ROOT / "tests/example_changes").glob("*.patch"))
# Values of the placeholders in the table; the feature is otherwise directory/aliases.
FEATURES = {"an event kind": "mailflow/abuse"}
DAEMON, SCREEN = "postfix", "trial"
TRIALS = """
from mailkeep.settings import Settings
from tests.plugins.post import Post
from tests.support.client import DOMAIN_IDS, EXAMPLE, Api

HERE = str(DOMAIN_IDS[EXAMPLE])

async def test_field_filter_and_route(api: Api):
    body = {"domain_id": HERE, "source_local_part": "info", "destination": "x@else.test", "note": "Sales"}
    assert (await api.dora.post("/aliases", body)).data["note"] == "Sales"
    assert (await api.dora.get("/aliases", domain_id=HERE, active="false")).data == []
    assert [row["note"] for row in (await api.dora.get("/aliases", domain_id=HERE, active="true")).data] == ["Sales"]
    assert (await api.dora.get(f"/domains/{HERE}/catch-all")).data == {"present": False}

async def test_event_kind(api: Api):
    await api.sue.post(f"/mailboxes/{await api.mailbox('shop@' + EXAMPLE)}/suspend", {"reason": "spam"})
    (suspension,) = (await api.sue.get("/abuse/suspensions")).data
    await api.sue.delete(f"/abuse/suspensions/{suspension['id']}")
    kinds = [row["kind"] for row in await api.sql("SELECT kind FROM events ORDER BY id")]
    assert kinds == ["system.suspension", "system.suspension_lifted"]

def test_setting():
    assert Settings().retention.greeting == "Hello"

async def test_header_field(post: Post):
    await post.send()
    message = (await post.api.sue.get("/sandbox/messages")).data[0]
    assert b"X-Trial: yes" in (await post.api.sue.get(f"/sandbox/messages/{message['id']}/raw")).body
"""


def run(folder: Path, *command: str) -> None:
    environ = {**os.environ, "PYTHONPATH": str(folder), "GIT_CEILING_DIRECTORIES": str(folder.parent)}
    done = subprocess.run(command, cwd=folder, env=environ, check=False, capture_output=True, text=True, timeout=110)
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]


@pytest.mark.parametrize("patch", PATCHES, ids=lambda patch: patch.stem)
def test_a_change_edits_only_the_files_in_the_table(patch: Path) -> None:
    text = patch.read_text("utf-8")
    change = text.partition("\n")[0]
    table = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    files = next(line for line in table.splitlines() if line.startswith(f"| {change} |")).split("|")[2]
    feature = f"mailkeep/features/{FEATURES.get(change, 'directory/aliases')}"
    files = files.replace("`G/", f"`{feature}/").replace("DAEMON", DAEMON).replace("screens/NAME", f"screens/{SCREEN}")
    listed = re.findall(r"`([\w./-]+?)(?:/…)?`", files)
    edited = re.findall(r"^\+\+\+ (\S+)", text, re.MULTILINE)
    assert edited
    assert [file for file in edited if not any(file == name or file.startswith(f"{name}/") for name in listed)] == []


def test_every_change_in_the_table_works(tmp_path: Path) -> None:
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True, timeout=60
    ).stdout
    for name in listed.splitlines():
        if (ROOT / name).is_file() and not name.startswith("docs/"):
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, tmp_path / name)
    shutil.copytree(ROOT / "mailkeep/web/dashboard_page", tmp_path / "mailkeep/web/dashboard_page", dirs_exist_ok=True)
    for patch in PATCHES:
        run(tmp_path, "git", "apply", "-p0", "-C1", str(patch))
    (tmp_path / "tests/test_trial.py").write_text(TRIALS)
    run(tmp_path, sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/test_trial.py")
