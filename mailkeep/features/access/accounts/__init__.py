"""Accounts that sign in: those of administrators, and mailboxes for their owners.

Sessions, logins, second factors and passkeys work with an `AccountRef` and so treat both alike. The differences are
here: the tables `admins` and `mailboxes`. An account's `credentials_epoch` is raised when its ways to sign in change,
which ends its sessions and pending logins, except the session that made the change.

A second factor of a mailbox also ends what its password opens by mail protocols: from then on they accept app passwords
only.
"""
