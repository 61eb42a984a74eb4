"""`mailkeep sendmail`: a replacement for /usr/sbin/sendmail that hands a message to the running server.

It needs only the right to connect to the server's socket. It imports only the standard library, to start fast: programs
call it for each message. Options are those of sendmail; exit codes are those of sysexits.h.
"""

from __future__ import annotations

import json
import os
import re
import socket
import stat
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    import typer

USAGE, NOINPUT, OSERR, TEMPFAIL = 64, 66, 71, 75
SOCKET_VARIABLE = "MAILKEEP_SENDMAIL_SOCKET"
DEFAULT_SOCKET = Path("/run/mailkeep/sendmail.sock")
HELP = """\
Usage: mailkeep sendmail [OPTIONS] [RECIPIENT...] < message

Send a message: a replacement for /usr/sbin/sendmail. Link this program there under the name `sendmail`.

  -t                 take recipients from To, Cc and Bcc as well (Bcc is removed)
  -i, -oi            a line with a single dot does not end the message
  -f, -r ADDRESS     envelope sender (`<>`: none)
  -F NAME            full name, for a message without From
  -bm                send a message (default)
  --key-file FILE    send with the API key in this file, as an address that the key may use
  --data-dir DIR     the server's data directory (default: the server that owns the default socket)
  --socket PATH      the server's socket (default: $MAILKEEP_SENDMAIL_SOCKET, then /run/mailkeep/sendmail.sock)

An account sends as account@ the server's host name. Other addresses need an API key, or an entry in the setting
sendmail.allowed. Options for delivery reports and queueing (-N, -R, -V, -O, -o, -B, -h, -n, -v, -m, -G, -U) are
accepted and ignored.

Exit codes: 0 sent, 64 usage, 65 malformed message, 66 input can't be read, 67 unknown recipient, 69 refused, 71 system
error, 75 try again later, 77 not permitted.

Examples:
  echo "Subject: Done" | mailkeep sendmail admin@example.com
  mailkeep sendmail -t -i -f shop@example.com --key-file /etc/shop/key < message.eml
"""
_WITH_VALUE = "BCFNORVXfhopr"  # options with a value
_IGNORED = "GUmnv"
_FLAGS = {"t": "extract", "i": "ignore_dots", "I": "does_nothing"}
_UNSUPPORTED = {
    "q": "-q is not supported: the server runs its queue itself",
    "bs": "-bs is not supported: use SMTP submission",
    "bp": "-bp is not supported: use `mailkeep queue list`",
    "bd": "-bd is not supported: the server is `mailkeep up`",
    "bv": "-bv is not supported: use `mailkeep routing explain`",
}
_FRAME_BYTES = 64 << 10


class UsageError(ValueError):
    """The command line is invalid."""


@dataclass(slots=True)
class SendmailArguments:
    """The options and recipients of the command line."""

    sender: str | None = None
    name: str = ""
    extract: bool = False
    ignore_dots: bool = False
    key_file: str | None = None
    data_dir: str | None = None
    socket: str | None = None
    help: bool = False
    does_nothing: bool = False  # -bi, -I: there is no alias database to build
    recipients: list[str] = field(default_factory=list[str])


def parse(arguments: Sequence[str]) -> SendmailArguments:
    """Parse options as sendmail does: letters can be combined; a value is the rest of the word or the next argument."""
    options = SendmailArguments()
    remaining = list(arguments)
    while remaining:
        word = remaining.pop(0)
        if word == "--":
            options.recipients += remaining
            break
        if word.startswith("--"):
            _parse_long_option(options, word, remaining)
        elif word.startswith("-") and len(word) > 1:
            _parse_letters(options, word[1:], remaining)
        else:
            options.recipients.append(word)
    for text in (options.name, options.sender or "", *options.recipients):
        if re.search(r"[\x00-\x1f\x7f]", text):
            raise UsageError("an argument contains a control character")
    return options


def _parse_long_option(options: SendmailArguments, word: str, remaining: list[str]) -> None:
    name, equals, value = word.partition("=")
    if name == "--help":
        options.help = True
        return
    if name not in ("--key-file", "--data-dir", "--socket"):
        raise UsageError(f"unknown option {name}")
    if not equals:
        if not remaining:
            raise UsageError(f"{name} needs a value")
        value = remaining.pop(0)
    setattr(options, name[2:].replace("-", "_"), value)


def _parse_letters(options: SendmailArguments, letters: str, remaining: list[str]) -> None:
    while letters:
        letter, letters = letters[0], letters[1:]
        if letter in _FLAGS:
            setattr(options, _FLAGS[letter], True)
        elif letter == "b":
            _set_mode(options, letters[:1])
            letters = letters[1:]
        elif letter == "A" and letters[:1] in ("c", "m"):
            letters = letters[1:]
        elif letter in _WITH_VALUE:
            value = letters or (remaining.pop(0) if remaining else None)
            if value is None:
                raise UsageError(f"-{letter} needs a value")
            _set_value(options, letter, value)
            return
        elif letter not in _IGNORED:
            raise UsageError(_UNSUPPORTED.get(letter, f"unknown option -{letter}"))


def _set_mode(options: SendmailArguments, mode: str) -> None:
    if mode == "i":
        options.does_nothing = True
    elif mode != "m":
        raise UsageError(_UNSUPPORTED.get(f"b{mode}", f"-b{mode} is not supported"))


def _set_value(options: SendmailArguments, letter: str, value: str) -> None:
    if letter in "fr":
        value = value.strip()
        options.sender = value[1:-1].strip() if value.startswith("<") and value.endswith(">") else value
    elif letter == "F":
        options.name = value
    elif (letter, value) == ("o", "i") or (letter == "O" and value.lower().startswith("ignoredots")):
        options.ignore_dots = True


def run(arguments: Sequence[str], source: IO[bytes]) -> int:
    """Send the message that `source` contains; the exit code."""
    try:
        options = parse(arguments)
        if options.help:
            print(HELP, end="")
            return 0
        if options.does_nothing:
            return 0
        if not options.recipients and not options.extract:
            raise UsageError("no recipient: name one, or use -t (--help shows all options)")
        key = Path(options.key_file).read_text("utf-8").strip() if options.key_file else None
    except UsageError as error:
        return _print_error(USAGE, str(error))
    except (OSError, UnicodeDecodeError) as error:
        return _print_error(NOINPUT, f"the key file can't be read: {error}")
    request = {
        "sender": options.sender,
        "name": options.name,
        "recipients": options.recipients,
        "extract": options.extract,
        "key": key,
    }
    try:
        connection = _connect(options)
    except OSError as error:
        return _print_error(TEMPFAIL, f"the server is not running, or its socket can't be reached: {error}")
    with connection:
        try:
            return _submit(connection, request, _read_message(source, ignore_dots=options.ignore_dots))
        except _InputError as error:
            return _print_error(NOINPUT, f"the message can't be read: {error}")
        except (OSError, ValueError) as error:
            return _print_error(TEMPFAIL, f"the connection to the server failed: {error}")


class _InputError(Exception):
    pass


def _submit(connection: socket.socket, request: Mapping[str, object], pieces: Iterator[bytes]) -> int:
    try:
        _send(connection, json.dumps(dict(request)).encode("ascii"))
        for piece in pieces:
            _send(connection, piece)
        _send(connection, b"")
    except (BrokenPipeError, ConnectionResetError):
        pass  # the server has answered before the end of the message
    line = connection.makefile("rb").readline()
    if not line.endswith(b"\n"):
        raise OSError("it was closed without an answer")
    answer = json.loads(line)
    if answer["text"]:
        _print_error(0, answer["text"])
    return int(answer["code"])


def _send(connection: socket.socket, frame: bytes) -> None:
    connection.sendall(len(frame).to_bytes(4, "big") + frame)


def _read_message(source: IO[bytes], *, ignore_dots: bool) -> Iterator[bytes]:
    """The message in pieces; a line with a single dot ends it, unless `ignore_dots`."""
    buffered: list[bytes] = []
    size = 0
    try:
        if ignore_dots:
            while piece := source.read(_FRAME_BYTES):
                yield piece
            return
        for line in source:
            if line.rstrip(b"\r\n") == b".":
                break
            buffered.append(line)
            size += len(line)
            if size >= _FRAME_BYTES:
                yield from _split(b"".join(buffered))
                buffered, size = [], 0
    except OSError as error:
        raise _InputError(error) from error
    yield from _split(b"".join(buffered))


def _split(content: bytes) -> Iterator[bytes]:
    for start in range(0, len(content), _FRAME_BYTES):
        yield content[start : start + _FRAME_BYTES]


def _connect(options: SendmailArguments) -> socket.socket:
    failure: OSError = FileNotFoundError(f"no {DEFAULT_SOCKET}; --data-dir or --socket name another")
    for path in _socket_paths(options):
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(1200)
        try:
            connection.connect(str(path))
        except OSError as error:
            connection.close()
            failure = OSError(f"{path}: {error.strerror}")
            continue
        return connection
    raise failure


def _socket_paths(options: SendmailArguments) -> Iterator[Path]:
    """The paths where the socket may be. A folder in /tmp must belong to the data directory's owner."""
    if options.socket:
        yield Path(options.socket)
        return
    if options.data_dir is None:
        yield Path(os.environ.get(SOCKET_VARIABLE) or DEFAULT_SOCKET)
        return
    data_dir = Path(options.data_dir)
    owner, name = data_dir.stat().st_uid, (data_dir / "instance-id").read_text("utf-8").strip()
    yield DEFAULT_SOCKET.parent / name / "local" / DEFAULT_SOCKET.name
    temporary = Path(f"/tmp/mailkeep-{owner}")  # noqa: S108 - its owner is checked
    if temporary.is_dir() and stat.S_ISDIR(temporary.lstat().st_mode) and temporary.lstat().st_uid == owner:
        yield temporary / name / "local" / DEFAULT_SOCKET.name


def _print_error(code: int, text: str) -> int:
    print(f"sendmail: {text}", file=sys.stderr)
    return code


def register(app: typer.Typer) -> None:
    """Add the command to --help. `run.cli.main` runs it without typer."""
    usage, *paragraphs = HELP.strip().split("\n\n")
    # \b: click does not rewrap the paragraph.
    epilog = "\n\n".join(f"\b\n{paragraph}" for paragraph in (usage, *paragraphs[1:]))
    app.command("sendmail", add_help_option=False, help="Send a message, as /usr/sbin/sendmail does.", epilog=epilog)(
        lambda: None
    )


def main(arguments: Sequence[str]) -> int:
    """The entry point of `sendmail` and `mailkeep sendmail`; the exit code."""
    return run(arguments, sys.stdin.buffer)
