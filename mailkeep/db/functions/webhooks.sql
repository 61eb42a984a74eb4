-- Whether a subscription to p_events means p_kind: by name, or by * but for what tells of the system itself.
CREATE OR REPLACE FUNCTION webhook_subscribes(p_events text[], p_kind text) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT p_kind = ANY (p_events) OR ('*' = ANY (p_events) AND p_kind NOT LIKE 'system.%')
$$;

-- The id of an event's delivery to a webhook: its time and order are the event's.
CREATE OR REPLACE FUNCTION webhook_delivery_id(p_event_id uuid, p_webhook_id uuid) RETURNS uuid
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT (left(p_event_id::text, 24) || left(md5(p_event_id::text || p_webhook_id::text), 12))::uuid
$$;

-- Attempts with one more; the newest 20 are kept.
CREATE OR REPLACE FUNCTION append_webhook_attempt(p_attempts jsonb, p_attempt jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN jsonb_array_length(p_attempts) < 20 THEN p_attempts ELSE p_attempts - 0 END || p_attempt
$$;

-- Takes up to p_most deliveries that are due at p_at, until p_until, after which they are due again.
-- The webhooks take turns, from the one after p_after on; each gets no more than its room, which is p_room but for those
-- that p_rooms names. What others hold is passed over. Each webhook costs two probes of an index, whatever waits for it:
-- also where the plan was made when the table was small.
CREATE OR REPLACE FUNCTION claim_webhook_deliveries(
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
               attempts = CASE WHEN d.claimed_at IS NULL THEN d.attempts ELSE append_webhook_attempt(d.attempts, jsonb_build_object(
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
CREATE OR REPLACE FUNCTION delete_orphaned_deliveries(p_most integer) RETURNS integer LANGUAGE plpgsql AS $$
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
