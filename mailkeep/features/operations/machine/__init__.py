"""The machine: the data directory's disk and the clock, for the health and for `mailkeep doctor`.

**Disk.** Free bytes and inodes. The use of each hour is stored for 90 days. The growth of the last 14 days is the
median of the slopes between all pairs of measurements (Theil and Sen), so that a backup that comes and goes, or a
folder that was removed once, changes little. It says when the disk will be full; three days of measurements are needed.

**Clock.** It is compared with the newest file of the data directory (a clock that was set back), with the database's
clock, and by NTP if `server.ntp_server` is set. The kernel says whether a time service sets it.
"""
