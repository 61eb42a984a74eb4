from __future__ import annotations

from pathlib import Path

import pytest

from mailkeep.core.errors import Failure
from mailkeep.db import postgres_binaries
from mailkeep.db.postgres_binaries import Binaries, choose_binaries, cluster_major, find_installed

DEBIAN_17 = Binaries(Path("/17/bin"), 17)
DEBIAN_15 = Binaries(Path("/15/bin"), 15)
DEBIAN_13 = Binaries(Path("/13/bin"), 13)
WHEEL_18 = Binaries(Path("/wheel/bin"), 18, "18.6.3")


@pytest.mark.parametrize(
    "candidates,cluster,chosen",
    [
        ([DEBIAN_17, DEBIAN_15, WHEEL_18], None, DEBIAN_17),
        ([DEBIAN_15, WHEEL_18], None, DEBIAN_15),
        ([DEBIAN_13, WHEEL_18], None, WHEEL_18),
        ([WHEEL_18], None, WHEEL_18),
        ([DEBIAN_17, DEBIAN_15, WHEEL_18], 15, DEBIAN_15),
        ([DEBIAN_17, WHEEL_18], 18, WHEEL_18),
    ],
)
def test_a_cluster_decides_the_version_and_without_one_debians_newest(candidates, cluster, chosen):
    assert choose_binaries(candidates, cluster) == chosen


@pytest.mark.parametrize(
    "candidates,cluster,words",
    [
        ([], None, "apt install postgresql"),
        ([DEBIAN_13], None, "No PostgreSQL 15 or newer"),
        ([DEBIAN_15, WHEEL_18], 16, "PostgreSQL 16, and this machine has version 15, 18.*postgresql-16"),
        ([DEBIAN_13], 13, "PostgreSQL 13"),
        ([], 15, "has version none"),
    ],
)
def test_without_fitting_binaries_the_way_out_is_named(candidates, cluster, words):
    with pytest.raises(Failure, match=words) as refused:
        choose_binaries(candidates, cluster)
    assert refused.value.permanent


def test_a_client_package_is_not_taken_for_a_server(tmp_path: Path):
    for major, programs in {"15": ["psql"], "16": ["postgres", "initdb"], "tools": ["postgres", "initdb"]}.items():
        (tmp_path / major / "bin").mkdir(parents=True)
        for name in programs:
            (tmp_path / major / "bin" / name).touch(0o755)
    assert [binaries.major for binaries in find_installed(tmp_path) if not binaries.wheel] == [16]


def test_the_wheel_is_found_with_its_version(tmp_path: Path):
    (wheel,) = find_installed(tmp_path / "no-debian")
    assert wheel.wheel
    assert wheel.major == int(wheel.wheel.split(".")[0]) >= 15


def test_the_clusters_version_is_read_and_garbage_is_refused(tmp_path: Path):
    assert cluster_major(tmp_path) is None
    (tmp_path / "PG_VERSION").write_text("15\n")
    assert cluster_major(tmp_path) == 15
    (tmp_path / "PG_VERSION").write_text("9.6\n")
    with pytest.raises(Failure, match=r"does not contain a version of PostgreSQL: '9\.6'"):
        cluster_major(tmp_path)


def test_a_copied_wheel_is_readable_for_all_made_once_and_leaves_no_draft(tmp_path: Path):
    (wheel,) = find_installed(tmp_path / "no-debian")
    fallback_dir = tmp_path / "fallback_dir"
    fallback_dir.mkdir()
    copied = postgres_binaries.copy_wheel(wheel, fallback_dir)
    made_at = copied.bin_dir.stat().st_ctime_ns
    assert postgres_binaries.copy_wheel(wheel, fallback_dir) == copied
    assert copied.bin_dir.stat().st_ctime_ns == made_at
    assert (copied.bin_dir / "postgres").stat().st_mode & 0o777 == 0o755
    assert [path.name for path in fallback_dir.iterdir()] == [f"wheel-{wheel.wheel}"]
