"""Who may do what, and how they prove it: administrators, API keys, sessions, second factors, passkeys, OIDC."""
