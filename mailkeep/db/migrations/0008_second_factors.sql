-- Second factors, logins that wait for one, and networks of keys.

-- The secret of an account's authenticator. Pending until `enabled_at`; `last_step` is the latest time step whose
-- code was taken: each works once.
CREATE TABLE totp_secrets (
    admin_id   uuid PRIMARY KEY REFERENCES admins ON DELETE CASCADE,
    secret     bytea NOT NULL,                                                      -- sealed, bound to the admin's id
    created_at timestamptz NOT NULL,
    enabled_at timestamptz,
    last_step  bigint
);

-- Recovery codes that are left; one that was used is gone.
CREATE TABLE recovery_codes (
    admin_id  uuid NOT NULL REFERENCES admins ON DELETE CASCADE,
    code_hash bytea NOT NULL,
    PRIMARY KEY (admin_id, code_hash)
);

-- Logins whose password was right, and whose second factor is still to come.
CREATE TABLE pending_logins (
    token_hash        bytea PRIMARY KEY,
    admin_id          uuid NOT NULL REFERENCES admins ON DELETE CASCADE,
    credentials_epoch integer NOT NULL,
    tries             integer NOT NULL DEFAULT 0,
    expires_at        timestamptz NOT NULL
);
CREATE INDEX pending_logins_by_admin ON pending_logins (admin_id);
CREATE INDEX pending_logins_by_expiry ON pending_logins (expires_at);

-- Where a key may be used from; none: from everywhere.
ALTER TABLE api_keys ADD COLUMN allowed_networks text[] NOT NULL DEFAULT '{}';
