"""Restores of one domain or one mailbox from a backup, while the server runs.

Objects are matched by ID. What exists stays as it is: only what is missing comes back. Administrators, API keys,
webhooks, credentials and suspensions are never restored, nor what was queued: a mailbox that was deleted returns
without a password. Mail is added, never replaced or removed; what is newer than the backup is counted and stays.
"""
