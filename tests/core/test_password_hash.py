"""Hashes that may be imported: each scheme up to what it may cost, and no password in clear text."""

import base64
import subprocess

import pytest

from mailkeep.core.password_hash import check_password_hash

BCRYPT = "./" * 26 + "a"
SHA = "x" * 86
ACCEPTED = [
    "{ARGON2ID}$argon2id$v=19$m=262144,t=10,p=1$c2FsdHNhbHQ$aGFzaA",
    "{argon2i}$argon2i$v=19$m=65536,t=3,p=4$c2FsdHNhbHQ$aGFzaA",
    f"{{SHA512-CRYPT}}$6$salt${SHA}",
    f"{{SHA512-CRYPT}}$6$rounds=1000000$salt${SHA}",
    f"{{SHA256-CRYPT}}$5$rounds=1000$salt${SHA[:43]}",
    f"{{BLF-CRYPT}}$2y$14${BCRYPT}",
    f"{{CRYPT}}$2b$04${BCRYPT}",
    f"{{CRYPT}}$6$salt${SHA}",
    "{CRYPT}$y$j9T$F5Jx5fExrKuPp53xLKQ..1$X3DX6M94c7o.9agCG9G317fhZg9SqC.5i5rd.RhAtQ7",
    "{CRYPT}$y$jDT$F5Jx5fExrKuPp53xLKQ..1$X3DX6M94c7o.9agCG9G317fhZg9SqC.5i5rd.RhAtQ7",
    "{CRYPT}abJnggxhB/yWI",
    "{MD5-CRYPT}$1$salt$" + "x" * 22,
    "{SSHA256.HEX}00ff",
    "{ssha.b64}AAAA",
    "{SCRAM-SHA-256}4096,c2FsdA==,YQ==,Yg==",
    "{PBKDF2}$1$salt$5000$00ff",
    "{SHA512-CRYPT.B64}" + base64.b64encode(f"$6$salt${SHA}".encode()).decode(),
]
TOO_EXPENSIVE = [
    "{ARGON2ID}$argon2id$v=19$m=262145,t=1,p=1$c2FsdHNhbHQ$aGFzaA",
    "{ARGON2ID}$argon2id$v=19$m=8,t=11,p=1$c2FsdHNhbHQ$aGFzaA",
    "{ARGON2I}$argon2i$v=19$m=8,t=1,p=255$c2FsdHNhbHQ$aGFzaA",
    f"{{SHA512-CRYPT}}$6$rounds=1000001$salt${SHA}",
    f"{{SHA256-CRYPT}}$5$rounds=999999999$salt${SHA[:43]}",
    f"{{BLF-CRYPT}}$2y$15${BCRYPT}",
    f"{{CRYPT}}$2y$31${BCRYPT}",
    f"{{CRYPT}}$6$rounds=9999999$salt${SHA}",
    "{CRYPT}$y$jET$F5Jx5fExrKuPp53xLKQ..1$X3DX6M94c7o.9agCG9G317fhZg9SqC.5i5rd.RhAtQ7",
    "{CRYPT}$7$CU..../....abc$X3DX6M94c7o.9agCG9G317fhZg9SqC.5i5rd.RhAtQ7",
    "{CRYPT}_J9..K0AyUubs0V6iBps",
    "{SCRAM-SHA-1}1000001,c2FsdA==,YQ==,Yg==",
    "{PBKDF2}$1$salt$4000000000$00ff",
    "{SHA512-CRYPT.HEX}" + f"$6$rounds=9999999$salt${SHA}".encode().hex(),
    "{SHA512-CRYPT.b64}" + base64.b64encode(f"$6$rounds=9999999$salt${SHA}".encode()).decode(),
]
OTHERS = [
    "", "secret", "$argon2id$v=19$x", "{}x", "{ARGON2ID}", "{ARGON3}x", "{SSHA.ROT13}x", "{SSHA.}x", "{PLAIN}secret",
    "{plain.b64}c2VjcmV0", "{CLEAR}a", "{CLEARTEXT}a", "{PLAIN-TRUNC}8-secret", "{OTP}x", "{SHA}a b", "{SHA}a\n",
    " {SHA}a", "{SHA}ä", "{SHA}" + "x" * 1001, "{SHA}x\x00", "{ SHA}x", "{BLF-CRYPT}$2y$05$abc", "{ARGON2ID}$argon2i$x",
    "{SHA512-CRYPT}$5$salt$hash", "{SHA512-CRYPT.B64}$6$salt$hash", "{CRYPT}", "{DES-CRYPT}_J9..K0AyUubs0V6iBps",
    "{ARGON2ID}$argon2id$v=19$m=-1,t=1,p=1$c2FsdA$aGFzaA", "{ARGON2ID}$argon2id$v=19$m=8,t=1,p=1$c2FsdA",
    "{SHA512-CRYPT}$6$rounds=-1$salt$hash",
]  # fmt: skip


@pytest.mark.parametrize("text", ACCEPTED)
def test_hashes_that_dovecot_verifies_at_a_bearable_cost_are_accepted(text: str):
    assert check_password_hash(text) is None


@pytest.mark.parametrize("text", TOO_EXPENSIVE)
def test_imported_hashes_have_a_cost_limit(text: str):
    assert "at most" in (check_password_hash(text) or "")


@pytest.mark.parametrize("text", OTHERS)
def test_clear_text_and_malformed_hashes_are_refused(text: str):
    assert check_password_hash(text)


@pytest.mark.parametrize(
    "scheme", ["ARGON2ID", "BLF-CRYPT", "SHA512-CRYPT", "SHA256-CRYPT", "MD5-CRYPT", "SSHA512", "SCRAM-SHA-256",
               "PBKDF2", "CRYPT", "SSHA.HEX", "SHA512-CRYPT.B64", "CRAM-MD5"]
)  # fmt: skip
def test_what_dovecot_itself_makes_is_accepted(scheme: str):
    made = subprocess.run(["doveadm", "pw", "-s", scheme, "-p", "secret"], capture_output=True, text=True, check=True)
    assert check_password_hash(made.stdout.strip()) is None, made.stdout
