"""The SQL of the runs of background jobs."""

from __future__ import annotations

from collections.abc import Sequence

from mailkeep.db.pool import Conn
from mailkeep.jobs.runs import JobRun


async def save(conn: Conn, runs: Sequence[JobRun]) -> None:
    """Write when jobs succeeded, in one order: other processes may have run the same ones, also later."""
    await conn.execute(
        """
        INSERT INTO job_runs AS t (job, every_seconds, succeeded_at)
        SELECT r.job, r.every_seconds, r.succeeded_at
        FROM unnest(%(jobs)s::text[], %(seconds)s::double precision[], %(times)s::timestamptz[])
             AS r (job, every_seconds, succeeded_at)
        ORDER BY r.job
        ON CONFLICT (job) DO UPDATE
        SET every_seconds = excluded.every_seconds, succeeded_at = greatest(t.succeeded_at, excluded.succeeded_at)
        """,
        {
            "jobs": [each.job for each in runs],
            "seconds": [each.every_seconds for each in runs],
            "times": [each.succeeded_at for each in runs],
        },
    )


async def list_all(conn: Conn) -> list[JobRun]:
    """All jobs."""
    cursor = await conn.execute("SELECT j.job, j.every_seconds, j.succeeded_at FROM job_runs j ORDER BY j.job")
    return [JobRun(**row) for row in await cursor.fetchall()]


async def delete(conn: Conn, jobs: Sequence[str]) -> None:
    """Delete these."""
    await conn.execute("DELETE FROM job_runs WHERE job = ANY(%(jobs)s)", {"jobs": list(jobs)})


async def delete_all(conn: Conn) -> None:
    """Delete all."""
    await conn.execute("DELETE FROM job_runs")
