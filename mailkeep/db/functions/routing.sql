-- Where mail for an address goes: one set of functions for the SMTP listener, the sandbox, /routing/explain and
-- Postfix's maps. The rules are in mailkeep/features/directory/routing.

-- One step of an explanation.
CREATE OR REPLACE FUNCTION route_step(p_step text, p_result text, p_address text, p_row jsonb) RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT jsonb_build_object('step', p_step, 'result', p_result, 'address', p_address, 'row', p_row)
$$;

-- One delivery. Behind a hidden address, only that address is shown.
CREATE OR REPLACE FUNCTION route_delivery(p_type text, p_address text, p_mailbox_id uuid, p_hidden text) RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT jsonb_build_object('type', CASE WHEN p_hidden IS NULL THEN p_type ELSE 'external' END,
                              'address', coalesce(p_hidden, p_address),
                              'mailbox_id', CASE WHEN p_hidden IS NULL THEN p_mailbox_id END)
$$;

-- The steps of one lookup, from the mailbox to the row that matched.
CREATE OR REPLACE FUNCTION route_steps(p_address text, p_base text, p_rank integer, p_row jsonb, p_active boolean)
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

-- The deliverable addresses of administrators: the domain's own (`own`), or else those of all super_admins.
-- p_domain_id NULL: of the super_admins. An address without a dot in its domain (admin@localhost) is not deliverable.
CREATE OR REPLACE FUNCTION route_administrators(p_domain_id uuid, OUT own boolean, OUT addresses text[], OUT keys text[])
LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
DECLARE
    candidate record;
BEGIN
    FOREACH own IN ARRAY ARRAY[true, false] LOOP
        CONTINUE WHEN own AND p_domain_id IS NULL;
        addresses := '{}';
        keys := '{}';
        FOR candidate IN
            SELECT a.email, a.email_key FROM admins a
             WHERE a.active
               AND CASE WHEN own THEN EXISTS (SELECT FROM admin_domains d WHERE d.admin_id = a.id AND d.domain_id = p_domain_id)
                        ELSE a.role = 'super_admin' END
             ORDER BY a.id
        LOOP
            CONTINUE WHEN strpos(split_part(candidate.email_key, '@', 2), '.') = 0
                       OR NOT route_delivers(candidate.email, candidate.email_key);
            addresses := addresses || candidate.email;
            keys := keys || candidate.email_key;
        END LOOP;
        EXIT WHEN cardinality(keys) > 0;
    END LOOP;
END
$$;

-- The dead ends of route_walk as a reader may see them who does not see all domains. Of those behind a hidden address
-- (without a key) one remains, with the reason that a sender gets at RCPT, and none if the address is in p_reached.
CREATE OR REPLACE FUNCTION route_hide_dead_ends(p_dead_ends jsonb[], p_reached text[]) RETURNS jsonb[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT coalesce(array_agg(shown.dead_end ORDER BY shown.number), '{}')
      FROM (SELECT e.dead_end, e.number FROM unnest(p_dead_ends) WITH ORDINALITY e (dead_end, number)
             WHERE e.dead_end->>'key' IS NOT NULL
            UNION ALL
            SELECT jsonb_build_object(
                       'address', e.dead_end->>'address',
                       'reason', coalesce(min(e.dead_end->>'reason') FILTER (WHERE (e.dead_end->>'first')::boolean),
                                          CASE WHEN bool_or(e.dead_end->>'reason' = 'domain_inactive') THEN 'domain_inactive'
                                               WHEN bool_and(e.dead_end->>'reason' = 'loop') THEN 'loop'
                                               ELSE 'unknown_user' END),
                       'own', bool_or((e.dead_end->>'own')::boolean), 'key', NULL), min(e.number)
              FROM unnest(p_dead_ends) WITH ORDINALITY e (dead_end, number)
             WHERE e.dead_end->>'key' IS NULL AND e.dead_end->>'address' <> ALL (p_reached)
             GROUP BY e.dead_end->>'address') shown
$$;

-- Expands addresses to their final destinations with a work list. Each source (alias, or mailbox with its forward) is
-- visited once, so loops end. `dead_ends` has a reason for each address without a destination, in the order of the
-- list: the first address's own reason comes first. Reasons: unknown_user, domain_inactive, receiving_disabled,
-- mailbox_inactive, loop, no_administrator. Destinations behind an address in a domain outside p_visible (NULL: all are
-- visible) are shown as that address. `external`: number of distinct external addresses. `too_many`: more than 1,000
-- destinations; the expansion stopped. `walked`: number of addresses that were looked up. Behind a hidden address there
-- are no dead ends if it reaches anybody, else one (route_hide_dead_ends). p_postmaster false:
-- postmaster and abuse are not special. An address in an alias domain is replaced by the same address in the target.
CREATE OR REPLACE FUNCTION route_walk(p_texts text[], p_keys text[], p_visible uuid[], p_postmaster boolean,
                           OUT steps jsonb[], OUT deliveries jsonb[], OUT dead_ends jsonb[], OUT external integer,
                           OUT too_many boolean, OUT walked integer)
LANGUAGE plpgsql STABLE PARALLEL SAFE SET enable_seqscan TO off AS $$
DECLARE
    max_destinations constant integer := 1000;
    max_addresses    constant integer := 3000;  -- sources on the way and dead ends included
    texts    text[] := p_texts;
    keys     text[] := p_keys;
    parents  integer[] := array_fill(0, ARRAY[cardinality(p_keys)]);
    sources  uuid[] := '{}';      -- the row that answered for texts[i]
    hidden   text[] := '{}';      -- the first address on the way to texts[i] that lies outside p_visible
    visited  uuid[] := '{}';
    external_keys   text[] := '{}';
    forward_only    jsonb[] := '{}';    -- mailboxes that keep no copy of what they forward
    forward_only_at integer[] := '{}';  -- and their positions in texts
    is_delivered    boolean[] := '{}';  -- whether mail for texts[i] is delivered to a mailbox or an external address
    earlier         integer[] := '{}';  -- the position where the source of texts[i] was visited before
    reached         text[] := '{}';     -- hidden addresses behind which mail is delivered
    is_retried      boolean;
    is_stable       boolean := false;
    i        integer := 0;
    ancestor integer;
    reason   text;
    local    text;
    mailbox  jsonb;
    at_hostname boolean;          -- texts[i] is at the server's hostname, which is not a managed domain
    written_domain text;          -- the domain of texts[i] before its replacement
    domain   record;
    target   record;
    hit      record;
    admins   record;
    hostname constant text := (SELECT s.hostname FROM routing_settings s);
    is_report boolean;            -- texts[i] is an address for reports of other servers, and no mailbox or alias
BEGIN
    steps := '{}';
    deliveries := '{}';
    dead_ends := '{}';
    external := 0;
    too_many := false;
    WHILE i < cardinality(keys) LOOP
        i := i + 1;
        SELECT d.id, d.name, d.active, d.receiving_enabled, d.plus_delimiter, d.alias_of INTO domain
          FROM domains d WHERE d.name = split_part(keys[i], '@', 2);
        written_domain := domain.name;
        hidden[i] := hidden[parents[i]];
        at_hostname := domain.id IS NULL AND EXISTS (
            SELECT FROM routing_settings s
             WHERE s.hostname = split_part(keys[i], '@', 2)
               AND (s.hostname <> '' OR route_is_postmaster(split_part(keys[i], '@', 1), '+')));
        IF domain.id IS NULL AND NOT at_hostname THEN
            IF hidden[i] IS NULL THEN
                steps := steps || route_step('domain', 'not_managed', texts[i], NULL);
            END IF;
            is_delivered[i] := true;
            IF hidden[i] IS NOT NULL THEN
                reached := reached || hidden[i];
            END IF;
            IF keys[i] <> ALL (external_keys) THEN
                external_keys := external_keys || keys[i];
                deliveries := deliveries || route_delivery('external', texts[i], NULL, hidden[i]);
            END IF;
            IF cardinality(deliveries) > max_destinations THEN
                too_many := true;
                EXIT;
            END IF;
            CONTINUE;
        END IF;
        reason := CASE WHEN at_hostname THEN NULL
                       WHEN NOT domain.active THEN 'domain_inactive'
                       WHEN NOT domain.receiving_enabled THEN 'receiving_disabled' END;
        IF domain.alias_of IS NOT NULL THEN
            SELECT d.id, d.name, d.active, d.receiving_enabled, d.plus_delimiter, d.alias_of INTO target
              FROM domains d WHERE d.id = domain.alias_of;
            IF hidden[i] IS NULL THEN
                steps := steps || route_step(
                    'domain_alias', coalesce(reason, 'match'), texts[i],
                    CASE WHEN domain.id = ANY (p_visible) OR p_visible IS NULL
                         THEN jsonb_build_object('id', domain.id, 'name', domain.name) END);
                IF domain.id <> ALL (p_visible) AND target.id <> ALL (p_visible) THEN
                    hidden[i] := texts[i];
                END IF;
            END IF;
            IF reason IS NULL THEN
                texts[i] := left(texts[i], -length(split_part(texts[i], '@', -1))) || target.name;
                keys[i] := split_part(keys[i], '@', 1) || '@' || target.name;
                domain := target;
                reason := CASE WHEN NOT domain.active THEN 'domain_inactive'
                               WHEN NOT domain.receiving_enabled THEN 'receiving_disabled' END;
            END IF;
        END IF;
        IF domain.alias_of IS NOT NULL THEN
            NULL;  -- inactive, or does not receive mail: the step says so
        ELSIF hidden[i] IS NULL AND at_hostname THEN
            steps := steps || route_step('domain', 'server', texts[i], NULL);
        ELSIF hidden[i] IS NULL AND domain.id <> ALL (p_visible) THEN
            hidden[i] := texts[i];
            steps := steps || route_step('domain', coalesce(reason, 'managed'), texts[i], NULL);
        ELSIF hidden[i] IS NULL THEN
            steps := steps || route_step('domain', coalesce(reason, 'managed'), texts[i],
                                         jsonb_build_object('id', domain.id, 'name', domain.name));
        END IF;
        IF reason IS NULL THEN
            local := split_part(keys[i], '@', 1);
            SELECT r.* INTO hit FROM route_match(domain.id, domain.plus_delimiter, local) r;
            is_report := local IN ('dmarc', 'tls') AND hostname <> '' AND (hit.id IS NULL OR hit.rank = 5)
                AND (at_hostname OR written_domain = hostname);
            IF hidden[i] IS NULL AND NOT at_hostname THEN
                steps := steps || route_steps(
                    texts[i], route_base(local, domain.plus_delimiter) || '@' || domain.name,
                    CASE WHEN NOT is_report THEN hit.rank END,  -- a catch-all does not take reports
                    jsonb_build_object('id', hit.id, 'address', hit.source || '@' || domain.name), hit.active);
            END IF;
            IF is_report THEN
                IF hidden[i] IS NULL THEN
                    steps := steps || route_step('report', 'match', texts[i], NULL);
                END IF;
                deliveries := deliveries || route_delivery('report', local || '@' || hostname, NULL, hidden[i]);
                is_delivered[i] := true;
            ELSIF hit.id IS NULL OR NOT hit.active THEN
                reason := CASE WHEN hit.id IS NULL THEN 'unknown_user' ELSE 'mailbox_inactive' END;
                IF p_postmaster AND route_is_postmaster(local, CASE WHEN at_hostname THEN '+' ELSE domain.plus_delimiter END) THEN
                    SELECT * INTO admins FROM route_administrators(
                        CASE WHEN written_domain IS DISTINCT FROM (SELECT s.hostname FROM routing_settings s) THEN domain.id END);
                    reason := CASE WHEN cardinality(admins.keys) = 0 THEN 'no_administrator' END;
                    IF hidden[i] IS NULL THEN
                        steps := steps || route_step('postmaster', CASE WHEN reason IS NULL THEN 'match' ELSE 'no_match' END,
                                                     texts[i], NULL);
                    END IF;
                    -- The super_admins are shown only to callers who see all domains; the domain's own admins to all.
                    IF hidden[i] IS NULL AND p_visible IS NOT NULL AND NOT admins.own THEN
                        hidden[i] := texts[i];
                    END IF;
                    texts := texts || admins.addresses;
                    keys := keys || admins.keys;
                    parents := parents || array_fill(i, ARRAY[cardinality(admins.keys)]);
                END IF;
            ELSIF hit.id = ANY (visited) THEN
                earlier[i] := array_position(sources, hit.id);
                ancestor := parents[i];
                WHILE ancestor > 0 AND reason IS NULL LOOP
                    reason := CASE WHEN sources[ancestor] = hit.id THEN 'loop' END;
                    ancestor := parents[ancestor];
                END LOOP;
            ELSE
                visited := visited || hit.id;
                sources[i] := hit.id;
                IF hit.rank IN (1, 3) THEN
                    mailbox := route_delivery('mailbox', texts[i], hit.id, hidden[i]);
                    IF cardinality(hit.keys) = 0 OR hit.keep_copy THEN
                        deliveries := deliveries || mailbox;
                        is_delivered[i] := true;
                    ELSE
                        forward_only := forward_only || mailbox;
                        forward_only_at := forward_only_at || i;
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
            dead_ends := dead_ends || jsonb_build_object(
                'address', coalesce(hidden[i], texts[i]), 'reason', reason, 'own', parents[i] = 0,
                'key', CASE WHEN hidden[i] IS NULL THEN keys[i] END, 'first', hidden[parents[i]] IS NULL);
        ELSIF hidden[i] IS NOT NULL AND (is_delivered[i] OR earlier[i] IS NOT NULL OR i = ANY (forward_only_at)) THEN
            reached := reached || hidden[i];
        END IF;
        IF cardinality(deliveries) > max_destinations OR cardinality(keys) > max_addresses THEN
            too_many := true;
            EXIT;
        END IF;
    END LOOP;
    external := cardinality(external_keys);
    walked := i;
    -- If no forward of a mailbox can be delivered, the mailbox keeps the mail, even if others have a copy. If nobody
    -- has one and a domain on the way is only inactive, the sender is asked to retry.
    is_retried := cardinality(deliveries) = 0
        AND EXISTS (SELECT FROM unnest(dead_ends) e WHERE e->>'reason' = 'domain_inactive');
    IF p_visible IS NOT NULL THEN
        dead_ends := route_hide_dead_ends(dead_ends, CASE
            WHEN is_retried OR cardinality(deliveries) + cardinality(forward_only) = 0 THEN '{}' ELSE reached END);
    END IF;
    IF too_many OR cardinality(forward_only) = 0 OR is_retried THEN
        RETURN;
    END IF;
    WHILE NOT is_stable LOOP
        is_stable := true;
        FOR k IN REVERSE cardinality(keys)..1 LOOP
            IF is_delivered[earlier[k]] AND is_delivered[k] IS NOT TRUE THEN
                is_delivered[k] := true;
                is_stable := false;
            END IF;
            IF is_delivered[k] AND parents[k] > 0 AND is_delivered[parents[k]] IS NOT TRUE THEN
                is_delivered[parents[k]] := true;
                is_stable := false;
            END IF;
        END LOOP;
    END LOOP;
    FOR k IN 1..cardinality(forward_only) LOOP
        IF is_delivered[forward_only_at[k]] IS NOT TRUE THEN
            deliveries := deliveries || forward_only[k];
        END IF;
    END LOOP;
END
$$;

-- Whether mail for an administrator's address can be delivered. Without the postmaster rule, which would lead back to
-- the administrators.
CREATE OR REPLACE FUNCTION route_delivers(p_address text, p_key text) RETURNS boolean LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT cardinality(w.deliveries) > 0 FROM route_walk(ARRAY[p_address], ARRAY[p_key], NULL, false) w
$$;

-- Warnings about dead ends, for administrators.
CREATE OR REPLACE FUNCTION route_warnings(p_dead_ends jsonb[], p_own boolean) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT coalesce(jsonb_agg(DISTINCT (e.dead_end->>'address') || CASE e.dead_end->>'reason'
               WHEN 'domain_inactive' THEN ' leads nowhere: its domain is inactive'
               WHEN 'receiving_disabled' THEN ' leads nowhere: its domain does not receive mail'
               WHEN 'mailbox_inactive' THEN ' leads nowhere: the mailbox is inactive'
               WHEN 'no_administrator' THEN ' leads nowhere: no administrator has an address that receives mail'
               WHEN 'loop' THEN ' leads back to itself'
               ELSE CASE WHEN EXISTS (SELECT FROM mailboxes m
                                       WHERE m.address_key = e.dead_end->>'key' AND m.deleted_at IS NOT NULL)
                         THEN ' leads nowhere: the mailbox is in the trash'
                         ELSE ' leads nowhere: nobody has this address' END END), '[]')
      FROM unnest(p_dead_ends) e (dead_end)
     WHERE p_own OR NOT (e.dead_end->>'own')::boolean
$$;

-- Warnings about mail that is rejected because it has too many destinations.
CREATE OR REPLACE FUNCTION route_limit_warnings(p_external integer, p_too_many boolean) RETURNS jsonb
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN p_too_many THEN '["Mail is rejected: there are more than 1,000 destinations in all."]'::jsonb
                WHEN p_external > s.external_expansion THEN jsonb_build_array(
                     'Mail is rejected: there are ' || p_external || ' external destinations in all, and at most '
                     || s.external_expansion || ' are allowed (limits.external_expansion).')
                ELSE '[]' END
      FROM routing_settings s
$$;

-- Routes p_address: local@domain (domain as A-label, nothing folded), or a local part at the server's hostname.
-- decision: deliver, bounce (an address for bounces: no delivery), not_managed, domain_inactive, receiving_disabled,
-- mailbox_inactive, unknown_user, no_administrator (for postmaster and abuse), expansion_limit, too_many_destinations.
-- An address in bounce form is unknown, or for bounces; nothing else matches it. deliveries: only with deliver;
-- `external` counts the external ones. p_visible: the domains whose details may be shown (NULL: all); it does not
-- change the decision.
CREATE OR REPLACE FUNCTION route_address(p_address text, p_visible uuid[] DEFAULT NULL)
RETURNS TABLE (decision text, steps jsonb, deliveries jsonb, warnings jsonb, external integer)
LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
DECLARE
    is_address  boolean := strpos(p_address, '@') > 0;
    domain_name text := CASE WHEN is_address THEN lower(split_part(p_address, '@', -1) COLLATE "C")
                             ELSE (SELECT s.hostname FROM routing_settings s) END;
    local_part  text := CASE WHEN is_address THEN left(p_address, -1 - length(domain_name)) ELSE p_address END;
    local_key   text := replace(mailkeep_fold(local_part), '@', ' ');
    full_address text := local_part || CASE WHEN domain_name = '' THEN '' ELSE '@' || domain_name END;
    walk        record;
    admins      record;
BEGIN
    IF is_bounce_form(local_part) AND route_is_ours(domain_name) THEN
        decision := CASE WHEN is_bounce_address(local_part, domain_name) THEN 'bounce' ELSE 'unknown_user' END;
        steps := jsonb_build_array(
            route_step('bounce', CASE decision WHEN 'bounce' THEN 'match' ELSE 'no_match' END, full_address, NULL));
        IF decision = 'unknown_user' THEN
            steps := steps || route_step('reject', decision, full_address, NULL);
        END IF;
        deliveries := '[]';
        warnings := '[]';
        external := 0;
        RETURN NEXT;
        RETURN;
    END IF;
    SELECT w.* INTO walk FROM route_walk(ARRAY[full_address], ARRAY[local_key || '@' || domain_name], p_visible, true) w;
    -- If an alias named postmaster or abuse has no deliverable destination, the mail goes to the administrators.
    IF cardinality(walk.deliveries) = 0 AND NOT walk.too_many AND route_is_postmaster(local_key, '+')
       AND NOT coalesce((walk.dead_ends[1]->>'own')::boolean, true) THEN
        SELECT a.* INTO admins
          FROM domains d CROSS JOIN LATERAL route_administrators(coalesce(d.alias_of, d.id)) a WHERE d.name = domain_name;
        IF cardinality(admins.keys) > 0 THEN
            walk.steps := walk.steps || route_step('postmaster', 'match', full_address, NULL);
            SELECT w.deliveries, w.external,
                   walk.steps || CASE WHEN p_visible IS NULL OR admins.own THEN w.steps ELSE '{}' END
              INTO walk.deliveries, walk.external, walk.steps
              FROM route_walk(admins.addresses, admins.keys, p_visible, false) w;
            IF p_visible IS NOT NULL AND NOT admins.own THEN
                walk.deliveries := ARRAY[route_delivery('external', full_address, NULL, full_address)];
            END IF;
        END IF;
    END IF;
    external := walk.external;
    decision := CASE
        WHEN walk.steps[1]->>'result' = 'not_managed' THEN 'not_managed'
        WHEN walk.too_many THEN 'too_many_destinations'
        WHEN walk.external > (SELECT s.external_expansion FROM routing_settings s) THEN 'expansion_limit'
        WHEN cardinality(walk.deliveries) > 0 THEN 'deliver'
        WHEN (walk.dead_ends[1]->>'own')::boolean THEN walk.dead_ends[1]->>'reason'
        WHEN EXISTS (SELECT FROM unnest(walk.dead_ends) e WHERE e->>'reason' = 'domain_inactive') THEN 'domain_inactive'
        ELSE 'unknown_user' END;
    steps := to_jsonb(CASE WHEN decision = 'deliver' THEN walk.steps
                      ELSE walk.steps || route_step('reject', decision, full_address, NULL) END);
    deliveries := CASE WHEN decision <> 'deliver' THEN '[]'::jsonb
                       WHEN p_visible IS NULL THEN to_jsonb(walk.deliveries)
                       ELSE (SELECT jsonb_agg(distinct_deliveries.delivery ORDER BY distinct_deliveries.number)
                               FROM (SELECT d.delivery, min(d.number) AS number
                                       FROM unnest(walk.deliveries) WITH ORDINALITY d (delivery, number)
                                      GROUP BY d.delivery) distinct_deliveries) END;
    warnings := CASE WHEN decision IN ('expansion_limit', 'too_many_destinations')
                     THEN route_limit_warnings(walk.external, walk.too_many)
                     WHEN cardinality(walk.dead_ends) = 0 THEN '[]'::jsonb
                     ELSE route_warnings(walk.dead_ends, false) END;
    RETURN NEXT;
END
$$;

-- route_address for the reply to RCPT, with quotas. Two more decisions: mailbox_full (no destination has room for
-- p_size bytes now) and message_too_large (the message is larger than the quota of every destination).
-- `depends_on_size`: a message that is accepted here may be larger than the quota of every destination.
CREATE OR REPLACE FUNCTION route_recipient(p_address text, p_size bigint, OUT decision text, OUT deliveries jsonb, OUT external integer,
                                OUT depends_on_size boolean)
LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
DECLARE
    full_up   boolean;
    too_large boolean;
BEGIN
    SELECT r.decision, r.deliveries, r.external INTO decision, deliveries, external FROM route_address(p_address) r;
    depends_on_size := false;
    IF decision <> 'deliver' OR external > 0 THEN
        RETURN;
    END IF;
    SELECT bool_and(m.quota_bytes > 0 AND m.used_bytes + greatest(p_size, 1) > m.quota_bytes),
           bool_and(m.quota_bytes > 0 AND p_size > m.quota_bytes),
           coalesce(bool_and(m.quota_bytes > 0 AND m.quota_bytes < s.message_size), false)
      INTO full_up, too_large, depends_on_size
      FROM jsonb_array_elements(deliveries) e
      JOIN mailboxes m ON m.id = (e->>'mailbox_id')::uuid
     CROSS JOIN routing_settings s;
    IF full_up THEN
        decision := CASE WHEN too_large THEN 'message_too_large' ELSE 'mailbox_full' END;
        deliveries := '[]';
    END IF;
END
$$;
