"""The process `logs`: follows Postfix's log and writes delivery outcomes (`features/mailflow/delivery_status`)."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import structlog

from mailkeep.app import App
from mailkeep.core.errors import Unavailable
from mailkeep.features.mailflow.delivery_status import service as fates
from mailkeep.features.mailflow.delivery_status.model import LogPosition
from mailkeep.features.mailflow.receiving.rejections import RejectionLimit
from mailkeep.jobs.cancellation import cancel_all
from mailkeep.mail.postfix.log_files import Piece, log_files, read_piece, split_lines
from mailkeep.run.runtime.process import Process

log = structlog.get_logger("mailkeep.logs")

NAME = "postfix"
_PIECE = 512 << 10
_PAUSE = 0.2  # what comes meanwhile is taken in together: a transaction for each few lines would cost more than they do
_AWAY = 0.5
_TELL_SECONDS = 5.0
_TIDY_SECONDS = 600.0


class LogFollower:
    """Reads a log from where the database says; what it has in memory is only what it may forget."""

    def __init__(self, app: App, path: Path) -> None:
        self._app = app
        self._path = path
        self._bound = RejectionLimit()
        self._positions: dict[int, LogPosition] | None = None
        self._told = self._tidied = -_TIDY_SECONDS

    async def read_next(self) -> bool:
        """Take in one piece; False where that was the last. `Unavailable`: nothing was lost, try again."""
        if self._positions is None:
            self._positions = await fates.positions(self._app, NAME)
        at = self._app.clock()
        files = await asyncio.to_thread(log_files, self._path)
        for file in files:
            start = fates.read_position(file, self._positions)
            if start == file.size:
                continue
            if start > file.size:
                log.warning("the log was cut short", file=str(file.path), read_to=start, size=file.size)
                self._positions = None
                await fates.skip_to_end(self._app, NAME, file)
                return True
            piece = await asyncio.to_thread(read_piece, file, start, _PIECE)
            if piece is None:
                continue
            known, self._positions = self._positions, None  # a commit whose answer is lost may have been done
            try:
                known[file.inode] = await self._record(piece)
            except fates.PositionMoved:
                return True
            self._positions = known
            if file is not files[-1] or piece.end < file.size:
                return True
        await self._record_caught_up([file.inode for file in files], at)
        return False

    async def _record(self, piece: Piece) -> LogPosition:
        """A line that we stumble over, though none should, holds up no other: it is passed over, and told."""
        try:
            return await fates.process_lines(self._app, NAME, piece, self._bound)
        except (Unavailable, fates.PositionMoved):
            raise
        except Exception:
            log.exception("a piece of the log could not be taken in")
        position = LogPosition(piece.file.inode, piece.file.first_line, piece.start)
        for single in split_lines(piece):
            try:
                position = await fates.process_lines(self._app, NAME, single, self._bound)
            except (Unavailable, fates.PositionMoved):
                raise
            except Exception:
                log.exception("a line of the log is passed over", line=single.lines[0].decode("utf-8", "replace"))
                position = await fates.process_lines(self._app, NAME, replace(single, lines=[]), self._bound)
        return position

    async def _record_caught_up(self, inodes: list[int], at: datetime) -> None:
        now = asyncio.get_running_loop().time()
        if now - self._told >= _TELL_SECONDS:
            self._told = now
            await fates.record_caught_up(self._app, NAME, inodes, at)
        if now - self._tidied >= _TIDY_SECONDS:
            self._tidied = now
            await fates.prune(self._app)

    async def run(self) -> None:
        """Follow until cancelled."""
        away = False
        while True:
            try:
                busy = await self.read_next()
                if away:
                    log.info("the log is read on")
                away = False
            except Unavailable:
                if not away:
                    log.warning("the log waits for the database")
                busy, away = False, True
            except PermissionError as error:
                # A rotation made it anew; whoever may lets us read it at once.
                if not away:
                    log.info("the log can't be read yet", why=str(error))
                busy, away = False, True
            except Exception:
                log.exception("the log could not be taken in")
                busy, away = False, True
            if not busy:
                await asyncio.sleep(_AWAY if away else _PAUSE)


async def serve(app: App, process: Process) -> None:
    """Follow until told to end; what is under way is left, since it is found again."""
    task = asyncio.create_task(LogFollower(app, process.paths.mail_log).run())
    process.report_ready()
    await process.stop_requested.wait()
    await cancel_all(task)
