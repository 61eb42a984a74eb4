-- Identities at OpenID Connect providers, and logins by them that are under way.

-- An account has one at most; what identifies is (issuer, subject), never an email. admins.oidc_provider names the
-- provider of the settings.
CREATE TABLE oidc_identities (
    admin_id  uuid CONSTRAINT oidc_identities_pkey PRIMARY KEY REFERENCES admins ON DELETE CASCADE,
    issuer    text NOT NULL,
    subject   text NOT NULL,
    linked_at timestamptz NOT NULL,
    CONSTRAINT oidc_identities_unique UNIQUE (issuer, subject)
);

-- Each is used once, by the browser that began it. Nonce and verifier are derived from the state, and stand nowhere.
CREATE UNLOGGED TABLE oidc_logins (
    state_hash      bytea PRIMARY KEY,
    browser_hash    bytea NOT NULL,
    provider        text NOT NULL,
    next_path       text NOT NULL,
    link_session_id uuid REFERENCES sessions ON DELETE CASCADE,
    expires_at      timestamptz NOT NULL
);
CREATE INDEX oidc_logins_by_session ON oidc_logins (link_session_id) WHERE link_session_id IS NOT NULL;
CREATE INDEX oidc_logins_by_expiry ON oidc_logins (expires_at);
