"""The daemons' configuration of an instance that does not run."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from mailkeep.core.clock import utc_now
from mailkeep.core.secret import Vault
from mailkeep.db.instance import run_folder
from mailkeep.mail.daemons.paths import InstancePaths
from mailkeep.mail.daemons.render import DaemonConfig
from mailkeep.run.runtime import certificate, configuration, folders
from mailkeep.settings import load_settings
from tests.support.scratch import new_directory

_VAULT = Vault(bytes(range(32)))


@contextmanager
def create_folders() -> Iterator[InstancePaths]:
    """The paths of a full instance with its folders, which are removed in the end."""
    folder = new_directory("mailkeep-generations-", 0o755, programs=True)
    paths = InstancePaths(folder, run_folder(folder))
    folders.create(paths)
    try:
        yield paths
    finally:
        folders.remove_runtime_files(paths)
        shutil.rmtree(folder)


def install(paths: InstancePaths, **environ: str) -> DaemonConfig:
    """Install the configuration with settings from these variables, without the prefix."""
    environ = {"SERVER__HOSTNAME": "mx.example.test", "SERVER__ADDRESSES": '["127.0.0.1"]'} | environ
    settings = load_settings(paths.data, {f"MAILKEEP_{key}": text for key, text in environ.items()}).settings
    certificate.install(settings, paths.tls, settings.server.name, utc_now())
    config = configuration.make_config(paths, settings, _VAULT, 4712)
    configuration.install(settings, config, 0, utc_now())
    return config
