"""DNS records that a domain's administrator must publish. The API shows those of its DKIM keys."""
