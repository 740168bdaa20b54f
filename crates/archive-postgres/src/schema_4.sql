-- Schema 4: where the ranks of a load meet. What is in it is of no use when the load is over.

CREATE TABLE knee.meeting (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    fleet  text NOT NULL,
    kind   text NOT NULL,
    sender bigint NOT NULL,                  -- a process; it holds the advisory lock of this number while it lives
    rank   bigint NOT NULL,
    at     timestamptz NOT NULL DEFAULT clock_timestamp(),
    body   text NOT NULL
);
CREATE INDEX meeting_by_fleet ON knee.meeting (fleet, kind);
CREATE INDEX meeting_by_time ON knee.meeting (at);
