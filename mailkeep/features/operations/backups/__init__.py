"""Backups: making, verifying and removing them, one operation at a time.

The API stores an operation; the process `backup` (full profile; in the embedded profile a background task) claims and
performs it. Its progress, and the request to cancel it, are in its row. If the process dies, the next one ends the
operation as failed and removes what it left.
"""
