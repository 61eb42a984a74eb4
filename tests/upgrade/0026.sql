SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

CREATE EXTENSION IF NOT EXISTS btree_gin WITH SCHEMA public;


COMMENT ON EXTENSION btree_gin IS 'support for indexing common datatypes in GIN';


CREATE EXTENSION IF NOT EXISTS pg_trgm WITH SCHEMA public;


COMMENT ON EXTENSION pg_trgm IS 'text similarity measurement and index searching based on trigrams';


CREATE FUNCTION public.accept_messages(p_at timestamp with time zone, p_status text, p_answered boolean, p_accepted jsonb) RETURNS SETOF uuid
    LANGUAGE plpgsql
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $$
DECLARE
    taken  record;
    known  timestamptz;
    told   uuid[] := '{}';   -- by the log, before us
    fresh  uuid[] := '{}';
    queued text[] := '{}';
    events jsonb[] := '{}';
BEGIN
    FOR taken IN SELECT DISTINCT ON (a.id) a.id, a.queue_id, a.event
                   FROM jsonb_to_recordset(p_accepted) a(id uuid, queue_id text, event jsonb) ORDER BY a.id
    LOOP
        SELECT m.accepted_at INTO known FROM messages m
         WHERE m.id = taken.id AND m.answered_at IS NULL AND (p_answered OR m.accepted_at IS NULL) FOR UPDATE;
        CONTINUE WHEN NOT FOUND;
        RETURN NEXT taken.id;
        IF known IS NULL THEN
            fresh := fresh || taken.id;
            queued := queued || taken.queue_id;
            events := events || taken.event;
        ELSE
            told := told || taken.id;
        END IF;
    END LOOP;
    IF told <> '{}' THEN
        UPDATE messages m SET answered_at = p_at FROM unnest(told) t(id) WHERE m.id = t.id;
    END IF;
    IF fresh <> '{}' THEN
        UPDATE message_recipients r SET status = p_status FROM unnest(fresh) t(id)
         WHERE r.message_id = t.id AND r.status IN ('submitting', 'unknown', 'lost');
        UPDATE messages m
           SET queue_id = coalesce(m.queue_id, t.queue_id), accepted_at = p_at,
               answered_at = CASE WHEN p_answered THEN p_at END,
               status = (SELECT CASE WHEN min(r.status) = max(r.status) THEN min(r.status) ELSE 'partial' END
                           FROM message_recipients r WHERE r.message_id = t.id)
          FROM unnest(fresh, queued) t(id, queue_id)
         WHERE m.id = t.id;
        PERFORM emit_events(p_at, to_jsonb(events));
    END IF;
END
$$;


CREATE FUNCTION public.begin_sends(p_at timestamp with time zone, p_ids uuid[], p_senders text[], p_recipients integer[], p_sender_limit bigint, p_domain_limit bigint, p_messages jsonb, p_rows jsonb, p_search jsonb, p_tags jsonb) RETURNS TABLE(verdict text, retry_after integer)
    LANGUAGE plpgsql
    AS $$
DECLARE
    durable constant text := current_setting('synchronous_commit');
    counted uuid[];
    place   integer := 0;
    crossed boolean := false;
BEGIN
    FOR verdict, retry_after IN
        SELECT c.verdict, c.retry_after FROM count_sends(p_at, p_senders, p_recipients, p_sender_limit, p_domain_limit, false) c
    LOOP
        place := place + 1;
        crossed := crossed OR verdict = 'sender_rate';
        IF verdict = 'counted' THEN
            counted := counted || p_ids[place];
        END IF;
        RETURN NEXT;
    END LOOP;
    IF NOT crossed AND counted IS NOT NULL THEN
        PERFORM set_config('synchronous_commit', durable, true);  -- counts alone would wait for no disk
        PERFORM insert_messages(p_messages, p_rows, p_search, p_tags, counted);
    END IF;
END
$$;


SET default_tablespace = '';

SET default_table_access_method = heap;

CREATE TABLE public.webhook_deliveries (
    id uuid NOT NULL,
    webhook_id uuid NOT NULL,
    event_id uuid NOT NULL,
    kind text NOT NULL,
    state text NOT NULL,
    failures integer DEFAULT 0 NOT NULL,
    lease bigint DEFAULT 0 NOT NULL,
    claimed_at timestamp with time zone,
    next_attempt_at timestamp with time zone,
    attempts jsonb DEFAULT '[]'::jsonb NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT webhook_deliveries_settled CHECK (((next_attempt_at IS NULL) = (state = ANY (ARRAY['delivered'::text, 'abandoned'::text])))),
    CONSTRAINT webhook_deliveries_state CHECK ((state = ANY (ARRAY['pending'::text, 'waiting_for_retry'::text, 'delivered'::text, 'abandoned'::text])))
)
WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_threshold='5000');


CREATE FUNCTION public.claim_webhook_deliveries(p_at timestamp with time zone, p_until timestamp with time zone, p_after uuid, p_most integer, p_room integer, p_rooms jsonb) RETURNS SETOF public.webhook_deliveries
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    AS $$
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


CREATE FUNCTION public.count_sends(p_at timestamp with time zone, p_senders text[], p_recipients integer[], p_sender_limit bigint, p_domain_limit bigint, p_may_suspend boolean) RETURNS TABLE(verdict text, retry_after integer)
    LANGUAGE plpgsql
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
DECLARE
    subjects  text[] := ARRAY(SELECT s FROM unnest(p_senders) s UNION SELECT split_part(s, '@', -1) FROM unnest(p_senders) s);
    suspended text[];
    counted   bigint[];  -- of each subject, before this call
    used      bigint[];  -- and with what this call adds
    crossed   boolean := false;
    sender    integer;
    domain    integer;
    wanted    integer;
BEGIN
    PERFORM lock_send_counts(p_senders);
    suspended := ARRAY(SELECT s.address_key FROM suspensions s WHERE s.address_key = ANY (p_senders));
    counted := ARRAY(
        SELECT (SELECT coalesce(sum(c.recipients), 0)
                  FROM send_counts c
                 WHERE c.subject = s.subject
                   AND c.minute > lower(send_minutes(p_at)) AND c.minute < upper(send_minutes(p_at)))
          FROM unnest(subjects) WITH ORDINALITY s (subject, place)
         ORDER BY s.place);
    used := counted;
    FOR i IN 1..cardinality(p_senders) LOOP
        sender := array_position(subjects, p_senders[i]);
        domain := array_position(subjects, split_part(p_senders[i], '@', -1));
        wanted := p_recipients[i];
        verdict := CASE
            WHEN p_senders[i] = ANY (suspended) THEN 'suspended'
            WHEN wanted > least(p_sender_limit, p_domain_limit) THEN 'message_above_threshold'
            WHEN used[sender] + wanted > p_sender_limit THEN 'sender_rate'
            WHEN used[domain] + wanted > p_domain_limit THEN 'domain_rate'
            ELSE 'counted' END;
        retry_after := CASE verdict
            WHEN 'message_above_threshold' THEN 3600
            WHEN 'sender_rate' THEN send_room_in(p_senders[i], p_at, used[sender] + wanted - p_sender_limit)
            WHEN 'domain_rate' THEN send_room_in(subjects[domain], p_at, used[domain] + wanted - p_domain_limit) END;
        IF verdict = 'counted' THEN
            used[sender] := used[sender] + wanted;
            used[domain] := used[domain] + wanted;
        ELSIF verdict = 'sender_rate' THEN
            crossed := true;
            suspended := suspended || p_senders[i];
        END IF;
        RETURN NEXT;
    END LOOP;
    IF crossed AND NOT p_may_suspend THEN
        RETURN;
    END IF;
    IF NOT p_may_suspend THEN
        -- The locks are held until the commit is done: that counts alone wait for no disk. A crash of the database
        -- may lose the last counts, never a suspension.
        PERFORM set_config('synchronous_commit', 'off', true);
    END IF;
    INSERT INTO send_counts (subject, minute, recipients)
    SELECT u.subject, date_trunc('minute', p_at), u.used - u.counted
      FROM unnest(subjects, counted, used) u (subject, counted, used)
     WHERE u.used > u.counted
    ON CONFLICT ON CONSTRAINT send_counts_pkey DO UPDATE SET recipients = send_counts.recipients + excluded.recipients;
END
$$;


CREATE FUNCTION public.domains_drop_trash() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    DELETE FROM mailboxes m WHERE m.domain_id = OLD.id AND m.deleted_at IS NOT NULL;
    RETURN OLD;
END
$$;


CREATE FUNCTION public.drop_audit_months() RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    SET lock_timeout TO '3s'
    AS $$
DECLARE
    head   audit_seals;
    months integer;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('mailkeep.partitions'));
    SELECT * INTO head FROM audit_seals s ORDER BY s.sequence DESC LIMIT 1;
    IF head.dropped_before IS NULL THEN
        RETURN 0;
    END IF;
    months := drop_months('audit_entries', head.dropped_before);
    DELETE FROM audit_seals s WHERE s.sequence < head.first_sequence;
    RETURN months;
END
$$;


CREATE FUNCTION public.drop_months(p_parent text, p_before timestamp with time zone) RETURNS integer
    LANGUAGE plpgsql
    SET search_path TO 'public', 'pg_temp'
    AS $_$
DECLARE
    part   text;
    months integer := 0;
BEGIN
    FOR part IN
        SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
         WHERE i.inhparent = p_parent::regclass AND c.relname ~ '_[0-9]{4}_[0-9]{2}$'
           AND (to_date(right(c.relname, 7), 'YYYY_MM')::timestamp + interval '1 month') AT TIME ZONE 'UTC' <= p_before
         ORDER BY c.relname
    LOOP
        EXECUTE format('DROP TABLE %I', part);
        months := months + 1;
    END LOOP;
    EXECUTE format('DELETE FROM %I WHERE %I < %L', p_parent || '_default', partition_column(p_parent::regclass),
                   uuid7_floor(p_before));
    RETURN months;
END
$_$;


CREATE FUNCTION public.drop_partitions(p_messages_before timestamp with time zone, p_events_before timestamp with time zone) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    SET lock_timeout TO '3s'
    AS $_$
DECLARE
    parent text;
    before timestamptz;
    part   text;
    months integer := 0;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('mailkeep.partitions'));
    FOREACH parent IN ARRAY array_remove(monthly_tables(), 'audit_entries') LOOP
        before := CASE parent WHEN 'events' THEN p_events_before ELSE p_messages_before END;
        FOR part IN
            SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
             WHERE i.inhparent = parent::regclass AND c.relname ~ '_[0-9]{4}_[0-9]{2}$'
               AND (to_date(right(c.relname, 7), 'YYYY_MM')::timestamp + interval '1 month') AT TIME ZONE 'UTC' <= before
             ORDER BY c.relname
        LOOP
            EXECUTE format('DROP TABLE %I', part);
            months := months + 1;
        END LOOP;
        EXECUTE format('DELETE FROM %I WHERE %I < %L',
                       parent || '_default', partition_column(parent::regclass), uuid7_floor(before));
    END LOOP;
    RETURN months;
END
$_$;


CREATE FUNCTION public.emit_events(p_at timestamp with time zone, p_events jsonb) RETURNS void
    LANGUAGE plpgsql
    AS $$
BEGIN
    INSERT INTO events (id, kind, domain_id, message_id, data, created_at)
    SELECT e.id, e.kind, e.domain_id, e.message_id, e.data, p_at
      FROM jsonb_to_recordset(p_events) e(id uuid, kind text, domain_id uuid, message_id uuid, data jsonb);
    INSERT INTO webhook_deliveries (id, webhook_id, event_id, kind, state, next_attempt_at, created_at)
    SELECT webhook_delivery_id(e.id, w.id), w.id, e.id, e.kind, 'pending', p_at, p_at
      FROM webhooks w
      JOIN jsonb_to_recordset(p_events) e(id uuid, kind text, domain_id uuid)
        ON (w.domain_id IS NULL OR w.domain_id = e.domain_id) AND webhook_wants(w.events, e.kind)
     WHERE w.active;
    IF FOUND THEN
        PERFORM wake_workers('webhooks');
    END IF;
END
$$;


CREATE FUNCTION public.ensure_partition(p_parent text, p_month timestamp with time zone) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'public', 'pg_temp'
    AS $_$
DECLARE
    part  text := p_parent || to_char(p_month AT TIME ZONE 'UTC', '_YYYY_MM');
    low   uuid := uuid7_floor(p_month);
    high  uuid := uuid7_floor(((p_month AT TIME ZONE 'UTC') + interval '1 month') AT TIME ZONE 'UTC');
BEGIN
    IF to_regclass(part) IS NOT NULL THEN
        RETURN;
    END IF;
    EXECUTE format('LOCK TABLE ONLY %I IN SHARE UPDATE EXCLUSIVE MODE', p_parent);
    EXECUTE format('LOCK TABLE %I IN ACCESS EXCLUSIVE MODE', p_parent || '_default');
    EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING ALL)', part, p_parent);
    EXECUTE format('WITH moved AS (DELETE FROM %1$I WHERE %2$I >= %3$L AND %2$I < %4$L RETURNING *) '
                   'INSERT INTO %5$I SELECT * FROM moved',
                   p_parent || '_default', partition_column(p_parent::regclass), low, high, part);
    EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', p_parent, part, low, high);
    IF p_parent = 'audit_entries' AND EXISTS (SELECT FROM pg_roles WHERE rolname = 'mailkeep_app') THEN
        EXECUTE format('REVOKE ALL ON %I FROM mailkeep_app', part);
    END IF;
END
$_$;


CREATE FUNCTION public.ensure_partitions(p_at timestamp with time zone) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    SET lock_timeout TO '3s'
    AS $$
DECLARE
    parent text;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('mailkeep.partitions'));
    FOREACH parent IN ARRAY monthly_tables() LOOP
        FOR ahead IN 0..1 LOOP
            PERFORM ensure_partition(
                parent, (date_trunc('month', p_at AT TIME ZONE 'UTC') + make_interval(months => ahead)) AT TIME ZONE 'UTC');
        END LOOP;
    END LOOP;
END
$$;


CREATE FUNCTION public.file_messages(p_at timestamp with time zone, p_claims jsonb, p_messages jsonb, p_rows jsonb, p_search jsonb, p_tags jsonb, p_events jsonb) RETURNS SETOF uuid
    LANGUAGE plpgsql
    AS $$
DECLARE
    fresh uuid[];
    told  jsonb;
BEGIN
    WITH claimed AS (
        INSERT INTO inbound_seen (queue_id, recipient, message_id, seen_at)
        SELECT c.queue_id, c.recipient, c.message_id, p_at
          FROM jsonb_to_recordset(p_claims) c(queue_id text, recipient text, message_id uuid)
        ON CONFLICT (queue_id, recipient) DO NOTHING
        RETURNING message_id)
    SELECT array_agg(c.message_id) INTO fresh FROM claimed c;
    IF fresh IS NULL THEN
        RETURN;
    END IF;
    PERFORM insert_messages(p_messages, p_rows, p_search, p_tags, fresh);
    SELECT jsonb_agg(e.event ORDER BY e.place) INTO told
      FROM jsonb_array_elements(p_events) WITH ORDINALITY e (event, place)
     WHERE (e.event->>'message_id')::uuid = ANY (fresh);
    IF told IS NOT NULL THEN
        PERFORM emit_events(p_at, told);
    END IF;
    RETURN QUERY SELECT f FROM unnest(fresh) f;
END
$$;


CREATE FUNCTION public.forget_orphaned_deliveries(p_most integer) RETURNS integer
    LANGUAGE plpgsql
    AS $$
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


CREATE FUNCTION public.insert_messages(p_messages jsonb, p_recipients jsonb, p_search jsonb, p_tags jsonb, p_only uuid[] DEFAULT NULL::uuid[]) RETURNS void
    LANGUAGE plpgsql
    AS $$
BEGIN
    INSERT INTO messages (
        id, direction, message_id, queue_id, domain_id, domain_name, mailbox_id, source, admin_id, api_key_id, mail_from,
        from_address, to_addresses, cc_addresses, subject, size, tags, metadata, status, spam_score, spam_action,
        spam_symbols, auth, created_at, accepted_at, request_id, batch_index)
    SELECT r.id, r.direction, r.message_id, r.queue_id, r.domain_id, r.domain_name, r.mailbox_id, r.source, r.admin_id,
           r.api_key_id, r.mail_from, r.from_address, r.to_addresses, r.cc_addresses, r.subject, r.size, r.tags, r.metadata,
           r.status, r.spam_score, r.spam_action, r.spam_symbols, r.auth, r.created_at, r.accepted_at, r.request_id,
           r.batch_index
      FROM jsonb_to_recordset(p_messages) r(
               id uuid, direction text, message_id text, queue_id text, domain_id uuid, domain_name text, mailbox_id uuid,
               source text, admin_id uuid, api_key_id uuid, mail_from text, from_address text, to_addresses text[],
               cc_addresses text[], subject text, size bigint, tags text[], metadata jsonb, status text,
               spam_score double precision, spam_action text, spam_symbols text[], auth jsonb, created_at timestamptz,
               accepted_at timestamptz, request_id uuid, batch_index integer)
     WHERE p_only IS NULL OR r.id = ANY (p_only);
    INSERT INTO message_recipients (message_id, position, address, address_key, status, attempts, smtp_code, enhanced_code,
                                    diagnostic, remote_host, next_attempt_at)
    SELECT r.message_id, r.position, r.address, mailkeep_fold(r.address), r.status, r.attempts, r.smtp_code,
           r.enhanced_code, r.diagnostic, r.remote_host, r.next_attempt_at
      FROM jsonb_to_recordset(p_recipients) r(
               message_id uuid, position integer, address text, status text, attempts integer, smtp_code integer,
               enhanced_code text, diagnostic text, remote_host text, next_attempt_at timestamptz)
     WHERE p_only IS NULL OR r.message_id = ANY (p_only);
    INSERT INTO message_search (message_id, domain_id, subject, sender, recipients)
    SELECT r.message_id, r.domain_id, mailkeep_fold(r.subject), mailkeep_fold(r.sender), mailkeep_fold(r.recipients)
      FROM jsonb_to_recordset(p_search) r(message_id uuid, domain_id uuid, subject text, sender text, recipients text)
     WHERE p_only IS NULL OR r.message_id = ANY (p_only);
    IF p_tags <> '[]' THEN
        INSERT INTO message_tags (tag, message_id)
        SELECT DISTINCT r.tag, r.message_id FROM jsonb_to_recordset(p_tags) r(tag text, message_id uuid)
         WHERE p_only IS NULL OR r.message_id = ANY (p_only);
    END IF;
END
$$;


CREATE FUNCTION public.lock_routes() RETURNS void
    LANGUAGE sql
    AS $$
    SELECT pg_advisory_xact_lock(hashtext('mailkeep.routes'))
$$;


CREATE FUNCTION public.lock_send_counts(p_senders text[]) RETURNS void
    LANGUAGE plpgsql
    AS $$
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


CREATE FUNCTION public.lock_sender(p_address_key text) RETURNS void
    LANGUAGE sql
    AS $$
    SELECT pg_advisory_xact_lock(hashtextextended('mailkeep.sender ' || p_address_key, 0))
$$;


CREATE FUNCTION public.mailboxes_remove_mail() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    INSERT INTO mail_removals (mailbox_id) VALUES (OLD.id) ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;


CREATE FUNCTION public.mailboxes_set_address_key() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    -- An unknown domain leaves '' here and fails at its foreign key.
    NEW.address_key := coalesce(NEW.local_key || '@' || (SELECT d.name FROM domains d WHERE d.id = NEW.domain_id), '');
    RETURN NEW;
END
$$;


CREATE FUNCTION public.mailkeep_fold(p_text text) RETURNS text
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    AS $$
DECLARE
    folded text;
    source text[];
    target text[];
BEGIN
    IF octet_length(p_text) = length(p_text) THEN
        RETURN lower(p_text COLLATE "C");
    END IF;
    folded := translate(normalize(p_text, NFC),
        U&'\0041\0042\0043\0044\0045\0046\0047\0048\0049\004A\004B\004C\004D\004E\004F\0050\0051\0052'
        '\0053\0054\0055\0056\0057\0058\0059\005A\00B5\00C0\00C1\00C2\00C3\00C4\00C5\00C6\00C7\00C8'
        '\00C9\00CA\00CB\00CC\00CD\00CE\00CF\00D0\00D1\00D2\00D3\00D4\00D5\00D6\00D8\00D9\00DA\00DB'
        '\00DC\00DD\00DE\0100\0102\0104\0106\0108\010A\010C\010E\0110\0112\0114\0116\0118\011A\011C'
        '\011E\0120\0122\0124\0126\0128\012A\012C\012E\0132\0134\0136\0139\013B\013D\013F\0141\0143'
        '\0145\0147\014A\014C\014E\0150\0152\0154\0156\0158\015A\015C\015E\0160\0162\0164\0166\0168'
        '\016A\016C\016E\0170\0172\0174\0176\0178\0179\017B\017D\017F\0181\0182\0184\0186\0187\0189'
        '\018A\018B\018E\018F\0190\0191\0193\0194\0196\0197\0198\019C\019D\019F\01A0\01A2\01A4\01A6'
        '\01A7\01A9\01AC\01AE\01AF\01B1\01B2\01B3\01B5\01B7\01B8\01BC\01C4\01C5\01C7\01C8\01CA\01CB'
        '\01CD\01CF\01D1\01D3\01D5\01D7\01D9\01DB\01DE\01E0\01E2\01E4\01E6\01E8\01EA\01EC\01EE\01F1'
        '\01F2\01F4\01F6\01F7\01F8\01FA\01FC\01FE\0200\0202\0204\0206\0208\020A\020C\020E\0210\0212'
        '\0214\0216\0218\021A\021C\021E\0220\0222\0224\0226\0228\022A\022C\022E\0230\0232\023A\023B'
        '\023D\023E\0241\0243\0244\0245\0246\0248\024A\024C\024E\0345\0370\0372\0376\037F\0386\0388'
        '\0389\038A\038C\038E\038F\0391\0392\0393\0394\0395\0396\0397\0398\0399\039A\039B\039C\039D'
        '\039E\039F\03A0\03A1\03A3\03A4\03A5\03A6\03A7\03A8\03A9\03AA\03AB\03C2\03CF\03D0\03D1\03D5'
        '\03D6\03D8\03DA\03DC\03DE\03E0\03E2\03E4\03E6\03E8\03EA\03EC\03EE\03F0\03F1\03F4\03F5\03F7'
        '\03F9\03FA\03FD\03FE\03FF\0400\0401\0402\0403\0404\0405\0406\0407\0408\0409\040A\040B\040C'
        '\040D\040E\040F\0410\0411\0412\0413\0414\0415\0416\0417\0418\0419\041A\041B\041C\041D\041E'
        '\041F\0420\0421\0422\0423\0424\0425\0426\0427\0428\0429\042A\042B\042C\042D\042E\042F\0460'
        '\0462\0464\0466\0468\046A\046C\046E\0470\0472\0474\0476\0478\047A\047C\047E\0480\048A\048C'
        '\048E\0490\0492\0494\0496\0498\049A\049C\049E\04A0\04A2\04A4\04A6\04A8\04AA\04AC\04AE\04B0'
        '\04B2\04B4\04B6\04B8\04BA\04BC\04BE\04C0\04C1\04C3\04C5\04C7\04C9\04CB\04CD\04D0\04D2\04D4'
        '\04D6\04D8\04DA\04DC\04DE\04E0\04E2\04E4\04E6\04E8\04EA\04EC\04EE\04F0\04F2\04F4\04F6\04F8'
        '\04FA\04FC\04FE\0500\0502\0504\0506\0508\050A\050C\050E\0510\0512\0514\0516\0518\051A\051C'
        '\051E\0520\0522\0524\0526\0528\052A\052C\052E\0531\0532\0533\0534\0535\0536\0537\0538\0539'
        '\053A\053B\053C\053D\053E\053F\0540\0541\0542\0543\0544\0545\0546\0547\0548\0549\054A\054B'
        '\054C\054D\054E\054F\0550\0551\0552\0553\0554\0555\0556\10A0\10A1\10A2\10A3\10A4\10A5\10A6'
        '\10A7\10A8\10A9\10AA\10AB\10AC\10AD\10AE\10AF\10B0\10B1\10B2\10B3\10B4\10B5\10B6\10B7\10B8'
        '\10B9\10BA\10BB\10BC\10BD\10BE\10BF\10C0\10C1\10C2\10C3\10C4\10C5\10C7\10CD\13F8\13F9\13FA'
        '\13FB\13FC\13FD\1C80\1C81\1C82\1C83\1C84\1C85\1C86\1C87\1C88\1C90\1C91\1C92\1C93\1C94\1C95'
        '\1C96\1C97\1C98\1C99\1C9A\1C9B\1C9C\1C9D\1C9E\1C9F\1CA0\1CA1\1CA2\1CA3\1CA4\1CA5\1CA6\1CA7'
        '\1CA8\1CA9\1CAA\1CAB\1CAC\1CAD\1CAE\1CAF\1CB0\1CB1\1CB2\1CB3\1CB4\1CB5\1CB6\1CB7\1CB8\1CB9'
        '\1CBA\1CBD\1CBE\1CBF\1E00\1E02\1E04\1E06\1E08\1E0A\1E0C\1E0E\1E10\1E12\1E14\1E16\1E18\1E1A'
        '\1E1C\1E1E\1E20\1E22\1E24\1E26\1E28\1E2A\1E2C\1E2E\1E30\1E32\1E34\1E36\1E38\1E3A\1E3C\1E3E'
        '\1E40\1E42\1E44\1E46\1E48\1E4A\1E4C\1E4E\1E50\1E52\1E54\1E56\1E58\1E5A\1E5C\1E5E\1E60\1E62'
        '\1E64\1E66\1E68\1E6A\1E6C\1E6E\1E70\1E72\1E74\1E76\1E78\1E7A\1E7C\1E7E\1E80\1E82\1E84\1E86'
        '\1E88\1E8A\1E8C\1E8E\1E90\1E92\1E94\1E9B\1EA0\1EA2\1EA4\1EA6\1EA8\1EAA\1EAC\1EAE\1EB0\1EB2'
        '\1EB4\1EB6\1EB8\1EBA\1EBC\1EBE\1EC0\1EC2\1EC4\1EC6\1EC8\1ECA\1ECC\1ECE\1ED0\1ED2\1ED4\1ED6'
        '\1ED8\1EDA\1EDC\1EDE\1EE0\1EE2\1EE4\1EE6\1EE8\1EEA\1EEC\1EEE\1EF0\1EF2\1EF4\1EF6\1EF8\1EFA'
        '\1EFC\1EFE\1F08\1F09\1F0A\1F0B\1F0C\1F0D\1F0E\1F0F\1F18\1F19\1F1A\1F1B\1F1C\1F1D\1F28\1F29'
        '\1F2A\1F2B\1F2C\1F2D\1F2E\1F2F\1F38\1F39\1F3A\1F3B\1F3C\1F3D\1F3E\1F3F\1F48\1F49\1F4A\1F4B'
        '\1F4C\1F4D\1F59\1F5B\1F5D\1F5F\1F68\1F69\1F6A\1F6B\1F6C\1F6D\1F6E\1F6F\1FB8\1FB9\1FBA\1FBB'
        '\1FBE\1FC8\1FC9\1FCA\1FCB\1FD8\1FD9\1FDA\1FDB\1FE8\1FE9\1FEA\1FEB\1FEC\1FF8\1FF9\1FFA\1FFB'
        '\2126\212A\212B\2132\2160\2161\2162\2163\2164\2165\2166\2167\2168\2169\216A\216B\216C\216D'
        '\216E\216F\2183\24B6\24B7\24B8\24B9\24BA\24BB\24BC\24BD\24BE\24BF\24C0\24C1\24C2\24C3\24C4'
        '\24C5\24C6\24C7\24C8\24C9\24CA\24CB\24CC\24CD\24CE\24CF\2C00\2C01\2C02\2C03\2C04\2C05\2C06'
        '\2C07\2C08\2C09\2C0A\2C0B\2C0C\2C0D\2C0E\2C0F\2C10\2C11\2C12\2C13\2C14\2C15\2C16\2C17\2C18'
        '\2C19\2C1A\2C1B\2C1C\2C1D\2C1E\2C1F\2C20\2C21\2C22\2C23\2C24\2C25\2C26\2C27\2C28\2C29\2C2A'
        '\2C2B\2C2C\2C2D\2C2E\2C2F\2C60\2C62\2C63\2C64\2C67\2C69\2C6B\2C6D\2C6E\2C6F\2C70\2C72\2C75'
        '\2C7E\2C7F\2C80\2C82\2C84\2C86\2C88\2C8A\2C8C\2C8E\2C90\2C92\2C94\2C96\2C98\2C9A\2C9C\2C9E'
        '\2CA0\2CA2\2CA4\2CA6\2CA8\2CAA\2CAC\2CAE\2CB0\2CB2\2CB4\2CB6\2CB8\2CBA\2CBC\2CBE\2CC0\2CC2'
        '\2CC4\2CC6\2CC8\2CCA\2CCC\2CCE\2CD0\2CD2\2CD4\2CD6\2CD8\2CDA\2CDC\2CDE\2CE0\2CE2\2CEB\2CED'
        '\2CF2\A640\A642\A644\A646\A648\A64A\A64C\A64E\A650\A652\A654\A656\A658\A65A\A65C\A65E\A660'
        '\A662\A664\A666\A668\A66A\A66C\A680\A682\A684\A686\A688\A68A\A68C\A68E\A690\A692\A694\A696'
        '\A698\A69A\A722\A724\A726\A728\A72A\A72C\A72E\A732\A734\A736\A738\A73A\A73C\A73E\A740\A742'
        '\A744\A746\A748\A74A\A74C\A74E\A750\A752\A754\A756\A758\A75A\A75C\A75E\A760\A762\A764\A766'
        '\A768\A76A\A76C\A76E\A779\A77B\A77D\A77E\A780\A782\A784\A786\A78B\A78D\A790\A792\A796\A798'
        '\A79A\A79C\A79E\A7A0\A7A2\A7A4\A7A6\A7A8\A7AA\A7AB\A7AC\A7AD\A7AE\A7B0\A7B1\A7B2\A7B3\A7B4'
        '\A7B6\A7B8\A7BA\A7BC\A7BE\A7C0\A7C2\A7C4\A7C5\A7C6\A7C7\A7C9\A7D0\A7D6\A7D8\A7F5\AB70\AB71'
        '\AB72\AB73\AB74\AB75\AB76\AB77\AB78\AB79\AB7A\AB7B\AB7C\AB7D\AB7E\AB7F\AB80\AB81\AB82\AB83'
        '\AB84\AB85\AB86\AB87\AB88\AB89\AB8A\AB8B\AB8C\AB8D\AB8E\AB8F\AB90\AB91\AB92\AB93\AB94\AB95'
        '\AB96\AB97\AB98\AB99\AB9A\AB9B\AB9C\AB9D\AB9E\AB9F\ABA0\ABA1\ABA2\ABA3\ABA4\ABA5\ABA6\ABA7'
        '\ABA8\ABA9\ABAA\ABAB\ABAC\ABAD\ABAE\ABAF\ABB0\ABB1\ABB2\ABB3\ABB4\ABB5\ABB6\ABB7\ABB8\ABB9'
        '\ABBA\ABBB\ABBC\ABBD\ABBE\ABBF\FF21\FF22\FF23\FF24\FF25\FF26\FF27\FF28\FF29\FF2A\FF2B\FF2C'
        '\FF2D\FF2E\FF2F\FF30\FF31\FF32\FF33\FF34\FF35\FF36\FF37\FF38\FF39\FF3A\+010400\+010401\+010402\+010403'
        '\+010404\+010405\+010406\+010407\+010408\+010409\+01040A\+01040B\+01040C\+01040D\+01040E\+01040F\+010410\+010411\+010412\+010413\+010414\+010415'
        '\+010416\+010417\+010418\+010419\+01041A\+01041B\+01041C\+01041D\+01041E\+01041F\+010420\+010421\+010422\+010423\+010424\+010425\+010426\+010427'
        '\+0104B0\+0104B1\+0104B2\+0104B3\+0104B4\+0104B5\+0104B6\+0104B7\+0104B8\+0104B9\+0104BA\+0104BB\+0104BC\+0104BD\+0104BE\+0104BF\+0104C0\+0104C1'
        '\+0104C2\+0104C3\+0104C4\+0104C5\+0104C6\+0104C7\+0104C8\+0104C9\+0104CA\+0104CB\+0104CC\+0104CD\+0104CE\+0104CF\+0104D0\+0104D1\+0104D2\+0104D3'
        '\+010570\+010571\+010572\+010573\+010574\+010575\+010576\+010577\+010578\+010579\+01057A\+01057C\+01057D\+01057E\+01057F\+010580\+010581\+010582'
        '\+010583\+010584\+010585\+010586\+010587\+010588\+010589\+01058A\+01058C\+01058D\+01058E\+01058F\+010590\+010591\+010592\+010594\+010595\+010C80'
        '\+010C81\+010C82\+010C83\+010C84\+010C85\+010C86\+010C87\+010C88\+010C89\+010C8A\+010C8B\+010C8C\+010C8D\+010C8E\+010C8F\+010C90\+010C91\+010C92'
        '\+010C93\+010C94\+010C95\+010C96\+010C97\+010C98\+010C99\+010C9A\+010C9B\+010C9C\+010C9D\+010C9E\+010C9F\+010CA0\+010CA1\+010CA2\+010CA3\+010CA4'
        '\+010CA5\+010CA6\+010CA7\+010CA8\+010CA9\+010CAA\+010CAB\+010CAC\+010CAD\+010CAE\+010CAF\+010CB0\+010CB1\+010CB2\+0118A0\+0118A1\+0118A2\+0118A3'
        '\+0118A4\+0118A5\+0118A6\+0118A7\+0118A8\+0118A9\+0118AA\+0118AB\+0118AC\+0118AD\+0118AE\+0118AF\+0118B0\+0118B1\+0118B2\+0118B3\+0118B4\+0118B5'
        '\+0118B6\+0118B7\+0118B8\+0118B9\+0118BA\+0118BB\+0118BC\+0118BD\+0118BE\+0118BF\+016E40\+016E41\+016E42\+016E43\+016E44\+016E45\+016E46\+016E47'
        '\+016E48\+016E49\+016E4A\+016E4B\+016E4C\+016E4D\+016E4E\+016E4F\+016E50\+016E51\+016E52\+016E53\+016E54\+016E55\+016E56\+016E57\+016E58\+016E59'
        '\+016E5A\+016E5B\+016E5C\+016E5D\+016E5E\+016E5F\+01E900\+01E901\+01E902\+01E903\+01E904\+01E905\+01E906\+01E907\+01E908\+01E909\+01E90A\+01E90B'
        '\+01E90C\+01E90D\+01E90E\+01E90F\+01E910\+01E911\+01E912\+01E913\+01E914\+01E915\+01E916\+01E917\+01E918\+01E919\+01E91A\+01E91B\+01E91C\+01E91D'
        '\+01E91E\+01E91F\+01E920\+01E921',
        U&'\0061\0062\0063\0064\0065\0066\0067\0068\0069\006A\006B\006C\006D\006E\006F\0070\0071\0072'
        '\0073\0074\0075\0076\0077\0078\0079\007A\03BC\00E0\00E1\00E2\00E3\00E4\00E5\00E6\00E7\00E8'
        '\00E9\00EA\00EB\00EC\00ED\00EE\00EF\00F0\00F1\00F2\00F3\00F4\00F5\00F6\00F8\00F9\00FA\00FB'
        '\00FC\00FD\00FE\0101\0103\0105\0107\0109\010B\010D\010F\0111\0113\0115\0117\0119\011B\011D'
        '\011F\0121\0123\0125\0127\0129\012B\012D\012F\0133\0135\0137\013A\013C\013E\0140\0142\0144'
        '\0146\0148\014B\014D\014F\0151\0153\0155\0157\0159\015B\015D\015F\0161\0163\0165\0167\0169'
        '\016B\016D\016F\0171\0173\0175\0177\00FF\017A\017C\017E\0073\0253\0183\0185\0254\0188\0256'
        '\0257\018C\01DD\0259\025B\0192\0260\0263\0269\0268\0199\026F\0272\0275\01A1\01A3\01A5\0280'
        '\01A8\0283\01AD\0288\01B0\028A\028B\01B4\01B6\0292\01B9\01BD\01C6\01C6\01C9\01C9\01CC\01CC'
        '\01CE\01D0\01D2\01D4\01D6\01D8\01DA\01DC\01DF\01E1\01E3\01E5\01E7\01E9\01EB\01ED\01EF\01F3'
        '\01F3\01F5\0195\01BF\01F9\01FB\01FD\01FF\0201\0203\0205\0207\0209\020B\020D\020F\0211\0213'
        '\0215\0217\0219\021B\021D\021F\019E\0223\0225\0227\0229\022B\022D\022F\0231\0233\2C65\023C'
        '\019A\2C66\0242\0180\0289\028C\0247\0249\024B\024D\024F\03B9\0371\0373\0377\03F3\03AC\03AD'
        '\03AE\03AF\03CC\03CD\03CE\03B1\03B2\03B3\03B4\03B5\03B6\03B7\03B8\03B9\03BA\03BB\03BC\03BD'
        '\03BE\03BF\03C0\03C1\03C3\03C4\03C5\03C6\03C7\03C8\03C9\03CA\03CB\03C3\03D7\03B2\03B8\03C6'
        '\03C0\03D9\03DB\03DD\03DF\03E1\03E3\03E5\03E7\03E9\03EB\03ED\03EF\03BA\03C1\03B8\03B5\03F8'
        '\03F2\03FB\037B\037C\037D\0450\0451\0452\0453\0454\0455\0456\0457\0458\0459\045A\045B\045C'
        '\045D\045E\045F\0430\0431\0432\0433\0434\0435\0436\0437\0438\0439\043A\043B\043C\043D\043E'
        '\043F\0440\0441\0442\0443\0444\0445\0446\0447\0448\0449\044A\044B\044C\044D\044E\044F\0461'
        '\0463\0465\0467\0469\046B\046D\046F\0471\0473\0475\0477\0479\047B\047D\047F\0481\048B\048D'
        '\048F\0491\0493\0495\0497\0499\049B\049D\049F\04A1\04A3\04A5\04A7\04A9\04AB\04AD\04AF\04B1'
        '\04B3\04B5\04B7\04B9\04BB\04BD\04BF\04CF\04C2\04C4\04C6\04C8\04CA\04CC\04CE\04D1\04D3\04D5'
        '\04D7\04D9\04DB\04DD\04DF\04E1\04E3\04E5\04E7\04E9\04EB\04ED\04EF\04F1\04F3\04F5\04F7\04F9'
        '\04FB\04FD\04FF\0501\0503\0505\0507\0509\050B\050D\050F\0511\0513\0515\0517\0519\051B\051D'
        '\051F\0521\0523\0525\0527\0529\052B\052D\052F\0561\0562\0563\0564\0565\0566\0567\0568\0569'
        '\056A\056B\056C\056D\056E\056F\0570\0571\0572\0573\0574\0575\0576\0577\0578\0579\057A\057B'
        '\057C\057D\057E\057F\0580\0581\0582\0583\0584\0585\0586\2D00\2D01\2D02\2D03\2D04\2D05\2D06'
        '\2D07\2D08\2D09\2D0A\2D0B\2D0C\2D0D\2D0E\2D0F\2D10\2D11\2D12\2D13\2D14\2D15\2D16\2D17\2D18'
        '\2D19\2D1A\2D1B\2D1C\2D1D\2D1E\2D1F\2D20\2D21\2D22\2D23\2D24\2D25\2D27\2D2D\13F0\13F1\13F2'
        '\13F3\13F4\13F5\0432\0434\043E\0441\0442\0442\044A\0463\A64B\10D0\10D1\10D2\10D3\10D4\10D5'
        '\10D6\10D7\10D8\10D9\10DA\10DB\10DC\10DD\10DE\10DF\10E0\10E1\10E2\10E3\10E4\10E5\10E6\10E7'
        '\10E8\10E9\10EA\10EB\10EC\10ED\10EE\10EF\10F0\10F1\10F2\10F3\10F4\10F5\10F6\10F7\10F8\10F9'
        '\10FA\10FD\10FE\10FF\1E01\1E03\1E05\1E07\1E09\1E0B\1E0D\1E0F\1E11\1E13\1E15\1E17\1E19\1E1B'
        '\1E1D\1E1F\1E21\1E23\1E25\1E27\1E29\1E2B\1E2D\1E2F\1E31\1E33\1E35\1E37\1E39\1E3B\1E3D\1E3F'
        '\1E41\1E43\1E45\1E47\1E49\1E4B\1E4D\1E4F\1E51\1E53\1E55\1E57\1E59\1E5B\1E5D\1E5F\1E61\1E63'
        '\1E65\1E67\1E69\1E6B\1E6D\1E6F\1E71\1E73\1E75\1E77\1E79\1E7B\1E7D\1E7F\1E81\1E83\1E85\1E87'
        '\1E89\1E8B\1E8D\1E8F\1E91\1E93\1E95\1E61\1EA1\1EA3\1EA5\1EA7\1EA9\1EAB\1EAD\1EAF\1EB1\1EB3'
        '\1EB5\1EB7\1EB9\1EBB\1EBD\1EBF\1EC1\1EC3\1EC5\1EC7\1EC9\1ECB\1ECD\1ECF\1ED1\1ED3\1ED5\1ED7'
        '\1ED9\1EDB\1EDD\1EDF\1EE1\1EE3\1EE5\1EE7\1EE9\1EEB\1EED\1EEF\1EF1\1EF3\1EF5\1EF7\1EF9\1EFB'
        '\1EFD\1EFF\1F00\1F01\1F02\1F03\1F04\1F05\1F06\1F07\1F10\1F11\1F12\1F13\1F14\1F15\1F20\1F21'
        '\1F22\1F23\1F24\1F25\1F26\1F27\1F30\1F31\1F32\1F33\1F34\1F35\1F36\1F37\1F40\1F41\1F42\1F43'
        '\1F44\1F45\1F51\1F53\1F55\1F57\1F60\1F61\1F62\1F63\1F64\1F65\1F66\1F67\1FB0\1FB1\1F70\1F71'
        '\03B9\1F72\1F73\1F74\1F75\1FD0\1FD1\1F76\1F77\1FE0\1FE1\1F7A\1F7B\1FE5\1F78\1F79\1F7C\1F7D'
        '\03C9\006B\00E5\214E\2170\2171\2172\2173\2174\2175\2176\2177\2178\2179\217A\217B\217C\217D'
        '\217E\217F\2184\24D0\24D1\24D2\24D3\24D4\24D5\24D6\24D7\24D8\24D9\24DA\24DB\24DC\24DD\24DE'
        '\24DF\24E0\24E1\24E2\24E3\24E4\24E5\24E6\24E7\24E8\24E9\2C30\2C31\2C32\2C33\2C34\2C35\2C36'
        '\2C37\2C38\2C39\2C3A\2C3B\2C3C\2C3D\2C3E\2C3F\2C40\2C41\2C42\2C43\2C44\2C45\2C46\2C47\2C48'
        '\2C49\2C4A\2C4B\2C4C\2C4D\2C4E\2C4F\2C50\2C51\2C52\2C53\2C54\2C55\2C56\2C57\2C58\2C59\2C5A'
        '\2C5B\2C5C\2C5D\2C5E\2C5F\2C61\026B\1D7D\027D\2C68\2C6A\2C6C\0251\0271\0250\0252\2C73\2C76'
        '\023F\0240\2C81\2C83\2C85\2C87\2C89\2C8B\2C8D\2C8F\2C91\2C93\2C95\2C97\2C99\2C9B\2C9D\2C9F'
        '\2CA1\2CA3\2CA5\2CA7\2CA9\2CAB\2CAD\2CAF\2CB1\2CB3\2CB5\2CB7\2CB9\2CBB\2CBD\2CBF\2CC1\2CC3'
        '\2CC5\2CC7\2CC9\2CCB\2CCD\2CCF\2CD1\2CD3\2CD5\2CD7\2CD9\2CDB\2CDD\2CDF\2CE1\2CE3\2CEC\2CEE'
        '\2CF3\A641\A643\A645\A647\A649\A64B\A64D\A64F\A651\A653\A655\A657\A659\A65B\A65D\A65F\A661'
        '\A663\A665\A667\A669\A66B\A66D\A681\A683\A685\A687\A689\A68B\A68D\A68F\A691\A693\A695\A697'
        '\A699\A69B\A723\A725\A727\A729\A72B\A72D\A72F\A733\A735\A737\A739\A73B\A73D\A73F\A741\A743'
        '\A745\A747\A749\A74B\A74D\A74F\A751\A753\A755\A757\A759\A75B\A75D\A75F\A761\A763\A765\A767'
        '\A769\A76B\A76D\A76F\A77A\A77C\1D79\A77F\A781\A783\A785\A787\A78C\0265\A791\A793\A797\A799'
        '\A79B\A79D\A79F\A7A1\A7A3\A7A5\A7A7\A7A9\0266\025C\0261\026C\026A\029E\0287\029D\AB53\A7B5'
        '\A7B7\A7B9\A7BB\A7BD\A7BF\A7C1\A7C3\A794\0282\1D8E\A7C8\A7CA\A7D1\A7D7\A7D9\A7F6\13A0\13A1'
        '\13A2\13A3\13A4\13A5\13A6\13A7\13A8\13A9\13AA\13AB\13AC\13AD\13AE\13AF\13B0\13B1\13B2\13B3'
        '\13B4\13B5\13B6\13B7\13B8\13B9\13BA\13BB\13BC\13BD\13BE\13BF\13C0\13C1\13C2\13C3\13C4\13C5'
        '\13C6\13C7\13C8\13C9\13CA\13CB\13CC\13CD\13CE\13CF\13D0\13D1\13D2\13D3\13D4\13D5\13D6\13D7'
        '\13D8\13D9\13DA\13DB\13DC\13DD\13DE\13DF\13E0\13E1\13E2\13E3\13E4\13E5\13E6\13E7\13E8\13E9'
        '\13EA\13EB\13EC\13ED\13EE\13EF\FF41\FF42\FF43\FF44\FF45\FF46\FF47\FF48\FF49\FF4A\FF4B\FF4C'
        '\FF4D\FF4E\FF4F\FF50\FF51\FF52\FF53\FF54\FF55\FF56\FF57\FF58\FF59\FF5A\+010428\+010429\+01042A\+01042B'
        '\+01042C\+01042D\+01042E\+01042F\+010430\+010431\+010432\+010433\+010434\+010435\+010436\+010437\+010438\+010439\+01043A\+01043B\+01043C\+01043D'
        '\+01043E\+01043F\+010440\+010441\+010442\+010443\+010444\+010445\+010446\+010447\+010448\+010449\+01044A\+01044B\+01044C\+01044D\+01044E\+01044F'
        '\+0104D8\+0104D9\+0104DA\+0104DB\+0104DC\+0104DD\+0104DE\+0104DF\+0104E0\+0104E1\+0104E2\+0104E3\+0104E4\+0104E5\+0104E6\+0104E7\+0104E8\+0104E9'
        '\+0104EA\+0104EB\+0104EC\+0104ED\+0104EE\+0104EF\+0104F0\+0104F1\+0104F2\+0104F3\+0104F4\+0104F5\+0104F6\+0104F7\+0104F8\+0104F9\+0104FA\+0104FB'
        '\+010597\+010598\+010599\+01059A\+01059B\+01059C\+01059D\+01059E\+01059F\+0105A0\+0105A1\+0105A3\+0105A4\+0105A5\+0105A6\+0105A7\+0105A8\+0105A9'
        '\+0105AA\+0105AB\+0105AC\+0105AD\+0105AE\+0105AF\+0105B0\+0105B1\+0105B3\+0105B4\+0105B5\+0105B6\+0105B7\+0105B8\+0105B9\+0105BB\+0105BC\+010CC0'
        '\+010CC1\+010CC2\+010CC3\+010CC4\+010CC5\+010CC6\+010CC7\+010CC8\+010CC9\+010CCA\+010CCB\+010CCC\+010CCD\+010CCE\+010CCF\+010CD0\+010CD1\+010CD2'
        '\+010CD3\+010CD4\+010CD5\+010CD6\+010CD7\+010CD8\+010CD9\+010CDA\+010CDB\+010CDC\+010CDD\+010CDE\+010CDF\+010CE0\+010CE1\+010CE2\+010CE3\+010CE4'
        '\+010CE5\+010CE6\+010CE7\+010CE8\+010CE9\+010CEA\+010CEB\+010CEC\+010CED\+010CEE\+010CEF\+010CF0\+010CF1\+010CF2\+0118C0\+0118C1\+0118C2\+0118C3'
        '\+0118C4\+0118C5\+0118C6\+0118C7\+0118C8\+0118C9\+0118CA\+0118CB\+0118CC\+0118CD\+0118CE\+0118CF\+0118D0\+0118D1\+0118D2\+0118D3\+0118D4\+0118D5'
        '\+0118D6\+0118D7\+0118D8\+0118D9\+0118DA\+0118DB\+0118DC\+0118DD\+0118DE\+0118DF\+016E60\+016E61\+016E62\+016E63\+016E64\+016E65\+016E66\+016E67'
        '\+016E68\+016E69\+016E6A\+016E6B\+016E6C\+016E6D\+016E6E\+016E6F\+016E70\+016E71\+016E72\+016E73\+016E74\+016E75\+016E76\+016E77\+016E78\+016E79'
        '\+016E7A\+016E7B\+016E7C\+016E7D\+016E7E\+016E7F\+01E922\+01E923\+01E924\+01E925\+01E926\+01E927\+01E928\+01E929\+01E92A\+01E92B\+01E92C\+01E92D'
        '\+01E92E\+01E92F\+01E930\+01E931\+01E932\+01E933\+01E934\+01E935\+01E936\+01E937\+01E938\+01E939\+01E93A\+01E93B\+01E93C\+01E93D\+01E93E\+01E93F'
        '\+01E940\+01E941\+01E942\+01E943');
    IF length(translate(folded, U&'\00DF\0130\0149\01F0\0390\03B0\0587\1E96\1E97\1E98\1E99\1E9A\1E9E\1F50\1F52\1F54\1F56\1F80'
            '\1F81\1F82\1F83\1F84\1F85\1F86\1F87\1F88\1F89\1F8A\1F8B\1F8C\1F8D\1F8E\1F8F\1F90\1F91\1F92'
            '\1F93\1F94\1F95\1F96\1F97\1F98\1F99\1F9A\1F9B\1F9C\1F9D\1F9E\1F9F\1FA0\1FA1\1FA2\1FA3\1FA4'
            '\1FA5\1FA6\1FA7\1FA8\1FA9\1FAA\1FAB\1FAC\1FAD\1FAE\1FAF\1FB2\1FB3\1FB4\1FB6\1FB7\1FBC\1FC2'
            '\1FC3\1FC4\1FC6\1FC7\1FCC\1FD2\1FD3\1FD6\1FD7\1FE2\1FE3\1FE4\1FE6\1FE7\1FF2\1FF3\1FF4\1FF6'
            '\1FF7\1FFC\FB00\FB01\FB02\FB03\FB04\FB05\FB06\FB13\FB14\FB15\FB16\FB17', '')) < length(folded) THEN
        source := string_to_array(U&'\00DF\0130\0149\01F0\0390\03B0\0587\1E96\1E97\1E98\1E99\1E9A\1E9E\1F50\1F52\1F54\1F56\1F80'
            '\1F81\1F82\1F83\1F84\1F85\1F86\1F87\1F88\1F89\1F8A\1F8B\1F8C\1F8D\1F8E\1F8F\1F90\1F91\1F92'
            '\1F93\1F94\1F95\1F96\1F97\1F98\1F99\1F9A\1F9B\1F9C\1F9D\1F9E\1F9F\1FA0\1FA1\1FA2\1FA3\1FA4'
            '\1FA5\1FA6\1FA7\1FA8\1FA9\1FAA\1FAB\1FAC\1FAD\1FAE\1FAF\1FB2\1FB3\1FB4\1FB6\1FB7\1FBC\1FC2'
            '\1FC3\1FC4\1FC6\1FC7\1FCC\1FD2\1FD3\1FD6\1FD7\1FE2\1FE3\1FE4\1FE6\1FE7\1FF2\1FF3\1FF4\1FF6'
            '\1FF7\1FFC\FB00\FB01\FB02\FB03\FB04\FB05\FB06\FB13\FB14\FB15\FB16\FB17', NULL);
        target := string_to_array(U&'\0073\0073 \0069\0307 \02BC\006E \006A\030C \03B9\0308\0301 \03C5\0308'
            '\0301 \0565\0582 \0068\0331 \0074\0308 \0077\030A \0079\030A \0061'
            '\02BE \0073\0073 \03C5\0313 \03C5\0313\0300 \03C5\0313\0301 \03C5\0313'
            '\0342 \1F00\03B9 \1F01\03B9 \1F02\03B9 \1F03\03B9 \1F04\03B9 \1F05'
            '\03B9 \1F06\03B9 \1F07\03B9 \1F00\03B9 \1F01\03B9 \1F02\03B9 \1F03'
            '\03B9 \1F04\03B9 \1F05\03B9 \1F06\03B9 \1F07\03B9 \1F20\03B9 \1F21'
            '\03B9 \1F22\03B9 \1F23\03B9 \1F24\03B9 \1F25\03B9 \1F26\03B9 \1F27'
            '\03B9 \1F20\03B9 \1F21\03B9 \1F22\03B9 \1F23\03B9 \1F24\03B9 \1F25'
            '\03B9 \1F26\03B9 \1F27\03B9 \1F60\03B9 \1F61\03B9 \1F62\03B9 \1F63'
            '\03B9 \1F64\03B9 \1F65\03B9 \1F66\03B9 \1F67\03B9 \1F60\03B9 \1F61'
            '\03B9 \1F62\03B9 \1F63\03B9 \1F64\03B9 \1F65\03B9 \1F66\03B9 \1F67'
            '\03B9 \1F70\03B9 \03B1\03B9 \03AC\03B9 \03B1\0342 \03B1\0342\03B9 '
            '\03B1\03B9 \1F74\03B9 \03B7\03B9 \03AE\03B9 \03B7\0342 \03B7\0342\03B9'
            ' \03B7\03B9 \03B9\0308\0300 \03B9\0308\0301 \03B9\0342 \03B9\0308\0342'
            ' \03C5\0308\0300 \03C5\0308\0301 \03C1\0313 \03C5\0342 \03C5\0308\0342'
            ' \1F7C\03B9 \03C9\03B9 \03CE\03B9 \03C9\0342 \03C9\0342\03B9 \03C9'
            '\03B9 \0066\0066 \0066\0069 \0066\006C \0066\0066\0069 \0066\0066\006C'
            ' \0073\0074 \0073\0074 \0574\0576 \0574\0565 \0574\056B \057E\0576'
            ' \0574\056D', ' ');
        FOR i IN 1..cardinality(source) LOOP
            folded := replace(folded, source[i], target[i]);
        END LOOP;
    END IF;
    RETURN normalize(folded, NFC);
END
$$;


CREATE FUNCTION public.monthly_tables() RETURNS text[]
    LANGUAGE sql IMMUTABLE
    AS $$
    SELECT ARRAY['messages', 'message_recipients', 'message_search', 'message_tags', 'message_attempts', 'events',
                 'audit_entries']
$$;


CREATE FUNCTION public.mta_domain(p_domain text) RETURNS SETOF integer
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    SELECT 1 FROM domains d WHERE d.name = lower(p_domain COLLATE "C")
$$;


CREATE FUNCTION public.mta_grant() RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'public', 'pg_temp'
    AS $$
DECLARE
    granted text;
BEGIN
    EXECUTE format('GRANT CONNECT ON DATABASE %I TO mailkeep_mta', current_database());
    GRANT USAGE ON SCHEMA public TO mailkeep_mta;
    FOREACH granted IN ARRAY ARRAY[
        'mta_domain(text)', 'mta_mailbox(text, text)', 'mta_route(text, text)', 'mta_recipient(text, text)',
        'mta_paused(text, text)', 'mta_senders(text, text)', 'mta_user(text, text)', 'mta_login(text, text, text)',
        'mta_users()'
    ] LOOP
        EXECUTE 'GRANT EXECUTE ON FUNCTION ' || granted || ' TO mailkeep_mta';
    END LOOP;
END
$$;


CREATE FUNCTION public.mta_login(p_local text, p_domain text, p_protocol text) RETURNS TABLE(login text, password text, mailbox_id uuid, quota_bytes bigint)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
BEGIN
    RETURN QUERY
        SELECT m.address_key, m.password_hash, m.id, m.quota_bytes
          FROM domains d
          JOIN mailboxes m ON m.domain_id = d.id
         WHERE d.name = lower(p_domain COLLATE "C") AND d.active
           AND m.local_key = mailkeep_fold(p_local) AND m.deleted_at IS NULL AND m.active
           AND CASE p_protocol WHEN 'imap' THEN m.imap WHEN 'pop3' THEN m.pop3 WHEN 'sieve' THEN m.sieve
                               WHEN 'smtp' THEN m.smtp ELSE false END;
END
$$;


CREATE FUNCTION public.mta_mailbox(p_local text, p_domain text) RETURNS SETOF integer
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    SELECT 1 FROM mta_mailbox_of(p_local, p_domain) m WHERE m.active
$$;


CREATE TABLE public.mailboxes (
    id uuid NOT NULL,
    domain_id uuid NOT NULL,
    local_part text NOT NULL,
    local_key text NOT NULL,
    name text NOT NULL,
    password_hash text NOT NULL,
    active boolean NOT NULL,
    quota_bytes bigint NOT NULL,
    used_bytes bigint DEFAULT 0 NOT NULL,
    message_count bigint DEFAULT 0 NOT NULL,
    imap boolean NOT NULL,
    pop3 boolean NOT NULL,
    smtp boolean NOT NULL,
    sieve boolean NOT NULL,
    forward_destinations text[] DEFAULT '{}'::text[] NOT NULL,
    forward_keys text[] DEFAULT '{}'::text[] NOT NULL,
    forward_keep_copy boolean DEFAULT true NOT NULL,
    last_login_at timestamp with time zone,
    last_login_protocol text,
    last_login_ip text,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    deleted_at timestamp with time zone,
    address_key text NOT NULL,
    figures_told_at timestamp with time zone,
    figures_counted_at timestamp with time zone,
    figures_due_at timestamp with time zone,
    CONSTRAINT mailboxes_quota_range CHECK ((quota_bytes >= 0))
);


CREATE FUNCTION public.mta_mailbox_of(p_local text, p_domain text) RETURNS SETOF public.mailboxes
    LANGUAGE sql STABLE
    AS $$
    SELECT m.*
      FROM domains d
      CROSS JOIN LATERAL route_match(d.id, d.plus_delimiter, replace(mailkeep_fold(p_local), '@', ' ')) r
      JOIN mailboxes m ON m.id = r.id
     WHERE d.name = lower(p_domain COLLATE "C") AND r.rank IN (1, 3)
$$;


CREATE FUNCTION public.mta_paused(p_local text, p_domain text) RETURNS SETOF text
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
BEGIN
    IF EXISTS (SELECT FROM domains d WHERE d.name = lower(p_domain COLLATE "C") AND NOT d.active) THEN
        RETURN QUERY
            SELECT '450 4.2.1 The domain is deactivated for now'
              FROM route_address(p_local || '@' || p_domain) r
             WHERE r.decision = 'domain_inactive';
    END IF;
END
$$;


CREATE FUNCTION public.mta_recipient(p_local text, p_domain text) RETURNS SETOF text
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM domains d WHERE d.name = lower(p_domain COLLATE "C")) THEN
        RETURN;
    END IF;
    RETURN QUERY
        SELECT CASE r.decision
                   WHEN 'unknown_user' THEN '550 5.1.1 User unknown'
                   WHEN 'mailbox_inactive' THEN '550 5.2.1 Mailbox disabled'
                   WHEN 'receiving_disabled' THEN '550 5.7.1 The domain takes no mail'
                   WHEN 'domain_inactive' THEN '450 4.2.1 The domain is deactivated for now' END
          FROM route_address(p_local || '@' || p_domain) r
         WHERE r.decision NOT IN ('deliver', 'not_managed');
END
$$;


CREATE FUNCTION public.mta_route(p_local text, p_domain text) RETURNS SETOF text
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM domains d WHERE d.name = lower(p_domain COLLATE "C")) THEN
        RETURN;
    END IF;
    RETURN QUERY
        SELECT string_agg(e->>'address', ',')
          FROM route_address(p_local || '@' || p_domain) r, jsonb_array_elements(r.deliveries) e
        HAVING count(*) > 0;
END
$$;


CREATE FUNCTION public.mta_senders(p_local text, p_domain text) RETURNS SETOF text
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
DECLARE
    found_rank integer;
BEGIN
    SELECT r.rank INTO found_rank
      FROM domains d
      CROSS JOIN LATERAL route_match(d.id, d.plus_delimiter, replace(mailkeep_fold(p_local), '@', ' ')) r
     WHERE d.name = lower(p_domain COLLATE "C") AND d.active;
    IF found_rank IN (1, 3) THEN
        RETURN QUERY SELECT m.address_key FROM mta_mailbox_of(p_local, p_domain) m WHERE m.active;
    ELSIF found_rank IN (2, 4) THEN
        RETURN QUERY
            SELECT string_agg(m.address_key, ',')
              FROM route_address(p_local || '@' || p_domain) r,
                   jsonb_array_elements(r.deliveries) e
              JOIN mailboxes m ON m.id = (e->>'mailbox_id')::uuid
             WHERE m.active
            HAVING count(*) > 0;
    END IF;
END
$$;


CREATE FUNCTION public.mta_user(p_local text, p_domain text) RETURNS TABLE(login text, mailbox_id uuid, quota_bytes bigint, plus_delimiter text)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
BEGIN
    RETURN QUERY
        SELECT m.address_key, m.id, m.quota_bytes, d.plus_delimiter
          FROM domains d
          CROSS JOIN LATERAL route_match(d.id, d.plus_delimiter, replace(mailkeep_fold(p_local), '@', ' ')) r
          JOIN mailboxes m ON m.id = r.id
         WHERE d.name = lower(p_domain COLLATE "C") AND r.rank IN (1, 3) AND m.active AND d.active;
END
$$;


CREATE FUNCTION public.mta_users() RETURNS TABLE(login text)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
    SELECT m.address_key
      FROM mailboxes m JOIN domains d ON d.id = m.domain_id
     WHERE m.deleted_at IS NULL AND m.active AND d.active
$$;


CREATE FUNCTION public.partition_column(p_table regclass) RETURNS text
    LANGUAGE sql STABLE
    AS $$
    SELECT a.attname FROM pg_partitioned_table p
      JOIN pg_attribute a ON a.attrelid = p.partrelid AND a.attnum = p.partattrs[0]
     WHERE p.partrelid = p_table
$$;


CREATE FUNCTION public.record_audits(p_entries jsonb) RETURNS void
    LANGUAGE plpgsql
    AS $$
BEGIN
    INSERT INTO audit_entries (id, created_at, admin_id, actor_type, actor_label, key_id, action, resource_type, resource_id,
                               domain_id, domain_name, ip_address, user_agent, request_id, outcome, error_code, details)
    SELECT e.id, e.created_at, e.admin_id, e.actor_type, e.actor_label, e.key_id, e.action, e.resource_type, e.resource_id,
           e.domain_id, e.domain_name, e.ip_address, e.user_agent, e.request_id, e.outcome, e.error_code, e.details
      FROM jsonb_to_recordset(p_entries) e(
               id uuid, created_at timestamptz, admin_id uuid, actor_type text, actor_label text, key_id uuid, action text,
               resource_type text, resource_id text, domain_id uuid, domain_name text, ip_address text, user_agent text,
               request_id uuid, outcome text, error_code text, details jsonb);
END
$$;


CREATE FUNCTION public.route_address(p_address text, p_visible uuid[] DEFAULT NULL::uuid[]) RETURNS TABLE(decision text, steps jsonb, deliveries jsonb, warnings jsonb)
    LANGUAGE plpgsql STABLE PARALLEL SAFE
    AS $$
DECLARE
    is_address  boolean := strpos(p_address, '@') > 0;
    domain_name text := CASE WHEN is_address THEN lower(split_part(p_address, '@', -1) COLLATE "C") ELSE '' END;
    local_part  text := CASE WHEN is_address THEN left(p_address, -1 - length(domain_name)) ELSE p_address END;
    walk        record;
BEGIN
    SELECT w.* INTO walk FROM route_walk(
        ARRAY[local_part || '@' || domain_name],
        ARRAY[replace(mailkeep_fold(local_part), '@', ' ') || '@' || domain_name],
        p_visible) w;
    decision := CASE
        WHEN walk.steps[1]->>'result' = 'not_managed' THEN 'not_managed'
        WHEN cardinality(walk.deliveries) > 0 THEN 'deliver'
        WHEN (walk.dead_ends[1]->>'own')::boolean THEN walk.dead_ends[1]->>'reason'
        WHEN EXISTS (SELECT FROM unnest(walk.dead_ends) e WHERE e->>'reason' = 'domain_inactive') THEN 'domain_inactive'
        ELSE 'unknown_user' END;
    steps := to_jsonb(CASE WHEN decision = 'deliver' THEN walk.steps
                      ELSE walk.steps || route_step('reject', decision, local_part || '@' || domain_name, NULL) END);
    deliveries := CASE WHEN decision <> 'deliver' THEN '[]'::jsonb
                       WHEN p_visible IS NULL THEN to_jsonb(walk.deliveries)
                       ELSE (SELECT jsonb_agg(once.delivery ORDER BY once.place)
                               FROM (SELECT d.delivery, min(d.place) AS place
                                       FROM unnest(walk.deliveries) WITH ORDINALITY d (delivery, place)
                                      GROUP BY d.delivery) once) END;
    warnings := CASE WHEN cardinality(walk.dead_ends) = 0 THEN '[]'::jsonb ELSE route_warnings(walk.dead_ends, false) END;
    RETURN NEXT;
END
$$;


CREATE FUNCTION public.route_base(p_local_key text, p_delimiter text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
    SELECT CASE WHEN strpos(p_local_key, p_delimiter) > 1
                 AND substr(p_local_key, strpos(p_local_key, p_delimiter) - 1, 1) <> '.'
                THEN left(p_local_key, strpos(p_local_key, p_delimiter) - 1) END
$$;


CREATE FUNCTION public.route_bases(p_keys text[]) RETURNS text[]
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    AS $_$
DECLARE
    bases text[] := '{}';
    place integer;
BEGIN
    FOR k IN 1..cardinality(p_keys) LOOP
        CONTINUE WHEN translate(split_part(p_keys[k], '@', 1), '!#$%&''*+/=?^_`{|}~-', '') = split_part(p_keys[k], '@', 1);
        FOR c IN 1..19 LOOP
            place := strpos(split_part(p_keys[k], '@', 1), substr('!#$%&''*+/=?^_`{|}~-', c, 1));
            IF place > 1 THEN
                bases := bases || (left(p_keys[k], place - 1) || '@' || split_part(p_keys[k], '@', 2));
            END IF;
        END LOOP;
    END LOOP;
    RETURN bases;
END
$_$;


CREATE FUNCTION public.route_chain_ahead(p_alias_id uuid) RETURNS TABLE(source text)
    LANGUAGE sql STABLE
    SET enable_seqscan TO 'off'
    SET jit TO 'off'
    AS $$
    SELECT DISTINCT other.source_local_part
      FROM aliases a
      JOIN domains d ON d.id = a.domain_id
      CROSS JOIN unnest(a.destination_keys) k
      CROSS JOIN route_nodes(k) n
      JOIN aliases other ON other.id = n.node
     WHERE a.id = p_alias_id AND a.active AND split_part(k, '@', 2) = d.name AND other.id <> a.id
     ORDER BY 1
     LIMIT 10
$$;


CREATE FUNCTION public.route_chain_behind(p_alias_id uuid) RETURNS TABLE(source text)
    LANGUAGE sql STABLE
    SET enable_seqscan TO 'off'
    SET jit TO 'off'
    AS $$
    -- Materialized: else the planner may read the whole domain rather than ask the two inverted indexes.
    WITH self AS MATERIALIZED (
        SELECT a.id, a.domain_id, a.source_key || '@' || d.name AS key
          FROM aliases a JOIN domains d ON d.id = a.domain_id
         WHERE a.id = p_alias_id AND a.active AND a.source_key <> ''
    ), pointing AS MATERIALIZED (
        SELECT a.* FROM aliases a WHERE a.destination_keys && ARRAY[(SELECT key FROM self)]
        UNION ALL
        SELECT a.* FROM aliases a WHERE route_bases(a.destination_keys) && ARRAY[(SELECT key FROM self)]
    )
    SELECT DISTINCT other.source_local_part
      FROM self
      JOIN pointing other ON other.domain_id = self.domain_id AND other.active AND other.id <> self.id
     WHERE EXISTS (SELECT FROM unnest(other.destination_keys) k, route_nodes(k) n WHERE n.node = self.id)
     ORDER BY 1
     LIMIT 10
$$;


CREATE FUNCTION public.route_chain_behind_catch_all(p_alias_id uuid) RETURNS TABLE(source text)
    LANGUAGE sql STABLE
    SET jit TO 'off'
    AS $$
    WITH self AS MATERIALIZED (
        SELECT a.id, a.domain_id, d.name, d.plus_delimiter
          FROM aliases a JOIN domains d ON d.id = a.domain_id
         WHERE a.id = p_alias_id AND a.active AND a.source_key = ''
    ), wanted AS MATERIALIZED (
        SELECT DISTINCT k AS key
          FROM self
          JOIN aliases a ON a.domain_id = self.domain_id AND a.active AND a.id <> self.id
          CROSS JOIN unnest(a.destination_keys) k
         WHERE right(k, length(self.name) + 1) = '@' || self.name
    ), unanswered AS MATERIALIZED (
        SELECT wanted.key
          FROM wanted
         WHERE EXISTS (SELECT FROM route_nodes(wanted.key) n, self WHERE n.node = self.id)
         LIMIT 10
    )
    SELECT DISTINCT a.source_local_part
      FROM self
      JOIN aliases a ON a.destination_keys && ARRAY(SELECT u.key FROM unanswered u)
     WHERE a.domain_id = self.domain_id AND a.active AND a.id <> self.id
     ORDER BY 1
     LIMIT 10
$$;


CREATE FUNCTION public.route_delivery(p_type text, p_address text, p_mailbox_id uuid, p_hidden text) RETURNS jsonb
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
    SELECT jsonb_build_object('type', CASE WHEN p_hidden IS NULL THEN p_type ELSE 'external' END,
                              'address', coalesce(p_hidden, p_address),
                              'mailbox_id', CASE WHEN p_hidden IS NULL THEN p_mailbox_id END)
$$;


CREATE FUNCTION public.route_loop(p_node uuid) RETURNS TABLE(key text)
    LANGUAGE plpgsql STABLE
    SET enable_seqscan TO 'off'
    SET jit TO 'off'
    AS $$
DECLARE
    reached  uuid[];
    frontier uuid[];
BEGIN
    FOR key IN SELECT o.key FROM route_onward(p_node) o LOOP
        reached := '{}';
        frontier := ARRAY(SELECT n.node FROM route_nodes(key) n);
        WHILE cardinality(frontier) > 0 LOOP
            IF p_node = ANY (frontier) THEN
                RETURN NEXT;
                EXIT;
            END IF;
            reached := reached || frontier;
            frontier := ARRAY(
                SELECT DISTINCT n.node
                  FROM unnest(frontier) f, route_onward(f) o, route_nodes(o.key) n
                 WHERE n.node <> ALL (reached));
        END LOOP;
    END LOOP;
END
$$;


CREATE FUNCTION public.route_match(p_domain_id uuid, p_delimiter text, p_local_key text) RETURNS TABLE(rank integer, id uuid, active boolean, source text, texts text[], keys text[], keep_copy boolean)
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
    SELECT 1, m.id, m.active, m.local_part, m.forward_destinations, m.forward_keys, m.forward_keep_copy
      FROM mailboxes m
     WHERE m.domain_id = p_domain_id AND m.local_key = p_local_key AND m.deleted_at IS NULL
    UNION ALL
    SELECT 2, a.id, true, a.source_local_part, a.destinations, a.destination_keys, false
      FROM aliases a
     WHERE a.domain_id = p_domain_id AND a.source_key = p_local_key AND a.source_key <> '' AND a.active
    UNION ALL
    SELECT 3, m.id, m.active, m.local_part, m.forward_destinations, m.forward_keys, m.forward_keep_copy
      FROM mailboxes m
     WHERE m.domain_id = p_domain_id AND m.local_key = route_base(p_local_key, p_delimiter) AND m.deleted_at IS NULL
    UNION ALL
    SELECT 4, a.id, true, a.source_local_part, a.destinations, a.destination_keys, false
      FROM aliases a
     WHERE a.domain_id = p_domain_id AND a.source_key = route_base(p_local_key, p_delimiter) AND a.active
    UNION ALL
    SELECT 5, a.id, true, a.source_local_part, a.destinations, a.destination_keys, false
      FROM aliases a
     WHERE a.domain_id = p_domain_id AND a.source_key = '' AND a.active
    ORDER BY 1
    LIMIT 1
$$;


CREATE FUNCTION public.route_nodes(p_key text) RETURNS TABLE(node uuid)
    LANGUAGE plpgsql STABLE ROWS 2 PARALLEL SAFE
    AS $$
DECLARE
    local  text := split_part(p_key, '@', 1);
    domain record;
BEGIN
    SELECT d.id, d.plus_delimiter INTO domain FROM domains d WHERE d.name = split_part(p_key, '@', 2);
    IF domain.id IS NULL THEN
        RETURN;
    END IF;
    FOREACH local IN ARRAY ARRAY[local, route_base(local, domain.plus_delimiter), ''] LOOP
        RETURN QUERY
            SELECT m.id FROM mailboxes m WHERE m.domain_id = domain.id AND m.local_key = local AND m.deleted_at IS NULL
            UNION ALL
            SELECT a.id FROM aliases a WHERE a.domain_id = domain.id AND a.source_key = local AND a.active;
        EXIT WHEN FOUND;
    END LOOP;
END
$$;


CREATE FUNCTION public.route_onward(p_node uuid) RETURNS TABLE(key text)
    LANGUAGE plpgsql STABLE ROWS 2 PARALLEL SAFE
    AS $$
BEGIN
    RETURN QUERY SELECT unnest(a.destination_keys) FROM aliases a WHERE a.id = p_node AND a.active;
    IF NOT FOUND THEN
        RETURN QUERY SELECT unnest(m.forward_keys) FROM mailboxes m WHERE m.id = p_node AND m.deleted_at IS NULL;
    END IF;
END
$$;


CREATE FUNCTION public.route_step(p_step text, p_result text, p_address text, p_row jsonb) RETURNS jsonb
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
    SELECT jsonb_build_object('step', p_step, 'result', p_result, 'address', p_address, 'row', p_row)
$$;


CREATE FUNCTION public.route_steps(p_address text, p_base text, p_rank integer, p_row jsonb, p_active boolean) RETURNS jsonb[]
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    AS $$
DECLARE
    steps jsonb[] := '{}';
    hit   text := CASE WHEN p_active THEN 'match' ELSE 'inactive' END;
BEGIN
    FOR r IN 1..5 LOOP
        CONTINUE WHEN r IN (3, 4) AND p_base IS NULL;
        IF r = 3 THEN
            steps := steps || route_step('plus', 'stripped', p_base, NULL);
        END IF;
        steps := steps || route_step(
            CASE WHEN r = 5 THEN 'catch_all' WHEN r IN (1, 3) THEN 'mailbox' ELSE 'alias' END,
            CASE WHEN r = p_rank THEN hit ELSE 'no_match' END,
            CASE WHEN r IN (3, 4) THEN p_base ELSE p_address END,
            CASE WHEN r = p_rank THEN p_row END);
        EXIT WHEN r = p_rank;
    END LOOP;
    RETURN steps;
END
$$;


CREATE FUNCTION public.route_walk(p_texts text[], p_keys text[], p_visible uuid[], OUT steps jsonb[], OUT deliveries jsonb[], OUT dead_ends jsonb[]) RETURNS record
    LANGUAGE plpgsql STABLE PARALLEL SAFE
    SET enable_seqscan TO 'off'
    AS $$
DECLARE
    texts    text[] := p_texts;
    keys     text[] := p_keys;
    parents  integer[] := array_fill(0, ARRAY[cardinality(p_keys)]);
    sources  uuid[] := '{}';      -- the row that answered for texts[i]
    hidden   text[] := '{}';      -- the first address on the way to texts[i] that lies outside p_visible
    visited  uuid[] := '{}';
    outside  text[] := '{}';
    unkept   jsonb[] := '{}';     -- mailboxes that keep no copy of what they forward
    i        integer := 0;
    up       integer;
    reason   text;
    local    text;
    mailbox  jsonb;
    domain   record;
    hit      record;
BEGIN
    steps := '{}';
    deliveries := '{}';
    dead_ends := '{}';
    WHILE i < cardinality(keys) LOOP
        i := i + 1;
        SELECT d.id, d.name, d.active, d.receiving_enabled, d.plus_delimiter INTO domain
          FROM domains d WHERE d.name = split_part(keys[i], '@', 2);
        hidden[i] := hidden[parents[i]];
        IF domain.id IS NULL THEN
            IF hidden[i] IS NULL THEN
                steps := steps || route_step('domain', 'not_managed', texts[i], NULL);
            END IF;
            IF keys[i] <> ALL (outside) THEN
                outside := outside || keys[i];
                deliveries := deliveries || route_delivery('external', texts[i], NULL, hidden[i]);
            END IF;
            CONTINUE;
        END IF;
        reason := CASE WHEN NOT domain.active THEN 'domain_inactive'
                       WHEN NOT domain.receiving_enabled THEN 'receiving_disabled' END;
        IF hidden[i] IS NULL AND domain.id <> ALL (p_visible) THEN
            hidden[i] := texts[i];
            steps := steps || route_step('domain', coalesce(reason, 'managed'), texts[i], NULL);
        ELSIF hidden[i] IS NULL THEN
            steps := steps || route_step('domain', coalesce(reason, 'managed'), texts[i],
                                         jsonb_build_object('id', domain.id, 'name', domain.name));
        END IF;
        IF reason IS NULL THEN
            local := split_part(keys[i], '@', 1);
            SELECT r.* INTO hit FROM route_match(domain.id, domain.plus_delimiter, local) r;
            IF hidden[i] IS NULL THEN
                steps := steps || route_steps(
                    texts[i], route_base(local, domain.plus_delimiter) || '@' || domain.name, hit.rank,
                    jsonb_build_object('id', hit.id, 'address', hit.source || '@' || domain.name), hit.active);
            END IF;
            IF hit.id IS NULL THEN
                reason := 'unknown_user';
            ELSIF NOT hit.active THEN
                reason := 'mailbox_inactive';
            ELSIF hit.id = ANY (visited) THEN
                up := parents[i];
                WHILE up > 0 AND reason IS NULL LOOP
                    reason := CASE WHEN sources[up] = hit.id THEN 'loop' END;
                    up := parents[up];
                END LOOP;
            ELSE
                visited := visited || hit.id;
                sources[i] := hit.id;
                IF hit.rank IN (1, 3) THEN
                    mailbox := route_delivery('mailbox', texts[i], hit.id, hidden[i]);
                    IF cardinality(hit.keys) = 0 OR hit.keep_copy THEN
                        deliveries := deliveries || mailbox;
                    ELSE
                        unkept := unkept || mailbox;
                    END IF;
                    IF cardinality(hit.keys) > 0 AND hidden[i] IS NULL THEN
                        steps := steps || route_step(
                            'forward', CASE WHEN hit.keep_copy THEN 'copy_kept' ELSE 'no_copy' END, texts[i],
                            jsonb_build_object('id', hit.id, 'destinations', hit.texts));
                    END IF;
                END IF;
                texts := texts || hit.texts;
                keys := keys || hit.keys;
                parents := parents || array_fill(i, ARRAY[cardinality(hit.keys)]);
            END IF;
        END IF;
        IF reason IS NOT NULL THEN
            dead_ends := dead_ends || jsonb_build_object('address', coalesce(hidden[i], texts[i]), 'reason', reason,
                                                         'own', parents[i] = 0);
        END IF;
    END LOOP;
    -- Mail for a mailbox whose forwards all lead nowhere for good stays in it.
    IF cardinality(deliveries) = 0
       AND NOT EXISTS (SELECT FROM unnest(dead_ends) e WHERE e->>'reason' = 'domain_inactive') THEN
        deliveries := unkept;
    END IF;
END
$$;


CREATE FUNCTION public.route_warnings(p_dead_ends jsonb[], p_own boolean) RETURNS jsonb
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
    SELECT coalesce(jsonb_agg(DISTINCT (e.dead_end->>'address') || CASE e.dead_end->>'reason'
               WHEN 'domain_inactive' THEN ' leads nowhere: its domain is deactivated'
               WHEN 'receiving_disabled' THEN ' leads nowhere: its domain does not receive mail'
               WHEN 'mailbox_inactive' THEN ' leads nowhere: the mailbox is deactivated'
               WHEN 'loop' THEN ' leads back to itself'
               ELSE ' leads nowhere: nobody has this address' END), '[]')
      FROM unnest(p_dead_ends) e (dead_end)
     WHERE p_own OR NOT (e.dead_end->>'own')::boolean
$$;


CREATE FUNCTION public.route_warnings_of(p_texts text[], p_keys text[], p_visible uuid[]) RETURNS jsonb
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
    SELECT route_warnings(w.dead_ends, true) FROM route_walk(p_texts, p_keys, p_visible) w
$$;


CREATE FUNCTION public.send_minutes(p_at timestamp with time zone) RETURNS tstzrange
    LANGUAGE sql STABLE
    AS $$
    SELECT tstzrange(p_at - interval '61 minutes', p_at + interval '61 minutes', '()')
$$;


CREATE FUNCTION public.send_room_in(p_subject text, p_at timestamp with time zone, p_surplus bigint) RETURNS integer
    LANGUAGE sql STABLE
    AS $$
    WITH freed AS (
        SELECT c.minute, sum(c.recipients) OVER (ORDER BY c.minute) AS recipients
          FROM send_counts c
         WHERE c.subject = p_subject
           AND c.minute > lower(send_minutes(p_at)) AND c.minute < upper(send_minutes(p_at))
    )
    SELECT ceil(extract(epoch FROM
                coalesce((SELECT min(f.minute) FROM freed f WHERE f.recipients >= p_surplus), date_trunc('minute', p_at))
                + interval '61 minutes' - p_at))::integer
$$;


CREATE FUNCTION public.settle_sends(p_at timestamp with time zone, p_status text, p_accepted jsonb, p_calls jsonb) RETURNS void
    LANGUAGE plpgsql
    AS $$
DECLARE
    news constant uuid[] := ARRAY(SELECT accept_messages(p_at, p_status, true, p_accepted));
BEGIN
    PERFORM record_audits(jsonb_agg(c.entry))
       FROM jsonb_to_recordset(p_calls) c(ids uuid[], entry jsonb) WHERE c.ids && news;
END
$$;


CREATE FUNCTION public.tell_nodes() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM pg_notify('mailkeep_node', TG_TABLE_NAME);
    RETURN NULL;
END
$$;


CREATE FUNCTION public.uncount_sends(p_at timestamp with time zone[], p_senders text[], p_recipients integer[]) RETURNS void
    LANGUAGE plpgsql
    AS $$
BEGIN
    PERFORM lock_send_counts(p_senders);
    -- Where a suspension was lifted in between, the sender's count has begun anew: never below nothing.
    UPDATE send_counts c
       SET recipients = greatest(0, c.recipients - back.recipients)
      FROM (SELECT s.subject, date_trunc('minute', u.counted_at) AS minute, sum(u.recipients) AS recipients
              FROM unnest(p_at, p_senders, p_recipients) u (counted_at, sender, recipients)
             CROSS JOIN unnest(ARRAY[u.sender, split_part(u.sender, '@', -1)]) s (subject)
             GROUP BY s.subject, minute) back
     WHERE c.subject = back.subject AND c.minute = back.minute;
END
$$;


CREATE FUNCTION public.uuid7_floor(p_at timestamp with time zone) RETURNS uuid
    LANGUAGE sql IMMUTABLE STRICT
    AS $$
    SELECT (lpad(to_hex((extract(epoch FROM p_at) * 1000)::bigint), 12, '0') || '70008000000000000000')::uuid
$$;


CREATE FUNCTION public.wake_event_streams() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
DECLARE
    asleep bigint := hashtextextended('mailkeep.asleep events', 0);
BEGIN
    IF pg_try_advisory_lock(asleep) THEN
        PERFORM pg_advisory_unlock(asleep);
    ELSE
        PERFORM pg_notify('mailkeep_events', '');
    END IF;
    RETURN NULL;
END
$$;


CREATE FUNCTION public.wake_workers(p_queue text) RETURNS void
    LANGUAGE plpgsql
    AS $$
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


CREATE FUNCTION public.wants_full(p_domain_id uuid, p_always boolean) RETURNS boolean
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
    SELECT p_domain_id IS NOT NULL AND (p_always OR EXISTS (
        SELECT FROM webhooks w
         WHERE w.active AND (w.domain_id IS NULL OR w.domain_id = p_domain_id)
           AND webhook_wants(w.events, 'mail.received.full')))
$$;


CREATE FUNCTION public.webhook_attempts(p_attempts jsonb, p_attempt jsonb) RETURNS jsonb
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
    SELECT CASE WHEN jsonb_array_length(p_attempts) < 20 THEN p_attempts ELSE p_attempts - 0 END || p_attempt
$$;


CREATE FUNCTION public.webhook_delivery_id(p_event_id uuid, p_webhook_id uuid) RETURNS uuid
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS $$
    SELECT (left(p_event_id::text, 24) || left(md5(p_event_id::text || p_webhook_id::text), 12))::uuid
$$;


CREATE FUNCTION public.webhook_wants(p_events text[], p_kind text) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
    SELECT p_kind = ANY (p_events) OR ('*' = ANY (p_events) AND p_kind NOT LIKE 'system.%')
$$;


CREATE TABLE public.admin_domains (
    admin_id uuid NOT NULL,
    domain_id uuid NOT NULL
);


CREATE TABLE public.admins (
    id uuid NOT NULL,
    email text NOT NULL,
    email_key text NOT NULL,
    password_hash text NOT NULL,
    role text NOT NULL,
    totp_enabled boolean DEFAULT false NOT NULL,
    oidc_provider text,
    credentials_epoch integer DEFAULT 0 NOT NULL,
    surviving_session_id uuid,
    last_login_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    CONSTRAINT admins_role CHECK ((role = ANY (ARRAY['domain_admin'::text, 'admin'::text, 'super_admin'::text])))
);


CREATE TABLE public.aliases (
    id uuid NOT NULL,
    domain_id uuid NOT NULL,
    source_local_part text NOT NULL,
    source_key text NOT NULL,
    destinations text[] NOT NULL,
    destination_keys text[] NOT NULL,
    active boolean NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    CONSTRAINT aliases_destinations_count CHECK (((cardinality(destinations) >= 1) AND (cardinality(destinations) <= 10)))
);


CREATE TABLE public.api_key_domains (
    key_id uuid NOT NULL,
    domain_id uuid NOT NULL
);


CREATE UNLOGGED TABLE public.api_key_rates (
    key_id uuid NOT NULL,
    window_started_at timestamp with time zone NOT NULL,
    used integer NOT NULL
);


CREATE TABLE public.api_keys (
    id uuid NOT NULL,
    admin_id uuid NOT NULL,
    parent_id uuid,
    name text NOT NULL,
    key_prefix text NOT NULL,
    token_hash bytea NOT NULL,
    is_scoped boolean NOT NULL,
    rate_limit integer NOT NULL,
    last_used_at timestamp with time zone,
    expires_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    allowed_networks text[] DEFAULT '{}'::text[] NOT NULL,
    CONSTRAINT api_keys_rate_range CHECK ((rate_limit >= 0))
);


CREATE TABLE public.audit_entries (
    id uuid NOT NULL,
    created_at timestamp with time zone NOT NULL,
    admin_id uuid,
    actor_type text NOT NULL,
    actor_label text NOT NULL,
    key_id uuid,
    action text NOT NULL,
    resource_type text NOT NULL,
    resource_id text,
    domain_id uuid,
    domain_name text,
    ip_address text,
    user_agent text,
    request_id uuid,
    outcome text NOT NULL,
    error_code text,
    details jsonb NOT NULL,
    tx xid8 DEFAULT pg_current_xact_id() NOT NULL,
    CONSTRAINT audit_entries_actor CHECK ((actor_type = ANY (ARRAY['session'::text, 'api_key'::text, 'system'::text, 'cli'::text]))),
    CONSTRAINT audit_entries_outcome CHECK ((outcome = ANY (ARRAY['success'::text, 'denied'::text, 'failed'::text])))
)
PARTITION BY RANGE (id);


CREATE TABLE public.audit_entries_2026_03 (
    id uuid NOT NULL,
    created_at timestamp with time zone NOT NULL,
    admin_id uuid,
    actor_type text NOT NULL,
    actor_label text NOT NULL,
    key_id uuid,
    action text NOT NULL,
    resource_type text NOT NULL,
    resource_id text,
    domain_id uuid,
    domain_name text,
    ip_address text,
    user_agent text,
    request_id uuid,
    outcome text NOT NULL,
    error_code text,
    details jsonb NOT NULL,
    tx xid8 DEFAULT pg_current_xact_id() NOT NULL,
    CONSTRAINT audit_entries_actor CHECK ((actor_type = ANY (ARRAY['session'::text, 'api_key'::text, 'system'::text, 'cli'::text]))),
    CONSTRAINT audit_entries_outcome CHECK ((outcome = ANY (ARRAY['success'::text, 'denied'::text, 'failed'::text])))
);


CREATE TABLE public.audit_entries_2026_04 (
    id uuid NOT NULL,
    created_at timestamp with time zone NOT NULL,
    admin_id uuid,
    actor_type text NOT NULL,
    actor_label text NOT NULL,
    key_id uuid,
    action text NOT NULL,
    resource_type text NOT NULL,
    resource_id text,
    domain_id uuid,
    domain_name text,
    ip_address text,
    user_agent text,
    request_id uuid,
    outcome text NOT NULL,
    error_code text,
    details jsonb NOT NULL,
    tx xid8 DEFAULT pg_current_xact_id() NOT NULL,
    CONSTRAINT audit_entries_actor CHECK ((actor_type = ANY (ARRAY['session'::text, 'api_key'::text, 'system'::text, 'cli'::text]))),
    CONSTRAINT audit_entries_outcome CHECK ((outcome = ANY (ARRAY['success'::text, 'denied'::text, 'failed'::text])))
);


CREATE TABLE public.audit_entries_default (
    id uuid NOT NULL,
    created_at timestamp with time zone NOT NULL,
    admin_id uuid,
    actor_type text NOT NULL,
    actor_label text NOT NULL,
    key_id uuid,
    action text NOT NULL,
    resource_type text NOT NULL,
    resource_id text,
    domain_id uuid,
    domain_name text,
    ip_address text,
    user_agent text,
    request_id uuid,
    outcome text NOT NULL,
    error_code text,
    details jsonb NOT NULL,
    tx xid8 DEFAULT pg_current_xact_id() NOT NULL,
    CONSTRAINT audit_entries_actor CHECK ((actor_type = ANY (ARRAY['session'::text, 'api_key'::text, 'system'::text, 'cli'::text]))),
    CONSTRAINT audit_entries_outcome CHECK ((outcome = ANY (ARRAY['success'::text, 'denied'::text, 'failed'::text])))
);


CREATE TABLE public.audit_seals (
    sequence bigint NOT NULL,
    sealed_at timestamp with time zone NOT NULL,
    entries integer NOT NULL,
    last_tx xid8 NOT NULL,
    last_id uuid NOT NULL,
    latest_id uuid,
    leaves bytea NOT NULL,
    first_sequence bigint NOT NULL,
    dropped_before timestamp with time zone,
    previous bytea NOT NULL,
    hash bytea NOT NULL,
    signature bytea NOT NULL,
    CONSTRAINT audit_seals_sequence_range CHECK ((sequence > 0))
);
ALTER TABLE ONLY public.audit_seals ALTER COLUMN leaves SET STORAGE EXTERNAL;


CREATE TABLE public.dkim_keys (
    id uuid NOT NULL,
    domain_id uuid NOT NULL,
    selector text NOT NULL,
    algorithm text NOT NULL,
    stage text NOT NULL,
    private_key bytea NOT NULL,
    public_key bytea NOT NULL,
    created_at timestamp with time zone NOT NULL,
    activated_at timestamp with time zone,
    CONSTRAINT dkim_keys_algorithm CHECK ((algorithm = ANY (ARRAY['rsa2048'::text, 'rsa4096'::text, 'ed25519'::text]))),
    CONSTRAINT dkim_keys_stage CHECK ((stage = ANY (ARRAY['pending'::text, 'active'::text, 'retiring'::text, 'retired'::text])))
);


CREATE TABLE public.domains (
    id uuid NOT NULL,
    name text NOT NULL,
    active boolean NOT NULL,
    sending_enabled boolean NOT NULL,
    receiving_enabled boolean NOT NULL,
    description text NOT NULL,
    max_mailboxes integer,
    max_aliases integer,
    default_quota_bytes bigint NOT NULL,
    plus_delimiter text,
    dns_status text NOT NULL,
    dns_checked_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    CONSTRAINT domains_dns_status CHECK ((dns_status = ANY (ARRAY['unchecked'::text, 'ok'::text, 'attention'::text, 'failing'::text]))),
    CONSTRAINT domains_max_aliases_range CHECK ((max_aliases >= 0)),
    CONSTRAINT domains_max_mailboxes_range CHECK ((max_mailboxes >= 0)),
    CONSTRAINT domains_plus_delimiter_one CHECK ((length(plus_delimiter) = 1)),
    CONSTRAINT domains_quota_range CHECK ((default_quota_bytes >= 0))
);


CREATE TABLE public.event_payloads (
    queue_id text NOT NULL,
    content bytea NOT NULL,
    created_at timestamp with time zone NOT NULL
);
ALTER TABLE ONLY public.event_payloads ALTER COLUMN content SET STORAGE EXTERNAL;


CREATE TABLE public.events (
    id uuid NOT NULL,
    tx xid8 DEFAULT pg_current_xact_id() NOT NULL,
    kind text NOT NULL,
    domain_id uuid,
    message_id uuid,
    data jsonb NOT NULL,
    created_at timestamp with time zone NOT NULL
)
PARTITION BY RANGE (id);


CREATE TABLE public.events_2026_03 (
    id uuid NOT NULL,
    tx xid8 DEFAULT pg_current_xact_id() NOT NULL,
    kind text NOT NULL,
    domain_id uuid,
    message_id uuid,
    data jsonb NOT NULL,
    created_at timestamp with time zone NOT NULL
);


CREATE TABLE public.events_2026_04 (
    id uuid NOT NULL,
    tx xid8 DEFAULT pg_current_xact_id() NOT NULL,
    kind text NOT NULL,
    domain_id uuid,
    message_id uuid,
    data jsonb NOT NULL,
    created_at timestamp with time zone NOT NULL
);


CREATE TABLE public.events_default (
    id uuid NOT NULL,
    tx xid8 DEFAULT pg_current_xact_id() NOT NULL,
    kind text NOT NULL,
    domain_id uuid,
    message_id uuid,
    data jsonb NOT NULL,
    created_at timestamp with time zone NOT NULL
);


CREATE TABLE public.forwards (
    queue_id text NOT NULL,
    recipient text NOT NULL,
    mail_from text NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    next_attempt_at timestamp with time zone NOT NULL,
    created_at timestamp with time zone NOT NULL
);


CREATE TABLE public.idempotency_keys (
    caller_id uuid NOT NULL,
    route text NOT NULL,
    key text NOT NULL,
    body_hash bytea NOT NULL,
    request_id uuid NOT NULL,
    process uuid NOT NULL,
    claimed_at timestamp with time zone NOT NULL,
    status integer,
    answer bytea
);


CREATE TABLE public.inbound_seen (
    queue_id text NOT NULL,
    recipient text NOT NULL,
    message_id uuid NOT NULL,
    seen_at timestamp with time zone NOT NULL
);


CREATE UNLOGGED TABLE public.login_failures (
    email_key text NOT NULL,
    window_started_at timestamp with time zone NOT NULL,
    failures integer NOT NULL,
    last_failed_at timestamp with time zone NOT NULL
);


CREATE TABLE public.login_sources (
    admin_id uuid NOT NULL,
    ip_address text NOT NULL,
    seen_at timestamp with time zone NOT NULL
);


CREATE TABLE public.mail_log_positions (
    log text NOT NULL,
    inode bigint NOT NULL,
    first_line bytea NOT NULL,
    read_to bigint NOT NULL,
    read_at timestamp with time zone NOT NULL
);


CREATE TABLE public.mail_logs (
    name text NOT NULL,
    caught_up_at timestamp with time zone
);


CREATE TABLE public.mail_removals (
    mailbox_id uuid NOT NULL
);


CREATE TABLE public.message_attempts (
    message_id uuid NOT NULL,
    id uuid NOT NULL,
    at timestamp with time zone NOT NULL,
    kind text NOT NULL,
    recipient text,
    attempt integer NOT NULL,
    smtp_code integer,
    enhanced_code text,
    diagnostic text,
    remote_host text,
    next_attempt_at timestamp with time zone,
    CONSTRAINT message_attempts_kind CHECK ((kind = ANY (ARRAY['delivered'::text, 'deferred'::text, 'bounced'::text, 'failed'::text, 'lost'::text, 'unknown'::text])))
)
PARTITION BY RANGE (message_id);


CREATE TABLE public.message_attempts_2026_03 (
    message_id uuid NOT NULL,
    id uuid NOT NULL,
    at timestamp with time zone NOT NULL,
    kind text NOT NULL,
    recipient text,
    attempt integer NOT NULL,
    smtp_code integer,
    enhanced_code text,
    diagnostic text,
    remote_host text,
    next_attempt_at timestamp with time zone,
    CONSTRAINT message_attempts_kind CHECK ((kind = ANY (ARRAY['delivered'::text, 'deferred'::text, 'bounced'::text, 'failed'::text, 'lost'::text, 'unknown'::text])))
);


CREATE TABLE public.message_attempts_2026_04 (
    message_id uuid NOT NULL,
    id uuid NOT NULL,
    at timestamp with time zone NOT NULL,
    kind text NOT NULL,
    recipient text,
    attempt integer NOT NULL,
    smtp_code integer,
    enhanced_code text,
    diagnostic text,
    remote_host text,
    next_attempt_at timestamp with time zone,
    CONSTRAINT message_attempts_kind CHECK ((kind = ANY (ARRAY['delivered'::text, 'deferred'::text, 'bounced'::text, 'failed'::text, 'lost'::text, 'unknown'::text])))
);


CREATE TABLE public.message_attempts_default (
    message_id uuid NOT NULL,
    id uuid NOT NULL,
    at timestamp with time zone NOT NULL,
    kind text NOT NULL,
    recipient text,
    attempt integer NOT NULL,
    smtp_code integer,
    enhanced_code text,
    diagnostic text,
    remote_host text,
    next_attempt_at timestamp with time zone,
    CONSTRAINT message_attempts_kind CHECK ((kind = ANY (ARRAY['delivered'::text, 'deferred'::text, 'bounced'::text, 'failed'::text, 'lost'::text, 'unknown'::text])))
);


CREATE TABLE public.message_recipients (
    message_id uuid NOT NULL,
    "position" integer NOT NULL,
    address text NOT NULL,
    address_key text NOT NULL,
    status text NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    smtp_code integer,
    enhanced_code text,
    diagnostic text,
    remote_host text,
    next_attempt_at timestamp with time zone
)
PARTITION BY RANGE (message_id);


CREATE TABLE public.message_recipients_2026_03 (
    message_id uuid NOT NULL,
    "position" integer NOT NULL,
    address text NOT NULL,
    address_key text NOT NULL,
    status text NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    smtp_code integer,
    enhanced_code text,
    diagnostic text,
    remote_host text,
    next_attempt_at timestamp with time zone
);


CREATE TABLE public.message_recipients_2026_04 (
    message_id uuid NOT NULL,
    "position" integer NOT NULL,
    address text NOT NULL,
    address_key text NOT NULL,
    status text NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    smtp_code integer,
    enhanced_code text,
    diagnostic text,
    remote_host text,
    next_attempt_at timestamp with time zone
);


CREATE TABLE public.message_recipients_default (
    message_id uuid NOT NULL,
    "position" integer NOT NULL,
    address text NOT NULL,
    address_key text NOT NULL,
    status text NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    smtp_code integer,
    enhanced_code text,
    diagnostic text,
    remote_host text,
    next_attempt_at timestamp with time zone
);


CREATE TABLE public.message_search (
    message_id uuid NOT NULL,
    domain_id uuid,
    subject text NOT NULL,
    sender text NOT NULL,
    recipients text NOT NULL
)
PARTITION BY RANGE (message_id);


CREATE TABLE public.message_search_2026_03 (
    message_id uuid NOT NULL,
    domain_id uuid,
    subject text NOT NULL,
    sender text NOT NULL,
    recipients text NOT NULL
);


CREATE TABLE public.message_search_2026_04 (
    message_id uuid NOT NULL,
    domain_id uuid,
    subject text NOT NULL,
    sender text NOT NULL,
    recipients text NOT NULL
);


CREATE TABLE public.message_search_default (
    message_id uuid NOT NULL,
    domain_id uuid,
    subject text NOT NULL,
    sender text NOT NULL,
    recipients text NOT NULL
);


CREATE TABLE public.message_tags (
    tag text NOT NULL,
    message_id uuid NOT NULL
)
PARTITION BY RANGE (message_id);


CREATE TABLE public.message_tags_2026_03 (
    tag text NOT NULL,
    message_id uuid NOT NULL
);


CREATE TABLE public.message_tags_2026_04 (
    tag text NOT NULL,
    message_id uuid NOT NULL
);


CREATE TABLE public.message_tags_default (
    tag text NOT NULL,
    message_id uuid NOT NULL
);


CREATE TABLE public.messages (
    id uuid NOT NULL,
    direction text NOT NULL,
    message_id text NOT NULL,
    queue_id text,
    domain_id uuid,
    domain_name text NOT NULL,
    mailbox_id uuid,
    source text NOT NULL,
    admin_id uuid,
    api_key_id uuid,
    mail_from text NOT NULL,
    from_address text NOT NULL,
    to_addresses text[] NOT NULL,
    cc_addresses text[] NOT NULL,
    subject text NOT NULL,
    size bigint NOT NULL,
    tags text[] DEFAULT '{}'::text[] NOT NULL,
    metadata jsonb DEFAULT '{}'::jsonb NOT NULL,
    status text NOT NULL,
    spam_score double precision,
    spam_action text,
    spam_symbols text[] DEFAULT '{}'::text[] NOT NULL,
    auth jsonb DEFAULT '{}'::jsonb NOT NULL,
    created_at timestamp with time zone NOT NULL,
    accepted_at timestamp with time zone,
    answered_at timestamp with time zone,
    request_id uuid,
    batch_index integer,
    CONSTRAINT messages_direction CHECK ((direction = ANY (ARRAY['outbound'::text, 'inbound'::text]))),
    CONSTRAINT messages_source CHECK ((source = ANY (ARRAY['api'::text, 'smtp'::text, 'system'::text])))
)
PARTITION BY RANGE (id);


CREATE TABLE public.messages_2026_03 (
    id uuid NOT NULL,
    direction text NOT NULL,
    message_id text NOT NULL,
    queue_id text,
    domain_id uuid,
    domain_name text NOT NULL,
    mailbox_id uuid,
    source text NOT NULL,
    admin_id uuid,
    api_key_id uuid,
    mail_from text NOT NULL,
    from_address text NOT NULL,
    to_addresses text[] NOT NULL,
    cc_addresses text[] NOT NULL,
    subject text NOT NULL,
    size bigint NOT NULL,
    tags text[] DEFAULT '{}'::text[] NOT NULL,
    metadata jsonb DEFAULT '{}'::jsonb NOT NULL,
    status text NOT NULL,
    spam_score double precision,
    spam_action text,
    spam_symbols text[] DEFAULT '{}'::text[] NOT NULL,
    auth jsonb DEFAULT '{}'::jsonb NOT NULL,
    created_at timestamp with time zone NOT NULL,
    accepted_at timestamp with time zone,
    answered_at timestamp with time zone,
    request_id uuid,
    batch_index integer,
    CONSTRAINT messages_direction CHECK ((direction = ANY (ARRAY['outbound'::text, 'inbound'::text]))),
    CONSTRAINT messages_source CHECK ((source = ANY (ARRAY['api'::text, 'smtp'::text, 'system'::text])))
);


CREATE TABLE public.messages_2026_04 (
    id uuid NOT NULL,
    direction text NOT NULL,
    message_id text NOT NULL,
    queue_id text,
    domain_id uuid,
    domain_name text NOT NULL,
    mailbox_id uuid,
    source text NOT NULL,
    admin_id uuid,
    api_key_id uuid,
    mail_from text NOT NULL,
    from_address text NOT NULL,
    to_addresses text[] NOT NULL,
    cc_addresses text[] NOT NULL,
    subject text NOT NULL,
    size bigint NOT NULL,
    tags text[] DEFAULT '{}'::text[] NOT NULL,
    metadata jsonb DEFAULT '{}'::jsonb NOT NULL,
    status text NOT NULL,
    spam_score double precision,
    spam_action text,
    spam_symbols text[] DEFAULT '{}'::text[] NOT NULL,
    auth jsonb DEFAULT '{}'::jsonb NOT NULL,
    created_at timestamp with time zone NOT NULL,
    accepted_at timestamp with time zone,
    answered_at timestamp with time zone,
    request_id uuid,
    batch_index integer,
    CONSTRAINT messages_direction CHECK ((direction = ANY (ARRAY['outbound'::text, 'inbound'::text]))),
    CONSTRAINT messages_source CHECK ((source = ANY (ARRAY['api'::text, 'smtp'::text, 'system'::text])))
);


CREATE TABLE public.messages_default (
    id uuid NOT NULL,
    direction text NOT NULL,
    message_id text NOT NULL,
    queue_id text,
    domain_id uuid,
    domain_name text NOT NULL,
    mailbox_id uuid,
    source text NOT NULL,
    admin_id uuid,
    api_key_id uuid,
    mail_from text NOT NULL,
    from_address text NOT NULL,
    to_addresses text[] NOT NULL,
    cc_addresses text[] NOT NULL,
    subject text NOT NULL,
    size bigint NOT NULL,
    tags text[] DEFAULT '{}'::text[] NOT NULL,
    metadata jsonb DEFAULT '{}'::jsonb NOT NULL,
    status text NOT NULL,
    spam_score double precision,
    spam_action text,
    spam_symbols text[] DEFAULT '{}'::text[] NOT NULL,
    auth jsonb DEFAULT '{}'::jsonb NOT NULL,
    created_at timestamp with time zone NOT NULL,
    accepted_at timestamp with time zone,
    answered_at timestamp with time zone,
    request_id uuid,
    batch_index integer,
    CONSTRAINT messages_direction CHECK ((direction = ANY (ARRAY['outbound'::text, 'inbound'::text]))),
    CONSTRAINT messages_source CHECK ((source = ANY (ARRAY['api'::text, 'smtp'::text, 'system'::text])))
);


CREATE TABLE public.oidc_identities (
    admin_id uuid NOT NULL,
    issuer text NOT NULL,
    subject text NOT NULL,
    linked_at timestamp with time zone NOT NULL
);


CREATE UNLOGGED TABLE public.oidc_logins (
    state_hash bytea NOT NULL,
    browser_hash bytea NOT NULL,
    provider text NOT NULL,
    next_path text NOT NULL,
    link_session_id uuid,
    expires_at timestamp with time zone NOT NULL
);


CREATE TABLE public.operations (
    id uuid NOT NULL,
    kind text NOT NULL,
    argument jsonb NOT NULL,
    state text NOT NULL,
    result jsonb,
    error text,
    requested_at timestamp with time zone NOT NULL,
    claimed_at timestamp with time zone,
    finished_at timestamp with time zone,
    CONSTRAINT operations_state CHECK ((state = ANY (ARRAY['waiting'::text, 'running'::text, 'succeeded'::text, 'failed'::text, 'withdrawn'::text])))
);


CREATE UNLOGGED TABLE public.passkey_challenges (
    challenge_hash bytea NOT NULL,
    purpose text NOT NULL,
    bound_to bytea NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT passkey_challenges_purpose CHECK ((purpose = ANY (ARRAY['register'::text, 'login'::text, 'second_factor'::text])))
);


CREATE TABLE public.passkeys (
    id uuid NOT NULL,
    admin_id uuid NOT NULL,
    credential_id bytea NOT NULL,
    public_key bytea NOT NULL,
    sign_count bigint NOT NULL,
    name text NOT NULL,
    aaguid uuid NOT NULL,
    transports text[] NOT NULL,
    backup_eligible boolean NOT NULL,
    backed_up boolean NOT NULL,
    created_at timestamp with time zone NOT NULL,
    last_used_at timestamp with time zone,
    CONSTRAINT passkeys_credential_length CHECK (((octet_length(credential_id) >= 1) AND (octet_length(credential_id) <= 1023)))
);


CREATE TABLE public.pending_logins (
    token_hash bytea NOT NULL,
    admin_id uuid NOT NULL,
    credentials_epoch integer NOT NULL,
    tries integer DEFAULT 0 NOT NULL,
    expires_at timestamp with time zone NOT NULL
);


CREATE TABLE public.queued_mail (
    queue_id text NOT NULL,
    origin text NOT NULL,
    login text,
    header_id text NOT NULL,
    head jsonb NOT NULL,
    sender text NOT NULL,
    size bigint NOT NULL,
    message_id uuid,
    expected integer,
    recipients integer NOT NULL,
    noted boolean NOT NULL,
    expansions jsonb NOT NULL,
    told text[] NOT NULL,
    first_seen_at timestamp with time zone NOT NULL,
    passed_on jsonb DEFAULT '{}'::jsonb NOT NULL,
    CONSTRAINT queued_mail_origin CHECK ((origin = ANY (ARRAY['api'::text, 'submission'::text, 'inbound'::text, 'reinjection'::text])))
)
WITH (fillfactor='70', autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_threshold='5000');


CREATE TABLE public.recovery_codes (
    admin_id uuid NOT NULL,
    code_hash bytea NOT NULL
);


CREATE TABLE public.sandbox_messages (
    id uuid NOT NULL,
    queue_id text NOT NULL,
    mail_from text NOT NULL,
    rcpt_to text[] NOT NULL,
    message_id text NOT NULL,
    size bigint NOT NULL,
    received_at timestamp with time zone NOT NULL
);


CREATE TABLE public.sandbox_queue (
    message_id uuid NOT NULL,
    recipient text NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    next_attempt_at timestamp with time zone NOT NULL
);


CREATE TABLE public.schema_migrations (
    number integer NOT NULL,
    name text NOT NULL,
    checksum text NOT NULL,
    applied_at timestamp with time zone NOT NULL,
    program_version text NOT NULL
);


CREATE TABLE public.send_counts (
    subject text NOT NULL,
    minute timestamp with time zone NOT NULL,
    recipients integer NOT NULL,
    CONSTRAINT send_counts_positive CHECK ((recipients >= 0))
)
WITH (fillfactor='70');


CREATE TABLE public.sessions (
    id uuid NOT NULL,
    admin_id uuid NOT NULL,
    token_hash bytea NOT NULL,
    credentials_epoch integer NOT NULL,
    ip_address text,
    user_agent text,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL
);


CREATE TABLE public.submissions (
    queue_id text NOT NULL,
    login text NOT NULL,
    sender text NOT NULL,
    recipients text[] NOT NULL,
    client text NOT NULL,
    created_at timestamp with time zone NOT NULL
);


CREATE TABLE public.suspensions (
    id uuid NOT NULL,
    domain_id uuid NOT NULL,
    address text NOT NULL,
    address_key text NOT NULL,
    reason text NOT NULL,
    by_kind text NOT NULL,
    by_label text NOT NULL,
    by_rank integer,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT suspensions_by_kind CHECK ((by_kind = ANY (ARRAY['rules'::text, 'admin'::text])))
);


CREATE TABLE public.tallies (
    name text NOT NULL,
    labels text[] NOT NULL,
    count bigint NOT NULL
)
WITH (fillfactor='50');


CREATE TABLE public.totp_secrets (
    admin_id uuid NOT NULL,
    secret bytea NOT NULL,
    created_at timestamp with time zone NOT NULL,
    enabled_at timestamp with time zone,
    last_step bigint
);


CREATE TABLE public.webhooks (
    id uuid NOT NULL,
    url text NOT NULL,
    events text[] NOT NULL,
    domain_id uuid,
    active boolean NOT NULL,
    secret bytea NOT NULL,
    previous_secret bytea,
    previous_secret_until timestamp with time zone,
    failing_since timestamp with time zone,
    disabled_at timestamp with time zone,
    created_by uuid NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    CONSTRAINT webhooks_disabled_inactive CHECK (((disabled_at IS NULL) OR (NOT active))),
    CONSTRAINT webhooks_events_some CHECK ((cardinality(events) > 0)),
    CONSTRAINT webhooks_previous_secret_whole CHECK (((previous_secret IS NULL) = (previous_secret_until IS NULL)))
);


ALTER TABLE ONLY public.audit_entries ATTACH PARTITION public.audit_entries_2026_03 FOR VALUES FROM ('019ca6b1-dc00-7000-8000-000000000000') TO ('019d4657-0000-7000-8000-000000000000');


ALTER TABLE ONLY public.audit_entries ATTACH PARTITION public.audit_entries_2026_04 FOR VALUES FROM ('019d4657-0000-7000-8000-000000000000') TO ('019de0d5-c800-7000-8000-000000000000');


ALTER TABLE ONLY public.audit_entries ATTACH PARTITION public.audit_entries_default DEFAULT;


ALTER TABLE ONLY public.events ATTACH PARTITION public.events_2026_03 FOR VALUES FROM ('019ca6b1-dc00-7000-8000-000000000000') TO ('019d4657-0000-7000-8000-000000000000');


ALTER TABLE ONLY public.events ATTACH PARTITION public.events_2026_04 FOR VALUES FROM ('019d4657-0000-7000-8000-000000000000') TO ('019de0d5-c800-7000-8000-000000000000');


ALTER TABLE ONLY public.events ATTACH PARTITION public.events_default DEFAULT;


ALTER TABLE ONLY public.message_attempts ATTACH PARTITION public.message_attempts_2026_03 FOR VALUES FROM ('019ca6b1-dc00-7000-8000-000000000000') TO ('019d4657-0000-7000-8000-000000000000');


ALTER TABLE ONLY public.message_attempts ATTACH PARTITION public.message_attempts_2026_04 FOR VALUES FROM ('019d4657-0000-7000-8000-000000000000') TO ('019de0d5-c800-7000-8000-000000000000');


ALTER TABLE ONLY public.message_attempts ATTACH PARTITION public.message_attempts_default DEFAULT;


ALTER TABLE ONLY public.message_recipients ATTACH PARTITION public.message_recipients_2026_03 FOR VALUES FROM ('019ca6b1-dc00-7000-8000-000000000000') TO ('019d4657-0000-7000-8000-000000000000');


ALTER TABLE ONLY public.message_recipients ATTACH PARTITION public.message_recipients_2026_04 FOR VALUES FROM ('019d4657-0000-7000-8000-000000000000') TO ('019de0d5-c800-7000-8000-000000000000');


ALTER TABLE ONLY public.message_recipients ATTACH PARTITION public.message_recipients_default DEFAULT;


ALTER TABLE ONLY public.message_search ATTACH PARTITION public.message_search_2026_03 FOR VALUES FROM ('019ca6b1-dc00-7000-8000-000000000000') TO ('019d4657-0000-7000-8000-000000000000');


ALTER TABLE ONLY public.message_search ATTACH PARTITION public.message_search_2026_04 FOR VALUES FROM ('019d4657-0000-7000-8000-000000000000') TO ('019de0d5-c800-7000-8000-000000000000');


ALTER TABLE ONLY public.message_search ATTACH PARTITION public.message_search_default DEFAULT;


ALTER TABLE ONLY public.message_tags ATTACH PARTITION public.message_tags_2026_03 FOR VALUES FROM ('019ca6b1-dc00-7000-8000-000000000000') TO ('019d4657-0000-7000-8000-000000000000');


ALTER TABLE ONLY public.message_tags ATTACH PARTITION public.message_tags_2026_04 FOR VALUES FROM ('019d4657-0000-7000-8000-000000000000') TO ('019de0d5-c800-7000-8000-000000000000');


ALTER TABLE ONLY public.message_tags ATTACH PARTITION public.message_tags_default DEFAULT;


ALTER TABLE ONLY public.messages ATTACH PARTITION public.messages_2026_03 FOR VALUES FROM ('019ca6b1-dc00-7000-8000-000000000000') TO ('019d4657-0000-7000-8000-000000000000');


ALTER TABLE ONLY public.messages ATTACH PARTITION public.messages_2026_04 FOR VALUES FROM ('019d4657-0000-7000-8000-000000000000') TO ('019de0d5-c800-7000-8000-000000000000');


ALTER TABLE ONLY public.messages ATTACH PARTITION public.messages_default DEFAULT;


INSERT INTO public.admin_domains VALUES
	('019ca41e-ae00-7000-8000-00000000000c', '019ca41e-ae00-7000-8000-000000000001'),
	('019ca41e-ae00-7000-8000-00000000000d', '019ca41e-ae00-7000-8000-000000000002');


INSERT INTO public.admins VALUES
	('019ca41e-ae00-7000-8000-00000000000c', 'dora@example.test', 'dora@example.test', '$argon2id$v=19$m=8,t=1,p=1$P7JIiysfHrfbZHbJnfpKAA$XNi4K4Z0OkPAw/8bGcEMMBbYjAJFxGq9+WDBHKVfxcc', 'domain_admin', false, NULL, 0, NULL, NULL, '2026-02-28 12:00:00+00', '2026-02-28 12:00:00+00'),
	('019ca41e-ae00-7000-8000-00000000000d', 'otto@example.test', 'otto@example.test', '$argon2id$v=19$m=8,t=1,p=1$P7JIiysfHrfbZHbJnfpKAA$XNi4K4Z0OkPAw/8bGcEMMBbYjAJFxGq9+WDBHKVfxcc', 'domain_admin', false, NULL, 0, NULL, NULL, '2026-02-28 12:00:00+00', '2026-02-28 12:00:00+00'),
	('019ca41e-ae00-7000-8000-00000000000a', 'sue@example.test', 'sue@example.test', '$argon2id$v=19$m=8,t=1,p=1$P7JIiysfHrfbZHbJnfpKAA$XNi4K4Z0OkPAw/8bGcEMMBbYjAJFxGq9+WDBHKVfxcc', 'super_admin', false, NULL, 0, NULL, '2026-03-01 12:00:00+00', '2026-02-28 12:00:00+00', '2026-02-28 12:00:00+00'),
	('019ca41e-ae00-7000-8000-00000000000b', 'adam@example.test', 'adam@example.test', '$argon2id$v=19$m=8,t=1,p=1$P7JIiysfHrfbZHbJnfpKAA$XNi4K4Z0OkPAw/8bGcEMMBbYjAJFxGq9+WDBHKVfxcc', 'admin', true, NULL, 0, NULL, NULL, '2026-02-28 12:00:00+00', '2026-02-28 12:00:00+00');


INSERT INTO public.aliases VALUES
	('019ca945-0a00-7039-81df-17a1cef5474e', '019ca41e-ae00-7000-8000-000000000001', 'sales', 'sales', '{alice@example.test}', '{alice@example.test}', true, '2026-03-01 12:00:00+00', '2026-03-01 12:00:00+00'),
	('019ca945-0a00-7039-81e2-f8a31309424e', '019ca41e-ae00-7000-8000-000000000001', 'away', 'away', '{partner@elsewhere.test}', '{partner@elsewhere.test}', true, '2026-03-01 12:00:00+00', '2026-03-01 12:00:00+00'),
	('019ca945-0a00-7039-81e5-c69f5e120c48', '019ca41e-ae00-7000-8000-000000000001', '', '', '{alice@example.test}', '{alice@example.test}', true, '2026-03-01 12:00:00+00', '2026-03-01 12:00:00+00');


INSERT INTO public.api_key_domains VALUES
	('019ca41e-ae00-7000-8000-00000000001f', '019ca41e-ae00-7000-8000-000000000001');


INSERT INTO public.api_key_rates VALUES
	('019ca945-0a00-703d-bd69-cf53e4c934f0', '2026-03-01 12:00:00+00', 1);


INSERT INTO public.api_keys VALUES
	('019ca41e-ae00-7000-8000-00000000001f', '019ca41e-ae00-7000-8000-00000000000b', NULL, 'adam''s scoped key', 'svc_sk_scope', '\xc8772a400e3cc6817d0c21f1511ebfb13a2192230fa8742a51c2b7d1733de471', true, 0, NULL, NULL, '2026-02-28 12:00:00+00', '{}'),
	('019ca41e-ae00-7000-8000-00000000001e', '019ca41e-ae00-7000-8000-00000000000a', NULL, 'sue''s unscoped key', 'svc_sk_unsco', '\xa74b9ad75e2daca95789a20d848ba4ea16d3f4daeaa00a5eef75422c8f0d0e7f', false, 0, '2026-03-01 12:00:00+00', NULL, '2026-02-28 12:00:00+00', '{}'),
	('019ca945-0a00-703d-bd69-cf53e4c934f0', '019ca41e-ae00-7000-8000-00000000000a', NULL, 'a key', 'svc_sk_L73YX', '\xa13bb925077300bd2f9efcab641c619d79820219371d2f762275fc857196eba9', false, 10, '2026-03-01 12:00:00+00', NULL, '2026-03-01 12:00:00+00', '{}');


INSERT INTO public.audit_entries_2026_03 VALUES
	('019ca945-0a00-7025-931e-e54c3cbd4593', '2026-03-01 12:00:00+00', '019ca41e-ae00-7000-8000-00000000000a', 'session', 'sue@example.test', NULL, 'mailbox.create', 'mailbox', '019ca945-0a00-7025-931d-5e177ee061d6', '019ca41e-ae00-7000-8000-000000000001', 'example.test', '192.0.2.1', NULL, '019ca945-0a00-7025-931c-2ab06470e296', 'success', NULL, '{"after": {"name": "", "active": true, "address": "alice@example.test", "forward": {"keep_copy": true, "destinations": []}, "domain_id": "019ca41e-ae00-7000-8000-000000000001", "protocols": {"imap": true, "pop3": true, "smtp": true, "sieve": true}, "quota_bytes": 0}, "before": null}', '3'),
	('019ca945-0a00-702c-a06c-65b713c98222', '2026-03-01 12:00:00+00', '019ca41e-ae00-7000-8000-00000000000a', 'session', 'sue@example.test', NULL, 'mailbox.create', 'mailbox', '019ca945-0a00-702c-a06b-4c1dd63230d7', '019ca41e-ae00-7000-8000-000000000001', 'example.test', '192.0.2.1', NULL, '019ca945-0a00-702c-a06a-c575874d7bb0', 'success', NULL, '{"after": {"name": "", "active": true, "address": "Bob.Smith@example.test", "forward": {"keep_copy": true, "destinations": []}, "domain_id": "019ca41e-ae00-7000-8000-000000000001", "protocols": {"imap": true, "pop3": true, "smtp": true, "sieve": true}, "quota_bytes": 0}, "before": null}', '3'),
	('019ca945-0a00-702c-a06f-df82611f1477', '2026-03-01 12:00:00+00', '019ca41e-ae00-7000-8000-00000000000a', 'session', 'sue@example.test', NULL, 'mailbox.create', 'mailbox', '019ca945-0a00-702c-a06e-c55282bda817', '019ca41e-ae00-7000-8000-000000000001', 'example.test', '192.0.2.1', NULL, '019ca945-0a00-702c-a06d-96b0029dc8ca', 'success', NULL, '{"after": {"name": "", "active": true, "address": "straße@example.test", "forward": {"keep_copy": true, "destinations": []}, "domain_id": "019ca41e-ae00-7000-8000-000000000001", "protocols": {"imap": true, "pop3": true, "smtp": true, "sieve": true}, "quota_bytes": 0}, "before": null}', '3'),
	('019ca945-0a00-7039-81e0-16d248d58a19', '2026-03-01 12:00:00+00', '019ca41e-ae00-7000-8000-00000000000a', 'session', 'sue@example.test', NULL, 'alias.create', 'alias', '019ca945-0a00-7039-81df-17a1cef5474e', '019ca41e-ae00-7000-8000-000000000001', 'example.test', '192.0.2.1', NULL, '019ca945-0a00-7039-81de-fc2165f0dacd', 'success', NULL, '{"after": {"active": true, "destination": "alice@example.test", "source_local_part": "sales"}, "before": null}', '3'),
	('019ca945-0a00-7039-81e3-d8963cbd0579', '2026-03-01 12:00:00+00', '019ca41e-ae00-7000-8000-00000000000a', 'session', 'sue@example.test', NULL, 'alias.create', 'alias', '019ca945-0a00-7039-81e2-f8a31309424e', '019ca41e-ae00-7000-8000-000000000001', 'example.test', '192.0.2.1', NULL, '019ca945-0a00-7039-81e1-f2a5e99ba1cf', 'success', NULL, '{"after": {"active": true, "destination": "partner@elsewhere.test", "source_local_part": "away"}, "before": null}', '3'),
	('019ca945-0a00-7039-81e6-be2b83370753', '2026-03-01 12:00:00+00', '019ca41e-ae00-7000-8000-00000000000a', 'session', 'sue@example.test', NULL, 'alias.create', 'alias', '019ca945-0a00-7039-81e5-c69f5e120c48', '019ca41e-ae00-7000-8000-000000000001', 'example.test', '192.0.2.1', NULL, '019ca945-0a00-7039-81e4-d0e5c6d26edd', 'success', NULL, '{"after": {"active": true, "destination": "alice@example.test", "source_local_part": ""}, "before": null}', '3'),
	('019ca945-0a00-7039-81ea-b1908c651bf3', '2026-03-01 12:00:00+00', '019ca41e-ae00-7000-8000-00000000000a', 'session', 'sue@example.test', NULL, 'webhook.create', 'webhook', '019ca945-0a00-7039-81e9-06fe22c9ff1d', NULL, NULL, '192.0.2.1', NULL, '019ca945-0a00-7039-81e8-0d4c9207186a', 'success', NULL, '{"after": {"id": "019ca945-0a00-7039-81e9-06fe22c9ff1d", "url": "https://hooks.elsewhere.test/in", "active": true, "events": ["*"], "domain_id": null, "created_at": "2026-03-01T12:00:00.000Z", "created_by": "019ca41e-ae00-7000-8000-00000000000a", "updated_at": "2026-03-01T12:00:00.000Z", "disabled_at": null, "failing_since": null, "rotating_until": null}, "before": null}', '3'),
	('019ca945-0a00-7039-beb6-2d0adc66dc68', '2026-03-01 12:00:00+00', '019ca41e-ae00-7000-8000-00000000000a', 'session', 'sue@example.test', NULL, 'webhook.rotate_secret', 'webhook', '019ca945-0a00-7039-81e9-06fe22c9ff1d', NULL, NULL, '192.0.2.1', NULL, '019ca945-0a00-7039-beb5-4f9ca70f7b0b', 'success', NULL, '{}', '3'),
	('019ca945-0a00-7039-beba-8d1d427aca6c', '2026-03-01 12:00:00+00', '019ca41e-ae00-7000-8000-00000000000a', 'api_key', 'sue''s unscoped key', '019ca41e-ae00-7000-8000-00000000001e', 'message.send', 'message', '019ca945-0a00-7039-beb8-452f142cb8fe', '019ca41e-ae00-7000-8000-000000000001', 'example.test', '192.0.2.1', NULL, '019ca945-0a00-7039-beb7-3491cc4381b5', 'success', NULL, '{"messages": 1, "succeeded": 1, "recipients": 1, "message_ids": ["<019ca945-0a00-7039-beb8-452f142cb8fe@example.test>"], "recipient_domains": ["elsewhere.test"]}', '3'),
	('019ca945-0a00-703d-bd59-bf8879546472', '2026-03-01 12:00:00+00', '019ca41e-ae00-7000-8000-00000000000a', 'session', 'sue@example.test', NULL, 'message.send', 'message', '019ca945-0a00-703d-bd57-2b97ba76ddc1', '019ca41e-ae00-7000-8000-000000000001', 'example.test', '192.0.2.1', NULL, '019ca945-0a00-703d-bd56-476ec3f37750', 'success', NULL, '{"messages": 1, "succeeded": 1, "recipients": 1, "message_ids": ["<019ca945-0a00-703d-bd57-2b97ba76ddc1@example.test>"], "recipient_domains": ["elsewhere.test"]}', '3'),
	('019ca945-0a00-703d-bd62-22a2436a3d76', '2026-03-01 12:00:00+00', '019ca41e-ae00-7000-8000-00000000000a', 'session', 'sue@example.test', NULL, 'auth.login', 'session', '019ca945-0a00-703d-bd61-064813d01ac7', NULL, NULL, '192.0.2.1', NULL, '019ca945-0a00-703d-bd60-10f319119202', 'success', NULL, '{}', '3'),
	('019ca945-0a00-703d-bd64-08520f09d461', '2026-03-01 12:00:00+00', NULL, 'session', 'nobody@example.test', NULL, 'auth.login', 'admin', NULL, NULL, NULL, '192.0.2.1', NULL, '019ca945-0a00-703d-bd63-e7b68373f6d3', 'failed', 'INVALID_CREDENTIALS', '{}', '3'),
	('019ca945-0a00-703d-bd6a-a62620a3ea3d', '2026-03-01 12:00:00+00', '019ca41e-ae00-7000-8000-00000000000a', 'session', 'sue@example.test', NULL, 'api_key.create', 'api_key', '019ca945-0a00-703d-bd69-cf53e4c934f0', NULL, NULL, '192.0.2.1', NULL, '019ca945-0a00-703d-bd68-a901fa96484f', 'success', NULL, '{"after": {"id": "019ca945-0a00-703d-bd69-cf53e4c934f0", "name": "a key", "admin_id": "019ca41e-ae00-7000-8000-00000000000a", "is_scoped": false, "parent_id": null, "created_at": "2026-03-01T12:00:00.000Z", "expires_at": null, "key_prefix": "svc_sk_L73YX", "rate_limit": 10, "last_used_at": null, "allowed_networks": [], "scoped_domain_ids": []}, "before": null}', '3');


INSERT INTO public.audit_seals VALUES
	(1, '2026-03-01 12:00:00+00', 13, '3', '019ca945-0a00-703d-bd6a-a62620a3ea3d', '019ca945-0a00-703d-bd6a-a62620a3ea3d', '\x019ca9450a007025931ee54c3cbd45936b45fb399fc58087c8ff680249c411f824113226583495a76a0cb604a1611f31019ca9450a00702ca06c65b713c98222c1559d531a7326c680636a1a6ec134f4f41e17804a681c60394fb0aff5c2c6f6019ca9450a00702ca06fdf82611f147720a49f2cabb2661d8be8cbf657cd4117d8bdf4dd074231b86b6a74cc171e8428019ca9450a00703981e016d248d58a1962edc6e9657bd095df4838376c10aa19cdeebdc4d83f2ebfd7f863b451d67d53019ca9450a00703981e3d8963cbd05792e194d7e2102daa5afd5e66c4547980ce7a96171c187ec4fde1d2e40d053e258019ca9450a00703981e6be2b83370753b95e74c0ac746a596e10b0bfe0bd8925ad43f1ee2080af2317c70a3c5b1130aa019ca9450a00703981eab1908c651bf39ff14bee0af3059b99d0e76afd2888a6e1a42235b401745afb3a772bd8eb77e5019ca9450a007039beb62d0adc66dc6843f6ba9102af8cd854f3193bd235059b3469388f2c5983dcd9b962c1ee8f582e019ca9450a007039beba8d1d427aca6c79565b7da5b26ed7fe322163eb1df1edace0f0934b6ab761fc54cdf03be6a2ce019ca9450a00703dbd59bf88795464727e28a7573cabee2614d62c074e296b5df715b8c586afe6b1f3912a7132b7f338019ca9450a00703dbd6222a2436a3d765ff462cab22ed4d261b1aedce426a3a93f61877317b9078c44755dfe05f619aa019ca9450a00703dbd6408520f09d4619019a9e3aadb3a75499911ba10b60fd4afcc76b76cd47290c063df438decbb88019ca9450a00703dbd6aa62620a3ea3d03693672fc6c3e413d415c44296d32b8774c9dafc377cd5c6121cc6ead9363c5', 1, NULL, '\x0000000000000000000000000000000000000000000000000000000000000000', '\x973db1838b9a97f4092908e719a041fda6a7a3c3086cf2407318f116b8518ae0', '\x3b83028f5d0089ac3d2a680435ece91b328b0e3607d2da041a74b7cb1830cbbd72999d89f02a26c75ecd24e30fc0cfd23616fad9965b53e2039cd0586d186906');


INSERT INTO public.dkim_keys VALUES
	('019ca945-0a00-7025-931a-8577ac7b2feb', '019ca41e-ae00-7000-8000-000000000001', 'mk202603j5', 'ed25519', 'active', '\xaafc89143c57b3ced323e940eb212bf9fba837dc9a4cc894c0d470789517aa3a37305241e49518ba7c4250b9bf5edf7188ed1346af7c6480440b6e7ee0e599f5bfadf3ca8d04ef907234ac80833a46e5753ee171f94a646691ec766dbccfccaa8c2853bdc6f0908acf06bb643e97c4c2d36ebfb2ece252bd2ea673ddcddc768189ada7d0f9fe721e92a8ecacfe64a8a4c2748a', '\xf150d73df270c1a8abcf471ed21e4a3ae39e877d450d531f28d86b429fd216a0', '2026-03-01 12:00:00+00', '2026-03-01 12:00:00+00'),
	('019ca945-0a00-7025-931b-d0221cac5699', '019ca41e-ae00-7000-8000-000000000002', 'mk202603dk', 'ed25519', 'active', '\x3656dcca217095ad9b638c68d7d4b0da1cf1a51ee7b17849b1ac98b4e65f03dfa0844c048840531c67ed80e2db933aecaee9980ed0561eb41972457087a979b57f3fc1d21c83667437776f22e601d7d3d617559d70d19381bfbd4a5e373eac75819c6b5aedab8505a5aef36f806da95b61602f2d70aeb13657a04143dc81206f42f90443b644ef0068ff21aec28f22b8c72d49', '\xe78cbac89cee668970045777beee7faf06431040a37ee174a5f0e67a38c5583c', '2026-03-01 12:00:00+00', '2026-03-01 12:00:00+00');


INSERT INTO public.domains VALUES
	('019ca41e-ae00-7000-8000-000000000001', 'example.test', true, true, true, '', NULL, NULL, 0, '+', 'unchecked', NULL, '2026-02-28 12:00:00+00', '2026-02-28 12:00:00+00'),
	('019ca41e-ae00-7000-8000-000000000002', 'other.test', true, true, true, '', NULL, NULL, 0, '+', 'unchecked', NULL, '2026-02-28 12:00:00+00', '2026-02-28 12:00:00+00');


INSERT INTO public.event_payloads VALUES
	('019ca9450a00703dbd5bf8ea0f987f59', '\x7b22746f223a5b5d2c226363223a5b5d2c2268656164657273223a7b2246726f6d223a22536f6d656f6e65203c736f6d656f6e6540656c736577686572652e746573743e222c225375626a656374223a2248656c6c6f222c224d6573736167652d4944223a223c3140656c736577686572652e746573743e227d2c22626f64795f74657874223a2248692e5c725c6e222c22626f64795f68746d6c223a6e756c6c2c226174746163686d656e7473223a5b5d7d', '2026-03-01 12:00:00+00');


INSERT INTO public.events_2026_03 VALUES
	('019ca945-0a00-703c-b98a-16273ee1c8d5', '3', 'mail.sent', '019ca41e-ae00-7000-8000-000000000001', '019ca945-0a00-7039-beb8-452f142cb8fe', '{"to": ["customer@elsewhere.test"], "from": "shop@example.test", "tags": ["order"], "domain": "example.test", "subject": "Your order", "metadata": {"n": "1"}, "message_id": "<019ca945-0a00-7039-beb8-452f142cb8fe@example.test>"}', '2026-03-01 12:00:00+00'),
	('019ca945-0a00-703c-b98d-ce8230cfe414', '3', 'mail.delivered', '019ca41e-ae00-7000-8000-000000000001', '019ca945-0a00-7039-beb8-452f142cb8fe', '{"to": "customer@elsewhere.test", "from": "shop@example.test", "tags": ["order"], "domain": "example.test", "subject": "Your order", "attempts": 1, "metadata": {"n": "1"}, "queue_id": "019ca9450a007039beb9b250aec98103", "smtp_code": 250, "diagnostic": "Ok (sandbox)", "message_id": "<019ca945-0a00-7039-beb8-452f142cb8fe@example.test>", "remote_host": "sandbox", "enhanced_code": "2.0.0"}', '2026-03-01 12:00:00+00'),
	('019ca945-0a00-703d-bd5a-d9ab74e12dc0', '3', 'mail.sent', '019ca41e-ae00-7000-8000-000000000001', '019ca945-0a00-703d-bd57-2b97ba76ddc1', '{"to": ["defer@elsewhere.test"], "from": "shop@example.test", "domain": "example.test", "subject": "Your order", "message_id": "<019ca945-0a00-703d-bd57-2b97ba76ddc1@example.test>"}', '2026-03-01 12:00:00+00'),
	('019ca945-0a00-703d-bd5d-8e256806918f', '3', 'mail.received', '019ca41e-ae00-7000-8000-000000000001', '019ca945-0a00-703d-bd5c-3a8923acf2a9', '{"from": "someone@elsewhere.test", "size": 95, "domain": "example.test", "subject": "Hello", "queue_id": "019ca9450a00703dbd5bf8ea0f987f59", "message_id": "<1@elsewhere.test>"}', '2026-03-01 12:00:00+00'),
	('019ca945-0a00-703d-bd5e-80c9ba2b961e', '3', 'mail.received.full', '019ca41e-ae00-7000-8000-000000000001', '019ca945-0a00-703d-bd5c-3a8923acf2a9', '{"cc": [], "to": [], "from": {"name": "Someone", "email": "someone@elsewhere.test"}, "size": 95, "domain": "example.test", "headers": null, "subject": "Hello", "envelope": {"rcpt_to": ["sales@example.test"], "mail_from": "someone@elsewhere.test"}, "queue_id": "019ca9450a00703dbd5bf8ea0f987f59", "reply_to": null, "body_html": null, "body_text": null, "truncated": false, "message_id": "<1@elsewhere.test>", "spam_score": 0.0, "attachments": [], "spam_action": "no action"}', '2026-03-01 12:00:00+00');


INSERT INTO public.forwards VALUES
	('019ca9450a00703dbd5f147d5e7c4962', 'partner@elsewhere.test', 'someone@elsewhere.test', 0, '2026-03-01 12:00:00+00', '2026-03-01 12:00:00+00');


INSERT INTO public.idempotency_keys VALUES
	('019ca41e-ae00-7000-8000-00000000001e', 'POST /send', 'first', '\xa419abad18e812ba22b2fc3c44542d3d38dcbc15f19d5337d86a90907c24ce2c', '019ca945-0a00-7039-beb7-3491cc4381b5', 'a138375b-4a2a-4395-972f-3e4e9bb3ebd6', '2026-03-01 12:00:00+00', 200, '\x7b226d6573736167655f6964223a223c30313963613934352d306130302d373033392d626562382d343532663134326362386665406578616d706c652e746573743e222c226964223a2230313963613934352d306130302d373033392d626562382d343532663134326362386665222c22737461747573223a22717565756564222c22726563697069656e7473223a5b7b2261646472657373223a22637573746f6d657240656c736577686572652e74657374222c22737461747573223a22717565756564227d5d7d');


INSERT INTO public.inbound_seen VALUES
	('019ca9450a00703dbd5bf8ea0f987f59', '019ca945-0a00-7025-931d-5e177ee061d6', '019ca945-0a00-703d-bd5c-3a8923acf2a9', '2026-03-01 12:00:00+00');


INSERT INTO public.login_failures VALUES
	('sue@example.test', '2026-03-01 12:00:00+00', 0, '2026-03-01 12:00:00+00'),
	('nobody@example.test', '2026-03-01 12:00:00+00', 1, '2026-03-01 12:00:00+00'),
	('adam@example.test', '2026-03-01 12:00:00+00', 0, '2026-03-01 12:00:00+00');


INSERT INTO public.login_sources VALUES
	('019ca41e-ae00-7000-8000-00000000000a', '192.0.2.1', '2026-03-01 12:00:00+00');


INSERT INTO public.mail_log_positions VALUES
	('mail.log', 1201, '\x4e6f76203231', 4096, '2026-03-01 12:00:00+00');


INSERT INTO public.mail_logs VALUES
	('mail.log', '2026-03-01 12:00:00+00');


INSERT INTO public.mail_removals VALUES
	('019ca945-0a00-703d-bd6c-cc5222e8f7e0');


INSERT INTO public.mailboxes VALUES
	('019ca945-0a00-702c-a06b-4c1dd63230d7', '019ca41e-ae00-7000-8000-000000000001', 'Bob.Smith', 'bob.smith', '', '{ARGON2ID}$argon2id$v=19$m=19456,t=2,p=1$be8aSBRD6i0BGy/yFnAstw$z61cnqKq8NDMFy9BJwgqY19+jsS7a2hHDsRzFigrDtE', true, 0, 0, 0, true, true, true, true, '{}', '{}', true, NULL, NULL, NULL, '2026-03-01 12:00:00+00', '2026-03-01 12:00:00+00', NULL, 'bob.smith@example.test', NULL, NULL, NULL),
	('019ca945-0a00-702c-a06e-c55282bda817', '019ca41e-ae00-7000-8000-000000000001', 'straße', 'strasse', '', '{ARGON2ID}$argon2id$v=19$m=19456,t=2,p=1$aXj1pexyytFyCHX+GKcx0w$R4oqanQ8mZZJvGvXaA9nOJE0Rez1J2AWKZT64S0fqbo', true, 0, 0, 0, true, true, true, true, '{}', '{}', true, NULL, NULL, NULL, '2026-03-01 12:00:00+00', '2026-03-01 12:00:00+00', NULL, 'strasse@example.test', NULL, NULL, NULL),
	('019ca945-0a00-702c-a070-5b25f4871a39', '019ca41e-ae00-7000-8000-000000000001', 'tom', 'tom', '', '{ARGON2ID}$argon2id$v=19$m=8,t=1,p=1$P7JIiysfHrfbZHbJnfpKAA$XNi4K4Z0OkPAw/8bGcEMMBbYjAJFxGq9+WDBHKVfxcc', true, 0, 0, 0, true, true, true, true, '{}', '{}', true, NULL, NULL, NULL, '2026-03-01 12:00:00+00', '2026-03-01 12:00:00+00', '2026-03-01 12:00:00+00', 'tom@example.test', NULL, NULL, NULL),
	('019ca945-0a00-7039-81dd-510e848b87b5', '019ca41e-ae00-7000-8000-000000000001', 'uma', 'uma', '', '{ARGON2ID}$argon2id$v=19$m=8,t=1,p=1$P7JIiysfHrfbZHbJnfpKAA$XNi4K4Z0OkPAw/8bGcEMMBbYjAJFxGq9+WDBHKVfxcc', true, 0, 700, 2, true, true, true, true, '{}', '{}', true, '2026-03-01 12:00:00+00', 'imap', '::1', '2026-03-01 12:00:00+00', '2026-03-01 12:00:00+00', NULL, 'uma@example.test', '2026-03-01 12:00:00+00', '2026-03-01 12:00:00+00', NULL),
	('019ca945-0a00-7025-931d-5e177ee061d6', '019ca41e-ae00-7000-8000-000000000001', 'alice', 'alice', '', '{ARGON2ID}$argon2id$v=19$m=19456,t=2,p=1$54LYfenWnN1D5rPuKLTnCw$cklDIuvMmI1itmtdfqc29XFHtRcXdJVY7eDxTfeUaAA', true, 0, 321, 1, true, true, true, true, '{}', '{}', true, NULL, NULL, NULL, '2026-03-01 12:00:00+00', '2026-03-01 12:00:00+00', NULL, 'alice@example.test', NULL, NULL, NULL);


INSERT INTO public.message_attempts_2026_03 VALUES
	('019ca945-0a00-7039-beb8-452f142cb8fe', '019ca945-0a00-703c-b98c-ed6da8053a19', '2026-03-01 12:00:00+00', 'delivered', 'customer@elsewhere.test', 1, 250, '2.0.0', 'Ok (sandbox)', 'sandbox', NULL);


INSERT INTO public.message_recipients_2026_03 VALUES
	('019ca945-0a00-7039-beb8-452f142cb8fe', 0, 'customer@elsewhere.test', 'customer@elsewhere.test', 'delivered', 1, 250, '2.0.0', 'Ok (sandbox)', 'sandbox', NULL),
	('019ca945-0a00-703d-bd57-2b97ba76ddc1', 0, 'defer@elsewhere.test', 'defer@elsewhere.test', 'queued', 0, NULL, NULL, NULL, NULL, NULL),
	('019ca945-0a00-703d-bd5c-3a8923acf2a9', 0, 'sales@example.test', 'sales@example.test', 'received', 1, 250, '2.0.0', 'Delivered', NULL, NULL);


INSERT INTO public.message_search_2026_03 VALUES
	('019ca945-0a00-7039-beb8-452f142cb8fe', '019ca41e-ae00-7000-8000-000000000001', 'your order', 'shop@example.test', 'customer@elsewhere.test'),
	('019ca945-0a00-703d-bd57-2b97ba76ddc1', '019ca41e-ae00-7000-8000-000000000001', 'your order', 'shop@example.test', 'defer@elsewhere.test'),
	('019ca945-0a00-703d-bd5c-3a8923acf2a9', '019ca41e-ae00-7000-8000-000000000001', 'hello', 'someone@elsewhere.test', 'sales@example.test');


INSERT INTO public.message_tags_2026_03 VALUES
	('order', '019ca945-0a00-7039-beb8-452f142cb8fe');


INSERT INTO public.messages_2026_03 VALUES
	('019ca945-0a00-7039-beb8-452f142cb8fe', 'outbound', '<019ca945-0a00-7039-beb8-452f142cb8fe@example.test>', '019ca9450a007039beb9b250aec98103', '019ca41e-ae00-7000-8000-000000000001', 'example.test', NULL, 'api', '019ca41e-ae00-7000-8000-00000000000a', '019ca41e-ae00-7000-8000-00000000001e', 'shop@example.test', 'shop@example.test', '{customer@elsewhere.test}', '{}', 'Your order', 307, '{order}', '{"n": "1"}', 'delivered', NULL, NULL, '{}', '{}', '2026-03-01 12:00:00+00', '2026-03-01 12:00:00+00', '2026-03-01 12:00:00+00', '019ca945-0a00-7039-beb7-3491cc4381b5', 0),
	('019ca945-0a00-703d-bd57-2b97ba76ddc1', 'outbound', '<019ca945-0a00-703d-bd57-2b97ba76ddc1@example.test>', '019ca9450a00703dbd58325b9ad9d1db', '019ca41e-ae00-7000-8000-000000000001', 'example.test', NULL, 'api', '019ca41e-ae00-7000-8000-00000000000a', NULL, 'shop@example.test', 'shop@example.test', '{defer@elsewhere.test}', '{}', 'Your order', 304, '{}', '{}', 'queued', NULL, NULL, '{}', '{}', '2026-03-01 12:00:00+00', '2026-03-01 12:00:00+00', '2026-03-01 12:00:00+00', '019ca945-0a00-703d-bd56-476ec3f37750', 0),
	('019ca945-0a00-703d-bd5c-3a8923acf2a9', 'inbound', '<1@elsewhere.test>', '019ca9450a00703dbd5bf8ea0f987f59', '019ca41e-ae00-7000-8000-000000000001', 'example.test', '019ca945-0a00-7025-931d-5e177ee061d6', 'smtp', NULL, NULL, 'someone@elsewhere.test', 'someone@elsewhere.test', '{}', '{}', 'Hello', 95, '{}', '{}', 'received', NULL, NULL, '{}', '{}', '2026-03-01 12:00:00+00', NULL, NULL, NULL, NULL);


INSERT INTO public.oidc_identities VALUES
	('019ca41e-ae00-7000-8000-00000000000c', 'https://id.example.test', 'dora', '2026-03-01 12:00:00+00');


INSERT INTO public.oidc_logins VALUES
	('\x73', '\x62', 'keycloak', '/', NULL, '2026-03-01 12:00:00+00');


INSERT INTO public.operations VALUES
	('019ca945-0a00-703d-bd6d-641043f5f9a1', 'queue', '{}', 'waiting', NULL, NULL, '2026-03-01 12:00:00+00', NULL, NULL);


INSERT INTO public.passkey_challenges VALUES
	('\xa0c589a72de2ceb2f743cfca311a14828d2508feb3be9fc3d1e3303180428a9a', 'login', '\x', '2026-03-01 12:05:00+00');


INSERT INTO public.passkeys VALUES
	('019ca945-0a00-703d-bd65-bf8b508cea55', '019ca41e-ae00-7000-8000-00000000000d', '\x3557f264598193810721ca016cc2f2038b417ea2ec358b954eec1b5213b4445c', '\xa5010203262001215820c8b4bd227ca9960152acdbb54e7eb8da077bd8708c11a8783252786937999785225820a8121ba6c80d369a45b7ca6055671487d5f8d7ce8d401c5aea39c6c6db01480c', 0, 'A key', '00000000-0000-0000-0000-000000000000', '{internal}', false, false, '2026-03-01 12:00:00+00', NULL);


INSERT INTO public.pending_logins VALUES
	('\xdce4aa1218d41389aebcd6f9bd749050b671af56ecff97d2fd16f4c831a690e7', '019ca41e-ae00-7000-8000-00000000000b', 0, 0, '2026-03-01 12:05:00+00');


INSERT INTO public.queued_mail VALUES
	('4jW9Zx0abcz5', 'submission', 'alice@example.test', '<one@example.test>', '{}', 'alice@example.test', 900, NULL, NULL, 1, true, '{}', '{}', '2026-03-01 12:00:00+00', '{}');


INSERT INTO public.recovery_codes VALUES
	('019ca41e-ae00-7000-8000-00000000000b', '\x3749cb48ee6e8dd6738012fc45cdabda219ccc1a1c46b6525d0f2072a65d90e4');


INSERT INTO public.sandbox_messages VALUES
	('019ca945-0a00-7039-beb9-b250aec98103', '019ca9450a007039beb9b250aec98103', 'shop@example.test', '{customer@elsewhere.test}', '<019ca945-0a00-7039-beb8-452f142cb8fe@example.test>', 724, '2026-03-01 12:00:00+00'),
	('019ca945-0a00-703d-bd58-325b9ad9d1db', '019ca9450a00703dbd58325b9ad9d1db', 'shop@example.test', '{defer@elsewhere.test}', '<019ca945-0a00-703d-bd57-2b97ba76ddc1@example.test>', 721, '2026-03-01 12:00:00+00');


INSERT INTO public.sandbox_queue VALUES
	('019ca945-0a00-703d-bd58-325b9ad9d1db', 'defer@elsewhere.test', 0, '2026-03-01 12:00:00+00');


INSERT INTO public.schema_migrations VALUES
	(1, 'tables', '335fb635029002aed8ac76c3a1c08f307e33536c8a3bea1a94b5b30e5c7e9547', '2026-03-01 12:00:00+00', '0.1.0'),
	(2, 'fold', '3427dd4919c722b04a30a386b0cccfda5fc7c504c10d4160cb20f4d6328d64ec', '2026-03-01 12:00:00+00', '0.1.0'),
	(3, 'routing', 'b6f761aae2d1f709170f8fb8838279eb27b3b632c66f9960477222a997f6fcdc', '2026-03-01 12:00:00+00', '0.1.0'),
	(4, 'mailboxes', '2810a611f398951e37b4dfa8353b597ca2305f209167374cf0a30304cdfe6ab4', '2026-03-01 12:00:00+00', '0.1.0'),
	(5, 'forwards', '4ddfd942029a8269784f4046a5630fc37a0a2faad52682c4517bd525c89354a0', '2026-03-01 12:00:00+00', '0.1.0'),
	(6, 'history', '6bda01d4a1a3bc34d31a54658a6e0939e03ff623689a20ea0eadaeb161422a22', '2026-03-01 12:00:00+00', '0.1.0'),
	(7, 'send_counts', '5e8144544b049958509581e95a1fdfd605b63ff4334e1b607f402a2870017d70', '2026-03-01 12:00:00+00', '0.1.0'),
	(8, 'second_factors', '29010024f2340e5124a255dbdf026714a61c3d9520c45ca184051b6aa74ee30b', '2026-03-01 12:00:00+00', '0.1.0'),
	(9, 'idempotency', 'de5e5827267186982695451462ace2d4c234685834bf5b3727028ac7223b390f', '2026-03-01 12:00:00+00', '0.1.0'),
	(10, 'audit_chain', '7a9321d5824b5022aa48cd9a94d2a7182b25e56e3b99847c1be090984b6359be', '2026-03-01 12:00:00+00', '0.1.0'),
	(11, 'received_full', '0628439d8bc29744be8c08d5d00b3bc7aad05e12b9583548b40ae610d121e960', '2026-03-01 12:00:00+00', '0.1.0'),
	(12, 'aliases_by_update', '3afbee868109fc42f089a09c19707ce3517a24de15e7144356048336708963a8', '2026-03-01 12:00:00+00', '0.1.0'),
	(13, 'mta', '7abe7cf3f06beeedd7ec3711b04351e6aaadc7c9dc8e44533c37845424ed327d', '2026-03-01 12:00:00+00', '0.1.0'),
	(14, 'passkeys', 'd1619cc7e6487bdfd02077d64ba968da02ce376daf7d1ce1a8d27db7bb95b310', '2026-03-01 12:00:00+00', '0.1.0'),
	(15, 'event_streams', 'e48f51e224cccae3c8c31fea3f3748b690c9e4840601cd7cfb4f12e5be596abd', '2026-03-01 12:00:00+00', '0.1.0'),
	(16, 'webhooks', '342e6c0bb2976fcbe35490ec93b5bee44cd6909c0f7c43a74967d35b5d505977', '2026-03-01 12:00:00+00', '0.1.0'),
	(17, 'fates', 'be7632c40fe4aad40c04c1bcea04fe328b31a41ac81d2ff1c1cf4a123963728f', '2026-03-01 12:00:00+00', '0.1.0'),
	(18, 'oidc', 'd3b1bc455e3222cf49d6fc4e0aae56e00bc9364bb8e65e2101de8265123d44ef', '2026-03-01 12:00:00+00', '0.1.0'),
	(19, 'operations', '6c517c118afad365e79c1329bfd7903ad307d3cba8b40b8e5d8e457cb0c4deda', '2026-03-01 12:00:00+00', '0.1.0'),
	(20, 'acceptance', 'c1f6f7874617f3404c1c1d915818f5e41f66d6041fcba9d5ff2057f93c1f640f', '2026-03-01 12:00:00+00', '0.1.0'),
	(21, 'passed_on', '9a69306e7640c5f6c76375dd66f820fee23736c197ba22b728206c5f5f534312', '2026-03-01 12:00:00+00', '0.1.0'),
	(22, 'figures', '4e67cc2a7b53cdccfb8c42506e2104cc0fb679e9ba25df12a90a1bd47e4a0984', '2026-03-01 12:00:00+00', '0.1.0'),
	(23, 'quick_answers', '82ebd82bc2bb3c0cb2580e5339f0b08615b896053e2d6a5e72b02e1ac4b5b72d', '2026-03-01 12:00:00+00', '0.1.0'),
	(24, 'tallies', '6045ecb8d71fdad111fe62dd4b80ecbce2c1320bb5527a168563e753bed44880', '2026-03-01 12:00:00+00', '0.1.0'),
	(25, 'together', 'ffbc8f8c5e521113e428f211faabc8445d0915f75a909bdb0d3bf0d95101cce6', '2026-03-01 12:00:00+00', '0.1.0'),
	(26, 'deliveries', 'ee9603eba66475a3bb95cefb04558272a8a0896e142c99c6529717fd86e6eda9', '2026-03-01 12:00:00+00', '0.1.0');


INSERT INTO public.send_counts VALUES
	('example.test', '2026-03-01 12:00:00+00', 2),
	('shop@example.test', '2026-03-01 12:00:00+00', 2);


INSERT INTO public.sessions VALUES
	('019ca41e-ae00-7000-8000-000000000014', '019ca41e-ae00-7000-8000-00000000000a', '\xdee421bbf68aa33c6cbd733bcba2b7d4fcce23e65b63255cb643cf07221941b3', 0, '192.0.2.1', 'cast', '2026-02-28 12:00:00+00', '2036-02-27 12:00:00+00'),
	('019ca41e-ae00-7000-8000-000000000015', '019ca41e-ae00-7000-8000-00000000000b', '\x5f64d3824dc6aa4051e7328b0a44bd94d9d6f9c67df4745418f9cdb868c99d1b', 0, '192.0.2.1', 'cast', '2026-02-28 12:00:00+00', '2036-02-27 12:00:00+00'),
	('019ca41e-ae00-7000-8000-000000000016', '019ca41e-ae00-7000-8000-00000000000c', '\x3979c35ef29a09f84db3ae706b650023d847720caeb02eca2394fae0abd59fe2', 0, '192.0.2.1', 'cast', '2026-02-28 12:00:00+00', '2036-02-27 12:00:00+00'),
	('019ca41e-ae00-7000-8000-000000000017', '019ca41e-ae00-7000-8000-00000000000d', '\x2fe866dbd759f16a9b2bd16123ec9f20f0c6affb7b28e134c7fe0cf3978c3482', 0, '192.0.2.1', 'cast', '2026-02-28 12:00:00+00', '2036-02-27 12:00:00+00'),
	('019ca945-0a00-703d-bd61-064813d01ac7', '019ca41e-ae00-7000-8000-00000000000a', '\x4d26b61e2de345206b6816892e231282bb37f1cf0f522167bb49feca71e8a8c8', 0, '192.0.2.1', NULL, '2026-03-01 12:00:00+00', '2026-03-02 12:00:00+00');


INSERT INTO public.submissions VALUES
	('4jW9Zx0abcz5', 'alice@example.test', 'alice@example.test', '{customer@elsewhere.test}', '127.0.0.1', '2026-03-01 12:00:00+00');


INSERT INTO public.suspensions VALUES
	('019ca945-0a00-7039-81e7-fdec98025c6d', '019ca41e-ae00-7000-8000-000000000002', 'noisy@other.test', 'noisy@other.test', 'too many', 'rules', 'rules', NULL, '2026-03-01 12:00:00+00');


INSERT INTO public.tallies VALUES
	('deliveries', '{outbound,delivered}', 7);


INSERT INTO public.totp_secrets VALUES
	('019ca41e-ae00-7000-8000-00000000000b', '\xe3760c8c5001d238242aec3c9fe562b72cd894ff9a2bc1e61096b228e5844b697a147caef62476d1f356dbabc3726f41', '2026-03-01 12:00:00+00', '2026-03-01 12:00:00+00', NULL);


INSERT INTO public.webhook_deliveries VALUES
	('019ca945-0a00-703c-b98a-8a7f295a3067', '019ca945-0a00-7039-81e9-06fe22c9ff1d', '019ca945-0a00-703c-b98a-16273ee1c8d5', 'mail.sent', 'pending', 0, 0, NULL, '2026-03-01 12:00:00+00', '[]', '2026-03-01 12:00:00+00'),
	('019ca945-0a00-703c-b98d-ddb60e23d598', '019ca945-0a00-7039-81e9-06fe22c9ff1d', '019ca945-0a00-703c-b98d-ce8230cfe414', 'mail.delivered', 'pending', 0, 0, NULL, '2026-03-01 12:00:00+00', '[]', '2026-03-01 12:00:00+00'),
	('019ca945-0a00-703d-bd5a-9d7f4d71df95', '019ca945-0a00-7039-81e9-06fe22c9ff1d', '019ca945-0a00-703d-bd5a-d9ab74e12dc0', 'mail.sent', 'pending', 0, 0, NULL, '2026-03-01 12:00:00+00', '[]', '2026-03-01 12:00:00+00'),
	('019ca945-0a00-703d-bd5d-c7c827ae677f', '019ca945-0a00-7039-81e9-06fe22c9ff1d', '019ca945-0a00-703d-bd5d-8e256806918f', 'mail.received', 'pending', 0, 0, NULL, '2026-03-01 12:00:00+00', '[]', '2026-03-01 12:00:00+00'),
	('019ca945-0a00-703d-bd5e-a5ca6c13e86c', '019ca945-0a00-7039-81e9-06fe22c9ff1d', '019ca945-0a00-703d-bd5e-80c9ba2b961e', 'mail.received.full', 'pending', 0, 0, NULL, '2026-03-01 12:00:00+00', '[]', '2026-03-01 12:00:00+00');


INSERT INTO public.webhooks VALUES
	('019ca945-0a00-7039-81e9-06fe22c9ff1d', 'https://hooks.elsewhere.test/in', '{*}', NULL, true, '\xd248850b6f048618223989c2a16c39c30980707e946e138b33ecf4b2fb05fe7345af3421c30c688d120fbba14cec69621c0a37bd83b3d1984247273413cff6c15b4485b9bc6987835c5cc3854752', '\x45ff09ef88439e8a1829ee3531341590058f6538ccfb9edca668550cfd388e057a7b5de9eef11446264dee2b40326b23c07fb21a784d72970bd4316cd89e4b19d8e0e81474fa5e7a6044c87a044b', '2026-03-02 12:00:00+00', NULL, NULL, '019ca41e-ae00-7000-8000-00000000000a', '2026-03-01 12:00:00+00', '2026-03-01 12:00:00+00');


ALTER TABLE ONLY public.admin_domains
    ADD CONSTRAINT admin_domains_pkey PRIMARY KEY (admin_id, domain_id);


ALTER TABLE ONLY public.admins
    ADD CONSTRAINT admins_email_unique UNIQUE (email_key);


ALTER TABLE ONLY public.admins
    ADD CONSTRAINT admins_pkey PRIMARY KEY (id);


ALTER TABLE ONLY public.aliases
    ADD CONSTRAINT aliases_pkey PRIMARY KEY (id);


ALTER TABLE ONLY public.aliases
    ADD CONSTRAINT aliases_source_unique UNIQUE (domain_id, source_key);


ALTER TABLE ONLY public.api_key_domains
    ADD CONSTRAINT api_key_domains_pkey PRIMARY KEY (key_id, domain_id);


ALTER TABLE ONLY public.api_key_rates
    ADD CONSTRAINT api_key_rates_pkey PRIMARY KEY (key_id);


ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_pkey PRIMARY KEY (id);


ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_token_unique UNIQUE (token_hash);


ALTER TABLE ONLY public.audit_entries
    ADD CONSTRAINT audit_entries_pkey PRIMARY KEY (id);


ALTER TABLE ONLY public.audit_entries_2026_03
    ADD CONSTRAINT audit_entries_2026_03_pkey PRIMARY KEY (id);


ALTER TABLE ONLY public.audit_entries_2026_04
    ADD CONSTRAINT audit_entries_2026_04_pkey PRIMARY KEY (id);


ALTER TABLE ONLY public.audit_entries_default
    ADD CONSTRAINT audit_entries_default_pkey PRIMARY KEY (id);


ALTER TABLE ONLY public.audit_seals
    ADD CONSTRAINT audit_seals_pkey PRIMARY KEY (sequence);


ALTER TABLE ONLY public.dkim_keys
    ADD CONSTRAINT dkim_keys_pkey PRIMARY KEY (id);


ALTER TABLE ONLY public.dkim_keys
    ADD CONSTRAINT dkim_keys_selector_unique UNIQUE (domain_id, selector);


ALTER TABLE ONLY public.domains
    ADD CONSTRAINT domains_name_unique UNIQUE (name);


ALTER TABLE ONLY public.domains
    ADD CONSTRAINT domains_pkey PRIMARY KEY (id);


ALTER TABLE ONLY public.event_payloads
    ADD CONSTRAINT event_payloads_pkey PRIMARY KEY (queue_id);


ALTER TABLE ONLY public.events
    ADD CONSTRAINT events_pkey PRIMARY KEY (id);


ALTER TABLE ONLY public.events_2026_03
    ADD CONSTRAINT events_2026_03_pkey PRIMARY KEY (id);


ALTER TABLE ONLY public.events_2026_04
    ADD CONSTRAINT events_2026_04_pkey PRIMARY KEY (id);


ALTER TABLE ONLY public.events_default
    ADD CONSTRAINT events_default_pkey PRIMARY KEY (id);


ALTER TABLE ONLY public.forwards
    ADD CONSTRAINT forwards_pkey PRIMARY KEY (queue_id, recipient);


ALTER TABLE ONLY public.idempotency_keys
    ADD CONSTRAINT idempotency_keys_pkey PRIMARY KEY (caller_id, route, key);


ALTER TABLE ONLY public.inbound_seen
    ADD CONSTRAINT inbound_seen_pkey PRIMARY KEY (queue_id, recipient);


ALTER TABLE ONLY public.login_failures
    ADD CONSTRAINT login_failures_pkey PRIMARY KEY (email_key);


ALTER TABLE ONLY public.login_sources
    ADD CONSTRAINT login_sources_pkey PRIMARY KEY (admin_id, ip_address);


ALTER TABLE ONLY public.mail_log_positions
    ADD CONSTRAINT mail_log_positions_pkey PRIMARY KEY (log, inode);


ALTER TABLE ONLY public.mail_logs
    ADD CONSTRAINT mail_logs_pkey PRIMARY KEY (name);


ALTER TABLE ONLY public.mail_removals
    ADD CONSTRAINT mail_removals_pkey PRIMARY KEY (mailbox_id);


ALTER TABLE ONLY public.mailboxes
    ADD CONSTRAINT mailboxes_pkey PRIMARY KEY (id);


ALTER TABLE ONLY public.message_attempts
    ADD CONSTRAINT message_attempts_pkey PRIMARY KEY (message_id, id);


ALTER TABLE ONLY public.message_attempts_2026_03
    ADD CONSTRAINT message_attempts_2026_03_pkey PRIMARY KEY (message_id, id);


ALTER TABLE ONLY public.message_attempts_2026_04
    ADD CONSTRAINT message_attempts_2026_04_pkey PRIMARY KEY (message_id, id);


ALTER TABLE ONLY public.message_attempts_default
    ADD CONSTRAINT message_attempts_default_pkey PRIMARY KEY (message_id, id);


ALTER TABLE ONLY public.message_recipients
    ADD CONSTRAINT message_recipients_pkey PRIMARY KEY (message_id, "position");


ALTER TABLE ONLY public.message_recipients_2026_03
    ADD CONSTRAINT message_recipients_2026_03_pkey PRIMARY KEY (message_id, "position");


ALTER TABLE ONLY public.message_recipients_2026_04
    ADD CONSTRAINT message_recipients_2026_04_pkey PRIMARY KEY (message_id, "position");


ALTER TABLE ONLY public.message_recipients_default
    ADD CONSTRAINT message_recipients_default_pkey PRIMARY KEY (message_id, "position");


ALTER TABLE ONLY public.message_search
    ADD CONSTRAINT message_search_pkey PRIMARY KEY (message_id);


ALTER TABLE ONLY public.message_search_2026_03
    ADD CONSTRAINT message_search_2026_03_pkey PRIMARY KEY (message_id);


ALTER TABLE ONLY public.message_search_2026_04
    ADD CONSTRAINT message_search_2026_04_pkey PRIMARY KEY (message_id);


ALTER TABLE ONLY public.message_search_default
    ADD CONSTRAINT message_search_default_pkey PRIMARY KEY (message_id);


ALTER TABLE ONLY public.message_tags
    ADD CONSTRAINT message_tags_pkey PRIMARY KEY (tag, message_id);


ALTER TABLE ONLY public.message_tags_2026_03
    ADD CONSTRAINT message_tags_2026_03_pkey PRIMARY KEY (tag, message_id);


ALTER TABLE ONLY public.message_tags_2026_04
    ADD CONSTRAINT message_tags_2026_04_pkey PRIMARY KEY (tag, message_id);


ALTER TABLE ONLY public.message_tags_default
    ADD CONSTRAINT message_tags_default_pkey PRIMARY KEY (tag, message_id);


ALTER TABLE ONLY public.messages
    ADD CONSTRAINT messages_pkey PRIMARY KEY (id);


ALTER TABLE ONLY public.messages_2026_03
    ADD CONSTRAINT messages_2026_03_pkey PRIMARY KEY (id);


ALTER TABLE ONLY public.messages_2026_04
    ADD CONSTRAINT messages_2026_04_pkey PRIMARY KEY (id);


ALTER TABLE ONLY public.messages_default
    ADD CONSTRAINT messages_default_pkey PRIMARY KEY (id);


ALTER TABLE ONLY public.oidc_identities
    ADD CONSTRAINT oidc_identities_pkey PRIMARY KEY (admin_id);


ALTER TABLE ONLY public.oidc_identities
    ADD CONSTRAINT oidc_identities_unique UNIQUE (issuer, subject);


ALTER TABLE ONLY public.oidc_logins
    ADD CONSTRAINT oidc_logins_pkey PRIMARY KEY (state_hash);


ALTER TABLE ONLY public.operations
    ADD CONSTRAINT operations_pkey PRIMARY KEY (id);


ALTER TABLE ONLY public.passkey_challenges
    ADD CONSTRAINT passkey_challenges_pkey PRIMARY KEY (challenge_hash);


ALTER TABLE ONLY public.passkeys
    ADD CONSTRAINT passkeys_credential_unique UNIQUE (credential_id);


ALTER TABLE ONLY public.passkeys
    ADD CONSTRAINT passkeys_pkey PRIMARY KEY (id);


ALTER TABLE ONLY public.pending_logins
    ADD CONSTRAINT pending_logins_pkey PRIMARY KEY (token_hash);


ALTER TABLE ONLY public.queued_mail
    ADD CONSTRAINT queued_mail_pkey PRIMARY KEY (queue_id);


ALTER TABLE ONLY public.recovery_codes
    ADD CONSTRAINT recovery_codes_pkey PRIMARY KEY (admin_id, code_hash);


ALTER TABLE ONLY public.sandbox_messages
    ADD CONSTRAINT sandbox_messages_pkey PRIMARY KEY (id);


ALTER TABLE ONLY public.sandbox_messages
    ADD CONSTRAINT sandbox_messages_queue_id_unique UNIQUE (queue_id);


ALTER TABLE ONLY public.sandbox_queue
    ADD CONSTRAINT sandbox_queue_pkey PRIMARY KEY (message_id, recipient);


ALTER TABLE ONLY public.schema_migrations
    ADD CONSTRAINT schema_migrations_pkey PRIMARY KEY (number);


ALTER TABLE ONLY public.send_counts
    ADD CONSTRAINT send_counts_pkey PRIMARY KEY (subject, minute);


ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_pkey PRIMARY KEY (id);


ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_token_unique UNIQUE (token_hash);


ALTER TABLE ONLY public.submissions
    ADD CONSTRAINT submissions_pkey PRIMARY KEY (queue_id);


ALTER TABLE ONLY public.suspensions
    ADD CONSTRAINT suspensions_address_unique UNIQUE (address_key);


ALTER TABLE ONLY public.suspensions
    ADD CONSTRAINT suspensions_pkey PRIMARY KEY (id);


ALTER TABLE ONLY public.tallies
    ADD CONSTRAINT tallies_pkey PRIMARY KEY (name, labels);


ALTER TABLE ONLY public.totp_secrets
    ADD CONSTRAINT totp_secrets_pkey PRIMARY KEY (admin_id);


ALTER TABLE ONLY public.webhook_deliveries
    ADD CONSTRAINT webhook_deliveries_pkey PRIMARY KEY (id);


ALTER TABLE ONLY public.webhooks
    ADD CONSTRAINT webhooks_pkey PRIMARY KEY (id);


CREATE INDEX admin_domains_by_domain ON public.admin_domains USING btree (domain_id);


CREATE INDEX aliases_by_destination ON public.aliases USING gin (destination_keys);


CREATE INDEX aliases_by_destination_base ON public.aliases USING gin (public.route_bases(destination_keys));


CREATE INDEX aliases_by_domain ON public.aliases USING btree (domain_id, id);


CREATE INDEX aliases_by_domain_and_update ON public.aliases USING btree (domain_id, updated_at, id);


CREATE INDEX aliases_by_update ON public.aliases USING btree (updated_at, id);


CREATE INDEX api_key_domains_by_domain ON public.api_key_domains USING btree (domain_id);


CREATE INDEX api_keys_by_admin ON public.api_keys USING btree (admin_id);


CREATE INDEX api_keys_by_parent ON public.api_keys USING btree (parent_id) WHERE (parent_id IS NOT NULL);


CREATE INDEX audit_entries_by_action ON ONLY public.audit_entries USING btree (action, id);


CREATE INDEX audit_entries_2026_03_action_id_idx ON public.audit_entries_2026_03 USING btree (action, id);


CREATE INDEX audit_entries_by_admin ON ONLY public.audit_entries USING btree (admin_id, id);


CREATE INDEX audit_entries_2026_03_admin_id_id_idx ON public.audit_entries_2026_03 USING btree (admin_id, id);


CREATE INDEX audit_entries_by_domain ON ONLY public.audit_entries USING btree (domain_id, id);


CREATE INDEX audit_entries_2026_03_domain_id_id_idx ON public.audit_entries_2026_03 USING btree (domain_id, id);


CREATE INDEX audit_entries_by_request ON ONLY public.audit_entries USING btree (request_id);


CREATE INDEX audit_entries_2026_03_request_id_idx ON public.audit_entries_2026_03 USING btree (request_id);


CREATE INDEX audit_entries_by_resource ON ONLY public.audit_entries USING btree (resource_type, resource_id, id);


CREATE INDEX audit_entries_2026_03_resource_type_resource_id_id_idx ON public.audit_entries_2026_03 USING btree (resource_type, resource_id, id);


CREATE INDEX audit_entries_by_transaction ON ONLY public.audit_entries USING btree (tx, id);


CREATE INDEX audit_entries_2026_03_tx_id_idx ON public.audit_entries_2026_03 USING btree (tx, id);


CREATE INDEX audit_entries_2026_04_action_id_idx ON public.audit_entries_2026_04 USING btree (action, id);


CREATE INDEX audit_entries_2026_04_admin_id_id_idx ON public.audit_entries_2026_04 USING btree (admin_id, id);


CREATE INDEX audit_entries_2026_04_domain_id_id_idx ON public.audit_entries_2026_04 USING btree (domain_id, id);


CREATE INDEX audit_entries_2026_04_request_id_idx ON public.audit_entries_2026_04 USING btree (request_id);


CREATE INDEX audit_entries_2026_04_resource_type_resource_id_id_idx ON public.audit_entries_2026_04 USING btree (resource_type, resource_id, id);


CREATE INDEX audit_entries_2026_04_tx_id_idx ON public.audit_entries_2026_04 USING btree (tx, id);


CREATE INDEX audit_entries_default_action_id_idx ON public.audit_entries_default USING btree (action, id);


CREATE INDEX audit_entries_default_admin_id_id_idx ON public.audit_entries_default USING btree (admin_id, id);


CREATE INDEX audit_entries_default_domain_id_id_idx ON public.audit_entries_default USING btree (domain_id, id);


CREATE INDEX audit_entries_default_request_id_idx ON public.audit_entries_default USING btree (request_id);


CREATE INDEX audit_entries_default_resource_type_resource_id_id_idx ON public.audit_entries_default USING btree (resource_type, resource_id, id);


CREATE INDEX audit_entries_default_tx_id_idx ON public.audit_entries_default USING btree (tx, id);


CREATE INDEX audit_seals_by_position ON public.audit_seals USING btree (last_tx, last_id);


CREATE INDEX domains_by_name ON public.domains USING btree (name, id);


CREATE INDEX domains_by_update ON public.domains USING btree (updated_at, id);


CREATE INDEX event_payloads_by_age ON public.event_payloads USING btree (created_at);


CREATE INDEX events_by_domain ON ONLY public.events USING btree (domain_id, tx, id);


CREATE INDEX events_2026_03_domain_id_tx_id_idx ON public.events_2026_03 USING btree (domain_id, tx, id);


CREATE INDEX events_by_message ON ONLY public.events USING btree (message_id) WHERE (message_id IS NOT NULL);


CREATE INDEX events_2026_03_message_id_idx ON public.events_2026_03 USING btree (message_id) WHERE (message_id IS NOT NULL);


CREATE INDEX events_by_transaction ON ONLY public.events USING btree (tx, id);


CREATE INDEX events_2026_03_tx_id_idx ON public.events_2026_03 USING btree (tx, id);


CREATE INDEX events_2026_04_domain_id_tx_id_idx ON public.events_2026_04 USING btree (domain_id, tx, id);


CREATE INDEX events_2026_04_message_id_idx ON public.events_2026_04 USING btree (message_id) WHERE (message_id IS NOT NULL);


CREATE INDEX events_2026_04_tx_id_idx ON public.events_2026_04 USING btree (tx, id);


CREATE INDEX events_default_domain_id_tx_id_idx ON public.events_default USING btree (domain_id, tx, id);


CREATE INDEX events_default_message_id_idx ON public.events_default USING btree (message_id) WHERE (message_id IS NOT NULL);


CREATE INDEX events_default_tx_id_idx ON public.events_default USING btree (tx, id);


CREATE INDEX forwards_due ON public.forwards USING btree (next_attempt_at);


CREATE INDEX idempotency_keys_by_age ON public.idempotency_keys USING btree (claimed_at);


CREATE INDEX inbound_seen_by_age ON public.inbound_seen USING btree (seen_at);


CREATE UNIQUE INDEX mailboxes_address_unique ON public.mailboxes USING btree (domain_id, local_key) WHERE (deleted_at IS NULL);


CREATE INDEX mailboxes_by_address ON public.mailboxes USING btree (address_key, id);


CREATE INDEX mailboxes_by_domain ON public.mailboxes USING btree (domain_id, id);


CREATE INDEX mailboxes_by_domain_and_address ON public.mailboxes USING btree (domain_id, address_key, id);


CREATE INDEX mailboxes_by_domain_and_update ON public.mailboxes USING btree (domain_id, updated_at, id);


CREATE INDEX mailboxes_by_update ON public.mailboxes USING btree (updated_at, id);


CREATE INDEX mailboxes_figures_due ON public.mailboxes USING btree (figures_due_at) WHERE (figures_due_at IS NOT NULL);


CREATE INDEX mailboxes_forwarding ON public.mailboxes USING gin (forward_keys) WHERE (forward_keys <> '{}'::text[]);


CREATE INDEX mailboxes_trash ON public.mailboxes USING btree (deleted_at) WHERE (deleted_at IS NOT NULL);


CREATE INDEX message_recipients_by_address ON ONLY public.message_recipients USING btree (address_key, message_id);


CREATE INDEX message_recipients_2026_03_address_key_message_id_idx ON public.message_recipients_2026_03 USING btree (address_key, message_id);


CREATE INDEX message_recipients_2026_04_address_key_message_id_idx ON public.message_recipients_2026_04 USING btree (address_key, message_id);


CREATE INDEX message_recipients_default_address_key_message_id_idx ON public.message_recipients_default USING btree (address_key, message_id);


CREATE INDEX message_search_trigrams ON ONLY public.message_search USING gin (domain_id, subject public.gin_trgm_ops, sender public.gin_trgm_ops, recipients public.gin_trgm_ops);


CREATE INDEX message_search_2026_03_domain_id_subject_sender_recipients_idx ON public.message_search_2026_03 USING gin (domain_id, subject public.gin_trgm_ops, sender public.gin_trgm_ops, recipients public.gin_trgm_ops);


CREATE INDEX message_search_2026_04_domain_id_subject_sender_recipients_idx ON public.message_search_2026_04 USING gin (domain_id, subject public.gin_trgm_ops, sender public.gin_trgm_ops, recipients public.gin_trgm_ops);


CREATE INDEX message_search_default_domain_id_subject_sender_recipients_idx ON public.message_search_default USING gin (domain_id, subject public.gin_trgm_ops, sender public.gin_trgm_ops, recipients public.gin_trgm_ops);


CREATE INDEX messages_by_domain ON ONLY public.messages USING btree (domain_id, id);


CREATE INDEX messages_2026_03_domain_id_id_idx ON public.messages_2026_03 USING btree (domain_id, id);


CREATE INDEX messages_by_domain_and_status ON ONLY public.messages USING btree (domain_id, status, id);


CREATE INDEX messages_2026_03_domain_id_status_id_idx ON public.messages_2026_03 USING btree (domain_id, status, id);


CREATE INDEX messages_by_mailbox ON ONLY public.messages USING btree (mailbox_id, id) WHERE (mailbox_id IS NOT NULL);


CREATE INDEX messages_2026_03_mailbox_id_id_idx ON public.messages_2026_03 USING btree (mailbox_id, id) WHERE (mailbox_id IS NOT NULL);


CREATE INDEX messages_by_message_id ON ONLY public.messages USING btree (message_id);


CREATE INDEX messages_2026_03_message_id_idx ON public.messages_2026_03 USING btree (message_id);


CREATE INDEX messages_by_queue_id ON ONLY public.messages USING btree (queue_id) WHERE (queue_id IS NOT NULL);


CREATE INDEX messages_2026_03_queue_id_idx ON public.messages_2026_03 USING btree (queue_id) WHERE (queue_id IS NOT NULL);


CREATE INDEX messages_by_request ON ONLY public.messages USING btree (request_id) WHERE (request_id IS NOT NULL);


CREATE INDEX messages_2026_03_request_id_idx ON public.messages_2026_03 USING btree (request_id) WHERE (request_id IS NOT NULL);


CREATE INDEX messages_by_status ON ONLY public.messages USING btree (status, id);


CREATE INDEX messages_2026_03_status_id_idx ON public.messages_2026_03 USING btree (status, id);


CREATE INDEX messages_2026_04_domain_id_id_idx ON public.messages_2026_04 USING btree (domain_id, id);


CREATE INDEX messages_2026_04_domain_id_status_id_idx ON public.messages_2026_04 USING btree (domain_id, status, id);


CREATE INDEX messages_2026_04_mailbox_id_id_idx ON public.messages_2026_04 USING btree (mailbox_id, id) WHERE (mailbox_id IS NOT NULL);


CREATE INDEX messages_2026_04_message_id_idx ON public.messages_2026_04 USING btree (message_id);


CREATE INDEX messages_2026_04_queue_id_idx ON public.messages_2026_04 USING btree (queue_id) WHERE (queue_id IS NOT NULL);


CREATE INDEX messages_2026_04_request_id_idx ON public.messages_2026_04 USING btree (request_id) WHERE (request_id IS NOT NULL);


CREATE INDEX messages_2026_04_status_id_idx ON public.messages_2026_04 USING btree (status, id);


CREATE INDEX messages_default_domain_id_id_idx ON public.messages_default USING btree (domain_id, id);


CREATE INDEX messages_default_domain_id_status_id_idx ON public.messages_default USING btree (domain_id, status, id);


CREATE INDEX messages_default_mailbox_id_id_idx ON public.messages_default USING btree (mailbox_id, id) WHERE (mailbox_id IS NOT NULL);


CREATE INDEX messages_default_message_id_idx ON public.messages_default USING btree (message_id);


CREATE INDEX messages_default_queue_id_idx ON public.messages_default USING btree (queue_id) WHERE (queue_id IS NOT NULL);


CREATE INDEX messages_default_request_id_idx ON public.messages_default USING btree (request_id) WHERE (request_id IS NOT NULL);


CREATE INDEX messages_default_status_id_idx ON public.messages_default USING btree (status, id);


CREATE INDEX oidc_logins_by_expiry ON public.oidc_logins USING btree (expires_at);


CREATE INDEX oidc_logins_by_session ON public.oidc_logins USING btree (link_session_id) WHERE (link_session_id IS NOT NULL);


CREATE INDEX operations_by_age ON public.operations USING btree (requested_at);


CREATE INDEX operations_open ON public.operations USING btree (id) WHERE (state = ANY (ARRAY['waiting'::text, 'running'::text]));


CREATE INDEX passkey_challenges_by_expiry ON public.passkey_challenges USING btree (expires_at);


CREATE INDEX passkeys_by_admin ON public.passkeys USING btree (admin_id);


CREATE INDEX pending_logins_by_admin ON public.pending_logins USING btree (admin_id);


CREATE INDEX pending_logins_by_expiry ON public.pending_logins USING btree (expires_at);


CREATE INDEX queued_mail_by_age ON public.queued_mail USING btree (first_seen_at);


CREATE INDEX sandbox_messages_by_message_id ON public.sandbox_messages USING btree (message_id);


CREATE INDEX sandbox_queue_due ON public.sandbox_queue USING btree (next_attempt_at);


CREATE INDEX sessions_by_admin ON public.sessions USING btree (admin_id);


CREATE INDEX sessions_by_expiry ON public.sessions USING btree (expires_at);


CREATE INDEX submissions_by_age ON public.submissions USING btree (created_at);


CREATE INDEX suspensions_by_address ON public.suspensions USING btree (address, id);


CREATE INDEX suspensions_by_domain ON public.suspensions USING btree (domain_id, id);


CREATE INDEX webhook_deliveries_abandoned ON public.webhook_deliveries USING btree (webhook_id, id) WHERE (state = 'abandoned'::text);


CREATE INDEX webhook_deliveries_by_webhook ON public.webhook_deliveries USING btree (webhook_id, id);


CREATE INDEX webhook_deliveries_open ON public.webhook_deliveries USING btree (webhook_id, next_attempt_at) WHERE (next_attempt_at IS NOT NULL);


CREATE INDEX webhooks_by_domain ON public.webhooks USING btree (domain_id);


ALTER INDEX public.audit_entries_by_action ATTACH PARTITION public.audit_entries_2026_03_action_id_idx;


ALTER INDEX public.audit_entries_by_admin ATTACH PARTITION public.audit_entries_2026_03_admin_id_id_idx;


ALTER INDEX public.audit_entries_by_domain ATTACH PARTITION public.audit_entries_2026_03_domain_id_id_idx;


ALTER INDEX public.audit_entries_pkey ATTACH PARTITION public.audit_entries_2026_03_pkey;


ALTER INDEX public.audit_entries_by_request ATTACH PARTITION public.audit_entries_2026_03_request_id_idx;


ALTER INDEX public.audit_entries_by_resource ATTACH PARTITION public.audit_entries_2026_03_resource_type_resource_id_id_idx;


ALTER INDEX public.audit_entries_by_transaction ATTACH PARTITION public.audit_entries_2026_03_tx_id_idx;


ALTER INDEX public.audit_entries_by_action ATTACH PARTITION public.audit_entries_2026_04_action_id_idx;


ALTER INDEX public.audit_entries_by_admin ATTACH PARTITION public.audit_entries_2026_04_admin_id_id_idx;


ALTER INDEX public.audit_entries_by_domain ATTACH PARTITION public.audit_entries_2026_04_domain_id_id_idx;


ALTER INDEX public.audit_entries_pkey ATTACH PARTITION public.audit_entries_2026_04_pkey;


ALTER INDEX public.audit_entries_by_request ATTACH PARTITION public.audit_entries_2026_04_request_id_idx;


ALTER INDEX public.audit_entries_by_resource ATTACH PARTITION public.audit_entries_2026_04_resource_type_resource_id_id_idx;


ALTER INDEX public.audit_entries_by_transaction ATTACH PARTITION public.audit_entries_2026_04_tx_id_idx;


ALTER INDEX public.audit_entries_by_action ATTACH PARTITION public.audit_entries_default_action_id_idx;


ALTER INDEX public.audit_entries_by_admin ATTACH PARTITION public.audit_entries_default_admin_id_id_idx;


ALTER INDEX public.audit_entries_by_domain ATTACH PARTITION public.audit_entries_default_domain_id_id_idx;


ALTER INDEX public.audit_entries_pkey ATTACH PARTITION public.audit_entries_default_pkey;


ALTER INDEX public.audit_entries_by_request ATTACH PARTITION public.audit_entries_default_request_id_idx;


ALTER INDEX public.audit_entries_by_resource ATTACH PARTITION public.audit_entries_default_resource_type_resource_id_id_idx;


ALTER INDEX public.audit_entries_by_transaction ATTACH PARTITION public.audit_entries_default_tx_id_idx;


ALTER INDEX public.events_by_domain ATTACH PARTITION public.events_2026_03_domain_id_tx_id_idx;


ALTER INDEX public.events_by_message ATTACH PARTITION public.events_2026_03_message_id_idx;


ALTER INDEX public.events_pkey ATTACH PARTITION public.events_2026_03_pkey;


ALTER INDEX public.events_by_transaction ATTACH PARTITION public.events_2026_03_tx_id_idx;


ALTER INDEX public.events_by_domain ATTACH PARTITION public.events_2026_04_domain_id_tx_id_idx;


ALTER INDEX public.events_by_message ATTACH PARTITION public.events_2026_04_message_id_idx;


ALTER INDEX public.events_pkey ATTACH PARTITION public.events_2026_04_pkey;


ALTER INDEX public.events_by_transaction ATTACH PARTITION public.events_2026_04_tx_id_idx;


ALTER INDEX public.events_by_domain ATTACH PARTITION public.events_default_domain_id_tx_id_idx;


ALTER INDEX public.events_by_message ATTACH PARTITION public.events_default_message_id_idx;


ALTER INDEX public.events_pkey ATTACH PARTITION public.events_default_pkey;


ALTER INDEX public.events_by_transaction ATTACH PARTITION public.events_default_tx_id_idx;


ALTER INDEX public.message_attempts_pkey ATTACH PARTITION public.message_attempts_2026_03_pkey;


ALTER INDEX public.message_attempts_pkey ATTACH PARTITION public.message_attempts_2026_04_pkey;


ALTER INDEX public.message_attempts_pkey ATTACH PARTITION public.message_attempts_default_pkey;


ALTER INDEX public.message_recipients_by_address ATTACH PARTITION public.message_recipients_2026_03_address_key_message_id_idx;


ALTER INDEX public.message_recipients_pkey ATTACH PARTITION public.message_recipients_2026_03_pkey;


ALTER INDEX public.message_recipients_by_address ATTACH PARTITION public.message_recipients_2026_04_address_key_message_id_idx;


ALTER INDEX public.message_recipients_pkey ATTACH PARTITION public.message_recipients_2026_04_pkey;


ALTER INDEX public.message_recipients_by_address ATTACH PARTITION public.message_recipients_default_address_key_message_id_idx;


ALTER INDEX public.message_recipients_pkey ATTACH PARTITION public.message_recipients_default_pkey;


ALTER INDEX public.message_search_trigrams ATTACH PARTITION public.message_search_2026_03_domain_id_subject_sender_recipients_idx;


ALTER INDEX public.message_search_pkey ATTACH PARTITION public.message_search_2026_03_pkey;


ALTER INDEX public.message_search_trigrams ATTACH PARTITION public.message_search_2026_04_domain_id_subject_sender_recipients_idx;


ALTER INDEX public.message_search_pkey ATTACH PARTITION public.message_search_2026_04_pkey;


ALTER INDEX public.message_search_trigrams ATTACH PARTITION public.message_search_default_domain_id_subject_sender_recipients_idx;


ALTER INDEX public.message_search_pkey ATTACH PARTITION public.message_search_default_pkey;


ALTER INDEX public.message_tags_pkey ATTACH PARTITION public.message_tags_2026_03_pkey;


ALTER INDEX public.message_tags_pkey ATTACH PARTITION public.message_tags_2026_04_pkey;


ALTER INDEX public.message_tags_pkey ATTACH PARTITION public.message_tags_default_pkey;


ALTER INDEX public.messages_by_domain ATTACH PARTITION public.messages_2026_03_domain_id_id_idx;


ALTER INDEX public.messages_by_domain_and_status ATTACH PARTITION public.messages_2026_03_domain_id_status_id_idx;


ALTER INDEX public.messages_by_mailbox ATTACH PARTITION public.messages_2026_03_mailbox_id_id_idx;


ALTER INDEX public.messages_by_message_id ATTACH PARTITION public.messages_2026_03_message_id_idx;


ALTER INDEX public.messages_pkey ATTACH PARTITION public.messages_2026_03_pkey;


ALTER INDEX public.messages_by_queue_id ATTACH PARTITION public.messages_2026_03_queue_id_idx;


ALTER INDEX public.messages_by_request ATTACH PARTITION public.messages_2026_03_request_id_idx;


ALTER INDEX public.messages_by_status ATTACH PARTITION public.messages_2026_03_status_id_idx;


ALTER INDEX public.messages_by_domain ATTACH PARTITION public.messages_2026_04_domain_id_id_idx;


ALTER INDEX public.messages_by_domain_and_status ATTACH PARTITION public.messages_2026_04_domain_id_status_id_idx;


ALTER INDEX public.messages_by_mailbox ATTACH PARTITION public.messages_2026_04_mailbox_id_id_idx;


ALTER INDEX public.messages_by_message_id ATTACH PARTITION public.messages_2026_04_message_id_idx;


ALTER INDEX public.messages_pkey ATTACH PARTITION public.messages_2026_04_pkey;


ALTER INDEX public.messages_by_queue_id ATTACH PARTITION public.messages_2026_04_queue_id_idx;


ALTER INDEX public.messages_by_request ATTACH PARTITION public.messages_2026_04_request_id_idx;


ALTER INDEX public.messages_by_status ATTACH PARTITION public.messages_2026_04_status_id_idx;


ALTER INDEX public.messages_by_domain ATTACH PARTITION public.messages_default_domain_id_id_idx;


ALTER INDEX public.messages_by_domain_and_status ATTACH PARTITION public.messages_default_domain_id_status_id_idx;


ALTER INDEX public.messages_by_mailbox ATTACH PARTITION public.messages_default_mailbox_id_id_idx;


ALTER INDEX public.messages_by_message_id ATTACH PARTITION public.messages_default_message_id_idx;


ALTER INDEX public.messages_pkey ATTACH PARTITION public.messages_default_pkey;


ALTER INDEX public.messages_by_queue_id ATTACH PARTITION public.messages_default_queue_id_idx;


ALTER INDEX public.messages_by_request ATTACH PARTITION public.messages_default_request_id_idx;


ALTER INDEX public.messages_by_status ATTACH PARTITION public.messages_default_status_id_idx;


CREATE TRIGGER domains_changed AFTER UPDATE ON public.domains FOR EACH ROW WHEN (((old.active IS DISTINCT FROM new.active) OR (old.receiving_enabled IS DISTINCT FROM new.receiving_enabled))) EXECUTE FUNCTION public.tell_nodes();


CREATE TRIGGER domains_drop_trash BEFORE DELETE ON public.domains FOR EACH ROW EXECUTE FUNCTION public.domains_drop_trash();


CREATE TRIGGER domains_told AFTER INSERT OR DELETE ON public.domains FOR EACH STATEMENT EXECUTE FUNCTION public.tell_nodes();


CREATE TRIGGER events_told AFTER INSERT ON public.events FOR EACH STATEMENT EXECUTE FUNCTION public.wake_event_streams();


CREATE TRIGGER mailboxes_address_key BEFORE INSERT OR UPDATE OF domain_id, local_key ON public.mailboxes FOR EACH ROW EXECUTE FUNCTION public.mailboxes_set_address_key();


CREATE TRIGGER mailboxes_remove_mail AFTER DELETE ON public.mailboxes FOR EACH ROW EXECUTE FUNCTION public.mailboxes_remove_mail();


CREATE TRIGGER operations_told AFTER INSERT ON public.operations FOR EACH STATEMENT EXECUTE FUNCTION public.tell_nodes();


ALTER TABLE ONLY public.admin_domains
    ADD CONSTRAINT admin_domains_admin_id_fkey FOREIGN KEY (admin_id) REFERENCES public.admins(id) ON DELETE CASCADE;


ALTER TABLE ONLY public.admin_domains
    ADD CONSTRAINT admin_domains_domain_id_fkey FOREIGN KEY (domain_id) REFERENCES public.domains(id) ON DELETE CASCADE;


ALTER TABLE ONLY public.aliases
    ADD CONSTRAINT aliases_domain_id_fkey FOREIGN KEY (domain_id) REFERENCES public.domains(id);


ALTER TABLE ONLY public.api_key_domains
    ADD CONSTRAINT api_key_domains_domain_id_fkey FOREIGN KEY (domain_id) REFERENCES public.domains(id) ON DELETE CASCADE;


ALTER TABLE ONLY public.api_key_domains
    ADD CONSTRAINT api_key_domains_key_id_fkey FOREIGN KEY (key_id) REFERENCES public.api_keys(id) ON DELETE CASCADE;


ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_admin_id_fkey FOREIGN KEY (admin_id) REFERENCES public.admins(id) ON DELETE CASCADE;


ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_parent_id_fkey FOREIGN KEY (parent_id) REFERENCES public.api_keys(id) ON DELETE CASCADE;


ALTER TABLE ONLY public.dkim_keys
    ADD CONSTRAINT dkim_keys_domain_id_fkey FOREIGN KEY (domain_id) REFERENCES public.domains(id) ON DELETE CASCADE;


ALTER TABLE ONLY public.login_sources
    ADD CONSTRAINT login_sources_admin_id_fkey FOREIGN KEY (admin_id) REFERENCES public.admins(id) ON DELETE CASCADE;


ALTER TABLE ONLY public.mailboxes
    ADD CONSTRAINT mailboxes_domain_id_fkey FOREIGN KEY (domain_id) REFERENCES public.domains(id);


ALTER TABLE ONLY public.oidc_identities
    ADD CONSTRAINT oidc_identities_admin_id_fkey FOREIGN KEY (admin_id) REFERENCES public.admins(id) ON DELETE CASCADE;


ALTER TABLE ONLY public.oidc_logins
    ADD CONSTRAINT oidc_logins_link_session_id_fkey FOREIGN KEY (link_session_id) REFERENCES public.sessions(id) ON DELETE CASCADE;


ALTER TABLE ONLY public.passkeys
    ADD CONSTRAINT passkeys_admin_id_fkey FOREIGN KEY (admin_id) REFERENCES public.admins(id) ON DELETE CASCADE;


ALTER TABLE ONLY public.pending_logins
    ADD CONSTRAINT pending_logins_admin_id_fkey FOREIGN KEY (admin_id) REFERENCES public.admins(id) ON DELETE CASCADE;


ALTER TABLE ONLY public.recovery_codes
    ADD CONSTRAINT recovery_codes_admin_id_fkey FOREIGN KEY (admin_id) REFERENCES public.admins(id) ON DELETE CASCADE;


ALTER TABLE ONLY public.sandbox_queue
    ADD CONSTRAINT sandbox_queue_message_id_fkey FOREIGN KEY (message_id) REFERENCES public.sandbox_messages(id) ON DELETE CASCADE;


ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_admin_id_fkey FOREIGN KEY (admin_id) REFERENCES public.admins(id) ON DELETE CASCADE;


ALTER TABLE ONLY public.suspensions
    ADD CONSTRAINT suspensions_domain_id_fkey FOREIGN KEY (domain_id) REFERENCES public.domains(id) ON DELETE CASCADE;


ALTER TABLE ONLY public.totp_secrets
    ADD CONSTRAINT totp_secrets_admin_id_fkey FOREIGN KEY (admin_id) REFERENCES public.admins(id) ON DELETE CASCADE;


ALTER TABLE ONLY public.webhooks
    ADD CONSTRAINT webhooks_domain_id_fkey FOREIGN KEY (domain_id) REFERENCES public.domains(id) ON DELETE CASCADE;


GRANT USAGE ON SCHEMA public TO mailkeep_app;


GRANT ALL ON FUNCTION public.accept_messages(p_at timestamp with time zone, p_status text, p_answered boolean, p_accepted jsonb) TO mailkeep_app;


GRANT ALL ON FUNCTION public.begin_sends(p_at timestamp with time zone, p_ids uuid[], p_senders text[], p_recipients integer[], p_sender_limit bigint, p_domain_limit bigint, p_messages jsonb, p_rows jsonb, p_search jsonb, p_tags jsonb) TO mailkeep_app;


GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.webhook_deliveries TO mailkeep_app;


GRANT ALL ON FUNCTION public.claim_webhook_deliveries(p_at timestamp with time zone, p_until timestamp with time zone, p_after uuid, p_most integer, p_room integer, p_rooms jsonb) TO mailkeep_app;


GRANT ALL ON FUNCTION public.count_sends(p_at timestamp with time zone, p_senders text[], p_recipients integer[], p_sender_limit bigint, p_domain_limit bigint, p_may_suspend boolean) TO mailkeep_app;


GRANT ALL ON FUNCTION public.domains_drop_trash() TO mailkeep_app;


REVOKE ALL ON FUNCTION public.drop_audit_months() FROM PUBLIC;
GRANT ALL ON FUNCTION public.drop_audit_months() TO mailkeep_app;


REVOKE ALL ON FUNCTION public.drop_months(p_parent text, p_before timestamp with time zone) FROM PUBLIC;


REVOKE ALL ON FUNCTION public.drop_partitions(p_messages_before timestamp with time zone, p_events_before timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION public.drop_partitions(p_messages_before timestamp with time zone, p_events_before timestamp with time zone) TO mailkeep_app;


GRANT ALL ON FUNCTION public.emit_events(p_at timestamp with time zone, p_events jsonb) TO mailkeep_app;


REVOKE ALL ON FUNCTION public.ensure_partition(p_parent text, p_month timestamp with time zone) FROM PUBLIC;


REVOKE ALL ON FUNCTION public.ensure_partitions(p_at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION public.ensure_partitions(p_at timestamp with time zone) TO mailkeep_app;


GRANT ALL ON FUNCTION public.file_messages(p_at timestamp with time zone, p_claims jsonb, p_messages jsonb, p_rows jsonb, p_search jsonb, p_tags jsonb, p_events jsonb) TO mailkeep_app;


GRANT ALL ON FUNCTION public.forget_orphaned_deliveries(p_most integer) TO mailkeep_app;


GRANT ALL ON FUNCTION public.insert_messages(p_messages jsonb, p_recipients jsonb, p_search jsonb, p_tags jsonb, p_only uuid[]) TO mailkeep_app;


GRANT ALL ON FUNCTION public.lock_routes() TO mailkeep_app;


GRANT ALL ON FUNCTION public.lock_send_counts(p_senders text[]) TO mailkeep_app;


GRANT ALL ON FUNCTION public.lock_sender(p_address_key text) TO mailkeep_app;


GRANT ALL ON FUNCTION public.mailboxes_remove_mail() TO mailkeep_app;


GRANT ALL ON FUNCTION public.mailboxes_set_address_key() TO mailkeep_app;


GRANT ALL ON FUNCTION public.mailkeep_fold(p_text text) TO mailkeep_app;


GRANT ALL ON FUNCTION public.monthly_tables() TO mailkeep_app;


REVOKE ALL ON FUNCTION public.mta_domain(p_domain text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.mta_domain(p_domain text) TO mailkeep_app;


REVOKE ALL ON FUNCTION public.mta_grant() FROM PUBLIC;
GRANT ALL ON FUNCTION public.mta_grant() TO mailkeep_app;


REVOKE ALL ON FUNCTION public.mta_login(p_local text, p_domain text, p_protocol text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.mta_login(p_local text, p_domain text, p_protocol text) TO mailkeep_app;


REVOKE ALL ON FUNCTION public.mta_mailbox(p_local text, p_domain text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.mta_mailbox(p_local text, p_domain text) TO mailkeep_app;


GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.mailboxes TO mailkeep_app;


GRANT ALL ON FUNCTION public.mta_mailbox_of(p_local text, p_domain text) TO mailkeep_app;


REVOKE ALL ON FUNCTION public.mta_paused(p_local text, p_domain text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.mta_paused(p_local text, p_domain text) TO mailkeep_app;


REVOKE ALL ON FUNCTION public.mta_recipient(p_local text, p_domain text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.mta_recipient(p_local text, p_domain text) TO mailkeep_app;


REVOKE ALL ON FUNCTION public.mta_route(p_local text, p_domain text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.mta_route(p_local text, p_domain text) TO mailkeep_app;


REVOKE ALL ON FUNCTION public.mta_senders(p_local text, p_domain text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.mta_senders(p_local text, p_domain text) TO mailkeep_app;


REVOKE ALL ON FUNCTION public.mta_user(p_local text, p_domain text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.mta_user(p_local text, p_domain text) TO mailkeep_app;


REVOKE ALL ON FUNCTION public.mta_users() FROM PUBLIC;
GRANT ALL ON FUNCTION public.mta_users() TO mailkeep_app;


GRANT ALL ON FUNCTION public.partition_column(p_table regclass) TO mailkeep_app;


GRANT ALL ON FUNCTION public.record_audits(p_entries jsonb) TO mailkeep_app;


GRANT ALL ON FUNCTION public.route_address(p_address text, p_visible uuid[]) TO mailkeep_app;


GRANT ALL ON FUNCTION public.route_base(p_local_key text, p_delimiter text) TO mailkeep_app;


GRANT ALL ON FUNCTION public.route_bases(p_keys text[]) TO mailkeep_app;


GRANT ALL ON FUNCTION public.route_chain_ahead(p_alias_id uuid) TO mailkeep_app;


GRANT ALL ON FUNCTION public.route_chain_behind(p_alias_id uuid) TO mailkeep_app;


GRANT ALL ON FUNCTION public.route_chain_behind_catch_all(p_alias_id uuid) TO mailkeep_app;


GRANT ALL ON FUNCTION public.route_delivery(p_type text, p_address text, p_mailbox_id uuid, p_hidden text) TO mailkeep_app;


GRANT ALL ON FUNCTION public.route_loop(p_node uuid) TO mailkeep_app;


GRANT ALL ON FUNCTION public.route_match(p_domain_id uuid, p_delimiter text, p_local_key text) TO mailkeep_app;


GRANT ALL ON FUNCTION public.route_nodes(p_key text) TO mailkeep_app;


GRANT ALL ON FUNCTION public.route_onward(p_node uuid) TO mailkeep_app;


GRANT ALL ON FUNCTION public.route_step(p_step text, p_result text, p_address text, p_row jsonb) TO mailkeep_app;


GRANT ALL ON FUNCTION public.route_steps(p_address text, p_base text, p_rank integer, p_row jsonb, p_active boolean) TO mailkeep_app;


GRANT ALL ON FUNCTION public.route_walk(p_texts text[], p_keys text[], p_visible uuid[], OUT steps jsonb[], OUT deliveries jsonb[], OUT dead_ends jsonb[]) TO mailkeep_app;


GRANT ALL ON FUNCTION public.route_warnings(p_dead_ends jsonb[], p_own boolean) TO mailkeep_app;


GRANT ALL ON FUNCTION public.route_warnings_of(p_texts text[], p_keys text[], p_visible uuid[]) TO mailkeep_app;


GRANT ALL ON FUNCTION public.send_minutes(p_at timestamp with time zone) TO mailkeep_app;


GRANT ALL ON FUNCTION public.send_room_in(p_subject text, p_at timestamp with time zone, p_surplus bigint) TO mailkeep_app;


GRANT ALL ON FUNCTION public.settle_sends(p_at timestamp with time zone, p_status text, p_accepted jsonb, p_calls jsonb) TO mailkeep_app;


GRANT ALL ON FUNCTION public.tell_nodes() TO mailkeep_app;


GRANT ALL ON FUNCTION public.uncount_sends(p_at timestamp with time zone[], p_senders text[], p_recipients integer[]) TO mailkeep_app;


GRANT ALL ON FUNCTION public.uuid7_floor(p_at timestamp with time zone) TO mailkeep_app;


GRANT ALL ON FUNCTION public.wake_event_streams() TO mailkeep_app;


GRANT ALL ON FUNCTION public.wake_workers(p_queue text) TO mailkeep_app;


GRANT ALL ON FUNCTION public.wants_full(p_domain_id uuid, p_always boolean) TO mailkeep_app;


GRANT ALL ON FUNCTION public.webhook_attempts(p_attempts jsonb, p_attempt jsonb) TO mailkeep_app;


GRANT ALL ON FUNCTION public.webhook_delivery_id(p_event_id uuid, p_webhook_id uuid) TO mailkeep_app;


GRANT ALL ON FUNCTION public.webhook_wants(p_events text[], p_kind text) TO mailkeep_app;


GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.admin_domains TO mailkeep_app;


GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.admins TO mailkeep_app;


GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.aliases TO mailkeep_app;


GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.api_key_domains TO mailkeep_app;


GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.api_key_rates TO mailkeep_app;


GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.api_keys TO mailkeep_app;


GRANT SELECT ON TABLE public.audit_entries TO mailkeep_app;


GRANT INSERT(id) ON TABLE public.audit_entries TO mailkeep_app;


GRANT INSERT(created_at) ON TABLE public.audit_entries TO mailkeep_app;


GRANT INSERT(admin_id) ON TABLE public.audit_entries TO mailkeep_app;


GRANT INSERT(actor_type) ON TABLE public.audit_entries TO mailkeep_app;


GRANT INSERT(actor_label) ON TABLE public.audit_entries TO mailkeep_app;


GRANT INSERT(key_id) ON TABLE public.audit_entries TO mailkeep_app;


GRANT INSERT(action) ON TABLE public.audit_entries TO mailkeep_app;


GRANT INSERT(resource_type) ON TABLE public.audit_entries TO mailkeep_app;


GRANT INSERT(resource_id) ON TABLE public.audit_entries TO mailkeep_app;


GRANT INSERT(domain_id) ON TABLE public.audit_entries TO mailkeep_app;


GRANT INSERT(domain_name) ON TABLE public.audit_entries TO mailkeep_app;


GRANT INSERT(ip_address) ON TABLE public.audit_entries TO mailkeep_app;


GRANT INSERT(user_agent) ON TABLE public.audit_entries TO mailkeep_app;


GRANT INSERT(request_id) ON TABLE public.audit_entries TO mailkeep_app;


GRANT INSERT(outcome) ON TABLE public.audit_entries TO mailkeep_app;


GRANT INSERT(error_code) ON TABLE public.audit_entries TO mailkeep_app;


GRANT INSERT(details) ON TABLE public.audit_entries TO mailkeep_app;


GRANT SELECT,INSERT ON TABLE public.audit_seals TO mailkeep_app;


GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.dkim_keys TO mailkeep_app;


GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.domains TO mailkeep_app;


GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.event_payloads TO mailkeep_app;


GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.events TO mailkeep_app;


GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.events_2026_03 TO mailkeep_app;


GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.events_2026_04 TO mailkeep_app;


GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.events_default TO mailkeep_app;


GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.forwards TO mailkeep_app;


GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.idempotency_keys TO mailkeep_app;


GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.inbound_seen TO mailkeep_app;


GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.login_failures TO mailkeep_app;


GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.login_sources TO mailkeep_app;


GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.mail_log_positions TO mailkeep_app;


GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.mail_logs TO mailkeep_app;


GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.mail_removals TO mailkeep_app;


GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.message_attempts TO mailkeep_app;


GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.message_attempts_2026_03 TO mailkeep_app;


GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.message_attempts_2026_04 TO mailkeep_app;


GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.message_attempts_default TO mailkeep_app;


GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.message_recipients TO mailkeep_app;


GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.message_recipients_2026_03 TO mailkeep_app;


GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.message_recipients_2026_04 TO mailkeep_app;


GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.message_recipients_default TO mailkeep_app;


GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.message_search TO mailkeep_app;


GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.message_search_2026_03 TO mailkeep_app;


GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.message_search_2026_04 TO mailkeep_app;


GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.message_search_default TO mailkeep_app;


GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.message_tags TO mailkeep_app;


GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.message_tags_2026_03 TO mailkeep_app;


GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.message_tags_2026_04 TO mailkeep_app;


GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.message_tags_default TO mailkeep_app;


GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.messages TO mailkeep_app;


GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.messages_2026_03 TO mailkeep_app;


GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.messages_2026_04 TO mailkeep_app;


GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.messages_default TO mailkeep_app;


GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.oidc_identities TO mailkeep_app;


GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.oidc_logins TO mailkeep_app;


GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.operations TO mailkeep_app;


GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.passkey_challenges TO mailkeep_app;


GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.passkeys TO mailkeep_app;


GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.pending_logins TO mailkeep_app;


GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.queued_mail TO mailkeep_app;


GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.recovery_codes TO mailkeep_app;


GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.sandbox_messages TO mailkeep_app;


GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.sandbox_queue TO mailkeep_app;


GRANT SELECT ON TABLE public.schema_migrations TO mailkeep_app;


GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.send_counts TO mailkeep_app;


GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.sessions TO mailkeep_app;


GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.submissions TO mailkeep_app;


GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.suspensions TO mailkeep_app;


GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.tallies TO mailkeep_app;


GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.totp_secrets TO mailkeep_app;


GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.webhooks TO mailkeep_app;


ALTER DEFAULT PRIVILEGES FOR ROLE mailkeep_owner IN SCHEMA public GRANT ALL ON FUNCTIONS  TO mailkeep_app;


ALTER DEFAULT PRIVILEGES FOR ROLE mailkeep_owner IN SCHEMA public GRANT SELECT,INSERT,DELETE,UPDATE ON TABLES  TO mailkeep_app;


