-- Webhooks: who wants to be told of what, and each event on its way to them.

CREATE TABLE webhooks (
    id                    uuid PRIMARY KEY,
    url                   text NOT NULL,
    events                text[] NOT NULL CONSTRAINT webhooks_events_some CHECK (cardinality(events) > 0),
    domain_id             uuid REFERENCES domains ON DELETE CASCADE,                -- null: of all domains; none becomes so
    active                boolean NOT NULL,
    secret                bytea NOT NULL,                                           -- sealed, bound to the id
    previous_secret       bytea,                                                    -- signs too until then
    previous_secret_until timestamptz,
    failing_since         timestamptz,                                              -- no attempt succeeded since
    disabled_at           timestamptz,                                              -- by us, since it failed for long
    created_by            uuid NOT NULL,                                            -- no foreign key: it outlives its maker
    created_at            timestamptz NOT NULL,
    updated_at            timestamptz NOT NULL,
    CONSTRAINT webhooks_previous_secret_whole CHECK ((previous_secret IS NULL) = (previous_secret_until IS NULL)),
    CONSTRAINT webhooks_disabled_inactive CHECK (disabled_at IS NULL OR NOT active)
);
CREATE INDEX webhooks_by_domain ON webhooks (domain_id);

-- One event on its way to one webhook. The event's own row has its content, once for all of them. No foreign key to
-- either: a webhook with a million of them goes at once, and they after it.
-- next_attempt_at: when a worker may claim it; while one has it, when its lease ends; null when it is settled.
-- lease counts the claims, and so tells a worker that was stopped and woke that the delivery is another's by now.
CREATE TABLE webhook_deliveries (
    id              uuid PRIMARY KEY,
    webhook_id      uuid NOT NULL,
    event_id        uuid NOT NULL,
    kind            text NOT NULL,
    state           text NOT NULL CONSTRAINT webhook_deliveries_state
                    CHECK (state IN ('pending', 'waiting_for_retry', 'delivered', 'abandoned')),
    failures        integer NOT NULL DEFAULT 0,                                     -- since it was born or replayed
    lease           bigint NOT NULL DEFAULT 0,
    claimed_at      timestamptz,                                                    -- the attempt under way began
    next_attempt_at timestamptz,
    attempts        jsonb NOT NULL DEFAULT '[]',                                    -- those that ended, the newest last
    created_at      timestamptz NOT NULL,
    CONSTRAINT webhook_deliveries_settled CHECK ((next_attempt_at IS NULL) = (state IN ('delivered', 'abandoned')))
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000);
CREATE INDEX webhook_deliveries_open ON webhook_deliveries (webhook_id, next_attempt_at) WHERE next_attempt_at IS NOT NULL;
CREATE INDEX webhook_deliveries_by_webhook ON webhook_deliveries (webhook_id, id);
CREATE INDEX webhook_deliveries_abandoned ON webhook_deliveries (webhook_id, id) WHERE state = 'abandoned';

-- Whether a subscription to p_events means p_kind: by name, or by * but for what tells of the system itself.
CREATE FUNCTION webhook_wants(p_events text[], p_kind text) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT p_kind = ANY (p_events) OR ('*' = ANY (p_events) AND p_kind NOT LIKE 'system.%')
$$;

-- The id of an event's delivery to a webhook: its time and order are the event's.
CREATE FUNCTION webhook_delivery_id(p_event_id uuid, p_webhook_id uuid) RETURNS uuid
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT (left(p_event_id::text, 24) || left(md5(p_event_id::text || p_webhook_id::text), 12))::uuid
$$;

-- Wakes the workers of a queue that sleep: each holds the lock as long as it does. One that is awake looks again before
-- it goes to sleep, and NOTIFY is spared, which makes transactions commit one after the other.
CREATE FUNCTION wake_workers(p_queue text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    asleep bigint := hashtextextended('mailkeep.asleep ' || p_queue, 0);
BEGIN
    IF pg_try_advisory_lock(asleep) THEN
        PERFORM pg_advisory_unlock(asleep);
    ELSE
        PERFORM pg_notify('mailkeep_' || p_queue, '');
    END IF;
END
$$;

-- An event and its deliveries are born here, in the transaction of the change.
CREATE OR REPLACE FUNCTION emit_event(
    p_id uuid, p_kind text, p_domain_id uuid, p_message_id uuid, p_data jsonb, p_at timestamptz)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO events (id, kind, domain_id, message_id, data, created_at)
    VALUES (p_id, p_kind, p_domain_id, p_message_id, p_data, p_at);
    INSERT INTO webhook_deliveries (id, webhook_id, event_id, kind, state, next_attempt_at, created_at)
    SELECT webhook_delivery_id(p_id, w.id), w.id, p_id, p_kind, 'pending', p_at, p_at
      FROM webhooks w
     WHERE w.active AND (w.domain_id IS NULL OR w.domain_id = p_domain_id) AND webhook_wants(w.events, p_kind);
    IF FOUND THEN
        PERFORM wake_workers('webhooks');
    END IF;
END
$$;

-- Whether somebody wants the mail of p_domain_id told whole. p_always: the setting events.received_full.
CREATE OR REPLACE FUNCTION wants_full(p_domain_id uuid, p_always boolean) RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT p_domain_id IS NOT NULL AND (p_always OR EXISTS (
        SELECT FROM webhooks w
         WHERE w.active AND (w.domain_id IS NULL OR w.domain_id = p_domain_id)
           AND webhook_wants(w.events, 'mail.received.full')))
$$;

-- Attempts with one more; the newest 20 are kept.
CREATE FUNCTION webhook_attempts(p_attempts jsonb, p_attempt jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN jsonb_array_length(p_attempts) < 20 THEN p_attempts ELSE p_attempts - 0 END || p_attempt
$$;

-- Takes up to p_most deliveries that are due at p_at, until p_until, after which they are due again.
-- The webhooks take turns, from the one after p_after on; each gets no more than its room, which is p_room but for those
-- that p_rooms names. What others hold is passed over. Each webhook costs two probes of an index, whatever waits for it:
-- also where the plan was made when the table was small.
CREATE FUNCTION claim_webhook_deliveries(
    p_at timestamptz, p_until timestamptz, p_after uuid, p_most integer, p_room integer, p_rooms jsonb)
RETURNS SETOF webhook_deliveries LANGUAGE plpgsql SET enable_seqscan TO off SET enable_bitmapscan TO off AS $$
DECLARE
    turn  uuid := p_after;
    next  uuid;
    round integer := 1;
    room  integer;
    free  integer := p_most;
    taken integer;
BEGIN
    WHILE free > 0 LOOP
        SELECT d.webhook_id INTO next FROM webhook_deliveries d
         WHERE d.next_attempt_at IS NOT NULL AND d.webhook_id > turn ORDER BY d.webhook_id LIMIT 1;
        IF next IS NULL AND round = 1 THEN
            round := 2;
            turn := '00000000-0000-0000-0000-000000000000';
            CONTINUE;
        END IF;
        EXIT WHEN next IS NULL OR (round = 2 AND next > p_after);
        turn := next;
        room := least(free, coalesce((p_rooms ->> next::text)::integer, p_room));
        CONTINUE WHEN room <= 0 OR NOT EXISTS (SELECT FROM webhooks w WHERE w.id = next AND w.active);
        -- What still stands as claimed was cut off: its worker ended, or its lease did.
        RETURN QUERY
        UPDATE webhook_deliveries d
           SET lease = d.lease + 1, claimed_at = p_at, next_attempt_at = p_until,
               attempts = CASE WHEN d.claimed_at IS NULL THEN d.attempts ELSE webhook_attempts(d.attempts, jsonb_build_object(
                   'at', to_char(d.claimed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
                   'status', NULL, 'duration_ms', NULL, 'error', 'interrupted', 'response_excerpt', NULL)) END
          FROM (SELECT f.id FROM webhook_deliveries f
                 WHERE f.webhook_id = next AND f.next_attempt_at <= p_at
                 ORDER BY f.next_attempt_at LIMIT room FOR UPDATE SKIP LOCKED) due
         WHERE d.id = due.id
        RETURNING d.*;
        GET DIAGNOSTICS taken = ROW_COUNT;
        free := free - taken;
    END LOOP;
END
$$;

-- Removes up to p_most deliveries of webhooks that are gone; how many. Each webhook costs a probe of an index.
CREATE FUNCTION forget_orphaned_deliveries(p_most integer) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    turn uuid := '00000000-0000-0000-0000-000000000000';
    gone integer;
BEGIN
    LOOP
        SELECT d.webhook_id INTO turn FROM webhook_deliveries d WHERE d.webhook_id > turn ORDER BY d.webhook_id LIMIT 1;
        IF NOT FOUND THEN
            RETURN 0;
        END IF;
        CONTINUE WHEN EXISTS (SELECT FROM webhooks w WHERE w.id = turn);
        DELETE FROM webhook_deliveries WHERE id = ANY (ARRAY(
            SELECT d.id FROM webhook_deliveries d WHERE d.webhook_id = turn LIMIT p_most));
        GET DIAGNOSTICS gone = ROW_COUNT;
        RETURN gone;
    END LOOP;
END
$$;
