-- Domains, mailboxes, aliases and the settings of routing.
-- IDs are UUIDv7 values from the application. Times are parameters: no statement calls now().

-- pg_trgm and btree_gin are trusted extensions, so the owner of the database may create them.
CREATE EXTENSION IF NOT EXISTS pg_trgm;
CREATE EXTENSION IF NOT EXISTS btree_gin;

-- Versions of the access to mailboxes. A mailbox gets a new version when its address or domain changes, when it is
-- deactivated or deleted, or when a protocol is withdrawn; a domain when it is deactivated; a password when it changes.
-- The greatest of the versions is valid. One sequence serves all and numbers app passwords, so that none is repeated.
CREATE SEQUENCE access_versions;

CREATE TABLE domains (
    id                  uuid PRIMARY KEY,
    name                text NOT NULL CONSTRAINT domains_name_unique UNIQUE,        -- A-labels, lower case
    -- An alias domain: its addresses are routed as those of this domain, which is no alias domain itself.
    alias_of            uuid CONSTRAINT domains_alias_of_domain REFERENCES domains
                        CONSTRAINT domains_alias_of_other CHECK (alias_of <> id),
    active              boolean NOT NULL,
    sending_enabled     boolean NOT NULL,
    receiving_enabled   boolean NOT NULL,
    description         text NOT NULL,
    max_mailboxes       integer CONSTRAINT domains_max_mailboxes_range CHECK (max_mailboxes >= 0),
    max_aliases         integer CONSTRAINT domains_max_aliases_range CHECK (max_aliases >= 0),
    default_quota_bytes bigint NOT NULL CONSTRAINT domains_quota_range CHECK (default_quota_bytes >= 0),
    plus_delimiter      text CONSTRAINT domains_plus_delimiter_one CHECK (length(plus_delimiter) = 1),
    require_app_passwords boolean,                                                  -- NULL: as auth.require_app_passwords
    self_service        boolean NOT NULL DEFAULT true,                              -- owners of mailboxes may sign in
    dkim_delegated      boolean NOT NULL DEFAULT false,                             -- new keys are published as CNAMEs
    dns_managed         boolean NOT NULL DEFAULT false,                             -- Mailkeep writes its DNS records
    mta_sts_mode        text NOT NULL DEFAULT 'none'
                        CONSTRAINT domains_mta_sts_mode CHECK (mta_sts_mode IN ('none', 'testing', 'enforce')),
    mta_sts_ended_at    timestamptz,                                                -- when another mode became none
    mta_sts_served_at   timestamptz,                                                -- when a check has fetched the policy
    dns_status          text NOT NULL
                        CONSTRAINT domains_dns_status CHECK (dns_status IN ('unchecked', 'ok', 'attention', 'failing')),
    dns_checked_at      timestamptz,
    access_version      bigint NOT NULL DEFAULT nextval('access_versions'),
    -- The relay for the domain's outbound mail; NULL: `outbound.relay`, or else the recipients' own servers.
    relay_host          text,
    relay_port          integer CONSTRAINT domains_relay_port CHECK (relay_port BETWEEN 1 AND 65535),
    relay_tls           text CONSTRAINT domains_relay_tls CHECK (relay_tls IN ('none', 'starttls', 'tls')),
    relay_username      text,
    relay_password      bytea,                                                      -- sealed, bound to the domain's ID
    created_at          timestamptz NOT NULL,
    updated_at          timestamptz NOT NULL,
    CONSTRAINT domains_relay_whole CHECK (num_nulls(relay_host, relay_port, relay_tls, relay_username) IN (0, 4)),
    CONSTRAINT domains_relay_secret
        CHECK (relay_username IS NULL OR relay_username = '' OR relay_tls <> 'none'),
    CONSTRAINT domains_relay_password_of_user
        CHECK (relay_password IS NULL OR coalesce(relay_username, '') <> '')
);
CREATE INDEX domains_by_name ON domains (name, id);
CREATE INDEX domains_by_update ON domains (updated_at, id);
CREATE INDEX domains_by_target ON domains (alias_of) WHERE alias_of IS NOT NULL;
CREATE INDEX domains_by_dns_status ON domains (dns_status, id);

-- The checks of DNS records: of each domain, and of the server (without a domain). A trigger adds that of a new domain.
CREATE TABLE dns_checks (
    id                uuid PRIMARY KEY,                                             -- the domain's; of the server: zero
    domain_id         uuid CONSTRAINT dns_checks_domain_unique UNIQUE REFERENCES domains ON DELETE CASCADE,
    due_at            timestamptz NOT NULL,                                         -- while one runs: the end of its lease
    claims            bigint NOT NULL DEFAULT 0,
    running           boolean NOT NULL DEFAULT false,                               -- until due_at at most
    requested_at      timestamptz,                                                  -- a check was requested, and has not begun
    checked_at        timestamptz,
    status            text NOT NULL DEFAULT 'unchecked'
                      CONSTRAINT dns_checks_status CHECK (status IN ('unchecked', 'ok', 'attention', 'failing')),
    results           jsonb NOT NULL DEFAULT '[]',                                  -- by record, of the last check
    addresses         text[] NOT NULL DEFAULT '{}',                                 -- of the server, at the last check
    blocklists        jsonb NOT NULL DEFAULT '[]',
    confirmed_failing boolean,                                                      -- as events say; NULL: never in order yet
    differs_since     timestamptz                                                   -- checks have differed from it since
);
CREATE INDEX dns_checks_due ON dns_checks (due_at);
CREATE INDEX dns_checks_requested ON dns_checks (requested_at) WHERE requested_at IS NOT NULL;

-- One row: look-ups of all workers take time from here. It is in the future while more were made than the limit allows.
CREATE TABLE dns_lookup_budget (
    only_row    boolean PRIMARY KEY DEFAULT true CONSTRAINT dns_lookup_budget_one CHECK (only_row),
    spent_until timestamptz NOT NULL
);

-- `selector`: unique among the keys that sign or may sign. `cname`: the name in the server's domain that has the key's record;
-- the selector's name is a CNAME to it. `for_rotation`: generated by the automatic rotation, which activates it.
CREATE TABLE dkim_keys (
    id              uuid PRIMARY KEY,
    domain_id       uuid NOT NULL REFERENCES domains ON DELETE CASCADE,
    selector        text NOT NULL,
    cname           text,
    algorithm       text NOT NULL CONSTRAINT dkim_keys_algorithm
                    CHECK (algorithm IN ('rsa1024', 'rsa2048', 'rsa3072', 'rsa4096', 'ed25519')),
    stage           text NOT NULL CONSTRAINT dkim_keys_stage CHECK (stage IN ('pending', 'active', 'retiring', 'retired')),
    private_key     bytea NOT NULL,                                                 -- sealed, bound to the ID; empty once retired
    public_key      bytea NOT NULL,                                                 -- value of p= (RFC 6376 §3.6.1, RFC 8463 §4.2)
    for_rotation    boolean NOT NULL DEFAULT false,
    dns_status      text NOT NULL DEFAULT 'not_checked' CONSTRAINT dkim_keys_dns_status
                    CHECK (dns_status IN ('ok', 'missing', 'mismatch', 'multiple', 'dns_error', 'not_checked')),
    dns_checked_at  timestamptz,
    published_since timestamptz,                                                    -- every look-up has found the record since
    created_at      timestamptz NOT NULL,
    updated_at      timestamptz NOT NULL,
    activated_at    timestamptz,
    retiring_at     timestamptz,
    retired_at      timestamptz,
    -- The job of a key: the next look-up of a pending one, the rotation of an active one, the end of a retiring one.
    claimed_until   timestamptz NOT NULL DEFAULT 'epoch',
    claims          integer NOT NULL DEFAULT 0,
    next_check_at   timestamptz,
    checks          integer NOT NULL DEFAULT 0,
    requests        integer NOT NULL DEFAULT 0                                      -- how often its publication was asked for
);
CREATE UNIQUE INDEX dkim_keys_selector_unique ON dkim_keys (domain_id, selector) WHERE stage <> 'retired';
CREATE INDEX dkim_keys_by_domain ON dkim_keys (domain_id, id);
CREATE INDEX dkim_keys_delegated ON dkim_keys (split_part(cname, '._domainkey.', 2)) WHERE cname IS NOT NULL AND stage <> 'retired';
CREATE INDEX dkim_keys_pending ON dkim_keys (next_check_at) WHERE stage = 'pending' AND for_rotation;
CREATE INDEX dkim_keys_active ON dkim_keys (activated_at) WHERE stage = 'active';
CREATE INDEX dkim_keys_retiring ON dkim_keys (retiring_at) WHERE stage = 'retiring';

-- The DKIM keys of a host name of the server, with which Mailkeep's own mail is signed unless the name is a managed domain.
CREATE TABLE host_dkim_keys (
    host_name     text NOT NULL,
    id            uuid NOT NULL,
    selector      text NOT NULL,
    algorithm     text NOT NULL CONSTRAINT host_dkim_keys_algorithm CHECK (algorithm IN ('rsa2048', 'ed25519')),
    private_key   bytea NOT NULL,                                                   -- sealed, bound to the ID
    public_key    bytea NOT NULL,
    created_at    timestamptz NOT NULL,
    CONSTRAINT host_dkim_keys_pkey PRIMARY KEY (host_name, algorithm)
);

-- DNS records that Mailkeep writes by DNS UPDATE (RFC 2136): a job for each domain with `dns_managed`, and for the server's host
-- name. A job stays until the records that it has written are removed, also when its domain is deleted.
CREATE TABLE dns_updates (
    id              uuid PRIMARY KEY,
    subject         text NOT NULL CONSTRAINT dns_updates_subject_unique UNIQUE,     -- the name of the domain or host
    state           text NOT NULL CONSTRAINT dns_updates_state CHECK (state IN ('waiting', 'ok', 'conflict', 'error')),
    problem         text NOT NULL DEFAULT '',
    next_attempt_at timestamptz NOT NULL,
    claims          integer NOT NULL DEFAULT 0,
    failures        integer NOT NULL DEFAULT 0,
    attempted_at    timestamptz
);
CREATE INDEX dns_updates_due ON dns_updates (next_attempt_at);

-- Records of a job. `written`: by Mailkeep, which may remove it; `present`: somebody else had published it; `conflict`: other
-- values are there, which are left as they are; `waiting`: not written yet.
CREATE TABLE dns_update_records (
    update_id uuid NOT NULL REFERENCES dns_updates ON DELETE CASCADE,
    name      text NOT NULL,
    type      text NOT NULL,
    value     text NOT NULL,
    zone      text NOT NULL,
    state     text NOT NULL CONSTRAINT dns_update_records_state CHECK (state IN ('waiting', 'written', 'present', 'conflict')),
    problem   text NOT NULL DEFAULT '',
    PRIMARY KEY (update_id, name, type, value)
);

CREATE TABLE mailboxes (
    id                   uuid PRIMARY KEY,
    domain_id            uuid NOT NULL REFERENCES domains,
    local_part           text NOT NULL,                                             -- as written, NFC
    local_key            text NOT NULL,                                             -- folded
    address_key          text NOT NULL,                                             -- folded address, set by a trigger
    address_since        timestamptz NOT NULL,                                      -- it has this address; set by the trigger
    name                 text NOT NULL,
    password_hash        text NOT NULL,                                             -- with Dovecot's {SCHEME}; empty: none
    active               boolean NOT NULL,
    quota_bytes          bigint NOT NULL CONSTRAINT mailboxes_quota_range CHECK (quota_bytes >= 0),   -- 0: unlimited
    used_bytes           bigint NOT NULL DEFAULT 0,
    message_count        bigint NOT NULL DEFAULT 0,
    usage_reported_at    timestamptz,                                               -- Dovecot last reported the usage
    usage_counted_at     timestamptz,                                               -- the usage was last counted in the Maildir
    usage_count_due_at   timestamptz,                                               -- the usage is to be counted from then on
    quota_level          smallint NOT NULL DEFAULT 0,                               -- percent that the owner was warned of: 0, 80, 95
    quota_level_changed  boolean NOT NULL DEFAULT false,                            -- the usage has passed a level since
    imap                 boolean NOT NULL,
    pop3                 boolean NOT NULL,
    smtp                 boolean NOT NULL,
    sieve                boolean NOT NULL,
    require_app_passwords boolean,                                                  -- NULL: as the domain
    totp_enabled         boolean NOT NULL DEFAULT false,
    second_factor        boolean NOT NULL DEFAULT false,                            -- the owner has one: TOTP or a passkey
    credentials_epoch    integer NOT NULL DEFAULT 0,                                -- raised to end all sessions of the owner
    surviving_session_id uuid,                                                      -- the session that raised it last stays valid
    time_zone            text NOT NULL DEFAULT 'UTC',                               -- IANA name, for display
    access_version       bigint NOT NULL DEFAULT nextval('access_versions'),
    password_version     bigint NOT NULL DEFAULT nextval('access_versions'),        -- of the mailbox's own password
    forward_destinations text[] NOT NULL DEFAULT '{}',
    forward_keys         text[] NOT NULL DEFAULT '{}',                              -- folded
    forward_keep_copy    boolean NOT NULL DEFAULT true,
    last_login_at        timestamptz,
    last_login_protocol  text,
    last_login_ip        text,
    created_at           timestamptz NOT NULL,
    updated_at           timestamptz NOT NULL,
    deleted_at           timestamptz                                                -- in the trash since
);
CREATE UNIQUE INDEX mailboxes_address_unique ON mailboxes (domain_id, local_key) WHERE deleted_at IS NULL;
CREATE INDEX mailboxes_by_domain ON mailboxes (domain_id, id);
CREATE INDEX mailboxes_by_address ON mailboxes (address_key, id);
CREATE INDEX mailboxes_by_update ON mailboxes (updated_at, id);
CREATE INDEX mailboxes_by_domain_and_address ON mailboxes (domain_id, address_key, id);
CREATE INDEX mailboxes_by_domain_and_update ON mailboxes (domain_id, updated_at, id);
CREATE INDEX mailboxes_trash ON mailboxes (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX mailboxes_forwarding ON mailboxes USING gin (forward_keys) WHERE forward_keys <> '{}';
CREATE INDEX mailboxes_quota_level_changed ON mailboxes (id) WHERE quota_level_changed;
CREATE INDEX mailboxes_usage_count_due ON mailboxes (usage_count_due_at) WHERE usage_count_due_at IS NOT NULL;

-- The further addresses (local_key '': all addresses of the domain) from which a mailbox may send. `granted_rank`: rank of
-- the administrator who added the entry, as in `aliases`.
CREATE TABLE send_as (
    mailbox_id   uuid NOT NULL REFERENCES mailboxes ON DELETE CASCADE,
    domain_id    uuid NOT NULL REFERENCES domains ON DELETE CASCADE,
    local_part   text NOT NULL,                                                     -- as written, NFC
    local_key    text NOT NULL,                                                     -- folded
    granted_rank smallint NOT NULL CONSTRAINT send_as_granted_rank_range CHECK (granted_rank BETWEEN 0 AND 2),
    PRIMARY KEY (mailbox_id, domain_id, local_key)
);
CREATE INDEX send_as_by_address ON send_as (domain_id, local_key);

-- Deleted mailboxes whose Maildir is still to be removed. A trigger adds the row in the transaction that deletes the
-- mailbox: no crash forgets a folder, and a restored database removes only folders that are listed here.
CREATE TABLE mail_removals (
    mailbox_id uuid PRIMARY KEY
);

-- Passwords of single mail clients. Only the SHA-256 is stored: the secret has 128 random bits. Sessions are recognized
-- by the number.
CREATE TABLE app_passwords (
    id           uuid PRIMARY KEY,
    mailbox_id   uuid NOT NULL REFERENCES mailboxes ON DELETE CASCADE,
    number       bigint NOT NULL DEFAULT nextval('access_versions') CONSTRAINT app_passwords_number_unique UNIQUE,
    name         text NOT NULL,
    digest       bytea NOT NULL CONSTRAINT app_passwords_digest_length CHECK (length(digest) = 32),
    protocols    text[] NOT NULL
                 CONSTRAINT app_passwords_protocols CHECK (protocols <> '{}' AND protocols <@ '{imap,pop3,smtp,sieve}'),
    expires_at   timestamptz,
    expired      boolean NOT NULL DEFAULT false,                                    -- its sessions were ended at `expires_at`
    last_used_at timestamptz,
    last_used_ip text,
    created_at   timestamptz NOT NULL,
    CONSTRAINT app_passwords_digest_unique UNIQUE (mailbox_id, digest)
);
CREATE INDEX app_passwords_by_expiry ON app_passwords (expires_at) WHERE NOT expired AND expires_at IS NOT NULL;

-- The link to the page with which a mailbox's mail clients are set up.
CREATE TABLE setup_links (
    mailbox_id uuid PRIMARY KEY REFERENCES mailboxes ON DELETE CASCADE,
    id         uuid NOT NULL,
    token_hash bytea NOT NULL CONSTRAINT setup_links_token_unique UNIQUE,
    expires_at timestamptz NOT NULL
);

-- Sign-ins to a mailbox, by mail clients and of its owner (`web`): one row for each day (UTC), protocol, address and
-- program, which is the name of the app password or the browser's user agent.
CREATE TABLE mailbox_logins (
    id         uuid PRIMARY KEY,
    mailbox_id uuid NOT NULL REFERENCES mailboxes ON DELETE CASCADE,
    day        date NOT NULL,
    protocol   text NOT NULL CONSTRAINT mailbox_logins_protocol
               CHECK (protocol IN ('imap', 'pop3', 'smtp', 'sieve', 'web')),
    ip         text NOT NULL,
    program    text NOT NULL,
    first_at   timestamptz NOT NULL,
    last_at    timestamptz NOT NULL,
    CONSTRAINT mailbox_logins_unique UNIQUE (mailbox_id, day, protocol, ip, program)
);
CREATE INDEX mailbox_logins_by_mailbox ON mailbox_logins (mailbox_id, id);
CREATE INDEX mailbox_logins_by_day ON mailbox_logins (day);

-- Vacation replies. `script` is the Sieve script that sends them, written from the other columns; Dovecot queries it by
-- `mta_sieve_scripts` and compiles it again when `script_id` changes.
CREATE TABLE vacations (
    mailbox_id uuid PRIMARY KEY REFERENCES mailboxes ON DELETE CASCADE,
    active     boolean NOT NULL,
    subject    text,                                                                -- NULL: that of the message, with Auto:
    text_body  text,
    html_body  text,
    start_at   timestamptz,                                                         -- the first moment with replies; NULL: now
    end_at     timestamptz,                                                         -- the first moment without; NULL: none
    days       integer NOT NULL CONSTRAINT vacations_days_range CHECK (days BETWEEN 1 AND 30),
    script     text NOT NULL,
    script_id  text NOT NULL GENERATED ALWAYS AS (md5(script)) STORED,
    updated_at timestamptz NOT NULL,
    CONSTRAINT vacations_body CHECK (num_nonnulls(text_body, html_body) > 0),
    CONSTRAINT vacations_period CHECK (start_at < end_at)
);

-- Mail sessions to end: those of `subject` (an address, an app password as `alice@example.org/23`, or a whole domain as
-- `@example.org`) over these protocols (Dovecot's names) that began before `changed_at`; with `password_only` only those
-- that were opened with the mailbox's own password. The node agent ends them and removes the row.
CREATE TABLE session_ends (
    id            bigint PRIMARY KEY,
    subject       text NOT NULL,
    protocols     text[] NOT NULL,
    changed_at    timestamptz NOT NULL,
    password_only boolean NOT NULL DEFAULT false
);

CREATE TABLE aliases (
    id                uuid PRIMARY KEY,
    domain_id         uuid NOT NULL REFERENCES domains,
    source_local_part text NOT NULL,                                                -- as written, NFC; '' is the catch-all
    source_key        text NOT NULL,                                                -- folded
    -- `limits.alias_destinations` is the limit; 1000 is the most that it can be set to.
    destinations      text[] NOT NULL CONSTRAINT aliases_destinations_count CHECK (cardinality(destinations) BETWEEN 1 AND 1000),
    destination_keys  text[] NOT NULL,                                              -- folded
    active            boolean NOT NULL,
    -- Rank of the administrator who changed the alias last: 0 domain_admin, 1 admin, 2 super_admin.
    changed_rank      smallint NOT NULL DEFAULT 2
                      CONSTRAINT aliases_changed_rank_range CHECK (changed_rank BETWEEN 0 AND 2),
    created_at        timestamptz NOT NULL,
    updated_at        timestamptz NOT NULL,
    CONSTRAINT aliases_source_unique UNIQUE (domain_id, source_key)
);
-- The index aliases_by_destination_base is in functions/routing_match.sql, with the function that it calls.
CREATE INDEX aliases_by_domain ON aliases (domain_id, id);
CREATE INDEX aliases_by_destination ON aliases USING gin (destination_keys);
CREATE INDEX aliases_by_update ON aliases (updated_at, id);
CREATE INDEX aliases_by_domain_and_update ON aliases (domain_id, updated_at, id);
CREATE INDEX aliases_by_source ON aliases (source_local_part, id);
CREATE INDEX aliases_by_domain_and_source ON aliases (domain_id, source_local_part, id);

-- The settings that functions for routing and logins read. The application writes them at every start
-- (features/directory/routing/service.apply_settings).
CREATE TABLE routing_settings (
    only_row           boolean PRIMARY KEY DEFAULT true CONSTRAINT routing_settings_one_row CHECK (only_row),
    hostname           text NOT NULL,                                               -- server.hostname in lower case; '' if not set
    external_expansion integer NOT NULL,                                            -- limits.external_expansion
    message_size       bigint NOT NULL,                                             -- bytes of the largest message that is accepted
    require_app_passwords boolean NOT NULL DEFAULT false,                           -- auth.require_app_passwords
    applied_at         timestamptz
);
INSERT INTO routing_settings (hostname, external_expansion, message_size) VALUES ('', 100, 50 << 20);

-- Bulk operations on mailboxes and aliases (features/directory/bulk): who requested them, and until when a worker has
-- claimed them. The rights of the author are looked up for each item.
CREATE TABLE bulk_operations (
    id            uuid PRIMARY KEY,
    resource      text NOT NULL CONSTRAINT bulk_operations_resource CHECK (resource IN ('mailbox', 'alias')),
    action        text NOT NULL CONSTRAINT bulk_operations_action CHECK (action IN ('create', 'update', 'delete')),
    dry_run       boolean NOT NULL,
    state         text NOT NULL CONSTRAINT bulk_operations_state CHECK (state IN ('running', 'succeeded')),
    total         integer NOT NULL,
    author_id     uuid,                                                             -- NULL: the command line
    author        text NOT NULL,
    author_role   text NOT NULL,
    actor         text NOT NULL,
    key_id        uuid,
    key_scope     uuid[],
    ip_address    text,
    user_agent    text,
    request_id    uuid CONSTRAINT bulk_operations_request_unique UNIQUE,
    created_at    timestamptz NOT NULL,
    finished_at   timestamptz,
    claimed_until timestamptz NOT NULL
);
CREATE INDEX bulk_operations_unfinished ON bulk_operations (author_id, id) WHERE state = 'running';
CREATE INDEX bulk_operations_by_end ON bulk_operations (finished_at) WHERE finished_at IS NOT NULL;

-- The items of an operation: sealed until they are done, then with the object or the error (JSON; it may contain what
-- jsonb does not accept).
CREATE TABLE bulk_items (
    operation_id uuid NOT NULL REFERENCES bulk_operations ON DELETE CASCADE,
    index        integer NOT NULL,
    sealed       bytea,
    object_id    uuid,
    error        bytea,
    domain_id    uuid,
    object_key   text,                                                              -- the address or object that it takes
    PRIMARY KEY (operation_id, index)
);
