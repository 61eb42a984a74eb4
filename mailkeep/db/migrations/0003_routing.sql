-- Where an address goes: one function for the SMTP listener, the sandbox, /routing/explain and the MTA's maps; and
-- what the writers of aliases and forwards ask before they commit. The rules stand in mailkeep/features/routing.

-- The local part before the first delimiter; NULL where there is no delimiter, no tag, or nothing before it that
-- could be a local part. Twin of mailkeep.core.address.strip_tag, for folded local parts.
CREATE FUNCTION route_base(p_local_key text, p_delimiter text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN strpos(p_local_key, p_delimiter) > 1
                 AND substr(p_local_key, strpos(p_local_key, p_delimiter) - 1, 1) <> '.'
                THEN left(p_local_key, strpos(p_local_key, p_delimiter) - 1) END
$$;

-- What the keys become without their tag, for every character that may be a delimiter (ASCII atext but letters and
-- digits): so an index can answer which aliases have a destination `name+tag`, whatever the domain's delimiter.
CREATE FUNCTION route_bases(p_keys text[]) RETURNS text[] LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
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
$$;

CREATE INDEX aliases_by_destination_base ON aliases USING gin (route_bases(destination_keys));

-- The row that answers for a folded local part in a domain: mailbox (1), alias (2), both without the tag (3, 4),
-- catch-all (5). No row: unknown user. A mailbox answers also while it is deactivated.
CREATE FUNCTION route_match(p_domain_id uuid, p_delimiter text, p_local_key text)
RETURNS TABLE (rank integer, id uuid, active boolean, source text, texts text[], keys text[], keep_copy boolean)
LANGUAGE sql STABLE PARALLEL SAFE AS $$
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

-- One step of an explanation.
CREATE FUNCTION route_step(p_step text, p_result text, p_address text, p_row jsonb) RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT jsonb_build_object('step', p_step, 'result', p_result, 'address', p_address, 'row', p_row)
$$;

-- One delivery; behind a hidden address only that address is told.
CREATE FUNCTION route_delivery(p_type text, p_address text, p_mailbox_id uuid, p_hidden text) RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT jsonb_build_object('type', CASE WHEN p_hidden IS NULL THEN p_type ELSE 'external' END,
                              'address', coalesce(p_hidden, p_address),
                              'mailbox_id', CASE WHEN p_hidden IS NULL THEN p_mailbox_id END)
$$;

-- The steps of one look-up, from the mailbox to the row that answered.
CREATE FUNCTION route_steps(p_address text, p_base text, p_rank integer, p_row jsonb, p_active boolean)
RETURNS jsonb[] LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
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

-- Expands addresses to the end by a worklist. Each source (alias, or mailbox with its forward) is visited once, so
-- that a loop ends. `dead_ends` has a reason for each address that led nowhere, in the order of the list: the first
-- address's own comes first. Reasons: unknown_user, domain_inactive, receiving_disabled, mailbox_inactive, loop.
-- What lies behind an address in a domain outside p_visible (NULL: all are visible) is told under that address.
CREATE FUNCTION route_walk(p_texts text[], p_keys text[], p_visible uuid[],
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

-- Dead ends as sentences, for those who administer.
CREATE FUNCTION route_warnings(p_dead_ends jsonb[], p_own boolean) RETURNS jsonb LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT coalesce(jsonb_agg(DISTINCT (e.dead_end->>'address') || CASE e.dead_end->>'reason'
               WHEN 'domain_inactive' THEN ' leads nowhere: its domain is deactivated'
               WHEN 'receiving_disabled' THEN ' leads nowhere: its domain does not receive mail'
               WHEN 'mailbox_inactive' THEN ' leads nowhere: the mailbox is deactivated'
               WHEN 'loop' THEN ' leads back to itself'
               ELSE ' leads nowhere: nobody has this address' END), '[]')
      FROM unnest(p_dead_ends) e (dead_end)
     WHERE p_own OR NOT (e.dead_end->>'own')::boolean
$$;

-- Where p_address (local@domain, domain as A-label, nothing folded) goes. decision: deliver, not_managed,
-- domain_inactive, receiving_disabled, mailbox_inactive, unknown_user; deliveries only with deliver. p_visible: whose
-- insides may be told (NULL: all); it changes no decision.
CREATE FUNCTION route_address(p_address text, p_visible uuid[] DEFAULT NULL)
RETURNS TABLE (decision text, steps jsonb, deliveries jsonb, warnings jsonb)
LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
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

-- What is wrong with the destinations of an alias or the forwards of a mailbox, as sentences.
CREATE FUNCTION route_warnings_of(p_texts text[], p_keys text[], p_visible uuid[]) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT route_warnings(w.dead_ends, true) FROM route_walk(p_texts, p_keys, p_visible) w
$$;

-- Every writer of aliases and of forwards takes this first: a loop may run over several domains, so that no
-- smaller lock holds. It ends with the transaction.
CREATE FUNCTION lock_routes() RETURNS void LANGUAGE sql AS $$
    SELECT pg_advisory_xact_lock(hashtext('mailkeep.routes'))
$$;

-- The aliases and mailboxes that an address may lead to, as the refusal of chains and loops counts them: an exact
-- source counts even where a mailbox shares its address (the mailbox may go), a source without the tag only
-- where nothing matches exactly, the catch-all only where nothing else answers. Deactivated domains and mailboxes count.
CREATE FUNCTION route_nodes(p_key text) RETURNS TABLE (node uuid) LANGUAGE plpgsql STABLE PARALLEL SAFE ROWS 2 AS $$
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

-- The addresses that an alias or a mailbox leads on to.
CREATE FUNCTION route_onward(p_node uuid) RETURNS TABLE (key text) LANGUAGE plpgsql STABLE PARALLEL SAFE ROWS 2 AS $$
BEGIN
    RETURN QUERY SELECT unnest(a.destination_keys) FROM aliases a WHERE a.id = p_node AND a.active;
    IF NOT FOUND THEN
        RETURN QUERY SELECT unnest(m.forward_keys) FROM mailboxes m WHERE m.id = p_node AND m.deleted_at IS NULL;
    END IF;
END
$$;

-- The destinations of an alias, or forwards of a mailbox, that lead back to it. To be asked after the write, in
-- its transaction and under lock_routes(): none must be left at commit.
CREATE FUNCTION route_loop(p_node uuid) RETURNS TABLE (key text) LANGUAGE plpgsql STABLE
SET enable_seqscan TO off SET jit TO off AS $$
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

-- The sources (as written) of other active aliases in the domain that an alias leads to, at most ten.
CREATE FUNCTION route_chain_ahead(p_alias_id uuid) RETURNS TABLE (source text) LANGUAGE sql STABLE
SET enable_seqscan TO off SET jit TO off AS $$
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

-- The sources (as written) of other active aliases in the domain that lead to an alias, at most ten.
CREATE FUNCTION route_chain_behind(p_alias_id uuid) RETURNS TABLE (source text) LANGUAGE sql STABLE
SET enable_seqscan TO off SET jit TO off AS $$
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

-- The same for a catch-all: aliases of its domain with a destination there that nobody else answers for. Reads all
-- aliases of the domain, so it is asked only when a catch-all comes into force.
CREATE FUNCTION route_chain_behind_catch_all(p_alias_id uuid) RETURNS TABLE (source text) LANGUAGE sql STABLE
SET jit TO off AS $$
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
