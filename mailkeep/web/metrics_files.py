"""The metrics of several processes: each counts in files of its own, in the format of prometheus_client, and whichever
is asked adds them up. A process that replaces another continues its files, so that no counter falls.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import prometheus_client as prometheus
from prometheus_client import values
from prometheus_client.core import Metric
from prometheus_client.mmap_dict import MmapedDict, mmap_key
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

IN_FLIGHT_MODE = "livesum"
"""The mode of gauges: the sum over the processes that run."""
_FOLDED = {"process_start_time_seconds": min, "process_max_fds": min}  # the others are added up


class MetricsFiles:
    """The files in `folder`, and this process's ones for `slot`. Metrics that are made from now on count in them."""

    def __init__(self, folder: Path, slot: int) -> None:
        self._folder, self._slot = folder, slot
        self._files: dict[str, Any] = {}
        setattr(values, "ValueClass", self._make_value)  # noqa: B010 - prometheus_client's own way to choose

    def register(self, registry: prometheus.CollectorRegistry, pids: Iterable[int]) -> None:
        """Let the registry yield the sums of all processes, which have these IDs."""
        MultiProcessCollector(registry, path=str(self._folder))
        registry.register(_Processes(list(pids)))

    def close(self) -> None:
        """Close this process's files; nothing counts in them any more."""
        for file in self._files.values():
            file.close()

    def _make_value(  # noqa: PLR0913 - prometheus_client calls it
        self,
        kind: str,
        metric_name: str,
        name: str,
        label_names: Sequence[str],
        label_values: Sequence[str],
        help_text: str,
        multiprocess_mode: str = "",
        **_: Any,
    ) -> _Value:
        prefix = f"{kind}_{multiprocess_mode}" if kind == "gauge" else kind
        if prefix not in self._files:
            self._files[prefix] = MmapedDict(str(self._folder / f"{prefix}_{self._slot}.db"))
        key = mmap_key(metric_name, name, list(label_names), list(label_values), help_text)
        return _Value(self._files[prefix], key)


class _Value:
    """A number in a file."""

    _multiprocess = True

    def __init__(self, file: Any, key: str) -> None:
        self._file, self._key = file, key
        self._number: float = file.read_value(key)[0]

    def inc(self, amount: float) -> None:
        self.set(self._number + amount)

    def set(self, number: float, _timestamp: float | None = None) -> None:
        self._number = number
        self._file.write_value(self._key, number, 0.0)

    def get(self) -> float:
        return self._number

    def set_exemplar(self, _exemplar: Any) -> None:
        pass

    def get_exemplar(self) -> None:
        return None


class _Processes(Collector):
    """CPU time, memory and so on of all processes together: what can be read about each of them."""

    def __init__(self, pids: Sequence[int]) -> None:
        self._pids = pids

    def collect(self) -> Iterator[Metric]:
        """Yield one metric family for each figure."""
        families: Mapping[str, list[Metric]] = defaultdict(list)
        for pid in self._pids:
            for family in prometheus.ProcessCollector(pid=lambda pid=pid: pid, registry=None).collect():
                families[family.name].append(family)
        for name, found in families.items():
            if len(found) == len(self._pids):
                sample = found[0].samples[0]
                fold = _FOLDED.get(name, sum)
                value = fold(each.samples[0].value for each in found)
                found[0].samples = [sample._replace(value=value)]
                yield found[0]


def clear(folder: Path) -> None:
    """Remove the files of earlier processes, whose counters end."""
    for file in folder.glob("*.db"):
        file.unlink()


def forget_gauges(folder: Path, slot: int) -> None:
    """Remove what a process that has ended had in progress."""
    for file in folder.glob(f"gauge_*_{slot}.db"):
        file.unlink()
