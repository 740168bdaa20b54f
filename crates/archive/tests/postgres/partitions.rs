//! The partitions of docs/archive.md: knee works with them, and pruning one keeps what has to stay.

use crate::contract::complete;
use crate::server;
use crate::views::{ROLES, block_with};
use archive::PostgresArchive;
use archive::{Archive, Merged, merge};

/// What makes partitions, makes the next one, and prunes one, for so few runs in each.
pub fn statements(runs_each: u32) -> [String; 3] {
    let partitions = include_str!("../../../../deploy/postgres/partitions.sql").to_owned();
    let prune = include_str!("../../../../deploy/postgres/prune.sql").to_owned();
    [partitions, block_with("CREATE TABLE knee.cell_30000"), prune].map(|sql| {
        sql.replace("60000", &(2 * runs_each).to_string()).replace("30000", &runs_each.to_string())
    })
}

#[test]
fn partitions_are_made_filled_and_pruned() {
    let Some(server) = server::shared() else { return };
    let database = server.database();
    // Roles are those of a whole server: by names of their own.
    let roles = ROLES.replace("knee_", "parts_");
    server.admin(&database).unwrap().batch_execute(&roles).unwrap();
    let mut owner = PostgresArchive::open(&server.url("parts_owner", &database)).unwrap();
    let mut writer = PostgresArchive::open(&server.url("parts_writer", &database)).unwrap();
    let run = |n: i64| complete(&format!("{n:016x}"), 7, 1);
    let mut push = |n: i64| assert_eq!(writer.keep(&run(n), "merge").unwrap(), n);
    let [convert, next, prune] = statements(4);
    let mut past_knee = server.client("parts_owner", &database).unwrap();
    (1..=2).for_each(&mut push);
    past_knee.batch_execute(&convert).unwrap();
    past_knee.batch_execute(&next).unwrap();
    (3..=9).for_each(&mut push);
    let mut rows_of = |table: &str| -> Vec<i64> {
        let sql = format!("SELECT DISTINCT run FROM knee.{table} ORDER BY run");
        past_knee.query(&sql, &[]).unwrap().iter().map(|row| row.get(0)).collect()
    };
    assert_eq!(rows_of("cell_old"), [1, 2, 3]);
    assert_eq!(rows_of("cell_4"), [4, 5, 6, 7]);
    assert_eq!(rows_of("cell_rest"), [8, 9]);
    for view in ["v_cell", "v_metric"] {
        assert_eq!(rows_of(view), [1, 2, 3, 4, 5, 6, 7, 8, 9]);
    }
    owner.set_baseline("main", 5).unwrap();
    past_knee.batch_execute(&prune).unwrap();
    let mut left: Vec<i64> = owner.runs().unwrap().iter().map(|run| run.number).collect();
    left.sort_unstable();
    assert_eq!(left, [1, 2, 3, 5, 8, 9]);
    assert_eq!(owner.damaged().unwrap(), [0_i64; 0]);
    for number in left {
        let loaded = owner.load(number).unwrap();
        assert_eq!((loaded.cells, loaded.profile), (run(number).cells, run(number).profile));
        assert_eq!(merge(&mut owner, &run(number)).unwrap(), Merged::Alike);
        owner.delete(number).unwrap();
    }
    for table in ["cell", "profile", "metric_info", "baseline"] {
        let sql = format!("SELECT count(*) FROM knee.{table}");
        let rows: i64 = past_knee.query_one(&sql, &[]).unwrap().get(0);
        assert_eq!(rows, 0, "{table}");
    }
}
