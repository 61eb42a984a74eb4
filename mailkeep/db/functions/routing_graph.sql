-- Checks that aliases and forwards form no loops and no chains. Writers call them in their transaction, after the
-- write.

-- Locks all aliases and forwards until the end of the transaction. Every writer takes it first. One lock for all,
-- because a loop can span several domains.
CREATE OR REPLACE FUNCTION lock_routes() RETURNS void LANGUAGE sql AS $$
    SELECT pg_advisory_xact_lock(hashtext('mailkeep.routes'))
$$;

-- The aliases and mailboxes (nodes) that an address can match. An alias counts even if a mailbox has the same
-- address, because the mailbox may be deleted. Sources without the tag count only if nothing matches exactly, the
-- catch-all only if nothing else matches. Inactive domains and mailboxes count. An address in an alias domain matches
-- what the same address in its target matches.
CREATE OR REPLACE FUNCTION route_nodes(p_key text) RETURNS TABLE (node uuid)
LANGUAGE plpgsql STABLE PARALLEL SAFE ROWS 2 AS $$
DECLARE
    local  text := split_part(p_key, '@', 1);
    domain record;
BEGIN
    SELECT d.id, d.plus_delimiter INTO domain
      FROM domains n JOIN domains d ON d.id = coalesce(n.alias_of, n.id)
     WHERE n.name = split_part(p_key, '@', 2);
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

-- The destinations of an alias, or the forwards of a mailbox.
CREATE OR REPLACE FUNCTION route_destinations(p_node uuid) RETURNS TABLE (key text)
LANGUAGE plpgsql STABLE PARALLEL SAFE ROWS 2 AS $$
BEGIN
    RETURN QUERY SELECT unnest(a.destination_keys) FROM aliases a WHERE a.id = p_node AND a.active;
    IF NOT FOUND THEN
        RETURN QUERY SELECT unnest(m.forward_keys) FROM mailboxes m WHERE m.id = p_node AND m.deleted_at IS NULL;
    END IF;
END
$$;

-- The destinations of an alias, or forwards of a mailbox, that lead back to it. Needs lock_routes().
CREATE OR REPLACE FUNCTION route_loop(p_node uuid) RETURNS TABLE (key text) LANGUAGE plpgsql STABLE
SET enable_seqscan TO off SET jit TO off AS $$
DECLARE
    reached  uuid[];
    frontier uuid[];
BEGIN
    FOR key IN SELECT o.key FROM route_destinations(p_node) o LOOP
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
                  FROM unnest(frontier) f, route_destinations(f) o, route_nodes(o.key) n
                 WHERE n.node <> ALL (reached));
        END LOOP;
    END LOOP;
END
$$;

-- The sources (as written) of up to ten other active aliases in the domain that are destinations of an alias.
CREATE OR REPLACE FUNCTION route_chain_ahead(p_alias_id uuid) RETURNS TABLE (source text) LANGUAGE sql STABLE
SET enable_seqscan TO off SET jit TO off AS $$
    SELECT DISTINCT other.source_local_part
      FROM aliases a
      CROSS JOIN unnest(a.destination_keys) k
      CROSS JOIN route_nodes(k) n
      JOIN aliases other ON other.id = n.node
     WHERE a.id = p_alias_id AND a.active AND other.id <> a.id AND other.domain_id = a.domain_id
       AND split_part(k, '@', 2) IN (SELECT d.name FROM domains d WHERE d.id = a.domain_id OR d.alias_of = a.domain_id)
     ORDER BY 1
     LIMIT 10
$$;

-- The sources (as written) of up to ten other active aliases in the domain that have an alias as destination.
CREATE OR REPLACE FUNCTION route_chain_behind(p_alias_id uuid) RETURNS TABLE (source text) LANGUAGE sql STABLE
SET enable_seqscan TO off SET jit TO off AS $$
    -- MATERIALIZED: otherwise the planner may read the whole domain instead of the two inverted indexes.
    WITH self AS MATERIALIZED (
        SELECT a.id, a.domain_id,
               ARRAY(SELECT a.source_key || '@' || d.name
                       FROM domains d WHERE d.id = a.domain_id OR d.alias_of = a.domain_id) AS keys
          FROM aliases a
         WHERE a.id = p_alias_id AND a.active AND a.source_key <> ''
    ), candidates AS MATERIALIZED (
        SELECT a.* FROM aliases a WHERE a.destination_keys && (SELECT keys FROM self)
        UNION ALL
        SELECT a.* FROM aliases a WHERE route_bases(a.destination_keys) && (SELECT keys FROM self)
    )
    SELECT DISTINCT other.source_local_part
      FROM self
      JOIN candidates other ON other.domain_id = self.domain_id AND other.active AND other.id <> self.id
     WHERE EXISTS (SELECT FROM unnest(other.destination_keys) k, route_nodes(k) n WHERE n.node = self.id)
     ORDER BY 1
     LIMIT 10
$$;

-- The same for a catch-all: aliases of its domain with a destination in the domain that only the catch-all matches.
-- Reads all aliases of the domain, so call it only when a catch-all becomes active.
CREATE OR REPLACE FUNCTION route_chain_behind_catch_all(p_alias_id uuid) RETURNS TABLE (source text) LANGUAGE sql STABLE
SET jit TO off AS $$
    WITH self AS MATERIALIZED (
        SELECT a.id, a.domain_id
          FROM aliases a
         WHERE a.id = p_alias_id AND a.active AND a.source_key = ''
    ), destinations AS MATERIALIZED (
        SELECT DISTINCT k AS key
          FROM self
          JOIN aliases a ON a.domain_id = self.domain_id AND a.active AND a.id <> self.id
          CROSS JOIN unnest(a.destination_keys) k
         WHERE split_part(k, '@', 2) IN (SELECT d.name FROM domains d
                                          WHERE d.id = self.domain_id OR d.alias_of = self.domain_id)
    ), matched AS MATERIALIZED (
        SELECT d.key
          FROM destinations d
         WHERE EXISTS (SELECT FROM route_nodes(d.key) n, self WHERE n.node = self.id)
         LIMIT 10
    )
    SELECT DISTINCT a.source_local_part
      FROM self
      JOIN aliases a ON a.destination_keys && ARRAY(SELECT m.key FROM matched m)
     WHERE a.domain_id = self.domain_id AND a.active AND a.id <> self.id
     ORDER BY 1
     LIMIT 10
$$;

-- The addresses of up to ten aliases and mailboxes that lead back to themselves through a domain, which has become an
-- alias domain. Reads all aliases and forwards. Needs lock_routes().
CREATE OR REPLACE FUNCTION route_loops_through(p_domain text) RETURNS TABLE (address text) LANGUAGE sql STABLE
SET jit TO off AS $$
    WITH nodes AS MATERIALIZED (
        SELECT a.id, a.source_key || '@' || d.name AS address
          FROM aliases a JOIN domains d ON d.id = a.domain_id
         WHERE a.active AND EXISTS (SELECT FROM unnest(a.destination_keys) k WHERE split_part(k, '@', 2) = p_domain)
        UNION ALL
        SELECT m.id, m.address_key
          FROM mailboxes m
         WHERE m.forward_keys <> '{}' AND m.deleted_at IS NULL
           AND EXISTS (SELECT FROM unnest(m.forward_keys) k WHERE split_part(k, '@', 2) = p_domain)
    )
    SELECT n.address FROM nodes n WHERE EXISTS (SELECT FROM route_loop(n.id)) ORDER BY 1 LIMIT 10
$$;
