-- Whether a subscription to p_events includes p_kind: by name, or by `*`, which does not include `system.` kinds.
CREATE OR REPLACE FUNCTION webhook_subscribes(p_events text[], p_kind text) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT p_kind = ANY (p_events) OR ('*' = ANY (p_events) AND p_kind NOT LIKE 'system.%')
$$;

-- The ID of an event's delivery to a webhook. It has the time and order of the event's ID.
CREATE OR REPLACE FUNCTION webhook_delivery_id(p_event_id uuid, p_webhook_id uuid) RETURNS uuid
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT (left(p_event_id::text, 24) || left(md5(p_event_id::text || p_webhook_id::text), 12))::uuid
$$;

-- The attempts with one more appended. The newest 20 are kept.
CREATE OR REPLACE FUNCTION append_webhook_attempt(p_attempts jsonb, p_attempt jsonb) RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN jsonb_array_length(p_attempts) < 20 THEN p_attempts ELSE p_attempts - 0 END || p_attempt
$$;

-- Claims up to p_limit deliveries that are due at p_at. The lease ends at p_until; then they are due again. Webhooks
-- are served round robin, beginning with the one after p_after. Each gets at most p_webhook_limit deliveries, or its
-- entry in p_webhook_limits, {webhook ID: limit}. Rows that others have locked are skipped. Each webhook costs two
-- index probes, however many deliveries it has: the planner settings keep this so when the plan was made for a small
-- table.
CREATE OR REPLACE FUNCTION claim_webhook_deliveries(
    p_at timestamptz, p_until timestamptz, p_after uuid, p_limit integer, p_webhook_limit integer, p_webhook_limits jsonb)
RETURNS SETOF webhook_deliveries LANGUAGE plpgsql SET enable_seqscan TO off SET enable_bitmapscan TO off AS $$
DECLARE
    last_id       uuid := p_after;
    next_id       uuid;
    round         integer := 1;
    batch_size    integer;
    remaining     integer := p_limit;
    claimed_count integer;
BEGIN
    WHILE remaining > 0 LOOP
        SELECT d.webhook_id INTO next_id FROM webhook_deliveries d
         WHERE d.next_attempt_at IS NOT NULL AND NOT d.held AND d.webhook_id > last_id ORDER BY d.webhook_id LIMIT 1;
        IF next_id IS NULL AND round = 1 THEN
            round := 2;
            last_id := '00000000-0000-0000-0000-000000000000';
            CONTINUE;
        END IF;
        EXIT WHEN next_id IS NULL OR (round = 2 AND next_id > p_after);
        last_id := next_id;
        batch_size := least(remaining, coalesce((p_webhook_limits ->> next_id::text)::integer, p_webhook_limit));
        CONTINUE WHEN batch_size <= 0 OR NOT EXISTS (SELECT FROM webhooks w WHERE w.id = next_id AND w.active);
        -- A delivery that is still marked as claimed was interrupted: its worker ended, or its lease ran out.
        RETURN QUERY
        UPDATE webhook_deliveries d
           SET lease = d.lease + 1, claimed_at = p_at, next_attempt_at = p_until,
               attempts = CASE WHEN d.claimed_at IS NULL THEN d.attempts
                               ELSE append_webhook_attempt(d.attempts, jsonb_build_object(
                   'at', to_char(d.claimed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
                   'status', NULL, 'duration_ms', NULL, 'response_excerpt', NULL,
                   'error', 'interrupted: The worker stopped during the attempt; the attempt is repeated.')) END
          FROM (SELECT f.id FROM webhook_deliveries f
                 WHERE f.webhook_id = next_id AND f.next_attempt_at <= p_at AND NOT f.held
                 ORDER BY f.next_attempt_at LIMIT batch_size FOR UPDATE SKIP LOCKED) due
         WHERE d.id = due.id
        RETURNING d.*;
        GET DIAGNOSTICS claimed_count = ROW_COUNT;
        remaining := remaining - claimed_count;
    END LOOP;
END
$$;

-- Deletes up to p_limit deliveries of one deleted webhook, and returns how many. Each webhook costs one index probe.
CREATE OR REPLACE FUNCTION delete_orphaned_deliveries(p_limit integer) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    last_id uuid := '00000000-0000-0000-0000-000000000000';
    deleted integer;
BEGIN
    LOOP
        SELECT d.webhook_id INTO last_id FROM webhook_deliveries d WHERE d.webhook_id > last_id ORDER BY d.webhook_id LIMIT 1;
        IF NOT FOUND THEN
            RETURN 0;
        END IF;
        CONTINUE WHEN EXISTS (SELECT FROM webhooks w WHERE w.id = last_id);
        DELETE FROM webhook_deliveries WHERE id = ANY (ARRAY(
            SELECT d.id FROM webhook_deliveries d WHERE d.webhook_id = last_id LIMIT p_limit));
        GET DIAGNOSTICS deleted = ROW_COUNT;
        RETURN deleted;
    END LOOP;
END
$$;
