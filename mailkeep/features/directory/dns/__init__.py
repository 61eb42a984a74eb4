"""DNS: what a domain's administrator has to publish. Now its DKIM keys."""
