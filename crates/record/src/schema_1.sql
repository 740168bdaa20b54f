-- Schema 1 of a knee record. Times are nanoseconds; columns that hold JSON say so.
-- No STRICT tables and no generated columns, so that older SQLite clients can read it too.

CREATE TABLE run (
    number        INTEGER PRIMARY KEY AUTOINCREMENT, -- never given again, even after a delete
    id            TEXT NOT NULL UNIQUE,              -- the same in every record it is copied to
    started       TEXT NOT NULL,                     -- RFC 3339 with offset
    ended         TEXT,
    state         TEXT NOT NULL CHECK (state IN ('open', 'complete', 'interrupted')),
    version       TEXT NOT NULL,                     -- of knee
    cells_planned INTEGER NOT NULL,
    command       TEXT NOT NULL,                     -- JSON array
    plan          TEXT NOT NULL,                     -- JSON object
    clock         TEXT NOT NULL,                     -- JSON object
    host_before   TEXT NOT NULL,                     -- JSON object
    host_after    TEXT,                              -- JSON object
    warnings      TEXT NOT NULL                      -- JSON array
);

-- The plan's metrics once more as rows, so that views can give units without reading the plan.
CREATE TABLE metric_info (
    run             INTEGER NOT NULL REFERENCES run (number) ON DELETE CASCADE,
    workload        TEXT NOT NULL,
    metric          TEXT NOT NULL,
    about           TEXT NOT NULL,
    unit            TEXT NOT NULL,
    lower_is_better INTEGER NOT NULL CHECK (lower_is_better IN (0, 1)),
    PRIMARY KEY (run, workload, metric)
) WITHOUT ROWID;

CREATE TABLE cell (
    number               INTEGER PRIMARY KEY, -- ascends in the order in which cells ended
    run                  INTEGER NOT NULL REFERENCES run (number) ON DELETE CASCADE,
    sequence             INTEGER NOT NULL,    -- place in the plan, from 0
    workload             TEXT NOT NULL,
    subject              TEXT NOT NULL,
    conditions           TEXT NOT NULL,       -- JSON object, keys sorted
    point                INTEGER NOT NULL,
    round                INTEGER NOT NULL,    -- from 0
    outcome              TEXT NOT NULL CHECK (outcome IN ('measured', 'void')),
    reason               TEXT,
    detail               TEXT,
    elapsed_ns           INTEGER NOT NULL,
    user_ns              INTEGER NOT NULL,
    system_ns            INTEGER NOT NULL,
    switches_voluntary   INTEGER NOT NULL,
    switches_involuntary INTEGER NOT NULL,
    faults_minor         INTEGER NOT NULL,
    faults_major         INTEGER NOT NULL,
    facts                TEXT NOT NULL,       -- JSON object
    UNIQUE (run, sequence),
    CHECK ((outcome = 'void') = (reason IS NOT NULL)),
    CHECK ((outcome = 'void') = (detail IS NOT NULL))
);

CREATE TABLE metric (
    cell                 INTEGER NOT NULL REFERENCES cell (number) ON DELETE CASCADE,
    place                INTEGER NOT NULL,    -- order within the cell, from 0
    name                 TEXT NOT NULL,
    samples              TEXT NOT NULL,       -- JSON array of numbers
    positions            TEXT NOT NULL,       -- JSON array: one per sample, or empty
    operations           INTEGER NOT NULL,
    user_ns              INTEGER NOT NULL,
    system_ns            INTEGER NOT NULL,
    switches_voluntary   INTEGER NOT NULL,
    switches_involuntary INTEGER NOT NULL,
    faults_minor         INTEGER NOT NULL,
    faults_major         INTEGER NOT NULL,
    PRIMARY KEY (cell, place)
);

CREATE VIEW v_run AS
SELECT run.number AS run,
       run.id,
       run.started,
       run.ended,
       run.state,
       (SELECT count(*) FROM cell WHERE cell.run = run.number) AS cells_ended,
       (SELECT count(*) FROM cell WHERE cell.run = run.number AND cell.outcome = 'void') AS cells_void,
       run.cells_planned,
       run.version,
       run.command,
       json_extract(run.plan, '$.rounds') AS rounds,
       json_extract(run.clock, '$.source') AS clock,
       json_extract(run.host_before, '$.facts."kernel.release"') AS kernel,
       json_extract(run.host_before, '$.facts."cpu.model"') AS cpu,
       run.host_before,
       run.host_after,
       run.warnings
FROM run;

CREATE VIEW v_cell AS
SELECT run, sequence, workload, subject, conditions, point, round, outcome, reason, detail,
       elapsed_ns, user_ns, system_ns, switches_voluntary, switches_involuntary,
       faults_minor, faults_major, facts
FROM cell;

CREATE VIEW v_metric AS
SELECT cell.run,
       cell.sequence,
       cell.workload,
       cell.subject,
       cell.conditions,
       cell.point,
       cell.round,
       metric.name AS metric,
       metric_info.unit,
       metric_info.lower_is_better,
       metric_info.about,
       json_array_length(metric.samples) AS samples,
       metric.operations,
       metric.user_ns,
       metric.system_ns,
       metric.switches_voluntary,
       metric.switches_involuntary,
       metric.faults_minor,
       metric.faults_major
FROM cell
JOIN metric ON metric.cell = cell.number
LEFT JOIN metric_info ON metric_info.run = cell.run
                     AND metric_info.workload = cell.workload
                     AND metric_info.metric = metric.name
WHERE cell.outcome = 'measured';

CREATE VIEW v_sample AS
SELECT cell.run,
       cell.workload,
       cell.subject,
       cell.conditions,
       cell.point,
       cell.round,
       metric.name AS metric,
       sample.key AS n,
       CASE metric.positions
           WHEN '[]' THEN cell.point
           ELSE json_extract(metric.positions, '$[' || sample.key || ']')
       END AS position,
       sample.value AS value,
       metric_info.unit
FROM cell
JOIN metric ON metric.cell = cell.number
LEFT JOIN metric_info ON metric_info.run = cell.run
                     AND metric_info.workload = cell.workload
                     AND metric_info.metric = metric.name
JOIN json_each(metric.samples) AS sample
WHERE cell.outcome = 'measured';
