"""Sieve scripts (RFC 5228): those of a mailbox, and checks and tests of any script.

A mailbox has at most 32 scripts of 256 KiB each; at most one is active and filters new mail. They belong to the
mailbox: its owner edits the same scripts with ManageSieve (RFC 5804). The process `node` reads and writes them
(`jobs`), with `doveadm sieve` (`mail/sieve/storage`), full profile only: elsewhere UNAVAILABLE `needs_full_profile`.
The API's own changes are made one after another; between the API and ManageSieve, the last one wins.

A script that does not compile is not stored. A script's version is a hash of its text, so that it also changes with
ManageSieve. A caller of lower rank can't change the scripts of a mailbox that belongs to an administrator.

Checks and tests run Pigeonhole's programs, isolated, from this process (`mail/sieve/checker`), with the extensions of
the running Dovecot, where they are installed: elsewhere UNAVAILABLE `needs_sievec`. They know no other script, so that
an included one is missing. A test with a stored message has the rules and audit entries of reading it.

A script with the name `deactivate` can't be reached by the API, because its path is a route.
"""
