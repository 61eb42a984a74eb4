"""Stored settings: each change is a revision, which never changes and is never removed.

At most one revision is `desired` and one `applied`. A change of settings that every process takes over at once is
applied with its commit; any other is desired until the next apply or start (settings with another effect than `none`
keep the values of the applied revision until then). A rollback is a new revision with the values of an old one.

The stored values are sealed with the master secret as a whole. Every process is notified of a new revision
(`run/runtime/stored_settings`).
"""
