"""Administrators: who may log in, with which role, and for which domains.

An account has an email (unique after folding), a password (Argon2id), one of three roles, and for a domain_admin the
domains assigned to it; deleting a domain deletes its assignments. admin and super_admin see every account, a
domain_admin its own and those that share a domain with it, a key scoped to domains only its owner. Only a super_admin
creates, changes and deletes accounts.

There is always an active super_admin: deleting, demoting or disabling the last one is refused, also for two concurrent
calls. A change of password, role or second factor increments the account's `credentials_epoch`. A session is valid only
while it equals the value stored with the session, so the change ends the account's sessions at once, except the session
that made it.

A disabled account (`active` false) has no sessions, its logins are refused like wrong passwords, and its API keys are
invalid until it is enabled again. An account with `must_change_password` may only change its password. An invited
account has no password until its owner sets one with the link (`access/invitations`).
"""
