-- Passkeys (credentials of Web Authentication), and challenges that wait for an authenticator's answer.

CREATE TABLE passkeys (
    id              uuid PRIMARY KEY,
    admin_id        uuid NOT NULL REFERENCES admins ON DELETE CASCADE,
    credential_id   bytea NOT NULL CONSTRAINT passkeys_credential_unique UNIQUE
                    CONSTRAINT passkeys_credential_length CHECK (octet_length(credential_id) BETWEEN 1 AND 1023),
    public_key      bytea NOT NULL,                                                 -- a COSE key
    sign_count      bigint NOT NULL,                                                -- 0 for ever where the authenticator doesn't count
    name            text NOT NULL,
    aaguid          uuid NOT NULL,
    transports      text[] NOT NULL,
    backup_eligible boolean NOT NULL,
    backed_up       boolean NOT NULL,
    created_at      timestamptz NOT NULL,
    last_used_at    timestamptz
);
CREATE INDEX passkeys_by_admin ON passkeys (admin_id);

-- One answer each. `bound_to` is the session, or the hash of the waiting login, that asked; the hash of the challenge
-- is the key.
CREATE UNLOGGED TABLE passkey_challenges (
    challenge_hash bytea PRIMARY KEY,
    purpose        text NOT NULL
                   CONSTRAINT passkey_challenges_purpose CHECK (purpose IN ('register', 'login', 'second_factor')),
    bound_to       bytea NOT NULL,
    expires_at     timestamptz NOT NULL
);
CREATE INDEX passkey_challenges_by_expiry ON passkey_challenges (expires_at);
