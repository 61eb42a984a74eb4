"""`make prove-tls`: sslyze on 25, 465, 587, 993 and 443 of a full instance, against Mozilla's "intermediate".

sslyze is installed into an environment of its own, because nothing else needs it. The certificate is the instance's
self-signed one, so what Mozilla demands of a public certificate (its lifetime and chain) is not part of this proof.
Root only.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

from tests.prove.circumstances import circumstances
from tests.stack import harness
from tests.stack.harness import ADDRESS, HOSTNAME, Stack

_SSLYZE = "sslyze==6.3.1"
_SINK = ("smtp-sink", "-u", "nobody", "-4", f"{harness.INTERNET}:{{port}}", "1000")
_PORTS = {"smtp": "smtp", "submission": "smtp", "submissions": "", "imaps": "", "https": ""}
_SCAN = """
import json, sys
from sslyze import (Scanner, ServerNetworkConfiguration, ServerNetworkLocation, ServerScanRequest,
    ProtocolWithOpportunisticTlsEnum)
from sslyze.mozilla_tls_profile import tls_config_checker as mozilla
host, address, targets = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
scanner, names, requests = Scanner(), {}, []
for name, (port, starttls) in targets.items():
    place = ServerNetworkLocation(host, port, address)
    how = ProtocolWithOpportunisticTlsEnum.SMTP if starttls else None
    config = ServerNetworkConfiguration(host, tls_opportunistic_encryption=how)
    names[port] = name
    requests.append(ServerScanRequest(place, config))
scanner.queue_scans(requests)
profile = mozilla.MozillaTlsConfiguration.get(mozilla.TlsConfigurationEnum.MOZILLA_INTERMEDIATE)
found = {}
for result in scanner.get_results():
    name = names[result.server_location.port]
    try:
        mozilla.check_server_against_tls_configuration(result, profile)
        found[name] = {}
    except mozilla.ServerNotCompliantWithTlsConfiguration as error:
        found[name] = error.issues
print(json.dumps(found))
"""


def main() -> int:
    """The exit code: 1 if there is a finding."""
    folder = Path(tempfile.mkdtemp(prefix="mailkeep-tls-"))
    try:
        venv.create(folder / "venv", with_pip=True)
        python = str(folder / "venv" / "bin" / "python")
        install = [
            python,
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--root-user-action=ignore",
        ]
        subprocess.run([*install, _SSLYZE], check=True, timeout=600, stdout=sys.stderr)
        harness.start(folder, _SINK)
        stack = Stack(folder)
        targets = json.dumps({name: (stack.ports[name], how) for name, how in _PORTS.items()})
        command = [python, "-c", _SCAN, HOSTNAME, ADDRESS, targets]
        found = json.loads(subprocess.run(command, check=True, timeout=900, capture_output=True, text=True).stdout)
        print(circumstances(f"{_SSLYZE}, Mozilla intermediate"))
        findings = 0
        for name in _PORTS:
            issues = {
                what: text
                for what, text in found[name].items()
                if what not in ("certificate_path_validation", "maximum_certificate_lifespan")
            }
            findings += len(issues)
            print(f"{name:12} {'; '.join(f'{what}: {text}' for what, text in issues.items()) or 'no findings'}")
        return findings > 0
    finally:
        harness.stop(folder)
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    raise SystemExit(main())
