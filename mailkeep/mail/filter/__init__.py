"""Rspamd, as its client: the controller, which learns and has statistics."""
