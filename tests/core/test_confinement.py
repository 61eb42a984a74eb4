"""What a confined process can still do: nothing that an attacker inside it would want."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

# Each attempt by name: what became of it.
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
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(secret)], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert {told[name] for name in ("tcp", "unix", "pair", "exec")} == {"PermissionError"}
    assert told["pipe"] == "done"
    assert told["status"] == [["CapEff:", "0" * 16], ["NoNewPrivs:", "1"], ["Seccomp:", "2"]]
    if os.geteuid() == 0:
        assert (told["uid"], told["groups"], told["secret"]) == (65534, [], "PermissionError")
    else:
        assert told["uid"] == os.geteuid()
