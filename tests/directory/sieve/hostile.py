"""Hostile scripts (from the lab), and whether each is valid."""

from __future__ import annotations

_BLOCK, _TEST = 'if header :contains "subject" "abcdef" { fileinto "X"; }\n', 'if header :regex "subject"'


def _nest(depth: int) -> str:
    return "if true { " * depth + "keep;" + " }" * depth


SCRIPTS: dict[str, tuple[str, bool]] = {
    "31 blocks": (_nest(31), True),
    "33 blocks": (_nest(33), False),
    "20000 blocks": (_nest(20_000), False),
    "20000 nots": ("if " + "not " * 20_000 + "true { keep; }", False),
    "20000 anyofs": ("if " + "anyof(" * 20_000 + "true" + ")" * 20_000 + " { keep; }", False),
    "3500 tests": ('require "fileinto";\n' + _BLOCK * 3_500, True),
    "a list of 25000": ('if header :is "subject" [' + ",".join(f'"{n}"' for n in range(25_000)) + "] { keep; }", True),
    "a comment of 250 KB": ("#" + "a" * 250_000 + "\nkeep;", True),
    "a regular expression that backtracks": (f'require "regex";\n{_TEST} "{"(a+)+" * 5}$" {{ keep; }}', True),
    "a huge regular expression": (
        f'require "regex";\n{_TEST} "((((a{{1,255}}){{1,255}}){{1,255}}){{1,255}})" {{ discard; }}', False,
    ),
    "a large regular expression": (f'require "regex";\n{_TEST} "((a{{1,255}}){{1,60}})" {{ discard; }}', True),
    "40 repeated groups": (f'require "regex";\n{_TEST} "{"(a*)" * 40}b" {{ discard; }}', True),
    "a variable that grows": (
        'require "variables";\nset "a" "' + "x" * 1_000 + '";\n' + 'set "a" "${a}${a}${a}${a}${a}${a}${a}${a}";\n' * 20
        + "keep;", True,
    ),
    "60 wildcards": ('if header :matches "subject" "' + "*a" * 60 + 'b" { discard; }', True),
    "40 folders": ('require "fileinto";\n' + "".join(f'fileinto "f{n}";\n' for n in range(40)), True),
    "12 redirects": ("".join(f'redirect "a{n}@b.test";\n' for n in range(12)), True),
    "a surrogate-like sequence": ("keep; # \ufffd\u202e\n", True),
    "an endless string": ('fileinto "' + "x" * 200_000, False),
}  # fmt: skip

MESSAGE = "From: a@b.test\nTo: alice@ex1.test\nSubject: " + "a" * 30_000 + "\nMessage-ID: <2@b>\n\nx\n"
