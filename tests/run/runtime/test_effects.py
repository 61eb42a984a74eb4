"""The table of effects: what a plan says for a change of each setting."""

from __future__ import annotations

import importlib
import shutil
from pathlib import Path
from typing import Any

import pytest

from mailkeep.core.clock import utc_now
from mailkeep.db.instance import run_folder
from mailkeep.mail.daemons.paths import InstancePaths
from mailkeep.run.runtime import folders, generations, plan
from mailkeep.run.runtime.generations import GenerationManifest
from mailkeep.settings import EFFECTS_FILE, SETTING_FIELDS, find_effect, is_storable
from tests.support.scratch import new_directory

pytestmark = pytest.mark.root
ROOT = Path(__file__).parents[3]
STRENGTH = ("none", "reload", "restart")


@pytest.fixture
def effects(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(ROOT / "docs")
    return importlib.import_module("effects")


def test_the_table_is_generated(effects: Any) -> None:
    assert EFFECTS_FILE.read_text() == effects.toml(), "run `make generate`"


def test_a_plan_has_the_services_and_the_effect_of_each_setting(effects: Any, request: pytest.FixtureRequest) -> None:
    folder = new_directory("mailkeep-effects-", 0o755, programs=True)
    paths = InstancePaths(folder, run_folder(folder))
    folders.create(paths)
    request.addfinalizer(lambda: (folders.remove_runtime_files(paths), shutil.rmtree(folder)))
    for n, key in enumerate(filter(is_storable, SETTING_FIELDS), 1):
        base, *others = list(effects.with_values(key))
        before = effects.render_settings(base)
        manifest = GenerationManifest(n, utc_now(), 0, {}, generations.hash_files(before))
        generations.stage(paths, manifest, before, {})
        generations.publish(paths, n)
        effect, found = find_effect(key, is_full_profile=True), dict[str, str]()
        for other in others:
            actions = plan.decide_actions(paths, manifest, effects.render_settings(other), [key])
            for each in actions:
                assert each.service in effect.services, (key, each)
                assert STRENGTH.index(each.action) <= STRENGTH.index(effect.effect), (key, each)
                found[each.service] = max(found.get(each.service, "none"), each.action, key=STRENGTH.index)
        if not SETTING_FIELDS[key].applies_with:
            assert set(found) == set(effect.services), key
            assert max(found.values(), key=STRENGTH.index, default="none") == effect.effect, key
