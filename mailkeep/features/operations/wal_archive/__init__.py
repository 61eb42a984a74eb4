"""The archive of the write-ahead log (`backup.wal_archive`), with which an instance is restored to a point in time.

The process `backup` receives and stores what was written, each minute. A chain begins with the first backup after the
setting is switched on: a backup and all WAL after its beginning. It ends, and the next backup begins another, when WAL
is missing: the repository or this process was away for so long that PostgreSQL gave up the replication slot, the
repository is another one, or the database was restored. Nothing here can stop the database or fill its disk
(`backup/wal`).
"""
