"""Mail under way: sending, receiving, delivery status, the queue, abuse limits, the policy server, the sandbox, webhooks."""
