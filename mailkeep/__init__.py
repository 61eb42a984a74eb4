"""Mailkeep: a self-hosted mail server managed through one JSON HTTP API."""

__version__ = "0.1.0"
