"""What is wrong with backups: a component of the health, and the events `system.backup_failed`,
`system.backup_unverified` and `system.backup_late`, each once per case.

A worker looks every minute, not the process that makes backups: it reports also when that one does not run. Late: no
backup has succeeded for two intervals of `backup.schedule`. Unverified: the last verification found differences, or
none was made for two intervals of `backup.verify_every`.
"""
