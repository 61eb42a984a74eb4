"""Administrators: who may log in, with which role, and for which domains.

An account has an email (unique after folding), a password (Argon2id), one of three roles, and for a domain_admin the
domains assigned to it; deleting a domain deletes its assignments. admin and super_admin see every account, a
domain_admin its own and those that share a domain with it, a key scoped to domains only its owner. Only a super_admin
creates, changes and deletes accounts.

There is always a super_admin: deleting or demoting the last one is refused, also for two concurrent calls. A change of
password, role or second factor increments the account's `credentials_epoch`. A session is valid only while it equals
the value stored with the session, so the change ends the account's sessions at once, except the session that made it.
"""
