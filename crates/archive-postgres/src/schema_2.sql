-- Schema 2: what a cell is of may be longer than an entry of an index. So the index has hashes.

ALTER TABLE knee.profile_cell DROP CONSTRAINT profile_cell_run_workload_subject_parameters_point_key;
CREATE UNIQUE INDEX profile_cell_once ON knee.profile_cell (
    run, point, hashtextextended(workload, 0), hashtextextended(subject, 0), jsonb_hash_extended(parameters, 0)
);
