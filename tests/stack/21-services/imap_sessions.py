"""Many open IMAP sessions in one process: `imap_sessions.py PORT SESSIONS ADDRESS...`, with the common password.

Each session waits in IDLE. It reports `open`, and then for each line on its input how many sessions still answer.
"""

from __future__ import annotations

import asyncio
import sys

from tests.stack.harness import ADDRESS, PASSWORD, trusting

_SECONDS = 60.0
_AT_ONCE = 8


class Session:
    """A session in IDLE."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    async def command(self, *words: str) -> None:
        """Perform a command, which must succeed."""
        self._writer.write(f"a {' '.join(words)}\r\n".encode())
        await self._read_until(b"a OK")

    async def idle(self) -> None:
        """Wait for changes until the next command."""
        self._writer.write(b"i IDLE\r\n")
        await self._read_until(b"+ ")

    async def end_idle(self) -> None:
        """End the wait."""
        self._writer.write(b"DONE\r\n")
        await self._read_until(b"i OK")

    async def answers(self) -> bool:
        """Whether the session still works."""
        try:
            await self.end_idle()
            await self.command("NOOP")
            await self.idle()
        except (OSError, EOFError, TimeoutError):
            return False
        return True

    async def _read_until(self, beginning: bytes) -> None:
        async with asyncio.timeout(_SECONDS):
            while not (line := await self._reader.readline()).startswith(beginning):
                if not line:
                    raise EOFError("the session has ended")
                if line.startswith((b"a NO", b"a BAD", b"* BYE")):
                    raise EOFError(line.decode())


async def open_session(port: int, address: str) -> Session:
    """Log in, open the inbox and wait there."""
    session = Session(*await asyncio.open_connection(ADDRESS, port, ssl=trusting()))
    await session.command("LOGIN", address, f'"{PASSWORD}"')
    await session.command("SELECT", "INBOX")
    await session.idle()
    return session


async def main() -> None:
    port, number, addresses = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
    limit = asyncio.Semaphore(_AT_ONCE)

    async def open_next(index: int) -> Session:
        async with limit:
            return await open_session(port, addresses[index % len(addresses)])

    sessions = await asyncio.gather(*map(open_next, range(number)))
    print("open", flush=True)
    while await asyncio.to_thread(sys.stdin.readline):
        print(sum(await asyncio.gather(*(each.answers() for each in sessions))), flush=True)


if __name__ == "__main__":
    asyncio.run(main())
