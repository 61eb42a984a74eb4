"""A confined process has no privileges, sockets or access to secrets."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

# Prints the outcome of each attempt by name.
PROGRAM = """
import json, os, socket, subprocess, sys
from mailkeep.core.confinement import confine
confine(1 << 30)

def attempt(do):
    try:
        do()
    except OSError as error:
        return type(error).__name__
    return "done"

print(json.dumps({
    "tcp": attempt(lambda: socket.socket()),
    "unix": attempt(lambda: socket.socket(socket.AF_UNIX)),
    "pair": attempt(lambda: socket.socketpair()),
    "exec": attempt(lambda: os.execv("/bin/true", ["true"])),
    "secret": attempt(lambda: open(sys.argv[1])),
    "pipe": attempt(lambda: os.pipe()),
    "uid": os.geteuid(),
    "groups": os.getgroups(),
    "status": [line.split() for line in open("/proc/self/status")
               if line.startswith(("CapEff", "Seccomp:", "NoNewPrivs"))],
}))
"""


def test_a_confined_process_has_no_root_no_sockets_and_no_secrets(tmp_path: Path):
    secret = tmp_path / "secret"
    secret.touch(mode=0o600)
    process = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(secret)], capture_output=True, text=True, timeout=60, check=False
    )
    assert process.returncode == 0, process.stderr
    report = json.loads(process.stdout)
    assert {report[name] for name in ("tcp", "unix", "pair", "exec")} == {"PermissionError"}
    assert report["pipe"] == "done"
    assert report["status"] == [["CapEff:", "0" * 16], ["NoNewPrivs:", "1"], ["Seccomp:", "2"]]
    if os.geteuid() == 0:
        assert (report["uid"], report["groups"], report["secret"]) == (65534, [], "PermissionError")
    else:
        assert report["uid"] == os.geteuid()
