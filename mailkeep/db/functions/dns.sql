-- The check of a new domain is due at once.
CREATE OR REPLACE FUNCTION domains_add_dns_check() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO dns_checks (id, domain_id, due_at) VALUES (NEW.id, NEW.id, NEW.created_at);
    PERFORM wake_workers('dns_checks');
    RETURN NULL;
END
$$;
CREATE OR REPLACE TRIGGER domains_add_dns_check AFTER INSERT ON domains
    FOR EACH ROW EXECUTE FUNCTION domains_add_dns_check();

-- Claim due checks until `p_until`: requested ones first, then the others as far as the budget of `p_rate` look-ups a
-- second allows, at about `p_cost` look-ups each. While others are late, requested ones get half of the budget, so that
-- nobody stops the checks of all domains by requests. The budget's row lets one worker claim at a time.
CREATE OR REPLACE FUNCTION claim_dns_checks(
    p_at timestamptz, p_until timestamptz, p_limit integer, p_rate integer, p_cost integer, p_regular boolean
) RETURNS SETOF dns_checks LANGUAGE plpgsql AS $$
DECLARE
    longest_burst CONSTANT interval := interval '2 seconds';
    longest_debt  CONSTANT interval := interval '30 seconds';   -- of requested checks
    tolerance     CONSTANT interval := interval '10 minutes';  -- of the checks that are not requested
    spent         timestamptz;
    is_late       boolean;
    is_in_budget  boolean;
    requested     uuid[];
    regular       uuid[];
    allowed       integer;
BEGIN
    INSERT INTO dns_checks (id, due_at) VALUES ('00000000-0000-0000-0000-000000000000', p_at) ON CONFLICT DO NOTHING;
    IF NOT EXISTS (SELECT FROM dns_checks c WHERE c.requested_at IS NOT NULL AND c.due_at <= p_at)
       AND NOT (p_regular AND EXISTS (SELECT FROM dns_checks c WHERE c.due_at <= p_at)) THEN
        RETURN;  -- without a write: workers look every second
    END IF;
    INSERT INTO dns_lookup_budget (spent_until) VALUES (p_at) ON CONFLICT DO NOTHING;
    SELECT greatest(b.spent_until, p_at - longest_burst) INTO spent FROM dns_lookup_budget b FOR UPDATE;
    is_late := p_regular AND EXISTS (SELECT FROM dns_checks c
                                      WHERE c.due_at <= p_at - tolerance AND c.requested_at IS NULL);
    is_in_budget := spent <= p_at;
    allowed := greatest(1, floor(extract(epoch FROM p_at - spent) * p_rate / p_cost));
    IF is_in_budget OR (NOT is_late AND spent <= p_at + longest_debt) THEN
        requested := ARRAY(SELECT c.id FROM dns_checks c WHERE c.requested_at IS NOT NULL AND c.due_at <= p_at
                            ORDER BY c.requested_at
                            LIMIT CASE WHEN is_late THEN least(p_limit, allowed + 1) / 2 ELSE p_limit END);
    END IF;
    spent := spent + make_interval(secs => coalesce(cardinality(requested), 0) * p_cost / p_rate::float);
    IF p_regular AND (spent <= p_at OR (is_late AND is_in_budget)) THEN
        allowed := greatest(1, floor(extract(epoch FROM p_at - spent) * p_rate / p_cost));
        regular := ARRAY(SELECT c.id FROM dns_checks c WHERE c.due_at <= p_at AND c.requested_at IS NULL
                          ORDER BY c.due_at LIMIT least(allowed, p_limit - coalesce(cardinality(requested), 0)));
        spent := spent + make_interval(secs => coalesce(cardinality(regular), 0) * p_cost / p_rate::float);
    END IF;
    UPDATE dns_lookup_budget b SET spent_until = spent WHERE b.spent_until <> spent;
    RETURN QUERY
        UPDATE dns_checks c SET claims = c.claims + 1, due_at = p_until, running = true, requested_at = NULL
         WHERE c.id = ANY (requested || regular) AND c.due_at <= p_at
        RETURNING c.*;
END
$$;
