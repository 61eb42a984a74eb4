"""Mail under way: sending, receiving, delivery status, the queue, limits against abuse, the sandbox, webhooks."""
