-- The tables of a record. SCHEMA.md describes the views: the tables may change with the schema version.

CREATE TABLE run (
    number  INTEGER PRIMARY KEY AUTOINCREMENT, -- never given twice
    id      TEXT NOT NULL UNIQUE,
    origin  TEXT NOT NULL,                     -- '' here, else 'import' or 'merge'
    summary TEXT NOT NULL,                     -- JSON: what a list of runs shows
    begun   TEXT NOT NULL,                     -- JSON: plan, clock, host_before
    ending  TEXT NOT NULL,                     -- JSON: host_after, warnings
    seal    INTEGER NOT NULL                   -- a checksum; a summary has those of begun and ending
);

-- What the metrics of a plan are: views would have to look for it in the whole plan.
CREATE TABLE metric_info (
    run             INTEGER NOT NULL REFERENCES run (number) ON DELETE CASCADE,
    workload        TEXT NOT NULL,
    metric          TEXT NOT NULL,
    about           TEXT NOT NULL,
    unit            TEXT NOT NULL,
    lower_is_better INTEGER NOT NULL,
    PRIMARY KEY (run, workload, metric)
) WITHOUT ROWID;

CREATE TRIGGER run_has_metrics AFTER INSERT ON run BEGIN
    INSERT OR IGNORE INTO metric_info
    SELECT new.number, workload.value ->> 'name', metric.value ->> 'name', metric.value ->> 'about',
           metric.value ->> 'unit', metric.value ->> 'lower_is_better'
    FROM json_each(new.begun, '$.plan.workloads') AS workload
    JOIN json_each(workload.value, '$.metrics') AS metric;
END;

CREATE TABLE cell (
    number    INTEGER PRIMARY KEY,             -- ascends in the order in which cells ended
    run       INTEGER NOT NULL REFERENCES run (number) ON DELETE CASCADE,
    sequence  INTEGER NOT NULL,                -- position in the plan, from 0
    body      TEXT NOT NULL,                   -- JSON: the cell, without its samples
    positions TEXT NOT NULL,                   -- JSON: for each metric [], a position for each sample, or {from, step}
    samples   TEXT NOT NULL,                   -- JSON: for each metric an array
    seal      INTEGER NOT NULL,
    outcome   TEXT NOT NULL GENERATED ALWAYS AS (body ->> '$.outcome.outcome') STORED,
    UNIQUE (run, sequence)
);

CREATE TABLE profile (
    number INTEGER PRIMARY KEY,                -- ascends in the order in which cells ended
    run    INTEGER NOT NULL REFERENCES run (number) ON DELETE CASCADE,
    key    TEXT NOT NULL,                      -- JSON: which cell it is
    body   TEXT NOT NULL,                      -- JSON: cell, and what of the run's profile came with it
    seal   INTEGER NOT NULL,
    UNIQUE (run, key)
);

CREATE TABLE baseline (
    name TEXT PRIMARY KEY,
    run  INTEGER NOT NULL REFERENCES run (number) ON DELETE CASCADE
) WITHOUT ROWID;

CREATE VIEW v_run AS
SELECT run.number AS run,
       run.id,
       summary ->> 'started' AS started,
       summary ->> 'ended' AS ended,
       summary ->> 'state' AS state,
       (SELECT count(*) FROM cell WHERE cell.run = run.number) AS cells_ended,
       (SELECT count(*) FROM cell WHERE cell.run = run.number AND outcome = 'failed') AS cells_failed,
       summary ->> 'cells_planned' AS cells_planned,
       summary ->> 'version' AS version,
       summary -> 'command' AS command,
       begun ->> '$.plan.rounds' AS rounds,
       begun ->> '$.clock.source' AS clock,
       begun ->> '$.host_before.facts."kernel.release"' AS kernel,
       begun ->> '$.host_before.facts."cpu.model"' AS cpu,
       begun -> 'host_before' AS host_before,
       nullif(ending -> 'host_after', 'null') AS host_after,
       ending -> 'warnings' AS warnings,
       summary -> 'labels' AS labels,
       run.origin
FROM run;

CREATE VIEW v_baseline AS SELECT name, run FROM baseline;

CREATE VIEW v_cell AS
SELECT run,
       sequence,
       body ->> '$.key.workload' AS workload,
       body ->> '$.key.subject' AS subject,
       body -> '$.key.parameters' AS parameters,
       body ->> '$.key.point' AS point,
       body ->> '$.key.round' AS round,
       outcome,
       body ->> '$.outcome.reason.text' AS reason,
       body -> '$.outcome.reason' AS failure,
       body ->> '$.outcome.detail' AS detail,
       body ->> '$.short.reached' AS reached,
       body ->> '$.short.because' AS because,
       body ->> 'elapsed_ns' AS elapsed_ns,
       body ->> '$.usage.user_ns' AS user_ns,
       body ->> '$.usage.system_ns' AS system_ns,
       body ->> '$.usage.switches_voluntary' AS switches_voluntary,
       body ->> '$.usage.switches_involuntary' AS switches_involuntary,
       body ->> '$.usage.faults_minor' AS faults_minor,
       body ->> '$.usage.faults_major' AS faults_major,
       body -> 'facts' AS facts,
       body -> 'load' AS load
FROM cell;

-- One row for each metric of a measured cell, with its samples. What it is stands here, so that it is not looked up for each.
CREATE VIEW series AS
SELECT cell.run,
       cell.sequence,
       cell.body ->> '$.key.workload' AS workload,
       cell.body ->> '$.key.subject' AS subject,
       cell.body -> '$.key.parameters' AS parameters,
       cell.body ->> '$.key.point' AS point,
       cell.body ->> '$.key.round' AS round,
       metric.value AS metric,
       metric.value ->> 'name' AS name,
       cell.samples -> metric.key AS samples,
       cell.positions -> metric.key AS positions,
       info.unit,
       info.lower_is_better,
       info.about
FROM cell
JOIN json_each(cell.body, '$.metrics') AS metric
LEFT JOIN metric_info AS info
       ON info.run = cell.run
      AND info.workload = cell.body ->> '$.key.workload'
      AND info.metric = metric.value ->> 'name'
WHERE cell.outcome = 'measured';

CREATE VIEW v_metric AS
SELECT run,
       sequence,
       workload,
       subject,
       parameters,
       point,
       round,
       name AS metric,
       unit,
       lower_is_better,
       about,
       json_array_length(samples) AS samples,
       metric ->> 'operations' AS operations,
       metric ->> '$.usage.user_ns' AS user_ns,
       metric ->> '$.usage.system_ns' AS system_ns,
       metric ->> '$.usage.switches_voluntary' AS switches_voluntary,
       metric ->> '$.usage.switches_involuntary' AS switches_involuntary,
       metric ->> '$.usage.faults_minor' AS faults_minor,
       metric ->> '$.usage.faults_major' AS faults_major,
       coalesce(metric ->> 'histogram', '') AS histogram
FROM series;

CREATE VIEW v_sample AS
SELECT series.run,
       series.workload,
       subject,
       parameters,
       point,
       round,
       name AS metric,
       sample.key AS n,
       CASE
           WHEN positions = '[]' THEN point
           WHEN json_type(positions) = 'object'
               THEN (positions ->> 'from') + sample.key * (positions ->> 'step')
           ELSE positions ->> sample.key
       END AS position,
       sample.value AS value,
       unit
FROM series
JOIN json_each(series.samples) AS sample;

CREATE VIEW v_profile_cell AS
SELECT run,
       body ->> '$.cell.key.workload' AS workload,
       body ->> '$.cell.key.subject' AS subject,
       body -> '$.cell.key.parameters' AS parameters,
       body ->> '$.cell.key.point' AS point,
       body ->> '$.cell.outcome.outcome' AS outcome,
       body ->> '$.cell.outcome.reason.text' AS reason,
       body -> '$.cell.outcome.reason' AS failure,
       body ->> '$.cell.outcome.detail' AS detail,
       body ->> '$.cell.elapsed_ns' AS elapsed_ns,
       body ->> '$.cell.event' AS event,
       body ->> '$.cell.sample_ns' AS sample_ns,
       body ->> '$.cell.samples_outside' AS samples_outside,
       body -> '$.cell.limits' AS limits
FROM profile;

-- Frames by their number in the run. A join looks each up in an index, so they are found once, and stand last in it.
CREATE VIEW profile_frame AS
SELECT profile.run,
       (profile.body ->> '$.before.frames') + frame.key AS frame,
       frame.value ->> 'function' AS function,
       frame.value ->> 'module' AS module,
       frame.value ->> 'kind' AS kind
FROM profile
JOIN json_each(profile.body, '$.frames') AS frame;

CREATE VIEW v_profile_stack AS
WITH frame AS MATERIALIZED (SELECT * FROM profile_frame)
SELECT profile.run,
       (profile.body ->> '$.before.stacks') + stack.key AS stack,
       stack.value ->> 'caller' AS caller,
       frame.function,
       frame.module,
       frame.kind
FROM profile
CROSS JOIN json_each(profile.body, '$.stacks') AS stack
CROSS JOIN frame ON frame.run = profile.run AND frame.frame = stack.value ->> 'frame';

CREATE VIEW v_profile AS
WITH stack AS MATERIALIZED (SELECT * FROM v_profile_stack)
SELECT cell.run,
       cell.body ->> '$.cell.key.workload' AS workload,
       cell.body ->> '$.cell.key.subject' AS subject,
       cell.body -> '$.cell.key.parameters' AS parameters,
       cell.body ->> '$.cell.key.point' AS point,
       region.value ->> 'metric' AS metric,
       region.value ->> 'position' AS position,
       region.value ->> 'operations' AS operations,
       stack.stack,
       stack.function,
       stack.module,
       stack.kind,
       sample.value ->> 1 AS samples,
       (sample.value ->> 1) * (cell.body ->> '$.cell.sample_ns') AS cpu_ns
FROM profile AS cell
JOIN json_each(cell.body, '$.cell.regions') AS region
JOIN json_each(region.value, '$.samples') AS sample
CROSS JOIN stack ON stack.run = cell.run AND stack.stack = sample.value ->> 0;

CREATE VIEW v_profile_instruction AS
WITH frame AS MATERIALIZED (SELECT * FROM profile_frame)
SELECT cell.run,
       cell.body ->> '$.cell.key.workload' AS workload,
       cell.body ->> '$.cell.key.subject' AS subject,
       cell.body -> '$.cell.key.parameters' AS parameters,
       cell.body ->> '$.cell.key.point' AS point,
       region.value ->> 'metric' AS metric,
       region.value ->> 'position' AS position,
       frame.function,
       frame.module,
       frame.kind,
       sample.value ->> 'offset' AS "offset",
       sample.value ->> 'count' AS samples
FROM profile AS cell
JOIN json_each(cell.body, '$.cell.regions') AS region
JOIN json_each(region.value, '$.instructions') AS sample
CROSS JOIN frame ON frame.run = cell.run AND frame.frame = sample.value ->> 'frame';
