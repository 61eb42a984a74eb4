-- Counts and accepts a request of a key if fewer than p_limit were accepted in the last 60 seconds. Whole seconds are
-- counted: 61 with the current one. `wait`: seconds until the next request will be accepted; 0: immediately.
CREATE OR REPLACE FUNCTION count_api_call(p_key_id uuid, p_limit integer, p_at timestamptz,
                              OUT accepted boolean, OUT used integer, OUT wait integer)
LANGUAGE plpgsql AS $$
DECLARE
    second bigint := floor(extract(epoch FROM p_at));
    row    api_key_rates;
    recent integer[];  -- accepted requests by second, newest first
    oldest integer;
BEGIN
    INSERT INTO api_key_rates (key_id, newest, counts) VALUES (p_key_id, second, '{0}') ON CONFLICT (key_id) DO NOTHING;
    SELECT * INTO row FROM api_key_rates r WHERE r.key_id = p_key_id FOR UPDATE;
    -- The clock of another process may be a little ahead. A clock that was set back by more starts new counts.
    IF row.newest > second AND row.newest - second <= 60 THEN
        second := row.newest;
    END IF;
    recent := CASE WHEN second - row.newest BETWEEN 0 AND 60
                 THEN array_fill(0, ARRAY[(second - row.newest)::integer]) || row.counts[1:61 - (second - row.newest)::integer]
                 ELSE '{0}' END;
    used := (SELECT coalesce(sum(c), 0) FROM unnest(recent) c);
    accepted := used < p_limit;
    IF accepted THEN
        used := used + 1;
        recent[1] := recent[1] + 1;
        UPDATE api_key_rates r SET newest = second, counts = recent WHERE r.key_id = p_key_id;
    END IF;
    wait := 0;
    IF used >= p_limit THEN
        oldest := (SELECT max(n) FROM unnest(recent) WITH ORDINALITY u(c, n) WHERE c > 0);
        wait := greatest(1, ceil(second - oldest + 62 - extract(epoch FROM p_at)));
    END IF;
END
$$;

-- Records the token of a deleted key: see the table revoked_api_keys.
CREATE OR REPLACE FUNCTION remember_revoked_api_key() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO revoked_api_keys (token_hash) VALUES (OLD.token_hash) ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;
CREATE OR REPLACE TRIGGER api_keys_revoked AFTER DELETE ON api_keys FOR EACH ROW EXECUTE FUNCTION remember_revoked_api_key();

-- The key with this SHA-256 in hexadecimal, if it opens a submission session from an address at a time. Keys that may only
-- read open none.
CREATE OR REPLACE FUNCTION submission_key(p_digest text, p_address text, p_at timestamptz) RETURNS SETOF uuid
LANGUAGE sql STABLE AS $$
    SELECT k.id
      FROM api_keys k JOIN admins a ON a.id = k.admin_id
     WHERE k.token_hash = decode(p_digest, 'hex') AND a.active AND NOT is_restricted('key', k.id)
       AND k.permissions <> 'read' AND (k.expires_at IS NULL OR k.expires_at > p_at)
       AND (k.allowed_networks = '{}'
            OR EXISTS (SELECT FROM unnest(k.allowed_networks) AS network
                        WHERE CASE WHEN p_address ~ '^[0-9A-Fa-f:.]+$' THEN p_address::inet <<= network::cidr END))
$$;

-- The login of such a session, for Dovecot: the user `apikey` with the key as the password. Postfix sees `key:` and the
-- key's ID.
CREATE OR REPLACE FUNCTION mta_key_login(p_user text, p_protocol text, p_digest text, p_address text)
RETURNS TABLE (login text, access text)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    IF p_user = 'apikey' AND p_protocol = 'smtp' AND p_digest ~ '^[0-9a-f]{64}$' THEN
        RETURN QUERY SELECT 'key:' || k, 'key:' || k FROM submission_key(p_digest, p_address, mta_time()) k;
    END IF;
END
$$;

-- Ends the open submission sessions of a key that is revoked (also with its owner), and of the keys of an administrator
-- who is disabled.
CREATE OR REPLACE FUNCTION end_key_sessions() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO session_ends (id, subject, protocols, changed_at)
    SELECT nextval('access_versions'), 'key:' || id, ARRAY['smtp'], mta_time()
      FROM unnest(CASE TG_TABLE_NAME WHEN 'api_keys' THEN ARRAY[OLD.id]
                       ELSE ARRAY(SELECT k.id FROM api_keys k WHERE k.admin_id = OLD.id) END) AS id;
    RETURN NULL;
END
$$;
CREATE OR REPLACE TRIGGER api_keys_end_sessions AFTER DELETE ON api_keys FOR EACH ROW EXECUTE FUNCTION end_key_sessions();
CREATE OR REPLACE TRIGGER admins_end_key_sessions AFTER UPDATE OF active ON admins FOR EACH ROW
    WHEN (old.active AND NOT new.active) EXECUTE FUNCTION end_key_sessions();
