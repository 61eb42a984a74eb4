-- The tables of the first release. The owner runs this; the application's role gets no more than it needs.
-- Ids are UUIDv7, made by the application; times are parameters, never now().

CREATE TABLE domains (
    id                  uuid PRIMARY KEY,
    name                text NOT NULL CONSTRAINT domains_name_unique UNIQUE,       -- A-labels, lower case
    active              boolean NOT NULL,
    sending_enabled     boolean NOT NULL,
    receiving_enabled   boolean NOT NULL,
    description         text NOT NULL,
    max_mailboxes       integer CONSTRAINT domains_max_mailboxes_range CHECK (max_mailboxes >= 0),
    max_aliases         integer CONSTRAINT domains_max_aliases_range CHECK (max_aliases >= 0),
    default_quota_bytes bigint NOT NULL CONSTRAINT domains_quota_range CHECK (default_quota_bytes >= 0),
    plus_delimiter      text CONSTRAINT domains_plus_delimiter_one CHECK (length(plus_delimiter) = 1),
    dns_status          text NOT NULL CONSTRAINT domains_dns_status CHECK (dns_status IN ('unchecked', 'ok', 'attention', 'failing')),
    dns_checked_at      timestamptz,
    created_at          timestamptz NOT NULL,
    updated_at          timestamptz NOT NULL
);

CREATE TABLE dkim_keys (
    id            uuid PRIMARY KEY,
    domain_id     uuid NOT NULL REFERENCES domains ON DELETE CASCADE,
    selector      text NOT NULL,
    algorithm     text NOT NULL CONSTRAINT dkim_keys_algorithm CHECK (algorithm IN ('rsa2048', 'rsa4096', 'ed25519')),
    stage         text NOT NULL CONSTRAINT dkim_keys_stage CHECK (stage IN ('pending', 'active', 'retiring', 'retired')),
    private_key   bytea NOT NULL,                                                   -- sealed, bound to the id
    public_key    bytea NOT NULL,                                                   -- what stands behind p= (RFC 6376 §3.6.1, RFC 8463 §4.2)
    created_at    timestamptz NOT NULL,
    activated_at  timestamptz,
    CONSTRAINT dkim_keys_selector_unique UNIQUE (domain_id, selector)
);

CREATE TABLE admins (
    id                uuid PRIMARY KEY,
    email             text NOT NULL,
    email_key         text NOT NULL CONSTRAINT admins_email_unique UNIQUE,          -- folded
    password_hash     text NOT NULL,
    role              text NOT NULL CONSTRAINT admins_role CHECK (role IN ('domain_admin', 'admin', 'super_admin')),
    totp_enabled      boolean NOT NULL DEFAULT false,
    oidc_provider     text,
    credentials_epoch integer NOT NULL DEFAULT 0,                                   -- raised to end all sessions
    surviving_session_id uuid,                                                      -- the one that raised it last, and outlives that
    last_login_at     timestamptz,
    created_at        timestamptz NOT NULL,
    updated_at        timestamptz NOT NULL
);

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

-- Sources (addresses) from which an account has logged in: they are exempt from its throttle.
CREATE TABLE login_sources (
    admin_id   uuid NOT NULL REFERENCES admins ON DELETE CASCADE,
    ip_address text NOT NULL,
    seen_at    timestamptz NOT NULL,
    PRIMARY KEY (admin_id, ip_address)
);

-- Failures of an account (by folded email, known or not) in the present window.
CREATE UNLOGGED TABLE login_failures (
    email_key         text PRIMARY KEY,
    window_started_at timestamptz NOT NULL,
    failures          integer NOT NULL,
    last_failed_at    timestamptz NOT NULL
);

CREATE TABLE api_keys (
    id           uuid PRIMARY KEY,
    admin_id     uuid NOT NULL REFERENCES admins ON DELETE CASCADE,
    parent_id    uuid REFERENCES api_keys ON DELETE CASCADE,                        -- the key that made it: dies with it
    name         text NOT NULL,
    key_prefix   text NOT NULL,
    token_hash   bytea NOT NULL CONSTRAINT api_keys_token_unique UNIQUE,
    is_scoped    boolean NOT NULL,                                                  -- stays true when its last domain goes
    rate_limit   integer NOT NULL CONSTRAINT api_keys_rate_range CHECK (rate_limit >= 0),
    last_used_at timestamptz,
    expires_at   timestamptz,
    created_at   timestamptz NOT NULL
);
CREATE INDEX api_keys_by_admin ON api_keys (admin_id);
CREATE INDEX api_keys_by_parent ON api_keys (parent_id) WHERE parent_id IS NOT NULL;

CREATE TABLE api_key_domains (
    key_id    uuid NOT NULL REFERENCES api_keys ON DELETE CASCADE,
    domain_id uuid NOT NULL REFERENCES domains ON DELETE CASCADE,
    PRIMARY KEY (key_id, domain_id)
);
CREATE INDEX api_key_domains_by_domain ON api_key_domains (domain_id);

-- One row a key: requests in the window of 60 s that began with the first of them.
CREATE UNLOGGED TABLE api_key_rates (
    key_id            uuid PRIMARY KEY,
    window_started_at timestamptz NOT NULL,
    used              integer NOT NULL
);

CREATE TABLE mailboxes (
    id                   uuid PRIMARY KEY,
    domain_id            uuid NOT NULL REFERENCES domains,
    local_part           text NOT NULL,                                             -- as written, NFC
    local_key            text NOT NULL,                                             -- folded
    name                 text NOT NULL,
    password_hash        text NOT NULL,                                             -- with Dovecot's {SCHEME}
    active               boolean NOT NULL,
    quota_bytes          bigint NOT NULL CONSTRAINT mailboxes_quota_range CHECK (quota_bytes >= 0),   -- 0: unlimited
    used_bytes           bigint NOT NULL DEFAULT 0,
    message_count        bigint NOT NULL DEFAULT 0,
    imap                 boolean NOT NULL,
    pop3                 boolean NOT NULL,
    smtp                 boolean NOT NULL,
    sieve                boolean NOT NULL,
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
CREATE INDEX mailboxes_trash ON mailboxes (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX mailboxes_forwarding ON mailboxes USING gin (forward_keys) WHERE forward_keys <> '{}';

CREATE TABLE aliases (
    id                uuid PRIMARY KEY,
    domain_id         uuid NOT NULL REFERENCES domains,
    source_local_part text NOT NULL,                                                -- as written, NFC; '' is the catch-all
    source_key        text NOT NULL,                                                -- folded
    destinations      text[] NOT NULL CONSTRAINT aliases_destinations_count CHECK (cardinality(destinations) BETWEEN 1 AND 10),
    destination_keys  text[] NOT NULL,                                              -- folded
    active            boolean NOT NULL,
    created_at        timestamptz NOT NULL,
    updated_at        timestamptz NOT NULL,
    CONSTRAINT aliases_source_unique UNIQUE (domain_id, source_key)
);
CREATE INDEX aliases_by_domain ON aliases (domain_id, id);
CREATE INDEX aliases_by_destination ON aliases USING gin (destination_keys);

-- Sending suspended for an address, by the abuse rules (by_rank null) or by an administrator.
CREATE TABLE suspensions (
    id           uuid PRIMARY KEY,
    domain_id    uuid NOT NULL REFERENCES domains ON DELETE CASCADE,
    address      text NOT NULL,
    address_key  text NOT NULL CONSTRAINT suspensions_address_unique UNIQUE,
    reason       text NOT NULL,
    by_kind      text NOT NULL CONSTRAINT suspensions_by_kind CHECK (by_kind IN ('rules', 'admin')),
    by_label     text NOT NULL,
    by_rank      integer,
    created_at   timestamptz NOT NULL
);
CREATE INDEX suspensions_by_domain ON suspensions (domain_id, id);

-- History: partitioned by the month that the id carries, pruned by dropping partitions.
CREATE TABLE messages (
    id           uuid PRIMARY KEY,
    direction    text NOT NULL CONSTRAINT messages_direction CHECK (direction IN ('outbound', 'inbound')),
    message_id   text NOT NULL,                                                     -- the header's value, with < >
    queue_id     text,
    domain_id    uuid,
    domain_name  text NOT NULL,
    mailbox_id   uuid,
    source       text NOT NULL CONSTRAINT messages_source CHECK (source IN ('api', 'smtp', 'system')),
    admin_id     uuid,
    api_key_id   uuid,
    mail_from    text NOT NULL,                                                     -- envelope
    from_address text NOT NULL,                                                     -- header
    to_addresses text[] NOT NULL,
    cc_addresses text[] NOT NULL,
    subject      text NOT NULL,
    size         bigint NOT NULL,
    tags         text[] NOT NULL DEFAULT '{}',
    metadata     jsonb NOT NULL DEFAULT '{}',
    status       text NOT NULL,
    spam_score   double precision,
    spam_action  text,
    spam_symbols text[] NOT NULL DEFAULT '{}',
    auth         jsonb NOT NULL DEFAULT '{}',
    created_at   timestamptz NOT NULL
) PARTITION BY RANGE (id);
CREATE INDEX messages_by_domain ON messages (domain_id, id);
CREATE INDEX messages_by_message_id ON messages (message_id);
CREATE INDEX messages_by_queue_id ON messages (queue_id);
CREATE INDEX messages_by_mailbox ON messages (mailbox_id, id) WHERE mailbox_id IS NOT NULL;

CREATE TABLE message_recipients (
    message_id      uuid NOT NULL,
    position        integer NOT NULL,
    address         text NOT NULL,
    address_key     text NOT NULL,
    status          text NOT NULL,
    attempts        integer NOT NULL DEFAULT 0,
    smtp_code       integer,
    enhanced_code   text,
    diagnostic      text,
    remote_host     text,
    next_attempt_at timestamptz,
    PRIMARY KEY (message_id, position)
) PARTITION BY RANGE (message_id);
CREATE INDEX message_recipients_by_address ON message_recipients (address_key, message_id);

-- (queue id, recipient) that were filed already: an MTA that asks again finds its answer here.
CREATE TABLE inbound_seen (
    queue_id   text NOT NULL,
    recipient  text NOT NULL,
    message_id uuid NOT NULL,
    seen_at    timestamptz NOT NULL,
    PRIMARY KEY (queue_id, recipient)
);
CREATE INDEX inbound_seen_by_age ON inbound_seen (seen_at);

-- What happened, as told to subscribers. `tx` orders by transaction, so that a reader can wait for older ones.
CREATE TABLE events (
    id         uuid PRIMARY KEY,
    tx         xid8 NOT NULL DEFAULT pg_current_xact_id(),
    kind       text NOT NULL,
    domain_id  uuid,
    message_id uuid,
    data       jsonb NOT NULL,
    created_at timestamptz NOT NULL
) PARTITION BY RANGE (id);
CREATE INDEX events_by_transaction ON events (tx, id);
CREATE INDEX events_by_message ON events (message_id) WHERE message_id IS NOT NULL;

CREATE TABLE audit_entries (
    id            uuid PRIMARY KEY,
    created_at    timestamptz NOT NULL,
    admin_id      uuid,                                                             -- no foreign key: the row never changes
    actor_type    text NOT NULL CONSTRAINT audit_entries_actor CHECK (actor_type IN ('session', 'api_key', 'system', 'cli')),
    actor_label   text NOT NULL,
    key_id        uuid,
    action        text NOT NULL,
    resource_type text NOT NULL,
    resource_id   text,
    domain_id     uuid,
    domain_name   text,
    ip_address    text,
    user_agent    text,
    request_id    uuid,
    outcome       text NOT NULL CONSTRAINT audit_entries_outcome CHECK (outcome IN ('success', 'denied', 'failed')),
    error_code    text,
    details       jsonb NOT NULL
) PARTITION BY RANGE (id);
CREATE INDEX audit_entries_by_domain ON audit_entries (domain_id, id);
CREATE INDEX audit_entries_by_admin ON audit_entries (admin_id, id);
CREATE INDEX audit_entries_by_resource ON audit_entries (resource_type, resource_id, id);
CREATE INDEX audit_entries_by_request ON audit_entries (request_id);

-- The sandbox's queue: what the built-in MTA has taken, and each recipient still to be seen to.
CREATE TABLE sandbox_messages (
    id          uuid PRIMARY KEY,
    queue_id    text NOT NULL CONSTRAINT sandbox_messages_queue_id_unique UNIQUE,
    mail_from   text NOT NULL,
    rcpt_to     text[] NOT NULL,
    message_id  text NOT NULL,
    size        bigint NOT NULL,
    received_at timestamptz NOT NULL
);
CREATE INDEX sandbox_messages_by_message_id ON sandbox_messages (message_id);

CREATE TABLE sandbox_queue (
    message_id      uuid NOT NULL REFERENCES sandbox_messages ON DELETE CASCADE,
    recipient       text NOT NULL,
    attempts        integer NOT NULL DEFAULT 0,
    next_attempt_at timestamptz NOT NULL,
    PRIMARY KEY (message_id, recipient)
);
CREATE INDEX sandbox_queue_due ON sandbox_queue (next_attempt_at);

-- The smallest UUIDv7 of an instant: the bound of a month.
CREATE FUNCTION uuid7_floor(p_at timestamptz) RETURNS uuid LANGUAGE sql IMMUTABLE STRICT AS $$
    SELECT (lpad(to_hex((extract(epoch FROM p_at) * 1000)::bigint), 12, '0') || '70008000000000000000')::uuid
$$;

-- Partitions for the month of p_at and the one after it. Idempotent; runs with the owner's rights.
CREATE FUNCTION ensure_partitions(p_at timestamptz) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    parent text;
    month  timestamptz;
    part   text;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('mailkeep.partitions'));
    FOREACH parent IN ARRAY ARRAY['messages', 'message_recipients', 'events', 'audit_entries'] LOOP
        FOR ahead IN 0..1 LOOP
            month := (date_trunc('month', p_at AT TIME ZONE 'UTC') + make_interval(months => ahead)) AT TIME ZONE 'UTC';
            part := parent || to_char(month AT TIME ZONE 'UTC', '_YYYY_MM');
            IF to_regclass(part) IS NULL THEN
                EXECUTE format('CREATE TABLE %I PARTITION OF %I FOR VALUES FROM (%L) TO (%L)', part, parent, uuid7_floor(month),
                               uuid7_floor(((month AT TIME ZONE 'UTC') + interval '1 month') AT TIME ZONE 'UTC'));
                IF parent = 'audit_entries' AND EXISTS (SELECT FROM pg_roles WHERE rolname = 'mailkeep_app') THEN
                    EXECUTE format('REVOKE ALL ON %I FROM mailkeep_app', part);
                END IF;
            END IF;
        END LOOP;
    END LOOP;
END
$$;

-- Nothing is lost where the clock has left the months at hand: such rows wait in the default partition.
CREATE TABLE messages_default PARTITION OF messages DEFAULT;
CREATE TABLE message_recipients_default PARTITION OF message_recipients DEFAULT;
CREATE TABLE events_default PARTITION OF events DEFAULT;
CREATE TABLE audit_entries_default PARTITION OF audit_entries DEFAULT;

-- An event and (later) its deliveries are born here, in the transaction of the change.
CREATE FUNCTION emit_event(p_id uuid, p_kind text, p_domain_id uuid, p_message_id uuid, p_data jsonb, p_at timestamptz)
RETURNS void LANGUAGE sql AS $$
    INSERT INTO events (id, kind, domain_id, message_id, data, created_at)
    VALUES (p_id, p_kind, p_domain_id, p_message_id, p_data, p_at)
$$;

DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'mailkeep_app') THEN
        GRANT USAGE ON SCHEMA public TO mailkeep_app;
        GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO mailkeep_app;
        GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA public TO mailkeep_app;
        ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO mailkeep_app;
        ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT EXECUTE ON FUNCTIONS TO mailkeep_app;
        -- The audit log is written once: through the parent only inserted into and read; its partitions are not touched directly.
        REVOKE UPDATE, DELETE, TRUNCATE ON audit_entries FROM mailkeep_app;
        REVOKE ALL ON audit_entries_default FROM mailkeep_app;
        REVOKE ALL ON schema_migrations FROM mailkeep_app;
        GRANT SELECT ON schema_migrations TO mailkeep_app;
    END IF;
END
$$;
