-- Administrators and their API keys; sessions and second factors of administrators and of owners of mailboxes.

CREATE TABLE admins (
    id                   uuid PRIMARY KEY,
    email                text NOT NULL,
    email_key            text NOT NULL CONSTRAINT admins_email_unique UNIQUE,       -- folded
    password_hash        text NOT NULL,                                             -- empty: no password
    role                 text NOT NULL CONSTRAINT admins_role CHECK (role IN ('domain_admin', 'admin', 'super_admin')),
    totp_enabled         boolean NOT NULL DEFAULT false,
    oidc_provider        text,                                                      -- a provider in the settings
    active               boolean NOT NULL DEFAULT true,
    must_change_password boolean NOT NULL DEFAULT false,
    credentials_epoch    integer NOT NULL DEFAULT 0,                                -- raised to end all sessions
    surviving_session_id uuid,                                                      -- the session that raised it last stays valid
    last_login_at        timestamptz,
    created_at           timestamptz NOT NULL,
    updated_at           timestamptz NOT NULL
);
CREATE INDEX admins_by_domain ON admins (split_part(email_key, '@', 2));  -- of their address

CREATE TABLE admin_domains (
    admin_id  uuid NOT NULL REFERENCES admins ON DELETE CASCADE,
    domain_id uuid NOT NULL REFERENCES domains ON DELETE CASCADE,
    PRIMARY KEY (admin_id, domain_id)
);
CREATE INDEX admin_domains_by_domain ON admin_domains (domain_id);

CREATE TABLE sessions (
    id                uuid PRIMARY KEY,
    admin_id          uuid NOT NULL REFERENCES admins ON DELETE CASCADE,
    token_hash        bytea NOT NULL CONSTRAINT sessions_token_unique UNIQUE,
    credentials_epoch integer NOT NULL,
    ip_address        text,
    user_agent        text,
    created_at        timestamptz NOT NULL,
    expires_at        timestamptz NOT NULL
);
CREATE INDEX sessions_by_admin ON sessions (admin_id);
CREATE INDEX sessions_by_expiry ON sessions (expires_at);

-- Links with which a person sets the password of an account: at most one per account. The token is derived from the ID.
CREATE TABLE invitations (
    id         uuid PRIMARY KEY,
    admin_id   uuid CONSTRAINT invitations_admin_unique UNIQUE REFERENCES admins ON DELETE CASCADE,
    mailbox_id uuid CONSTRAINT invitations_mailbox_unique UNIQUE REFERENCES mailboxes ON DELETE CASCADE,
    token_hash bytea NOT NULL CONSTRAINT invitations_token_unique UNIQUE,
    sent_to    text,                                                                -- NULL: the link was shown
    expires_at timestamptz NOT NULL,
    CONSTRAINT invitations_account CHECK (num_nonnulls(admin_id, mailbox_id) = 1)
);
CREATE INDEX invitations_by_expiry ON invitations (expires_at);

-- Sessions of owners of mailboxes (/me).
CREATE TABLE owner_sessions (
    id                uuid PRIMARY KEY,
    mailbox_id        uuid NOT NULL REFERENCES mailboxes ON DELETE CASCADE,
    token_hash        bytea NOT NULL CONSTRAINT owner_sessions_token_unique UNIQUE,
    credentials_epoch integer NOT NULL,
    ip_address        text,
    user_agent        text,
    created_at        timestamptz NOT NULL,
    expires_at        timestamptz NOT NULL
);
CREATE INDEX owner_sessions_by_mailbox ON owner_sessions (mailbox_id);
CREATE INDEX owner_sessions_by_expiry ON owner_sessions (expires_at);

-- Sources (IPv4 address, IPv6 /64 network) from which an administrator has logged in. Failures elsewhere do not block them.
CREATE TABLE login_sources (
    admin_id   uuid NOT NULL REFERENCES admins ON DELETE CASCADE,
    ip_address text NOT NULL,
    seen_at    timestamptz NOT NULL,
    PRIMARY KEY (admin_id, ip_address)
);

-- The same for mailboxes.
CREATE TABLE mailbox_sources (
    mailbox_id uuid NOT NULL REFERENCES mailboxes ON DELETE CASCADE,
    source     text NOT NULL,
    seen_at    timestamptz NOT NULL,
    PRIMARY KEY (mailbox_id, source)
);
CREATE INDEX mailbox_sources_by_time ON mailbox_sources (seen_at);

-- Failed sign-ins by password. `account` is `mailbox:` or `admin:` and a folded address, which need not exist, or a hash of
-- other text. `tag`: 12 bits of a keyed hash of the password: the same wrong password counts once.
CREATE UNLOGGED TABLE sign_in_failures (
    account      text NOT NULL,
    source       text NOT NULL,
    tag          text NOT NULL,
    known_source boolean NOT NULL,                                                  -- of the account
    id           uuid NOT NULL,
    at           timestamptz NOT NULL,
    PRIMARY KEY (account, source, tag)
);
CREATE INDEX sign_in_failures_by_source ON sign_in_failures (source, at);
CREATE INDEX sign_in_failures_by_time ON sign_in_failures (at);

-- Sign-ins that are refused until a time: from a source; to an account from unknown sources; or to an account from one of
-- its known sources (both).
CREATE TABLE sign_in_blocks (
    id         uuid PRIMARY KEY,
    account    text,
    source     text,
    failures   integer NOT NULL,
    failure_id uuid NOT NULL,                                                       -- the failure that began it
    created_at timestamptz NOT NULL,
    until      timestamptz NOT NULL,
    CONSTRAINT sign_in_blocks_subject CHECK (account IS NOT NULL OR source IS NOT NULL),
    CONSTRAINT sign_in_blocks_unique UNIQUE NULLS NOT DISTINCT (account, source)
);
CREATE INDEX sign_in_blocks_by_source ON sign_in_blocks (source);

-- Wrong codes of an account, and wrong current passwords of its sessions, in the current window.
CREATE UNLOGGED TABLE login_failures (
    email_key         text PRIMARY KEY,
    window_started_at timestamptz NOT NULL,
    failures          integer NOT NULL,
    last_failed_at    timestamptz NOT NULL
);

-- What an account signs in with, in this and the next tables. `account_id` is that of an administrator or of a mailbox.

-- The secret of an authenticator app (TOTP). Pending until `enabled_at`. `last_step` is the latest time step whose code
-- was accepted: each code works once.
CREATE TABLE totp_secrets (
    account_id uuid PRIMARY KEY GENERATED ALWAYS AS (coalesce(admin_id, mailbox_id)) STORED,
    admin_id   uuid REFERENCES admins ON DELETE CASCADE,
    mailbox_id uuid REFERENCES mailboxes ON DELETE CASCADE,
    secret     bytea NOT NULL,                                                      -- sealed, bound to the account's ID
    created_at timestamptz NOT NULL,
    enabled_at timestamptz,
    last_step  bigint,
    CONSTRAINT totp_secrets_account CHECK (num_nonnulls(admin_id, mailbox_id) = 1)
);
CREATE INDEX totp_secrets_by_admin ON totp_secrets (admin_id);
CREATE INDEX totp_secrets_by_mailbox ON totp_secrets (mailbox_id);

-- Unused recovery codes. A code is deleted when it is used.
CREATE TABLE recovery_codes (
    account_id uuid GENERATED ALWAYS AS (coalesce(admin_id, mailbox_id)) STORED,
    admin_id   uuid REFERENCES admins ON DELETE CASCADE,
    mailbox_id uuid REFERENCES mailboxes ON DELETE CASCADE,
    code_hash  bytea NOT NULL,
    PRIMARY KEY (account_id, code_hash),
    CONSTRAINT recovery_codes_account CHECK (num_nonnulls(admin_id, mailbox_id) = 1)
);
CREATE INDEX recovery_codes_by_admin ON recovery_codes (admin_id);
CREATE INDEX recovery_codes_by_mailbox ON recovery_codes (mailbox_id);

-- Logins with the right password that still need the second factor.
CREATE TABLE pending_logins (
    token_hash        bytea PRIMARY KEY,
    account_id        uuid NOT NULL GENERATED ALWAYS AS (coalesce(admin_id, mailbox_id)) STORED,
    admin_id          uuid REFERENCES admins ON DELETE CASCADE,
    mailbox_id        uuid REFERENCES mailboxes ON DELETE CASCADE,
    credentials_epoch integer NOT NULL,
    attempts          integer NOT NULL DEFAULT 0,
    expires_at        timestamptz NOT NULL,
    CONSTRAINT pending_logins_account CHECK (num_nonnulls(admin_id, mailbox_id) = 1)
);
CREATE INDEX pending_logins_by_admin ON pending_logins (admin_id);
CREATE INDEX pending_logins_by_mailbox ON pending_logins (mailbox_id);
CREATE INDEX pending_logins_by_expiry ON pending_logins (expires_at);

CREATE TABLE passkeys (
    id              uuid PRIMARY KEY,
    account_id      uuid NOT NULL GENERATED ALWAYS AS (coalesce(admin_id, mailbox_id)) STORED,
    admin_id        uuid REFERENCES admins ON DELETE CASCADE,
    mailbox_id      uuid REFERENCES mailboxes ON DELETE CASCADE,
    credential_id   bytea NOT NULL CONSTRAINT passkeys_credential_unique UNIQUE
                    CONSTRAINT passkeys_credential_length CHECK (octet_length(credential_id) BETWEEN 1 AND 1023),
    public_key      bytea NOT NULL,                                                 -- a COSE key
    sign_count      bigint NOT NULL,                                                -- stays 0 if the authenticator does not count
    name            text NOT NULL,
    aaguid          uuid NOT NULL,
    transports      text[] NOT NULL,
    backup_eligible boolean NOT NULL,
    backed_up       boolean NOT NULL,
    created_at      timestamptz NOT NULL,
    last_used_at    timestamptz,
    CONSTRAINT passkeys_account CHECK (num_nonnulls(admin_id, mailbox_id) = 1)
);
CREATE INDEX passkeys_by_account ON passkeys (account_id);
CREATE INDEX passkeys_by_admin ON passkeys (admin_id);
CREATE INDEX passkeys_by_mailbox ON passkeys (mailbox_id);

-- WebAuthn challenges; each can be answered once. `bound_to` is the session, or the hash of the pending login, that
-- requested the challenge.
CREATE UNLOGGED TABLE passkey_challenges (
    challenge_hash bytea PRIMARY KEY,
    purpose        text NOT NULL
                   CONSTRAINT passkey_challenges_purpose CHECK (purpose IN ('register', 'login', 'second_factor')),
    bound_to       bytea NOT NULL,
    expires_at     timestamptz NOT NULL
);
CREATE INDEX passkey_challenges_by_expiry ON passkey_challenges (expires_at);

-- Identities at OpenID Connect providers, at most one per account. (issuer, subject) identifies, never an email.
CREATE TABLE oidc_identities (
    admin_id  uuid CONSTRAINT oidc_identities_pkey PRIMARY KEY REFERENCES admins ON DELETE CASCADE,
    issuer    text NOT NULL,
    subject   text NOT NULL,
    linked_at timestamptz NOT NULL,
    CONSTRAINT oidc_identities_unique UNIQUE (issuer, subject)
);

-- OpenID Connect logins in progress. Each is used once, by the browser that began it. Nonce and code verifier are
-- derived from the state and are not stored.
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

CREATE TABLE api_keys (
    id               uuid PRIMARY KEY,
    admin_id         uuid NOT NULL REFERENCES admins ON DELETE CASCADE,
    parent_id        uuid REFERENCES api_keys ON DELETE CASCADE,                    -- the key that created it
    name             text NOT NULL,
    key_prefix       text NOT NULL,
    token_hash       bytea NOT NULL CONSTRAINT api_keys_token_unique UNIQUE,
    is_scoped        boolean NOT NULL,                                              -- stays true when its last domain is deleted
    rate_limit       integer NOT NULL CONSTRAINT api_keys_rate_range CHECK (rate_limit >= 0),
    allowed_networks text[] NOT NULL DEFAULT '{}',                                  -- empty: from everywhere
    permissions      text NOT NULL DEFAULT 'full' CONSTRAINT api_keys_permissions CHECK (permissions IN ('full', 'sending', 'read')),
    last_used_at     timestamptz,
    expires_at       timestamptz,
    created_at       timestamptz NOT NULL
);
CREATE INDEX api_keys_by_admin ON api_keys (admin_id);
CREATE INDEX api_keys_by_parent ON api_keys (parent_id) WHERE parent_id IS NOT NULL;

CREATE TABLE api_key_domains (
    key_id    uuid NOT NULL REFERENCES api_keys ON DELETE CASCADE,
    domain_id uuid NOT NULL REFERENCES domains ON DELETE CASCADE,
    PRIMARY KEY (key_id, domain_id)
);
CREATE INDEX api_key_domains_by_domain ON api_key_domains (domain_id);

-- Accepted requests of an API key in the second `newest` and in each of the 60 seconds before it, newest first.
CREATE UNLOGGED TABLE api_key_rates (
    key_id uuid PRIMARY KEY,
    newest bigint NOT NULL,                                                         -- seconds since 1970
    counts integer[] NOT NULL
) WITH (fillfactor = 50);

-- Token hashes of revoked API keys, so that a request with such a key gets an explanation.
CREATE TABLE revoked_api_keys (
    token_hash bytea PRIMARY KEY
);

-- Clients with submission sessions that API keys opened. With `pid`, Postfix's process (smtpd) that serves such a session,
-- since its first message: a process serves one session at a time. 0 is any process that has no message of the client yet.
CREATE TABLE key_sessions (
    key_id     uuid NOT NULL,                                                       -- also of a key that is revoked meanwhile
    client     text NOT NULL,
    pid        integer NOT NULL,
    opened_at  timestamptz NOT NULL,
    expires_at timestamptz,                                                         -- of the key
    PRIMARY KEY (key_id, client, pid)
);
CREATE UNIQUE INDEX key_sessions_by_pid ON key_sessions (pid) WHERE pid > 0;
CREATE INDEX key_sessions_by_expiry ON key_sessions (expires_at) WHERE expires_at IS NOT NULL;

-- Requests with an Idempotency-Key, kept for 24 hours. `status` and `answer` are set with the response.
CREATE TABLE idempotency_keys (
    caller_id  uuid NOT NULL,                                                       -- the API key, admin or mailbox
    route      text NOT NULL,
    key        text NOT NULL,
    body_hash  bytea NOT NULL,
    request_id uuid NOT NULL,
    process    uuid NOT NULL,
    claimed_at timestamptz NOT NULL,
    status     integer,
    answer     bytea,
    PRIMARY KEY (caller_id, route, key)
);
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (claimed_at);
