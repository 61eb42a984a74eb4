-- Sending, receiving, delivery status and webhooks.

-- Sending suspended for an address, by the abuse rules (by_rank NULL) or by an administrator. domain_id is NULL for
-- senders at the server's host name, which need not be a managed domain (`mailkeep sendmail`).
CREATE TABLE suspensions (
    id          uuid PRIMARY KEY,
    domain_id   uuid REFERENCES domains ON DELETE CASCADE,
    address     text NOT NULL,
    address_key text NOT NULL CONSTRAINT suspensions_address_unique UNIQUE,
    reason      text NOT NULL,
    by_kind     text NOT NULL CONSTRAINT suspensions_by_kind CHECK (by_kind IN ('rules', 'admin')),
    by_label    text NOT NULL,
    by_rank     integer,
    created_at  timestamptz NOT NULL
);
CREATE INDEX suspensions_by_domain ON suspensions (domain_id, id);
CREATE INDEX suspensions_by_address ON suspensions (address, id);

-- Groups of messages from which recipients can unsubscribe.
CREATE TABLE unsubscribe_groups (
    id         uuid PRIMARY KEY,
    domain_id  uuid NOT NULL REFERENCES domains ON DELETE CASCADE,
    name       text NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    CONSTRAINT unsubscribe_groups_name_unique UNIQUE (domain_id, name),
    CONSTRAINT unsubscribe_groups_in_domain UNIQUE (domain_id, id)
);

-- Addresses to which a domain sends nothing by API: no mail at all (group_id NULL), or no mail of a group.
CREATE TABLE suppressions (
    id                uuid PRIMARY KEY,
    domain_id         uuid NOT NULL REFERENCES domains ON DELETE CASCADE,
    address           text NOT NULL,
    address_key       text NOT NULL,
    reason            text NOT NULL CONSTRAINT suppressions_reason
                      CHECK (reason IN ('hard_bounce', 'complaint', 'unsubscribe', 'manual')),
    group_id          uuid,
    source_message_id uuid,                                                         -- no foreign key: it outlives the message
    created_at        timestamptz NOT NULL,
    CONSTRAINT suppressions_group FOREIGN KEY (domain_id, group_id) REFERENCES unsubscribe_groups (domain_id, id) ON DELETE CASCADE,
    CONSTRAINT suppressions_unique UNIQUE NULLS NOT DISTINCT (domain_id, address_key, group_id)
);
CREATE INDEX suppressions_by_domain ON suppressions (domain_id, id);
CREATE INDEX suppressions_by_address ON suppressions (address, id);
CREATE INDEX suppressions_by_group ON suppressions (domain_id, group_id, id) WHERE group_id IS NOT NULL;
CREATE INDEX suppressions_trigrams ON suppressions USING gin (address_key gin_trgm_ops);

-- Recipients of all sent mail, by sender and by domain: one row for each minute with mail. `subject` is a sender's
-- address key, a domain's name, or forward_subject() of a domain.
CREATE TABLE send_counts (
    subject    text NOT NULL,
    minute     timestamptz NOT NULL,
    recipients integer NOT NULL CONSTRAINT send_counts_positive CHECK (recipients >= 0),
    PRIMARY KEY (subject, minute)
) WITH (fillfactor = 70);

-- Forwarded copies counted for a message, by queue ID, kept until the counts leave the hour: they are subtracted again
-- if the message is not accepted after all.
CREATE TABLE forward_charges (
    queue_id   text PRIMARY KEY,
    charged_at timestamptz NOT NULL,
    domains    text[] NOT NULL,
    copies     integer[] NOT NULL
);
CREATE INDEX forward_charges_by_age ON forward_charges (charged_at);

-- (queue ID, recipient) pairs whose message is recorded. A repeated delivery finds the message here.
CREATE TABLE inbound_claims (
    queue_id   text NOT NULL,
    recipient  text NOT NULL,
    message_id uuid NOT NULL,
    claimed_at timestamptz NOT NULL,
    PRIMARY KEY (queue_id, recipient)
);
CREATE INDEX inbound_claims_by_age ON inbound_claims (claimed_at);

-- Mail to forward to external addresses, until the MTA accepts it. The content is in a file named by the queue ID.
CREATE TABLE forwards (
    queue_id        text NOT NULL,
    recipient       text NOT NULL,
    mail_from       text NOT NULL,
    attempts        integer NOT NULL DEFAULT 0,
    next_attempt_at timestamptz NOT NULL,
    created_at      timestamptz NOT NULL,
    PRIMARY KEY (queue_id, recipient)
);
CREATE INDEX forwards_due ON forwards (next_attempt_at);

-- Messages that the sandbox (the built-in MTA) has accepted, and their open recipients.
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

-- The mail logs that are followed. caught_up_at: when the end was last reached; everything written before is known.
CREATE TABLE mail_logs (
    name         text PRIMARY KEY,
    caught_up_at timestamptz
);

-- Read positions in the files of a log. Inode numbers are reused, so the SHA-256 of the first line identifies a file
-- too.
CREATE TABLE mail_log_positions (
    log        text NOT NULL,
    inode      bigint NOT NULL,
    first_line bytea NOT NULL,
    read_to    bigint NOT NULL,
    read_at    timestamptz NOT NULL,
    PRIMARY KEY (log, inode)
);

-- Mail in Postfix's queue, by queue ID: what the log has reported about it so far. Deleted with the end of the queue entry.
-- `inbound` and `reinjection` are forwarded mail: copies that aliases and mailboxes send to external addresses, and
-- mail that Dovecot submits (Sieve).
CREATE TABLE queued_mail (
    queue_id            text PRIMARY KEY,
    origin              text NOT NULL
                        CONSTRAINT queued_mail_origin CHECK (origin IN ('api', 'submission', 'inbound', 'reinjection')),
    login               text,                                                       -- of the mail client
    header_id           text NOT NULL,                                              -- Message-ID
    head                jsonb NOT NULL,                                             -- header fields that cleanup logs
    sender              text NOT NULL,
    size                bigint NOT NULL,
    message_id          uuid,                                                       -- the row in messages, once accepted
    queue_recipients    integer,                                                    -- recipients in the queue
    original_recipients integer NOT NULL,                                           -- recipients of the envelope
    envelope_known      boolean NOT NULL,                                           -- all original recipients are known
    expanded_recipients jsonb NOT NULL,                                             -- delivery outcomes behind aliases
    decided_aliases     text[] NOT NULL,                                            -- aliases whose outcome is decided
    forwarded_messages  jsonb NOT NULL DEFAULT '{}',                                -- forwarding domain: row in messages
    first_seen_at       timestamptz NOT NULL
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000);
CREATE INDEX queued_mail_by_age ON queued_mail (first_seen_at);

-- Envelopes of mail that clients submit, recorded before Postfix accepts it: the log does not have them.
CREATE TABLE submission_envelopes (
    queue_id   text PRIMARY KEY,
    login      text NOT NULL,
    sender     text NOT NULL,
    recipients text[] NOT NULL,
    client     text NOT NULL,
    created_at timestamptz NOT NULL
);
CREATE INDEX submission_envelopes_by_age ON submission_envelopes (created_at);

CREATE TABLE webhooks (
    id                    uuid PRIMARY KEY,
    url                   text NOT NULL,
    events                text[] NOT NULL CONSTRAINT webhooks_events_some CHECK (cardinality(events) > 0),
    domain_id             uuid REFERENCES domains ON DELETE CASCADE,                -- NULL: all domains; set at creation
    active                boolean NOT NULL,
    secret                bytea NOT NULL,                                           -- sealed, bound to the ID
    previous_secret       bytea,                                                    -- signs too until previous_secret_until
    previous_secret_until timestamptz,
    failing_since         timestamptz,                                              -- no attempt has succeeded since
    disabled_at           timestamptz,                                              -- disabled automatically after long failure
    created_by            uuid NOT NULL,                                            -- no foreign key: it outlives the admin
    created_at            timestamptz NOT NULL,
    updated_at            timestamptz NOT NULL,
    CONSTRAINT webhooks_previous_secret_whole CHECK ((previous_secret IS NULL) = (previous_secret_until IS NULL)),
    CONSTRAINT webhooks_disabled_inactive CHECK (disabled_at IS NULL OR NOT active)
);
CREATE INDEX webhooks_by_domain ON webhooks (domain_id);

-- Deliveries of an event to a webhook. The content is in the event's row. No foreign keys: a webhook with a million
-- deliveries is deleted at once, its deliveries later.
-- next_attempt_at: when a worker may claim the delivery; while claimed, the end of the lease; NULL if it is delivered or
-- abandoned.
-- lease: number of claims. A worker that was paused compares it to detect that another worker has claimed the delivery.
CREATE TABLE webhook_deliveries (
    id              uuid PRIMARY KEY,
    webhook_id      uuid NOT NULL,
    event_id        uuid NOT NULL,
    kind            text NOT NULL,
    state           text NOT NULL CONSTRAINT webhook_deliveries_state
                    CHECK (state IN ('pending', 'waiting_for_retry', 'delivered', 'abandoned')),
    failures        integer NOT NULL DEFAULT 0,                                     -- since creation or replay
    lease           bigint NOT NULL DEFAULT 0,
    claimed_at      timestamptz,                                                    -- start of the current attempt
    next_attempt_at timestamptz,
    attempts        jsonb NOT NULL DEFAULT '[]',                                    -- finished attempts, oldest first
    created_at      timestamptz NOT NULL,
    CONSTRAINT webhook_deliveries_next_attempt CHECK ((next_attempt_at IS NULL) = (state IN ('delivered', 'abandoned')))
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000);
CREATE INDEX webhook_deliveries_open ON webhook_deliveries (webhook_id, next_attempt_at) WHERE next_attempt_at IS NOT NULL;
CREATE INDEX webhook_deliveries_by_webhook ON webhook_deliveries (webhook_id, id);
CREATE INDEX webhook_deliveries_abandoned ON webhook_deliveries (webhook_id, id) WHERE state = 'abandoned';
