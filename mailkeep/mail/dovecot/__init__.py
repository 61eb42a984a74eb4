"""Dovecot's auth policy and dict protocols, its sessions, mailbox counts by doveadm, and the spool of Sieve's mail."""
