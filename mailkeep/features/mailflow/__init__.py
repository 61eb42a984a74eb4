"""Mail flow: sending, receiving, delivery status, queue, abuse limits, policy server, sandbox, webhooks."""
