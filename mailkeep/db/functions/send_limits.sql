-- Limits of recipients per rolling hour, by sender and by domain. One count covers every way of sending. The rules
-- are in mailkeep/features/mailflow/abuse.

-- Locks a sender until the end of the transaction: for counting, suspending and lifting a suspension.
CREATE OR REPLACE FUNCTION lock_sender(p_address_key text) RETURNS void LANGUAGE sql AS $$
    SELECT pg_advisory_xact_lock(hashtextextended('mailkeep.sender ' || p_address_key, 0))
$$;

-- Locks senders, then their domains, each in sorted order, so that two calls cannot deadlock.
CREATE OR REPLACE FUNCTION lock_send_counts(p_senders text[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    name text;
BEGIN
    FOR name IN SELECT DISTINCT s FROM unnest(p_senders) s ORDER BY s LOOP
        PERFORM lock_sender(name);
    END LOOP;
    FOR name IN SELECT DISTINCT split_part(s, '@', -1) AS d FROM unnest(p_senders) s ORDER BY d LOOP
        PERFORM pg_advisory_xact_lock(hashtextextended('mailkeep.sending domain ' || name, 0));
    END LOOP;
END
$$;

-- The senders for which messages count: the sender itself, but in an alias domain the mailbox in its target, or the same
-- address there. The application has replaced addresses with tags by their mailboxes.
CREATE OR REPLACE FUNCTION counted_senders(p_senders text[]) RETURNS text[] LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM domains d WHERE d.alias_of IS NOT NULL) THEN
        RETURN p_senders;
    END IF;
    RETURN ARRAY(
        SELECT CASE WHEN t.id IS NULL THEN s.sender
                    ELSE coalesce((SELECT m.address_key FROM mta_mailbox_of(split_part(s.sender, '@', 1), t.name) m),
                                  split_part(s.sender, '@', 1) || '@' || t.name) END
          FROM unnest(p_senders) WITH ORDINALITY s (sender, number)
          LEFT JOIN domains d ON d.name = split_part(s.sender, '@', -1)
          LEFT JOIN domains t ON t.id = d.alias_of
         ORDER BY s.number);
END
$$;

-- The minutes whose counts are valid at p_at: all that overlap the hour before it, so that no hour exceeds the
-- threshold. A recipient leaves the count after 60 to 61 minutes. Minutes after p_at come from another process's
-- clock; those more than an hour ahead were written before the clock was set back, and do not count.
CREATE OR REPLACE FUNCTION send_minutes(p_at timestamptz) RETURNS tstzrange LANGUAGE sql STABLE AS $$
    SELECT tstzrange(p_at - interval '61 minutes', p_at + interval '61 minutes', '()')
$$;

-- Seconds until at least p_surplus of the recipients counted for p_subject have left the count.
CREATE OR REPLACE FUNCTION send_retry_after(p_subject text, p_at timestamptz, p_surplus bigint) RETURNS integer
LANGUAGE sql STABLE AS $$
    WITH totals AS (
        SELECT c.minute, sum(c.recipients) OVER (ORDER BY c.minute) AS recipients
          FROM send_counts c
         WHERE c.subject = p_subject
           AND c.minute > lower(send_minutes(p_at)) AND c.minute < upper(send_minutes(p_at))
    )
    SELECT ceil(extract(epoch FROM
                coalesce((SELECT min(f.minute) FROM totals f WHERE f.recipients >= p_surplus), date_trunc('minute', p_at))
                + interval '61 minutes' - p_at))::integer
$$;

-- The thresholds of a sender (NULL: of a domain alone): the most specific value that is set, else that of the settings
-- (p_values). `highest` is what an administrator of all domains allows; a domain_admin's value never exceeds it, also
-- if it was lowered later. The rules are in mailkeep/features/mailflow/thresholds.
CREATE OR REPLACE FUNCTION effective_thresholds(
    p_sender text, p_domain text, p_names text[], p_values double precision[])
RETURNS TABLE (name text, value double precision, source text, highest double precision) LANGUAGE sql STABLE AS $$
    SELECT t.name, least(t.chosen, t.highest),
           CASE WHEN t.chosen > t.highest THEN t.highest_source ELSE t.source END, t.highest
      FROM (SELECT n.name, coalesce(m.value, d.value, n.value) AS chosen,
                   CASE WHEN m.value IS NOT NULL THEN 'mailbox' WHEN d.value IS NOT NULL THEN 'domain' ELSE 'global' END
                   AS source,
                   coalesce(m.highest, d.highest, n.value) AS highest,
                   CASE WHEN m.highest IS NOT NULL THEN 'mailbox' WHEN d.highest IS NOT NULL THEN 'domain' ELSE 'global' END
                   AS highest_source
              FROM unnest(p_names, p_values) n (name, value)
              LEFT JOIN mailboxes b ON b.address_key = p_sender AND b.deleted_at IS NULL
              LEFT JOIN thresholds m ON m.mailbox_id = b.id AND m.name = n.name
              LEFT JOIN domains o ON o.name = p_domain
              LEFT JOIN thresholds d ON d.domain_id = o.id AND d.name = n.name) t
$$;

-- Checks messages (address key of the sender, number of recipients) against the send limits, in their order, and
-- counts those that may be sent. p_sender_limit and p_domain_limit are those of the settings. The verdict of each message:
-- counted, suspended, message_above_threshold, sender_rate (the sender is to be suspended), domain_rate, the last three with
-- the limit that it exceeds. Without p_may_suspend nothing is counted if a sender is to be suspended:
-- the caller repeats the call in a transaction that also writes the suspension. The locks are held until the
-- transaction ends.
CREATE OR REPLACE FUNCTION count_sends(
    p_at timestamptz, p_senders text[], p_recipients integer[], p_sender_limit bigint, p_domain_limit bigint,
    p_may_suspend boolean)
RETURNS TABLE (verdict text, retry_after integer, exceeded bigint) LANGUAGE plpgsql
-- One plan for all calls: planning each call costs more than a better plan saves.
SET plan_cache_mode TO force_generic_plan AS $$
DECLARE
    counted   text[] := counted_senders(p_senders);
    subjects  text[] := ARRAY(SELECT s FROM unnest(counted) s UNION SELECT split_part(s, '@', -1) FROM unnest(counted) s);
    suspended text[];
    earlier   bigint[];  -- recipients by subject, before this call
    used      bigint[];  -- recipients by subject, with this call
    suspends  boolean := false;
    own       boolean := EXISTS (SELECT FROM thresholds);
    sender_limit bigint := p_sender_limit;
    domain_limit bigint := p_domain_limit;
    sender    integer;
    domain    integer;
    size      integer;   -- recipients of the message
BEGIN
    PERFORM lock_send_counts(p_senders || counted);
    suspended := ARRAY(SELECT s.address_key FROM suspensions s WHERE s.address_key = ANY (p_senders || counted));
    earlier := ARRAY(
        SELECT (SELECT coalesce(sum(c.recipients), 0)
                  FROM send_counts c
                 WHERE c.subject = s.subject
                   AND c.minute > lower(send_minutes(p_at)) AND c.minute < upper(send_minutes(p_at)))
          FROM unnest(subjects) WITH ORDINALITY s (subject, number)
         ORDER BY s.number);
    used := earlier;
    FOR i IN 1..cardinality(p_senders) LOOP
        sender := array_position(subjects, counted[i]);
        domain := array_position(subjects, split_part(counted[i], '@', -1));
        size := p_recipients[i];
        IF own THEN
            SELECT max(t.value) FILTER (WHERE t.name = 'sender_per_hour'), max(t.value) FILTER (WHERE t.name = 'domain_per_hour')
              INTO sender_limit, domain_limit
              FROM effective_thresholds(counted[i], subjects[domain], ARRAY['sender_per_hour', 'domain_per_hour'],
                                        ARRAY[p_sender_limit, p_domain_limit]::double precision[]) t;
        END IF;
        verdict := CASE
            WHEN p_senders[i] = ANY (suspended) OR counted[i] = ANY (suspended) THEN 'suspended'
            WHEN size > least(sender_limit, domain_limit) THEN 'message_above_threshold'
            WHEN used[sender] + size > sender_limit THEN 'sender_rate'
            WHEN used[domain] + size > domain_limit THEN 'domain_rate'
            ELSE 'counted' END;
        retry_after := CASE verdict
            WHEN 'message_above_threshold' THEN 3600
            WHEN 'sender_rate' THEN send_retry_after(counted[i], p_at, used[sender] + size - sender_limit)
            WHEN 'domain_rate' THEN send_retry_after(subjects[domain], p_at, used[domain] + size - domain_limit) END;
        exceeded := CASE verdict
            WHEN 'message_above_threshold' THEN least(sender_limit, domain_limit)
            WHEN 'sender_rate' THEN sender_limit
            WHEN 'domain_rate' THEN domain_limit END;
        IF verdict = 'counted' THEN
            used[sender] := used[sender] + size;
            used[domain] := used[domain] + size;
        ELSIF verdict = 'sender_rate' THEN
            suspends := true;
            suspended := suspended || p_senders[i] || counted[i];
        END IF;
        RETURN NEXT;
    END LOOP;
    IF suspends AND NOT p_may_suspend THEN
        RETURN;
    END IF;
    IF NOT p_may_suspend THEN
        -- The locks are held until the commit returns, so counts alone do not wait for the disk. A crash of the
        -- database may lose the latest counts, but never a suspension.
        PERFORM set_config('synchronous_commit', 'off', true);
    END IF;
    INSERT INTO send_counts (subject, minute, recipients)
    SELECT u.subject, date_trunc('minute', p_at), u.used - u.earlier
      FROM unnest(subjects, earlier, used) u (subject, earlier, used)
     WHERE u.used > u.earlier
    ON CONFLICT ON CONSTRAINT send_counts_pkey DO UPDATE SET recipients = send_counts.recipients + excluded.recipients;
END
$$;

-- What the claim of an Idempotency-Key means for another submission with the key.
CREATE OR REPLACE FUNCTION claim_outcome(claim submission_envelopes, p_body_hash bytea) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN claim.body_hash <> p_body_hash THEN 'mismatch'
                WHEN claim.accepted_at IS NULL THEN 'pending' ELSE 'replayed' END
$$;

-- Counts a message that a mail client submits and stores its envelope (a row of submission_envelopes), in one commit.
-- The outcome is the verdict of count_sends, or `present` if the queue ID has an envelope. Of an Idempotency-Key that is
-- claimed after p_since: `pending`, `replayed` (Postfix has accepted its message), or `mismatch` (of another message).
CREATE OR REPLACE FUNCTION begin_submission(
    p_at timestamptz, p_since timestamptz, p_envelope jsonb, p_senders text[], p_recipients integer[], p_sender_limit bigint,
    p_domain_limit bigint)
RETURNS TABLE (outcome text, retry_after integer, exceeded bigint) LANGUAGE plpgsql AS $$
DECLARE
    durable constant text := current_setting('synchronous_commit');
    new     constant submission_envelopes := jsonb_populate_record(NULL::submission_envelopes, p_envelope);
BEGIN
    IF new.idempotency_key IS NOT NULL THEN
        UPDATE submission_envelopes e SET idempotency_key = NULL, body_hash = NULL
         WHERE e.api_key_id = new.api_key_id AND e.idempotency_key = new.idempotency_key AND e.created_at <= p_since;
    END IF;
    INSERT INTO submission_envelopes SELECT new.* ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
        outcome := coalesce((
            SELECT claim_outcome(e, new.body_hash) FROM submission_envelopes e
             WHERE e.api_key_id = new.api_key_id AND e.idempotency_key = new.idempotency_key), 'present');
        RETURN NEXT;
        RETURN;
    END IF;
    SELECT c.verdict, c.retry_after, c.exceeded INTO outcome, retry_after, exceeded
      FROM count_sends(p_at, p_senders, p_recipients, p_sender_limit, p_domain_limit, false) c;
    IF outcome = 'counted' THEN
        PERFORM set_config('synchronous_commit', durable, true);  -- count_sends has turned it off for the counts
    ELSE
        DELETE FROM submission_envelopes e WHERE e.queue_id = new.queue_id;
    END IF;
    RETURN NEXT;
END
$$;

-- Subtracts the counts of messages that were not submitted; p_at: when count_sends counted each.
CREATE OR REPLACE FUNCTION uncount_sends(p_at timestamptz[], p_senders text[], p_recipients integer[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    counted text[] := counted_senders(p_senders);
BEGIN
    PERFORM lock_send_counts(counted);
    -- If a suspension was lifted in between, the sender's counts were deleted: never below 0.
    UPDATE send_counts c
       SET recipients = greatest(0, c.recipients - uncounted.recipients)
      FROM (SELECT s.subject, date_trunc('minute', u.counted_at) AS minute, sum(u.recipients) AS recipients
              FROM unnest(p_at, counted, p_recipients) u (counted_at, sender, recipients)
             CROSS JOIN unnest(ARRAY[u.sender, split_part(u.sender, '@', -1)]) s (subject)
             GROUP BY s.subject, minute) uncounted
     WHERE c.subject = uncounted.subject AND c.minute = uncounted.minute;
END
$$;

-- The domain of a suspension, locked until the transaction ends: no row if it does not exist, one row for NULL (no
-- domain).
CREATE OR REPLACE FUNCTION suspendable_domain(p_domain_id uuid) RETURNS TABLE (id uuid) LANGUAGE plpgsql AS $$
BEGIN
    IF p_domain_id IS NULL THEN
        RETURN QUERY SELECT NULL::uuid;
    ELSE
        RETURN QUERY SELECT d.id FROM domains d WHERE d.id = p_domain_id FOR KEY SHARE;
    END IF;
END
$$;

-- The subject in send_counts of a domain's forwarded copies. No address or domain contains a space.
CREATE OR REPLACE FUNCTION forward_subject(p_domain text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT 'forwards ' || p_domain
$$;

-- The limit of forwarded copies of a domain, or of its target if it is an alias domain; p_limit: that of the settings.
CREATE OR REPLACE FUNCTION forward_limit(p_domain text, p_limit bigint) RETURNS bigint LANGUAGE sql STABLE AS $$
    SELECT t.value::bigint
      FROM effective_thresholds(NULL, counted_domain(p_domain), ARRAY['forward_per_hour'],
                                ARRAY[p_limit]::double precision[]) t
$$;

-- Counts external copies that domains forward (p_copies for each of the distinct p_domains), all or none. Those of an
-- alias domain count for its target. If a domain would exceed its limit (p_limit: that of the settings), nothing is
-- counted, and each such domain has a row with its limit and the seconds until the copies fit: NULL if they never will
-- (more copies than the limit). Idempotent for a queue ID; p_queue_id NULL: none is recorded.
CREATE OR REPLACE FUNCTION count_forwards(
    p_at timestamptz, p_queue_id text, p_domains text[], p_copies integer[], p_limit bigint)
RETURNS TABLE (domain text, retry_after integer, exceeded bigint) LANGUAGE plpgsql AS $$
DECLARE
    allowed bigint;
    used   bigint;
    fits   boolean := true;
    names  text[];
    counts integer[];
BEGIN
    SELECT array_agg(f.name ORDER BY f.name), array_agg(f.copies ORDER BY f.name) INTO names, counts
      FROM (SELECT counted_domain(u.domain) AS name, sum(u.copies)::integer AS copies
              FROM unnest(p_domains, p_copies) u (domain, copies) GROUP BY 1) f;
    FOR i IN 1..cardinality(names) LOOP
        PERFORM pg_advisory_xact_lock(hashtextextended('mailkeep.forwarding domain ' || names[i], 0));
    END LOOP;
    IF EXISTS (SELECT FROM forward_charges c WHERE c.queue_id = p_queue_id) THEN
        RETURN;
    END IF;
    FOR i IN 1..cardinality(names) LOOP
        SELECT coalesce(sum(c.recipients), 0) INTO used
          FROM send_counts c
         WHERE c.subject = forward_subject(names[i])
           AND c.minute > lower(send_minutes(p_at)) AND c.minute < upper(send_minutes(p_at));
        allowed := forward_limit(names[i], p_limit);
        CONTINUE WHEN used + counts[i] <= allowed;
        fits := false;
        domain := names[i];
        exceeded := allowed;
        retry_after := CASE WHEN counts[i] <= allowed
                            THEN send_retry_after(forward_subject(names[i]), p_at, used + counts[i] - allowed) END;
        RETURN NEXT;
    END LOOP;
    IF fits THEN
        INSERT INTO send_counts (subject, minute, recipients)
        SELECT forward_subject(f.domain), date_trunc('minute', p_at), f.copies
          FROM unnest(names, counts) f (domain, copies)
        ON CONFLICT ON CONSTRAINT send_counts_pkey DO UPDATE SET recipients = send_counts.recipients + excluded.recipients;
        INSERT INTO forward_charges (queue_id, charged_at, domains, copies)
        SELECT p_queue_id, p_at, names, counts WHERE p_queue_id IS NOT NULL;
    END IF;
END
$$;

-- Number of copies that a domain, or its target if it is an alias domain, has forwarded in the hour before p_at.
CREATE OR REPLACE FUNCTION forwarded_copies(p_at timestamptz, p_domain text) RETURNS bigint LANGUAGE sql STABLE AS $$
    SELECT coalesce(sum(c.recipients), 0)::bigint
      FROM send_counts c
     WHERE c.subject = forward_subject(counted_domain(p_domain))
       AND c.minute > lower(send_minutes(p_at)) AND c.minute < upper(send_minutes(p_at))
$$;

-- Subtracts what count_forwards counted for messages that were not accepted.
CREATE OR REPLACE FUNCTION uncount_forwards(p_queue_ids text[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    charge record;
BEGIN
    FOR charge IN
        WITH deleted AS (DELETE FROM forward_charges c WHERE c.queue_id = ANY (p_queue_ids) RETURNING c.*)
        SELECT f.domain, date_trunc('minute', d.charged_at) AS minute, sum(f.copies)::integer AS copies
          FROM deleted d, unnest(d.domains, d.copies) f (domain, copies)
         GROUP BY 1, 2 ORDER BY 1, 2
    LOOP
        UPDATE send_counts c SET recipients = greatest(0, c.recipients - charge.copies)
         WHERE c.subject = forward_subject(charge.domain) AND c.minute = charge.minute;
    END LOOP;
END
$$;
