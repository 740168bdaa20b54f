-- One more writer, knee_robot. As the owner, or as an administrator.
CREATE ROLE knee_robot LOGIN;
GRANT USAGE ON SCHEMA knee TO knee_robot;
GRANT SELECT ON ALL TABLES IN SCHEMA knee TO knee_robot;
GRANT INSERT ON knee.run, knee.metric_info, knee.cell, knee.profile, knee.baseline, knee.meeting
    TO knee_robot;
GRANT UPDATE (ended, summary, ending, seal) ON knee.run TO knee_robot;
GRANT UPDATE (run) ON knee.baseline TO knee_robot;
