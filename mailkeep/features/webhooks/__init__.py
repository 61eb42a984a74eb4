"""Webhooks: events, pushed to those who subscribed, signed (`signature`)."""
