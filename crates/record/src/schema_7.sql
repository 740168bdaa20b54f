-- Schema 7: profiles. What the CPUs did while cells were timed, from the pass after the last round. Frames and
-- stacks are kept once for a run. Each comes with the profiled cell that brought it, whose seal is over it too.

CREATE TABLE profile_cell (
    number          INTEGER PRIMARY KEY, -- ascends in the order in which cells ended
    run             INTEGER NOT NULL REFERENCES run (number) ON DELETE CASCADE,
    workload        TEXT NOT NULL,
    subject         TEXT NOT NULL,
    parameters      TEXT NOT NULL,       -- JSON object, keys sorted
    point           INTEGER NOT NULL,
    outcome         TEXT NOT NULL CHECK (outcome IN ('measured', 'failed')),
    failure         TEXT,                -- JSON object of `kind`, its data and `text`
    detail          TEXT,
    elapsed_ns      INTEGER NOT NULL,
    event           TEXT NOT NULL,
    sample_ns       REAL NOT NULL,
    samples_outside INTEGER NOT NULL,
    limits          TEXT NOT NULL,       -- JSON array
    seal            INTEGER,
    UNIQUE (run, workload, subject, parameters, point),
    CHECK ((outcome = 'failed') = (failure IS NOT NULL)),
    CHECK ((outcome = 'failed') = (detail IS NOT NULL))
);

CREATE TABLE profile_region (
    cell         INTEGER NOT NULL REFERENCES profile_cell (number) ON DELETE CASCADE,
    place        INTEGER NOT NULL,       -- order within the cell, from 0
    metric       TEXT NOT NULL,
    position     INTEGER NOT NULL,
    operations   INTEGER NOT NULL,
    elapsed_ns   INTEGER NOT NULL,
    samples      TEXT NOT NULL,          -- JSON array of [stack, count]
    instructions TEXT NOT NULL,          -- JSON array of [frame, offset, count]
    PRIMARY KEY (cell, place)
);

CREATE TABLE profile_frame (
    run      INTEGER NOT NULL REFERENCES run (number) ON DELETE CASCADE,
    place    INTEGER NOT NULL,           -- order within the run, from 0
    function TEXT NOT NULL,
    module   TEXT NOT NULL,
    kind     TEXT NOT NULL,
    cell     INTEGER NOT NULL REFERENCES profile_cell (number) ON DELETE CASCADE,
    PRIMARY KEY (run, place)
) WITHOUT ROWID;
CREATE INDEX profile_frame_by_cell ON profile_frame (cell);

CREATE TABLE profile_stack (
    run    INTEGER NOT NULL REFERENCES run (number) ON DELETE CASCADE,
    place  INTEGER NOT NULL,             -- order within the run, from 0
    caller INTEGER,                      -- place of the stack that this one goes on from; NULL for a root
    frame  INTEGER NOT NULL,             -- place of its innermost frame
    cell   INTEGER NOT NULL REFERENCES profile_cell (number) ON DELETE CASCADE,
    PRIMARY KEY (run, place)
) WITHOUT ROWID;
CREATE INDEX profile_stack_by_cell ON profile_stack (cell);

CREATE TABLE profile_code (
    run   INTEGER NOT NULL REFERENCES run (number) ON DELETE CASCADE,
    place INTEGER NOT NULL,              -- order within the run, from 0
    frame INTEGER NOT NULL,
    code  TEXT NOT NULL,                 -- JSON object: `machine` with the code, or `fault` with why there is none
    cell  INTEGER NOT NULL REFERENCES profile_cell (number) ON DELETE CASCADE,
    PRIMARY KEY (run, place)
);
CREATE INDEX profile_code_by_cell ON profile_code (cell);

-- How many profiled cells the run had when it ended; NULL while it is open, and where it has none.
ALTER TABLE run ADD COLUMN profiled_kept INTEGER;

CREATE VIEW v_profile_cell AS
SELECT run, workload, subject, parameters, point, outcome,
       json_extract(failure, '$.text') AS reason,
       failure, detail, elapsed_ns, event, sample_ns, samples_outside, limits
FROM profile_cell;

CREATE VIEW v_profile_stack AS
SELECT stack.run, stack.place AS stack, stack.caller, frame.function, frame.module, frame.kind
FROM profile_stack AS stack
JOIN profile_frame AS frame ON frame.run = stack.run AND frame.place = stack.frame;

CREATE VIEW v_profile AS
SELECT cell.run, cell.workload, cell.subject, cell.parameters, cell.point,
       region.metric, region.position, region.operations,
       json_extract(sample.value, '$[0]') AS stack,
       frame.function, frame.module, frame.kind,
       json_extract(sample.value, '$[1]') AS samples,
       json_extract(sample.value, '$[1]') * cell.sample_ns AS cpu_ns
FROM profile_cell AS cell
JOIN profile_region AS region ON region.cell = cell.number
JOIN json_each(region.samples) AS sample
JOIN profile_stack AS stack ON stack.run = cell.run AND stack.place = json_extract(sample.value, '$[0]')
JOIN profile_frame AS frame ON frame.run = cell.run AND frame.place = stack.frame
WHERE cell.outcome = 'measured';

CREATE VIEW v_profile_instruction AS
SELECT cell.run, cell.workload, cell.subject, cell.parameters, cell.point,
       region.metric, region.position,
       frame.function, frame.module, frame.kind,
       json_extract(sample.value, '$[1]') AS "offset",
       json_extract(sample.value, '$[2]') AS samples
FROM profile_cell AS cell
JOIN profile_region AS region ON region.cell = cell.number
JOIN json_each(region.instructions) AS sample
JOIN profile_frame AS frame ON frame.run = cell.run AND frame.place = json_extract(sample.value, '$[0]')
WHERE cell.outcome = 'measured';
