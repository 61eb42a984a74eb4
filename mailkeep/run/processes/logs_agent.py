"""The process `logs`: follows Postfix's log and writes delivery outcomes (`features/mailflow/delivery_status`)."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import structlog

from mailkeep.app import App
from mailkeep.core.errors import Unavailable
from mailkeep.features.mailflow.delivery_status import service as delivery_status
from mailkeep.features.mailflow.delivery_status.model import LogPosition
from mailkeep.features.mailflow.receiving.rejections import RejectionLimit
from mailkeep.jobs.cancellation import cancel_all
from mailkeep.mail.postfix.log_files import Piece, log_files, read_piece, split_lines
from mailkeep.run.runtime.process import Process

log = structlog.get_logger("mailkeep.logs")

LOG_NAME = "postfix"
_PIECE_BYTES = 512 << 10
_PAUSE_SECONDS = 0.2  # batches lines: one transaction for a few lines would cost more than the lines
_RETRY_SECONDS = 0.5
_CAUGHT_UP_SECONDS = 5.0
_PRUNE_SECONDS = 600.0


class LogFollower:
    """Reads a log from the position that is stored in the database; what it has in memory is a cache."""

    def __init__(self, app: App, path: Path) -> None:
        self._app = app
        self._path = path
        self._rejection_limit = RejectionLimit()
        self._positions: dict[int, LogPosition] | None = None
        self._caught_up_at = self._pruned_at = -_PRUNE_SECONDS

    async def read_next(self) -> bool:
        """Process the next piece of the log; False after the last. After `Unavailable` it can be called again."""
        if self._positions is None:
            self._positions = await delivery_status.positions(self._app, LOG_NAME)
        at = self._app.clock()
        files = await asyncio.to_thread(log_files, self._path)
        for file in files:
            start = delivery_status.read_position(file, self._positions)
            if start == file.size:
                continue
            if start > file.size:
                log.warning("the log was truncated", file=str(file.path), read_to=start, size=file.size)
                self._positions = None
                await delivery_status.skip_to_end(self._app, LOG_NAME, file)
                return True
            piece = await asyncio.to_thread(read_piece, file, start, _PIECE_BYTES)
            if piece is None:
                continue
            positions, self._positions = self._positions, None  # after an error, read what was committed
            try:
                positions[file.inode] = await self._process(piece)
            except delivery_status.PositionMoved:
                return True
            self._positions = positions
            if file is not files[-1] or piece.end < file.size:
                return True
        await self._record_caught_up([file.inode for file in files], at)
        return False

    async def _process(self, piece: Piece) -> LogPosition:
        """Process a piece. If that fails, process its lines one by one; log and skip each line that fails."""
        try:
            return await self._process_lines(piece)
        except (Unavailable, delivery_status.PositionMoved):
            raise
        except Exception:
            log.exception("a piece of the log could not be processed")
        position = LogPosition(piece.file.inode, piece.file.first_line, piece.start)
        for line_piece in split_lines(piece):
            try:
                position = await self._process_lines(line_piece)
            except (Unavailable, delivery_status.PositionMoved):
                raise
            except Exception:
                log.exception("a line of the log is skipped", line=line_piece.lines[0].decode("utf-8", "replace"))
                position = await self._process_lines(replace(line_piece, lines=[]))
        return position

    async def _process_lines(self, piece: Piece) -> LogPosition:
        return await delivery_status.process_lines(self._app, LOG_NAME, piece, self._rejection_limit)

    async def _record_caught_up(self, inodes: list[int], at: datetime) -> None:
        now = asyncio.get_running_loop().time()
        if now - self._caught_up_at >= _CAUGHT_UP_SECONDS:
            self._caught_up_at = now
            await delivery_status.record_caught_up(self._app, LOG_NAME, inodes, at)
        if now - self._pruned_at >= _PRUNE_SECONDS:
            self._pruned_at = now
            await delivery_status.prune(self._app)

    async def run(self) -> None:
        """Follow until cancelled."""
        has_failed = False
        while True:
            has_more = False
            try:
                has_more = await self.read_next()
                if has_failed:
                    log.info("reading the log continues")
                has_failed = False
            except Unavailable:
                if not has_failed:
                    log.warning("reading the log waits for the database")
                has_failed = True
            except PermissionError as error:
                # A rotation has created it for root only; `postlog.keep_readable` changes that soon.
                if not has_failed:
                    log.info("the log can't be read yet", why=str(error))
                has_failed = True
            except Exception:
                log.exception("the log could not be processed")
                has_failed = True
            if not has_more:
                await asyncio.sleep(_RETRY_SECONDS if has_failed else _PAUSE_SECONDS)


async def serve(app: App, process: Process) -> None:
    """Follow the log until asked to stop. An unfinished piece is read again after the next start."""
    task = asyncio.create_task(LogFollower(app, process.paths.mail_log).run())
    process.report_ready()
    await process.stop_requested.wait()
    await cancel_all(task)
