-- What the processes have counted (mailkeep/features/tallies): numbers that only rise, for the metrics.
CREATE TABLE tallies (
    name   text NOT NULL,
    labels text[] NOT NULL,
    count  bigint NOT NULL,
    PRIMARY KEY (name, labels)
) WITH (fillfactor = 50);
