"""The recovery key and the repository's password, with restic and a repository in a folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from mailkeep.backup import restic, secrets
from mailkeep.backup.restic import Repository
from mailkeep.core import failpoint
from mailkeep.core.errors import Conflict, OrchestratorBusy
from mailkeep.core.principal import ActorType, Principal, Role
from mailkeep.features.operations.recovery_key import service
from tests.support.client import PASSWORD, Api
from tests.support.hostile_repository import replace_key

pytestmark = pytest.mark.skipif(restic.find_program() is None, reason="restic is not installed")
WE = Principal(None, "cli:root", Role.SUPER_ADMIN, ActorType.CLI)


@pytest.fixture
async def repository(api: Api, tmp_path: Path) -> Repository:
    api.app.data_dir = tmp_path
    (tmp_path / "backup").mkdir()
    secrets.write_password(tmp_path / "backup" / "password", secrets.new_password())
    created = Repository.from_settings(api.app.settings.backup, tmp_path / "backup")
    await created.create()
    replace_key(created)
    return created


async def test_a_recovery_key_opens_the_repository_and_replaces_the_previous_one(api: Api, repository: Repository):
    first = await service.create(api.app, WE)
    typed = first.lower().replace("-", " ")
    assert (await service.verify(api.app, WE, typed)).verified_at == api.clock()
    policy = (await api.sue.get("/backups/policy")).data
    assert policy["recovery_key"] == {
        "created_at": "2026-03-01T12:00:00.000Z", "verified_at": "2026-03-01T12:00:00.000Z",
    }  # fmt: skip
    second = await service.create(api.app, WE)
    assert second != first
    for wrong in (first, "something else", (repository.password_file).read_text().strip()):
        with pytest.raises(Conflict) as refused:
            await service.verify(api.app, WE, wrong)
        assert refused.value.details == {"reason": "wrong_key"}
    await service.verify(api.app, WE, second)
    names = {each.name for each in (api.app.data_dir / "backup").iterdir()}
    assert names <= {"password", "repository", "cache"}  # no file with a key
    rows = await api.sql("SELECT row_to_json(r)::text AS text FROM recovery_key r")
    assert second not in rows[0]["text"]
    elsewhere = {"repository": str(api.app.data_dir / "elsewhere"), "current_password": PASSWORD}
    assert (await api.sue.patch("/backups/policy", elsewhere)).data["recovery_key"] is None


async def test_the_password_is_replaced_whenever_that_is_interrupted(
    api: Api, repository: Repository, monkeypatch: pytest.MonkeyPatch
):
    key = await service.create(api.app, WE)
    for point in ("backup.key_added", "backup.password_replaced"):

        def stop(name: str, at: str = point) -> None:
            if name == at:
                raise RuntimeError(at)

        with monkeypatch.context() as patch:
            patch.setattr(failpoint, "reach", stop)
            with pytest.raises(RuntimeError):
                await service.change_password(api.app, WE)
        await repository.open()
    before = repository.password_file.read_text()
    await service.change_password(api.app, WE)
    assert repository.password_file.read_text() != before
    await repository.open()
    await service.verify(api.app, WE, key)
    users = sorted(each.user_name for each in await repository.list_keys())
    assert users[:2] == [secrets.PASSWORD_USER, secrets.RECOVERY_USER]
    failed = await api.sql("SELECT state, count(*) FROM backup_operations GROUP BY state ORDER BY state")
    assert [(each["state"], each["count"]) for each in failed] == [("failed", 2), ("succeeded", 2)]


async def test_keys_wait_for_other_operations_and_for_a_repository(api: Api, tmp_path: Path):
    api.app.data_dir = tmp_path
    with pytest.raises(Conflict) as refused:
        await service.create(api.app, WE)
    assert refused.value.details == {"reason": "no_repository"}
    await api.running_backup()
    (tmp_path / "backup").mkdir()
    with pytest.raises(OrchestratorBusy):
        await service.create(api.app, WE)
    with pytest.raises(Conflict):
        await service.verify(api.app, WE, "any")
