"""What the full profile needs of a machine: told, and lacking said with the way out."""

from pathlib import Path

import pytest

from mailkeep.core.errors import Failure
from mailkeep.run.cli import install


def test_what_is_lacking_is_told_in_words(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(install, "PACKAGES", ("bash", "no-such-package-here"))
    monkeypatch.setattr(install, "MAIL_ACCOUNT", "no-such-account")
    monkeypatch.setattr(install, "ACCOUNT", "root")
    plan = install.make_plan()
    assert plan.packages == ("no-such-package-here",)
    assert plan.steps == ["install no-such-package-here", "make the account no-such-account"]
    with pytest.raises(Failure, match=r"`mailkeep install` would: install no-such-package-here; make the account"):
        install.require_installed()


def test_where_all_is_there_nothing_is_done(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(install, "PACKAGES", ("bash",))
    monkeypatch.setattr(install, "MAIL_ACCOUNT", "root")
    monkeypatch.setattr(install, "ACCOUNT", "root")
    monkeypatch.setattr(install, "_run", lambda *_: pytest.fail("something was run"))
    assert install.install().steps == []
    install.require_installed()


def test_nobody_but_root_installs(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(install, "PACKAGES", ("no-such-package-here",))
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    with pytest.raises(Failure, match="Only root can install"):
        install.install()


def test_no_service_starts_while_packages_are_installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    policy = tmp_path / "policy-rc.d"
    monkeypatch.setattr(install, "PACKAGES", ("no-such-package-here",))
    monkeypatch.setattr(install, "_POLICY", policy)
    monkeypatch.setattr("os.geteuid", lambda: 0)
    seen: list[tuple[str, bool]] = []
    monkeypatch.setattr(install, "_run", lambda argv, said="": seen.append((argv[0], policy.exists())))
    install.install()
    assert ("apt-get", True) in seen
    assert not policy.exists()
