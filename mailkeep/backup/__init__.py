"""Backups: what a snapshot contains, and the programs that make, read and check one. No product rules, no SQL of
features.

restic stores the snapshots: encrypted, deduplicated, each block with its SHA-256 (https://restic.readthedocs.io).
"""
