"""The SQL of measurements."""

from __future__ import annotations

from datetime import datetime

from mailkeep.db.pool import Conn
from mailkeep.features.operations.machine.model import DiskMeasurement


async def read_clock(conn: Conn) -> datetime:
    """The database's clock."""
    cursor = await conn.execute("SELECT mta_time() AS at")
    row = await cursor.fetchone()
    assert row is not None
    return row["at"]


async def add(conn: Conn, measurement: DiskMeasurement, before: datetime) -> None:
    """Store the measurement of an hour, unless there is one, and delete those before a time."""
    await conn.execute(
        """
        INSERT INTO disk_measurements (hour, used_bytes, total_bytes, used_inodes, total_inodes)
        VALUES (%(hour)s, %(used_bytes)s, %(total_bytes)s, %(used_inodes)s, %(total_inodes)s)
        ON CONFLICT (hour) DO NOTHING
        """,
        {name: getattr(measurement, name) for name in DiskMeasurement.__slots__},
    )
    await conn.execute("DELETE FROM disk_measurements WHERE hour < %(before)s", {"before": before})


async def list_since(conn: Conn, since: datetime) -> list[DiskMeasurement]:
    """The measurements since a time, oldest first."""
    cursor = await conn.execute(
        """
        SELECT m.hour, m.used_bytes, m.total_bytes, m.used_inodes, m.total_inodes
        FROM disk_measurements m WHERE m.hour >= %(since)s ORDER BY m.hour
        """,
        {"since": since},
    )
    return [DiskMeasurement(**row) for row in await cursor.fetchall()]
