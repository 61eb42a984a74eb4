-- What the API asks of a node's agent, which does what needs root or a daemon's tool.
CREATE TABLE operations (
    id           uuid PRIMARY KEY,
    kind         text NOT NULL,
    argument     jsonb NOT NULL,
    state        text NOT NULL CONSTRAINT operations_state
                 CHECK (state IN ('waiting', 'running', 'succeeded', 'failed', 'withdrawn')),
    result       jsonb,
    error        text,
    requested_at timestamptz NOT NULL,
    claimed_at   timestamptz,
    finished_at  timestamptz
);
CREATE INDEX operations_open ON operations (id) WHERE state IN ('waiting', 'running');
CREATE INDEX operations_by_age ON operations (requested_at);

-- A node's agent is told of what it is to do, and that a domain came, went or changed its state: Postfix remembers what
-- it was told of one, and has to be reloaded.
CREATE FUNCTION tell_nodes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('mailkeep_node', TG_TABLE_NAME);
    RETURN NULL;
END
$$;
CREATE TRIGGER operations_told AFTER INSERT ON operations FOR EACH STATEMENT EXECUTE FUNCTION tell_nodes();
CREATE TRIGGER domains_told AFTER INSERT OR DELETE ON domains FOR EACH STATEMENT EXECUTE FUNCTION tell_nodes();
CREATE TRIGGER domains_changed AFTER UPDATE ON domains FOR EACH ROW
    WHEN (old.active IS DISTINCT FROM new.active OR old.receiving_enabled IS DISTINCT FROM new.receiving_enabled)
    EXECUTE FUNCTION tell_nodes();
