PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE run (
    number  INTEGER PRIMARY KEY AUTOINCREMENT, -- never given twice
    id      TEXT NOT NULL UNIQUE,
    origin  TEXT NOT NULL,                     -- '' here, else 'import' or 'merge'
    summary TEXT NOT NULL,                     -- JSON: what a list of runs shows
    begun   TEXT NOT NULL,                     -- JSON: plan, clock, host_before
    ending  TEXT NOT NULL,                     -- JSON: host_after, warnings
    seal    INTEGER NOT NULL                   -- a checksum; a summary has those of begun and ending
);
INSERT INTO run VALUES(1,'0123456789abcdef','','{"number":0,"id":"0123456789abcdef","started":"2026-11-21T13:51:34+00:00","ended":"2026-11-21T13:53:20+00:00","state":"complete","command":["knee","run","poll"],"version":"0.1.0","cells_ended":6,"cells_planned":6,"labels":{},"host":"","fleet":null,"profiled":4,"begun_checksum":1645335814,"ending_checksum":1911054315}','{"plan":{"seed":18446744073709551615,"rounds":5,"measure_ms":0,"deadline_ms":0,"pinned_cpus":[],"workloads":[{"name":"poll","version":1,"question":"What does it cost to learn which descriptor is ready?","operation":"one byte written, waited for and read","not_measured":[],"axis":"watched descriptors","axis_parameter":"","ratio":null,"trajectory":false,"points_down":false,"role":"comparison","compared_pairs":[],"also_growth":[],"averages":false,"metrics":[{"name":"loop","about":"write + wait + dispatch","unit":"ns","lower_is_better":true,"role":"plain"},{"name":"add","about":"write + wait + dispatch","unit":"ns","lower_is_better":true,"role":"plain"}],"subjects":[]}],"unavailable":[],"cells":[]},"clock":{"source":"tsc","resolution_ns":0.4,"overhead_ns":11.25},"host_before":{"taken":"before","facts":{"cpu.model":"Testor 9000","kernel.release":"6.18.0"}}}','{"host_after":{"taken":"after","facts":{"cpu.model":"Testor 9000","kernel.release":"6.18.0"}},"warnings":[{"what":"The machine was busy","remedy":"knee doctor"}]}',996771945);
CREATE TABLE metric_info (
    run             INTEGER NOT NULL REFERENCES run (number) ON DELETE CASCADE,
    workload        TEXT NOT NULL,
    metric          TEXT NOT NULL,
    about           TEXT NOT NULL,
    unit            TEXT NOT NULL,
    lower_is_better INTEGER NOT NULL,
    PRIMARY KEY (run, workload, metric)
) WITHOUT ROWID;
INSERT INTO metric_info VALUES(1,'poll','add','write + wait + dispatch','ns',1);
INSERT INTO metric_info VALUES(1,'poll','loop','write + wait + dispatch','ns',1);
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
INSERT INTO cell VALUES(1,1,0,'{"key":{"workload":"poll","subject":"poll","parameters":{"active":"1"},"point":100,"round":0},"sequence":0,"outcome":{"outcome":"measured"},"elapsed_ns":1000000,"short":null,"usage":{"user_ns":0,"system_ns":0,"switches_voluntary":3,"switches_involuntary":0,"faults_minor":0,"faults_major":0},"metrics":[{"name":"loop","samples":[],"positions":[],"operations":20000,"usage":{"user_ns":1,"system_ns":2,"switches_voluntary":0,"switches_involuntary":0,"faults_minor":0,"faults_major":0},"histogram":"HISTFAAAAC"},{"name":"add","samples":[],"positions":[],"operations":20000,"usage":{"user_ns":1,"system_ns":2,"switches_voluntary":0,"switches_involuntary":0,"faults_minor":0,"faults_major":0}}],"facts":{"compiler":"cc","ends":["exited with 3"],"hits per tenth":[0.25,0.75],"parked peers":0,"reply_ms":41.2}}','[[],{"from":0,"step":10}]','[[1000.0,1000.3333333333334,1000.6666666666666,1001.0,1001.3333333333334,1001.6666666666666,1002.0,1002.3333333333334,1002.6666666666666,1003.0,1003.3333333333334,1003.6666666666666,1004.0,1004.3333333333334,1004.6666666666666,1005.0,1005.3333333333334,1005.6666666666666,1006.0,1006.3333333333334],[1000.0,1000.0333333333333,1000.0666666666667,1000.1,1000.1333333333333,1000.1666666666666,1000.2,1000.2333333333333,1000.2666666666667,1000.3,1000.3333333333334,1000.3666666666667,1000.4,1000.4333333333333,1000.4666666666667,1000.5,1000.5333333333333,1000.5666666666667,1000.6,1000.6333333333333]]',3529078917);
INSERT INTO cell VALUES(2,1,1,'{"key":{"workload":"poll","subject":"epoll-level","parameters":{"active":"1"},"point":100,"round":0},"sequence":1,"outcome":{"outcome":"measured"},"elapsed_ns":1000001,"short":null,"usage":{"user_ns":0,"system_ns":0,"switches_voluntary":3,"switches_involuntary":0,"faults_minor":0,"faults_major":0},"metrics":[{"name":"loop","samples":[],"positions":[],"operations":20000,"usage":{"user_ns":1,"system_ns":2,"switches_voluntary":0,"switches_involuntary":0,"faults_minor":1,"faults_major":0},"histogram":"HISTFAAAAC"},{"name":"add","samples":[],"positions":[],"operations":20000,"usage":{"user_ns":1,"system_ns":2,"switches_voluntary":0,"switches_involuntary":0,"faults_minor":1,"faults_major":0}}],"facts":{"compiler":"cc","ends":["exited with 3"],"hits per tenth":[0.25,0.75],"parked peers":1,"reply_ms":41.2}}','[[],{"from":0,"step":10}]','[[1000.0,1000.3333333333334,1000.6666666666666,1001.0,1001.3333333333334,1001.6666666666666,1002.0,1002.3333333333334,1002.6666666666666,1003.0,1003.3333333333334,1003.6666666666666,1004.0,1004.3333333333334,1004.6666666666666,1005.0,1005.3333333333334,1005.6666666666666,1006.0,1006.3333333333334],[1000.0,1000.0333333333333,1000.0666666666667,1000.1,1000.1333333333333,1000.1666666666666,1000.2,1000.2333333333333,1000.2666666666667,1000.3,1000.3333333333334,1000.3666666666667,1000.4,1000.4333333333333,1000.4666666666667,1000.5,1000.5333333333333,1000.5666666666667,1000.6,1000.6333333333333]]',263939936);
INSERT INTO cell VALUES(3,1,2,'{"key":{"workload":"poll","subject":"poll","parameters":{"active":"1"},"point":200,"round":0},"sequence":2,"outcome":{"outcome":"measured"},"elapsed_ns":1000002,"short":null,"usage":{"user_ns":0,"system_ns":0,"switches_voluntary":3,"switches_involuntary":0,"faults_minor":0,"faults_major":0},"metrics":[{"name":"loop","samples":[],"positions":[],"operations":20000,"usage":{"user_ns":1,"system_ns":2,"switches_voluntary":0,"switches_involuntary":0,"faults_minor":2,"faults_major":0},"histogram":"HISTFAAAAC"},{"name":"add","samples":[],"positions":[],"operations":20000,"usage":{"user_ns":1,"system_ns":2,"switches_voluntary":0,"switches_involuntary":0,"faults_minor":2,"faults_major":0}}],"facts":{"compiler":"cc","ends":["exited with 3"],"hits per tenth":[0.25,0.75],"parked peers":2,"reply_ms":41.2}}','[[],{"from":0,"step":10}]','[[1000.0,1000.3333333333334,1000.6666666666666,1001.0,1001.3333333333334,1001.6666666666666,1002.0,1002.3333333333334,1002.6666666666666,1003.0,1003.3333333333334,1003.6666666666666,1004.0,1004.3333333333334,1004.6666666666666,1005.0,1005.3333333333334,1005.6666666666666,1006.0,1006.3333333333334],[1000.0,1000.0333333333333,1000.0666666666667,1000.1,1000.1333333333333,1000.1666666666666,1000.2,1000.2333333333333,1000.2666666666667,1000.3,1000.3333333333334,1000.3666666666667,1000.4,1000.4333333333333,1000.4666666666667,1000.5,1000.5333333333333,1000.5666666666667,1000.6,1000.6333333333333]]',312155459);
INSERT INTO cell VALUES(4,1,3,'{"key":{"workload":"poll","subject":"epoll-level","parameters":{"active":"1"},"point":200,"round":0},"sequence":3,"outcome":{"outcome":"measured"},"elapsed_ns":1000003,"short":null,"usage":{"user_ns":0,"system_ns":0,"switches_voluntary":3,"switches_involuntary":0,"faults_minor":0,"faults_major":0},"metrics":[{"name":"loop","samples":[],"positions":[],"operations":20000,"usage":{"user_ns":1,"system_ns":2,"switches_voluntary":0,"switches_involuntary":0,"faults_minor":3,"faults_major":0},"histogram":"HISTFAAAAC"},{"name":"add","samples":[],"positions":[],"operations":20000,"usage":{"user_ns":1,"system_ns":2,"switches_voluntary":0,"switches_involuntary":0,"faults_minor":3,"faults_major":0}}],"facts":{"compiler":"cc","ends":["exited with 3"],"hits per tenth":[0.25,0.75],"parked peers":3,"reply_ms":41.2}}','[[],{"from":0,"step":10}]','[[1000.0,1000.3333333333334,1000.6666666666666,1001.0,1001.3333333333334,1001.6666666666666,1002.0,1002.3333333333334,1002.6666666666666,1003.0,1003.3333333333334,1003.6666666666666,1004.0,1004.3333333333334,1004.6666666666666,1005.0,1005.3333333333334,1005.6666666666666,1006.0,1006.3333333333334],[1000.0,1000.0333333333333,1000.0666666666667,1000.1,1000.1333333333333,1000.1666666666666,1000.2,1000.2333333333333,1000.2666666666667,1000.3,1000.3333333333334,1000.3666666666667,1000.4,1000.4333333333333,1000.4666666666667,1000.5,1000.5333333333333,1000.5666666666667,1000.6,1000.6333333333333]]',3969252338);
INSERT INTO cell VALUES(5,1,4,'{"key":{"workload":"poll","subject":"poll","parameters":{"active":"1"},"point":300,"round":0},"sequence":4,"outcome":{"outcome":"failed","reason":{"kind":"deadline-exceeded","deadline_ms":10000,"activity":"","text":"did not finish within 10 s"},"detail":"state D"},"elapsed_ns":1000004,"short":null,"usage":{"user_ns":0,"system_ns":0,"switches_voluntary":3,"switches_involuntary":0,"faults_minor":0,"faults_major":0},"metrics":[],"facts":{"compiler":"cc","ends":["exited with 3"],"hits per tenth":[0.25,0.75],"parked peers":4,"reply_ms":41.2}}','[]','[]',1310694969);
INSERT INTO cell VALUES(6,1,5,'{"key":{"workload":"poll","subject":"epoll-level","parameters":{"active":"1"},"point":300,"round":0},"sequence":5,"outcome":{"outcome":"measured"},"elapsed_ns":1000005,"short":null,"usage":{"user_ns":0,"system_ns":0,"switches_voluntary":3,"switches_involuntary":0,"faults_minor":0,"faults_major":0},"metrics":[{"name":"loop","samples":[],"positions":[],"operations":20000,"usage":{"user_ns":1,"system_ns":2,"switches_voluntary":0,"switches_involuntary":0,"faults_minor":5,"faults_major":0},"histogram":"HISTFAAAAC"},{"name":"add","samples":[],"positions":[],"operations":20000,"usage":{"user_ns":1,"system_ns":2,"switches_voluntary":0,"switches_involuntary":0,"faults_minor":5,"faults_major":0}}],"facts":{"compiler":"cc","ends":["exited with 3"],"hits per tenth":[0.25,0.75],"parked peers":5,"reply_ms":41.2},"load":{"counts":{"requests":90,"replies":80,"failures":0,"unsent":0,"unfinished":0,"waited":0,"connections":0,"asked":0,"unserved":0,"errors":{"refused":5}},"ranks":[{"rank":0,"measured":{"host":"node1","requests":90,"replies":80,"start_late_ns":104250,"clock_bound_ns":48120,"late":3,"busy_share":0.25}},{"rank":1,"measured":null}]}}','[[],{"from":0,"step":10}]','[[1000.0,1000.3333333333334,1000.6666666666666,1001.0,1001.3333333333334,1001.6666666666666,1002.0,1002.3333333333334,1002.6666666666666,1003.0,1003.3333333333334,1003.6666666666666,1004.0,1004.3333333333334,1004.6666666666666,1005.0,1005.3333333333334,1005.6666666666666,1006.0,1006.3333333333334],[1000.0,1000.0333333333333,1000.0666666666667,1000.1,1000.1333333333333,1000.1666666666666,1000.2,1000.2333333333333,1000.2666666666667,1000.3,1000.3333333333334,1000.3666666666667,1000.4,1000.4333333333333,1000.4666666666667,1000.5,1000.5333333333333,1000.5666666666667,1000.6,1000.6333333333333]]',4187209331);
CREATE TABLE profile (
    number INTEGER PRIMARY KEY,                -- ascends in the order in which cells ended
    run    INTEGER NOT NULL REFERENCES run (number) ON DELETE CASCADE,
    key    TEXT NOT NULL,                      -- JSON: which cell it is
    body   TEXT NOT NULL,                      -- JSON: cell, and what of the run's profile came with it
    seal   INTEGER NOT NULL,
    UNIQUE (run, key)
);
INSERT INTO profile VALUES(1,1,'{"workload":"poll","subject":"poll","parameters":{"active":"1"},"point":100,"round":0}','{"cell":{"key":{"workload":"poll","subject":"poll","parameters":{"active":"1"},"point":100,"round":0},"outcome":{"outcome":"measured"},"elapsed_ns":3000000,"event":"cpu-clock","sample_ns":1003009.0270812437,"regions":[{"metric":"loop","position":100,"operations":1000,"elapsed_ns":2000000,"samples":[[1,3],[2,17]],"instructions":[{"frame":2,"offset":1,"count":17}]}],"samples_outside":5,"limits":[{"kind":"samples-lost","lost":0}]},"before":{"frames":0,"stacks":0,"code":0},"frames":[{"function":"knee","module":"","kind":"process"},{"function":"do_sys_poll","module":"kernel","kind":"kernel"},{"function":"callee_0","module":"kernel","kind":"kernel"},{"function":"callee_1","module":"kernel","kind":"kernel"},{"function":"callee_2","module":"kernel","kind":"kernel"},{"function":"callee_3","module":"kernel","kind":"kernel"}],"stacks":[{"caller":null,"frame":0},{"caller":0,"frame":1},{"caller":1,"frame":2},{"caller":1,"frame":3},{"caller":1,"frame":4},{"caller":1,"frame":5}],"code":[{"frame":2,"code":{"machine":{"architecture":"x86_64","address":18446744071580942336,"bytes":"90c3","lines":[[0,"fs/select.c:17"]]}}},{"frame":3,"code":{"fault":{"kind":"kernel-memory-unreadable","error":"Operation not permitted"}}},{"frame":4,"code":{"machine":{"architecture":"x86_64","address":18446744071580942464,"bytes":"90c3","lines":[[0,"fs/select.c:17"]]}}},{"frame":5,"code":{"fault":{"kind":"kernel-memory-unreadable","error":"Operation not permitted"}}}],"last_checksum":3699367605}',2080137586);
INSERT INTO profile VALUES(2,1,'{"workload":"poll","subject":"epoll-level","parameters":{"active":"1"},"point":100,"round":0}','{"cell":{"key":{"workload":"poll","subject":"epoll-level","parameters":{"active":"1"},"point":100,"round":0},"outcome":{"outcome":"measured"},"elapsed_ns":3000001,"event":"cpu-clock","sample_ns":1003009.0270812437,"regions":[{"metric":"loop","position":200,"operations":1000,"elapsed_ns":2000000,"samples":[[1,3],[3,18]],"instructions":[{"frame":3,"offset":1,"count":18}]}],"samples_outside":5,"limits":[{"kind":"samples-lost","lost":1}]},"before":{"frames":6,"stacks":6,"code":4},"frames":[],"stacks":[],"code":[],"last_checksum":3699367605}',2964474030);
INSERT INTO profile VALUES(3,1,'{"workload":"poll","subject":"poll","parameters":{"active":"1"},"point":200,"round":0}','{"cell":{"key":{"workload":"poll","subject":"poll","parameters":{"active":"1"},"point":200,"round":0},"outcome":{"outcome":"failed","reason":{"kind":"deadline-exceeded","deadline_ms":10000,"activity":"","text":"did not finish within 10 s"},"detail":"state D"},"elapsed_ns":3000002,"event":"cpu-clock","sample_ns":1003009.0270812437,"regions":[],"samples_outside":5,"limits":[{"kind":"samples-lost","lost":2}]},"before":{"frames":6,"stacks":6,"code":4},"frames":[],"stacks":[],"code":[],"last_checksum":3699367605}',991387457);
INSERT INTO profile VALUES(4,1,'{"workload":"poll","subject":"epoll-level","parameters":{"active":"1"},"point":200,"round":0}','{"cell":{"key":{"workload":"poll","subject":"epoll-level","parameters":{"active":"1"},"point":200,"round":0},"outcome":{"outcome":"measured"},"elapsed_ns":3000003,"event":"cpu-clock","sample_ns":1003009.0270812437,"regions":[{"metric":"loop","position":400,"operations":1000,"elapsed_ns":2000000,"samples":[[1,3],[5,20]],"instructions":[{"frame":5,"offset":1,"count":20}]}],"samples_outside":5,"limits":[{"kind":"samples-lost","lost":3}]},"before":{"frames":6,"stacks":6,"code":4},"frames":[],"stacks":[],"code":[],"last_checksum":3699367605}',207114659);
CREATE TABLE baseline (
    name TEXT PRIMARY KEY,
    run  INTEGER NOT NULL REFERENCES run (number) ON DELETE CASCADE
) WITHOUT ROWID;
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence VALUES('run',1);
CREATE TRIGGER run_has_metrics AFTER INSERT ON run BEGIN
    INSERT OR IGNORE INTO metric_info
    SELECT new.number, workload.value ->> 'name', metric.value ->> 'name', metric.value ->> 'about',
           metric.value ->> 'unit', metric.value ->> 'lower_is_better'
    FROM json_each(new.begun, '$.plan.workloads') AS workload
    JOIN json_each(workload.value, '$.metrics') AS metric;
END;
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
COMMIT;
