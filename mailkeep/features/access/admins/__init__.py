"""Administrators: who may log in, with which role, and for which domains.

An account has an email (unique after folding), a password (Argon2id), one of three roles, and for a domain_admin
the domains assigned to it; an assignment goes with its domain. admin and super_admin see every account, a
domain_admin itself and those it shares a domain with, a key that is scoped to domains only its owner. Only a
super_admin makes, changes and deletes accounts.

There is always a super_admin: deleting or demoting the last one is refused, also by two calls at once. A change of
password or role raises the account's `credentials_epoch`, which every session carries, and so ends its sessions at
once, but for the one that made the change itself.
"""
