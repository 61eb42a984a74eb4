"""Pigeonhole's programs: check and try Sieve scripts (RFC 5228) in isolation, and manage those of a mailbox.

All of them get a small configuration of their own, with the extensions and limits of the running Dovecot, but without
its plugins: extensions that only an administrator's scripts may use (`execute`, `pipe`) are unknown.
"""
