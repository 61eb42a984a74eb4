"""SMTP and LMTP (RFC 5321, RFC 2033): server, client, connection pool."""
