-- Two things that mail met on its way: names beyond Latin-1, and forwards that lead nowhere beside others that do not.

-- Postfix's client (dict_pgsql) sets its encoding to LATIN1, whatever is in what it asks and is told: UTF-8 (RFC 6531).
-- So each byte of it comes as a character, and has to go back as one: an answer that Latin-1 has no word for would fail
-- the question, and with it, for a minute, all others of that process. What is ASCII, or no UTF-8, stays as it is.
CREATE FUNCTION mta_asked(p_text text) RETURNS text LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF octet_length(p_text) = length(p_text) OR current_setting('client_encoding') <> 'LATIN1' THEN
        RETURN p_text;
    END IF;
    BEGIN
        RETURN convert_from(convert_to(p_text, 'LATIN1'), 'UTF8');
    EXCEPTION WHEN character_not_in_repertoire OR untranslatable_character THEN
        RETURN p_text;
    END;
END
$$;

-- The answer to it.
CREATE FUNCTION mta_told(p_text text) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN octet_length(p_text) = length(p_text) OR current_setting('client_encoding') <> 'LATIN1' THEN p_text
                ELSE convert_from(convert_to(p_text, 'UTF8'), 'LATIN1') END
$$;

CREATE OR REPLACE FUNCTION mta_grant() RETURNS void LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
DECLARE
    granted text;
BEGIN
    EXECUTE format('GRANT CONNECT ON DATABASE %I TO mailkeep_mta', current_database());
    GRANT USAGE ON SCHEMA public TO mailkeep_mta;
    FOREACH granted IN ARRAY ARRAY[
        'mta_asked(text)', 'mta_told(text)',
        'mta_domain(text)', 'mta_mailbox(text, text)', 'mta_route(text, text)', 'mta_recipient(text, text)',
        'mta_paused(text, text)', 'mta_senders(text, text)', 'mta_user(text, text)', 'mta_login(text, text, text)',
        'mta_users()'
    ] LOOP
        EXECUTE 'GRANT EXECUTE ON FUNCTION ' || granted || ' TO mailkeep_mta';
    END LOOP;
END
$$;

-- Expands addresses to the end by a worklist. Each source (alias, or mailbox with its forward) is visited once, so
-- that a loop ends. `dead_ends` has a reason for each address that led nowhere, in the order of the list: the first
-- address's own comes first. Reasons: unknown_user, domain_inactive, receiving_disabled, mailbox_inactive, loop.
-- What lies behind an address in a domain outside p_visible (NULL: all are visible) is told under that address.
CREATE OR REPLACE FUNCTION route_walk(p_texts text[], p_keys text[], p_visible uuid[],
                           OUT steps jsonb[], OUT deliveries jsonb[], OUT dead_ends jsonb[])
LANGUAGE plpgsql STABLE PARALLEL SAFE SET enable_seqscan TO off AS $$
DECLARE
    texts    text[] := p_texts;
    keys     text[] := p_keys;
    parents  integer[] := array_fill(0, ARRAY[cardinality(p_keys)]);
    sources  uuid[] := '{}';      -- the row that answered for texts[i]
    hidden   text[] := '{}';      -- the first address on the way to texts[i] that lies outside p_visible
    visited  uuid[] := '{}';
    outside  text[] := '{}';
    unkept   jsonb[] := '{}';     -- mailboxes that keep no copy of what they forward
    unkept_i integer[] := '{}';   -- and where they stand in texts
    arrives  boolean[] := '{}';   -- whether mail for texts[i] comes to somebody
    again    integer[] := '{}';   -- where the source of texts[i] was visited before
    settled  boolean := false;
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
            arrives[i] := true;
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
                again[i] := array_position(sources, hit.id);
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
                        arrives[i] := true;
                    ELSE
                        unkept := unkept || mailbox;
                        unkept_i := unkept_i || i;
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
    -- Mail for a mailbox whose forwards all lead nowhere stays in it, whoever else has a copy. Where nobody has one, and
    -- a domain on the way is only deactivated for now, the sender tries again.
    IF cardinality(unkept) = 0 OR (cardinality(deliveries) = 0
            AND EXISTS (SELECT FROM unnest(dead_ends) e WHERE e->>'reason' = 'domain_inactive')) THEN
        RETURN;
    END IF;
    WHILE NOT settled LOOP
        settled := true;
        FOR k IN REVERSE cardinality(keys)..1 LOOP
            IF arrives[again[k]] AND arrives[k] IS NOT TRUE THEN
                arrives[k] := true;
                settled := false;
            END IF;
            IF arrives[k] AND parents[k] > 0 AND arrives[parents[k]] IS NOT TRUE THEN
                arrives[parents[k]] := true;
                settled := false;
            END IF;
        END LOOP;
    END LOOP;
    FOR k IN 1..cardinality(unkept) LOOP
        IF arrives[unkept_i[k]] IS NOT TRUE THEN
            deliveries := deliveries || unkept[k];
        END IF;
    END LOOP;
END
$$;
