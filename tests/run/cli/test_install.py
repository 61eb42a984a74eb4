"""What the full profile needs of a machine, and what is missing."""

from pathlib import Path

import pytest

from mailkeep.core.errors import Failure
from mailkeep.run.cli import install


def test_missing_packages_and_accounts_are_listed(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(install, "PACKAGES", ("bash", "no-such-package-here"))
    monkeypatch.setattr(install, "MAIL_ACCOUNT", "no-such-account")
    monkeypatch.setattr(install, "ACCOUNT", "root")
    plan = install.make_plan()
    assert plan.packages == ("no-such-package-here",)
    assert plan.steps == ["install no-such-package-here", "create the account no-such-account"]
    with pytest.raises(
        Failure, match=r"`mailkeep install`, which will install no-such-package-here; create the account"
    ):
        install.require_installed()


def test_a_complete_machine_is_left_alone(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(install, "PACKAGES", ("bash",))
    monkeypatch.setattr(install, "MAIL_ACCOUNT", "root")
    monkeypatch.setattr(install, "ACCOUNT", "root")
    monkeypatch.setattr(install, "_run", lambda *_: pytest.fail("something was run"))
    assert install.install().steps == []
    install.require_installed()


def test_only_root_can_install(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(install, "PACKAGES", ("no-such-package-here",))
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    with pytest.raises(Failure, match="must run as root"):
        install.install()


def test_no_service_starts_while_packages_are_installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    policy = tmp_path / "policy-rc.d"
    monkeypatch.setattr(install, "PACKAGES", ("no-such-package-here",))
    monkeypatch.setattr(install, "_POLICY_SCRIPT", policy)
    monkeypatch.setattr("os.geteuid", lambda: 0)
    seen: list[tuple[str, bool]] = []
    monkeypatch.setattr(install, "_run", lambda argv, text="": seen.append((argv[0], policy.exists())))
    install.install()
    assert ("apt-get", True) in seen
    assert not policy.exists()
