//! A map over several numbers of CPUs tells its columns as multiples, as the tables do.

use analysis::{Estimate, Lead, Map};

fn lead(best: &str, second: &str) -> Lead {
    let margin = Estimate { value: 1.31, low: 1.28, high: 1.34 };
    let (best, second, tied) = (best.to_owned(), second.to_owned(), Vec::new());
    Lead { best, second, margin, clear: true, tied, measured: 2 }
}

#[test]
fn a_map_over_cpus_has_columns_that_are_multiples() {
    let (run, mut conclusions) = crate::fixture::locks::locks(2);
    let table = &conclusions.analysis.tables[0];
    let mut parameters = table.parameters.clone();
    parameters.remove("cpus");
    conclusions.analysis.maps.push(Map {
        workload: "lock".to_owned(),
        metric: table.metric.clone(),
        parameters,
        whole: "cpus".to_owned(),
        word: "per CPU".to_owned(),
        totals: vec![1, 2],
        shares: vec![0.5, 1.0, 16.0],
        subjects: ["byte", "futex"].map(|name| (name.to_owned(), name.to_owned())).to_vec(),
        leads: vec![vec![Some(lead("byte", "futex")), None, Some(lead("futex", "byte"))]; 2],
    });
    let page = report::html::page(&[(run, conclusions)]);
    let map = page.split("<figure class=\"map\"").nth(1).expect("a map");
    let map = map.split("</figure>").next().unwrap_or_default();
    for head in ["<th scope=\"col\">0.5</th>", "<th scope=\"col\">16 per CPU</th>"] {
        assert!(map.contains(head), "{head} is not in {map}");
    }
    assert!(map.contains("threads per CPU") && map.contains(">CPUs</th>"), "{map}");
    assert!(
        map.contains("A row is a number of CPUs, a column a number of threads per CPU."),
        "{map}"
    );
    // The only percentage is that of the interval.
    assert_eq!(map.matches(" %").count(), map.matches("95 % CI").count(), "{map}");
}
