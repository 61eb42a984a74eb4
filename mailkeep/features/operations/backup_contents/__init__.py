"""What a backup contains: its domains, mailboxes and folders with counts, and messages by Message-ID.

They are read from the index in the snapshot (`mailkeep/backup/contents`), for which restic and the repository's
password are needed. In the full profile only root has that password: the process `node` reads the index, in the
background, and answers `backups.contents`; the API asks again until it is there.
"""
