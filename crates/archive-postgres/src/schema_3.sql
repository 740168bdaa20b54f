-- Schema 3: how many rows of metrics a run had when it ended; NULL while it is open, and where an older knee kept it.

ALTER TABLE knee.run ADD COLUMN metrics_kept bigint;

-- Default privileges are the same for all tables. A role that may add runs may end them and move baselines; it has no other
-- way to change what is there.
DO $$
DECLARE
    writer text;
BEGIN
    FOR writer IN
        SELECT DISTINCT privilege.grantee::regrole::text
        FROM pg_class AS class
        CROSS JOIN LATERAL aclexplode(class.relacl) AS privilege
        WHERE class.oid = 'knee.run'::regclass AND privilege.privilege_type = 'INSERT'
          AND privilege.grantee NOT IN (0, class.relowner)
    LOOP
        EXECUTE 'REVOKE INSERT, UPDATE ON knee.version FROM ' || writer;
        EXECUTE 'REVOKE UPDATE ON knee.run, knee.metric_info, knee.cell, knee.metric, knee.profile_cell, '
            'knee.baseline FROM ' || writer;
        EXECUTE 'GRANT UPDATE (state, ended, summary, host_after, warnings, cells_kept, metrics_kept, '
            'profiled_kept) ON knee.run TO ' || writer;
        EXECUTE 'GRANT UPDATE (run) ON knee.baseline TO ' || writer;
    END LOOP;
END $$;
