"""The keys of the backup repository: the recovery key, and the change of the repository's own password.

The recovery key is a second key of the repository (`restic key add`), which opens it when this machine is lost. It is
printed once and kept by people: only restic's ID of the key is stored here. These operations are commands, because the
key must not pass through a browser, and the repository's password can be read by root only. Each is an operation on
backups, so that it excludes others; the command performs it itself.

The change of the password adds a key with a new one, replaces the file, then removes the old key: whenever it is
interrupted, the password in the file opens the repository.
"""
