-- Which mailbox or alias an address matches. The rules are in mailkeep/features/directory/routing.

-- The local part without its tag: what is before the first delimiter. NULL if there is no delimiter, or if no valid
-- local part is before it. Like mailkeep.core.address.strip_tag, for folded local parts.
CREATE OR REPLACE FUNCTION route_base(p_local_key text, p_delimiter text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN strpos(p_local_key, p_delimiter) > 1
                 AND substr(p_local_key, strpos(p_local_key, p_delimiter) - 1, 1) <> '.'
                THEN left(p_local_key, strpos(p_local_key, p_delimiter) - 1) END
$$;

-- The addresses without their tag, for every possible delimiter (ASCII atext except letters and digits). An index on it
-- finds the aliases with a destination `name+tag`, whatever the domain's delimiter is.
CREATE OR REPLACE FUNCTION route_bases(p_keys text[]) RETURNS text[] LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
    bases text[] := '{}';
    position integer;
BEGIN
    FOR k IN 1..cardinality(p_keys) LOOP
        CONTINUE WHEN translate(split_part(p_keys[k], '@', 1), '!#$%&''*+/=?^_`{|}~-', '')
                      = split_part(p_keys[k], '@', 1);
        FOR c IN 1..19 LOOP
            position := strpos(split_part(p_keys[k], '@', 1), substr('!#$%&''*+/=?^_`{|}~-', c, 1));
            IF position > 1 THEN
                bases := bases || (left(p_keys[k], position - 1) || '@' || split_part(p_keys[k], '@', 2));
            END IF;
        END LOOP;
    END LOOP;
    RETURN bases;
END
$$;

-- The index stores the results of route_bases. If you change the function, drop the index in a migration.
CREATE INDEX IF NOT EXISTS aliases_by_destination_base ON aliases USING gin (route_bases(destination_keys));

-- The row that a folded local part matches in a domain, by rank: mailbox (1), alias (2), mailbox and alias without
-- the tag (3, 4), catch-all (5). No row: unknown user. An inactive mailbox matches too. A forward that an
-- incident disables is left out: then a copy is kept. If an administrator of a
-- lower role changed the catch-all last, it does not match the address of an administrator, in the domain or one of its
-- alias domains, except postmaster and abuse. Alias domains have no rows of their own: pass their target.
CREATE OR REPLACE FUNCTION route_match(p_domain_id uuid, p_delimiter text, p_local_key text)
RETURNS TABLE (rank integer, id uuid, active boolean, source text, texts text[], keys text[], keep_copy boolean)
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT 1, m.id, m.active, m.local_part, CASE WHEN off THEN '{}' ELSE m.forward_destinations END,
           CASE WHEN off THEN '{}' ELSE m.forward_keys END, m.forward_keep_copy
      FROM mailboxes m CROSS JOIN LATERAL (SELECT m.forward_keys <> '{}' AND is_restricted('forwards', m.id)) f (off)
     WHERE m.domain_id = p_domain_id AND m.local_key = p_local_key AND m.deleted_at IS NULL
    UNION ALL
    SELECT 2, a.id, true, a.source_local_part, a.destinations, a.destination_keys, false
      FROM aliases a
     WHERE a.domain_id = p_domain_id AND a.source_key = p_local_key AND a.source_key <> '' AND a.active
    UNION ALL
    SELECT 3, m.id, m.active, m.local_part, CASE WHEN off THEN '{}' ELSE m.forward_destinations END,
           CASE WHEN off THEN '{}' ELSE m.forward_keys END, m.forward_keep_copy
      FROM mailboxes m CROSS JOIN LATERAL (SELECT m.forward_keys <> '{}' AND is_restricted('forwards', m.id)) f (off)
     WHERE m.domain_id = p_domain_id AND m.local_key = route_base(p_local_key, p_delimiter) AND m.deleted_at IS NULL
    UNION ALL
    SELECT 4, a.id, true, a.source_local_part, a.destinations, a.destination_keys, false
      FROM aliases a
     WHERE a.domain_id = p_domain_id AND a.source_key = route_base(p_local_key, p_delimiter) AND a.active
    UNION ALL
    SELECT 5, a.id, true, a.source_local_part, a.destinations, a.destination_keys, false
      FROM aliases a
     WHERE a.domain_id = p_domain_id AND a.source_key = '' AND a.active
       AND (a.changed_rank = 2 OR route_is_postmaster(p_local_key, p_delimiter)
            OR NOT EXISTS (SELECT FROM domains d JOIN admins o
                               ON o.email_key = p_local_key || '@' || d.name
                               OR o.email_key = route_base(p_local_key, p_delimiter) || '@' || d.name
                            WHERE (d.id = p_domain_id OR d.alias_of = p_domain_id)
                              AND CASE o.role WHEN 'domain_admin' THEN 0 WHEN 'admin' THEN 1 ELSE 2 END > a.changed_rank))
    ORDER BY 1
    LIMIT 1
$$;

-- Whether mail to a local part goes to the administrators if nothing else matches (RFC 5321 §4.5.1, RFC 2142).
CREATE OR REPLACE FUNCTION route_is_postmaster(p_local_key text, p_delimiter text) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT coalesce(route_base(p_local_key, p_delimiter), p_local_key) IN ('postmaster', 'abuse')
$$;

-- The rank of the administrator with this folded address (0 domain_admin, 1 admin, 2 super_admin): the highest if there
-- are several, NULL if there is none. Tags are ignored on both sides, because x@ receives the mail for x+tag@ too. For the
-- same reason an address is one with the same address in an alias domain of its domain, and in that one's target.
CREATE OR REPLACE FUNCTION address_rank(p_key text) RETURNS integer LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
DECLARE
    local  text := split_part(p_key, '@', 1);
    names  text[] := ARRAY[split_part(p_key, '@', 2)];
    domain record;
BEGIN
    SELECT d.id, d.plus_delimiter INTO domain
      FROM domains n JOIN domains d ON d.id = coalesce(n.alias_of, n.id)
     WHERE n.name = names[1];
    IF domain.id IS NOT NULL THEN
        names := ARRAY(SELECT d.name FROM domains d WHERE d.id = domain.id OR d.alias_of = domain.id);
    END IF;
    RETURN (
        SELECT max(CASE a.role WHEN 'domain_admin' THEN 0 WHEN 'admin' THEN 1 ELSE 2 END)
          FROM admins a
         CROSS JOIN LATERAL split_part(a.email_key, '@', 1) own
         WHERE split_part(a.email_key, '@', 2) = ANY (names)
           AND (own = local OR own = route_base(local, domain.plus_delimiter)
                OR route_base(own, domain.plus_delimiter) = local));
END
$$;

-- The name of a domain, or of its target if it is an alias domain: limits of sent and forwarded mail count for that one.
CREATE OR REPLACE FUNCTION counted_domain(p_name text) RETURNS text LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT coalesce((SELECT t.name FROM domains d JOIN domains t ON t.id = d.alias_of WHERE d.name = p_name), p_name)
$$;

-- Whether a domain can have recipients on this server: it is managed, or the server's hostname.
CREATE OR REPLACE FUNCTION route_is_ours(p_domain text) RETURNS boolean LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
BEGIN
    RETURN EXISTS (SELECT FROM domains d WHERE d.name = lower(p_domain COLLATE "C"))
        OR EXISTS (SELECT FROM routing_settings s WHERE s.hostname = lower(p_domain COLLATE "C"));
END
$$;

-- A shortcut for the most frequent query of Postfix: an active mailbox with exactly this address and no forward, in a
-- domain that receives mail. NULL for all other addresses, which need route_address. An exact mailbox has the highest
-- rank (route_match), so nothing else has to be checked. Only ASCII, where folding is lower(): the first call of
-- mailkeep_fold costs a connection 1 ms.
CREATE OR REPLACE FUNCTION route_plain(
    p_local text, p_domain text, OUT address text, OUT quota_bytes bigint, OUT used_bytes bigint, OUT mailbox_id uuid,
    OUT domain_id uuid)
LANGUAGE plpgsql STABLE PARALLEL SAFE SET enable_seqscan TO off AS $$
BEGIN
    IF octet_length(p_local) = length(p_local) THEN
        SELECT p_local || '@' || d.name, m.quota_bytes, m.used_bytes, m.id, d.id
          INTO address, quota_bytes, used_bytes, mailbox_id, domain_id
          FROM domains d
          JOIN mailboxes m ON m.domain_id = d.id
         WHERE d.name = lower(p_domain COLLATE "C") AND d.active AND d.receiving_enabled
           AND m.local_key = lower(p_local COLLATE "C") AND m.deleted_at IS NULL AND m.active AND m.forward_keys = '{}';
    END IF;
END
$$;
