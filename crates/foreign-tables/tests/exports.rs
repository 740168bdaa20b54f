//! Exports of known programs are read without flags: each as its program meant it.

use foreign_tables::{Input, TableRequest, read};
use model::Run;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::Cursor;
use std::path::Path;

const DIRECTORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/exports");

/// Each file of the directory, and what is read of it, as `summary` writes it.
const EXPORTS: &[(&str, &str)] = &[
    (
        "benchmark-dotnet.csv",
        "N, ns, rounds 1\n\
         Insertion, 100: 2104.0, 1000: 204764.0\n\
         Quick, 100: 901.8, 1000: none\n",
    ),
    (
        "benchmark-dotnet.json",
        "N, ns, rounds 3\n\
         Sorts.Insertion, 100: 2101.5, 1000: 204777.2\n\
         Sorts.Quick, 100: 901.0, 1000: none\n",
    ),
    (
        "criterion.txt",
        "n, ns, rounds 1\n\
         Fibonacci/Iterative with a long name, 5: 3.1, 10: 2.6, 15: 4.4\n\
         Fibonacci/Recursive, 5: 20.9, 10: 218.4, 15: 2146.0\n\
         Without n, and so passed over: norm\n",
    ),
    (
        "divan.txt",
        "n, ns, rounds 1\n\
         collections/collect/BTreeSet<u32>, 100: 626.8, 1000: 8044.0\n\
         collections/collect/Vec<u32>, 100: 43.3, 1000: 158.2\n\
         sum, 100: 11.8, 1000: 98.5, 10000: 918.6\n\
         Without n, and so passed over: collections/threaded and plain\n",
    ),
    (
        "fio.json",
        "iodepth, ns, rounds 1\n\
         qd{iodepth} read statistic=p50, 1: 1160.0, 4: 246784.0, 16: 1019904.0\n\
         qd{iodepth} read statistic=p99, 1: 2416.0, 4: 403456.0, 16: 1941504.0\n\
         qd{iodepth} read statistic=p99.9, 1: 5408.0, 4: 1499136.0, 16: 22675456.0\n",
    ),
    (
        "google-benchmark.csv",
        "n, ns, rounds 1\n\
         BM_Lookup threads=(none), 64: 6.3, 512: 7.0, 4096: 15.6, 32768: 107.2\n\
         BM_Sum threads=1, 64: 34.3, 512: 196.0, 4096: 1467.6, 32768: 11532.4\n\
         BM_Sum threads=2, 64: 17.7, 512: 148.2, 4096: 1314.6, 32768: 10998.9\n\
         2 rows were passed over: the program's own statistics of other rows (`BM_Lookup_BigO`)\n\
         Without n, and so passed over: BM_Empty\n",
    ),
    (
        "google-benchmark.json",
        "n, ns, rounds 3\n\
         BM_Lookup threads=(none), 64: 6.3, 512: 7.0\n\
         BM_Sum threads=1, 64: 32.5, 512: 197.4\n\
         BM_Sum threads=2, 64: 30.3, 512: 175.5\n\
         8 rows were passed over: the program's own statistics of other rows (`BM_Lookup/64_mean`)\n\
         Without n, and so passed over: BM_Empty\n",
    ),
    (
        "hyperfine.json",
        "threads, ns, rounds 3\n\
         ./fd-gnu -j {threads} x /srv, 1: 811988397.0, 2: 418620058.0, 3: 283892707.0\n\
         ./fd-musl -j {threads} x /srv, 1: 1047308929.0, 2: 657744757.0, 3: 646815370.0\n",
    ),
    (
        "jmh.csv",
        "size, ops/s, rounds 1\n\
         org.sample.MyBenchmark.sum list, 10: 58092269.0, 100: 16806133.0, 1000: 1748305.0\n\
         org.sample.MyBenchmark.sum set, 10: 28552323.0, 100: 2406387.0, 1000: 147025.0\n\
         Without throughput, and so passed over: org.sample.MyBenchmark.contains\n",
    ),
    (
        "jmh.json",
        "size, ops/s, rounds 6\n\
         org.sample.MyBenchmark.sum list, 10: 66916416.9, 100: 17165361.4, 1000: 1842798.5\n\
         org.sample.MyBenchmark.sum set, 10: 26955881.9, 100: 2292326.1, 1000: 130349.0\n\
         Without throughput, and so passed over: org.sample.MyBenchmark.contains\n",
    ),
    (
        "pytest-benchmark-statistics.json",
        "n, ns, rounds 1\n\
         test_lookup[list], 100: 1398.7, 1000: 10345.3, 10000: 98359.3\n\
         Without n, and so passed over: test_plain\n",
    ),
    (
        "pytest-benchmark.json",
        "n, ns, rounds 5\n\
         test_lookup[list], 100: 1398.7, 1000: 10345.3, 10000: 98359.3\n\
         test_lookup[set], 100: 163.7, 1000: 213.7, 10000: 230.3\n\
         Without n, and so passed over: test_plain\n",
    ),
    (
        "wrk.txt",
        "connections, ns, rounds 1\n\
         http://127.0.0.1:8765/x statistic=max, 1: 7000000.0, 4: 6940000.0, 16: 11220000.0\n\
         http://127.0.0.1:8765/x statistic=mean, 1: 560880.0, 4: 3200000.0, 16: 4180000.0\n\
         http://127.0.0.1:8765/x statistic=p50, 1: 521000.0, 4: 3090000.0, 16: 4010000.0\n\
         http://127.0.0.1:8765/x statistic=p75, 1: 605000.0, 4: 3770000.0, 16: 4710000.0\n\
         http://127.0.0.1:8765/x statistic=p90, 1: 699000.0, 4: 4420000.0, 16: 5420000.0\n\
         http://127.0.0.1:8765/x statistic=p99, 1: 1310000.0, 4: 5840000.0, 16: 8760000.0\n",
    ),
];

fn run(file: &str, request: &TableRequest) -> Run {
    let input = Input::open(&Path::new(DIRECTORY).join(file)).unwrap();
    read(request, input, Vec::new()).unwrap_or_else(|error| panic!("{error}")).run
}

/// The axis, the unit and the rounds; each series with its medians by point; what was passed over.
fn summary(run: &Run) -> String {
    let mut samples: BTreeMap<String, BTreeMap<u64, Vec<f64>>> = BTreeMap::new();
    for cell in &run.cells {
        let parameters = cell.key.parameters.iter().map(|(name, value)| format!(" {name}={value}"));
        let name = cell.key.subject.clone() + &parameters.collect::<String>();
        let sampled = samples.entry(name).or_default().entry(cell.key.point).or_default();
        sampled.extend(cell.metrics.iter().flat_map(|metric| &metric.samples));
    }
    let workload = &run.plan.workloads[0];
    let (axis, unit) = (&workload.axis, &workload.metrics[0].unit);
    let mut out = format!("{axis}, {unit}, rounds {}\n", run.plan.rounds);
    for (name, points) in samples {
        out += &name;
        for (point, mut samples) in points {
            samples.sort_by(f64::total_cmp);
            let median =
                samples.get(samples.len() / 2).map_or("none".into(), |x| format!("{x:.1}"));
            write!(out, ", {point}: {median}").unwrap();
        }
        out += "\n";
    }
    let passed_over = run.warnings.iter().filter(|warning| warning.what.contains("passed over"));
    passed_over.for_each(|warning| out += &(warning.what.clone() + "\n"));
    out
}

#[test]
fn exports_need_no_flags() {
    for entry in fs::read_dir(DIRECTORY).unwrap() {
        let file = entry.unwrap().file_name().into_string().unwrap();
        let came = summary(&run(&file, &TableRequest::default()));
        let wanted = EXPORTS.iter().find(|(name, _)| *name == file).map(|(_, wanted)| *wanted);
        assert_eq!(Some(came.as_str()), wanted, "{file}");
    }
}

#[test]
fn flags_take_other_parameters_and_figures() {
    let asked = |x: &str, y: &str| TableRequest {
        x: Some(x.to_owned()).filter(|x| !x.is_empty()),
        y: Some(y.to_owned()).filter(|y| !y.is_empty()),
        ..TableRequest::default()
    };
    for (file, x, y, wanted) in [
        (
            "wrk.txt",
            "",
            "rate",
            "connections, requests/s, rounds 1\nhttp://127.0.0.1:8765/x, 1: 1558.3",
        ),
        ("fio.json", "", "iops", "iodepth, ops/s, rounds 1\nqd{iodepth} read, 1: 1"),
        (
            "jmh.json",
            "",
            "time",
            "size, ns, rounds 6\norg.sample.MyBenchmark.contains list, 10: 10.0",
        ),
        (
            "divan.txt",
            "threads",
            "",
            "threads, ns, rounds 1\ncollections/threaded, 1: 20.4, 2: 159.8\n",
        ),
        (
            "google-benchmark.csv",
            "",
            "cpu_time",
            "n, ns, rounds 1\nBM_Lookup threads=(none), 64: 6.3",
        ),
        (
            "google-benchmark.csv",
            "threads",
            "items_per_second",
            "threads, items/s, rounds 1\nBM_Sum n=32768, 1: 28",
        ),
        // The columns of the file itself.
        ("jmh.csv", "Param: size", "Score", "Param: size, , rounds "),
    ] {
        let came = summary(&run(file, &asked(x, y)));
        assert!(came.starts_with(wanted), "{file}: {came}");
    }
    for (file, y) in [("fio.json", "bandwidth"), ("wrk.txt", "rate")] {
        let came = summary(&run(file, &asked("", y)));
        assert!(!came.contains("passed over"), "{file}: {came}");
    }
}

#[test]
fn what_is_cut_off_is_read_or_refused_in_one_line() {
    for (file, _) in EXPORTS {
        let bytes = fs::read(Path::new(DIRECTORY).join(file)).unwrap();
        for end in (0..bytes.len()).step_by(89) {
            let input = Input::new(file, Box::new(Cursor::new(bytes[..end].to_vec())));
            if let Err(error) = read(&TableRequest::default(), input, Vec::new()) {
                assert!(!error.to_string().contains(char::is_control), "{file}, {end}: {error}");
            }
        }
    }
}

#[test]
fn what_no_program_exports_says_which_flags_it_needs() {
    for (text, wanted) in [
        (
            "{\"a\":\n1}",
            "is JSON of no program that knee reads; write it as a table, and name its columns by --x",
        ),
        ("[{\"a\": 1}]", "is JSON of no program that knee reads"),
        ("n,us\n1,5\n", "is a table, and needs --x and --y"),
        (
            "{\"machine_info\": {}}",
            "begins like an export of pytest-benchmark, but its JSON is not",
        ),
        ("[{\"jmhVersion\": \"1\"}]", "begins like an export of JMH, but its JSON is not"),
        (
            "{\"context\": {}, \"benchmarks\": []}",
            "is an export of Google Benchmark, but has no figure",
        ),
    ] {
        let input = Input::new("a", Box::new(text.as_bytes()));
        let refused = read(&TableRequest::default(), input, Vec::new()).map(|_| ()).unwrap_err();
        assert!(refused.to_string().contains(wanted), "{refused}");
    }
    let input = Input::open(&Path::new(DIRECTORY).join("jmh.json")).unwrap();
    let request = TableRequest { y: Some("speed".into()), ..TableRequest::default() };
    let refused = read(&request, input, Vec::new()).map(|_| ()).unwrap_err().to_string();
    assert!(refused.ends_with("has no `speed` for --y; it has throughput and time"), "{refused}");
}

/// What is easily misread: each with what must come.
const PITFALLS: &[(&str, &str, &str)] = &[
    (
        "the port of a URL is no point, and the largest latency no rival of the mean",
        "Running 1s test @ http://127.0.0.1:8765/x\n  2 threads and 4 connections\n    \
         Latency     1.00ms    2.00ms   9.00ms   90.00%\nRequests/sec:   1000.0\n",
        "name: 1 http://127.0.0.1:8765/x, ns, rounds 1\n\
         latency statistic=max, 1: 9000000.0\n\
         latency statistic=mean, 1: 1000000.0\n\
         The table was taken for one of wrk: --x name, --y latency and --per statistic\n",
    ),
    (
        "the second distribution of wrk2 is another one",
        "Running 1s test @ http://a/x\n  2 threads and 4 connections\n    50.000%  100.00ms\n\
         ----\n  Uncorrected Latency (measured without taking delayed starts into account)\n    50.000%    1.00ms\n\
         Running 1s test @ http://a/x\n  2 threads and 8 connections\n    50.000%  200.00ms\n\
         ----\n  Uncorrected Latency (measured without taking delayed starts into account)\n    50.000%    2.00ms\n\
         Non-2xx or 3xx responses: 7\n",
        "connections, ns, rounds 1\n\
         http://a/x statistic=p50, 4: 100000000.0, 8: 200000000.0\n\
         http://a/x statistic=uncorrected p50, 4: 1000000.0, 8: 2000000.0\n\
         The table was taken for one of wrk: --x connections, --y latency, --by name and --per statistic\n\
         http://a/x: Non-2xx or 3xx responses: 7\n",
    ),
    (
        "clones of a job share its work",
        r#"{"fio version": "3", "jobs": [
          {"jobname": "j", "error": 5, "job options": {"numjobs": "2"}, "read": {"total_ios": 9, "iops": 1000.0}},
          {"jobname": "j", "job options": {"numjobs": "2"}, "read": {"total_ios": 9, "iops": 1500.0}}]}
          {"fio version": "3", "jobs": [
          {"jobname": "j", "job options": {"numjobs": "1"}, "read": {"total_ios": 9, "iops": 1000.0}}]}"#,
        "numjobs, ops/s, rounds 1\n\
         j read, 1: 1000.0, 2: 2500.0\n\
         The table was taken for one of fio: --x numjobs, --y iops and --by name\n\
         j ended with error 5\n\
         More was taken as better, since ops/s is a rate\n",
    ),
    (
        "jobs that run one after the other do not share the work",
        r#"{"fio version": "3", "jobs": [
          {"jobname": "j", "groupid": 0, "job options": {"filename": "/a"}, "read": {"total_ios": 9, "iops": 1000.0}},
          {"jobname": "j", "groupid": 1, "job options": {"filename": "/b"}, "read": {"total_ios": 9, "iops": 1500.0}},
          {"jobname": "k", "groupid": 2, "job options": {"filename": "/b"}, "read": {"total_ios": 9, "iops": 10.0}},
          {"jobname": "k", "groupid": 3, "job options": {"filename": "/b"}, "read": {"total_ios": 9, "iops": 30.0}}]}"#,
        "name: 1 j read/filename:/a, 2 j read/filename:/b, 3 k read/filename:/b, ops/s, rounds 2\n\
         iops, 1: 1000.0, 2: 1500.0, 3: 30.0\n\
         The table was taken for one of fio: --x name and --y iops\n\
         More was taken as better, since ops/s is a rate\n",
    ),
    (
        "names have the options that vary",
        r#"{"fio version": "3", "global options": {"bs": "4k"}, "jobs": [
          {"jobname": "rand-4k-qd4", "job options": {"iodepth": "4"}, "read": {"total_ios": 9, "iops": 1000.0}},
          {"jobname": "rand-4k-qd16", "job options": {"iodepth": "16"}, "read": {"total_ios": 9, "iops": 4000.0}}]}"#,
        "iodepth, ops/s, rounds 1\n\
         rand-4k-qd{iodepth} read, 4: 1000.0, 16: 4000.0\n\
         The table was taken for one of fio: --x iodepth, --y iops and --by name\n\
         More was taken as better, since ops/s is a rate\n",
    ),
    (
        "a value in the name that is no parameter stays",
        "command,mean,stddev,median,user,system,min,max,parameter_n\n\
         sort -j 1 --level 1,8.0,0.1,8,1,1,7.9,8.1,1\nsort -j 2 --level 1,4,0.1,4,1,1,3.9,4.1,2\n",
        "parameter n, ns, rounds 1\n\
         sort -j {n} --level 1, 1: 8000000000.0, 2: 4000000000.0\n\
         The table was taken for one of hyperfine: --x parameter_n, --y mean and --by name\n",
    ),
    (
        "commands without a parameter are x",
        "command,mean,stddev,median,user,system,min,max\na,8,0.1,8,1,1,7.9,8.1\nb,4,0.1,4,1,1,3.9,4.1\n",
        "name: 1 a, 2 b, ns, rounds 1\n\
         mean, 1: 8000000000.0, 2: 4000000000.0\n\
         The table was taken for one of hyperfine: --x name and --y mean\n",
    ),
    (
        "tests of two classes are two",
        r#"{"machine_info": {}, "benchmarks": [
          {"name": "test_x[10]", "fullname": "t.py::A::test_x[10]", "params": {"n": 10}, "param": "10", "stats": {"data": [1.0]}},
          {"name": "test_x[20]", "fullname": "t.py::A::test_x[20]", "params": {"n": 20}, "param": "20", "stats": {"data": [2.0]}},
          {"name": "test_x[10]", "fullname": "t.py::B::test_x[10]", "params": {"n": 10}, "param": "10", "stats": {"data": [5.0]}}]}"#,
        "n, ns, rounds 1\n\
         t.py::A::test_x, 10: 1000000000.0, 20: 2000000000.0\n\
         t.py::B::test_x, 10: 5000000000.0\n\
         The table was taken for one of pytest-benchmark: --x n, --y time and --by name\n",
    ),
    (
        "functions of two programs are two",
        "a        fastest       │ slowest       │ median        │ mean          │ samples │ iters\n\
         ├─ sum                 │               │               │               │         │\n\
         │  ├─ 1  1 ns          │ 1 ns          │ 1 ns          │ 1 ns          │ 100     │ 100\n\
         │  ╰─ 2  2 ns          │ 2 ns          │ 2 ns          │ 2 ns          │ 100     │ 100\n\
         b        fastest       │ slowest       │ median        │ mean          │ samples │ iters\n\
         ╰─ sum                 │               │               │               │         │\n   \
            ├─ 1  5 ns          │ 5 ns          │ 5 ns          │ 5 ns          │ 100     │ 100\n   \
            ╰─ 2  6 ns          │ 6 ns          │ 6 ns          │ 6 ns          │ 100     │ 100\n",
        "n, ns, rounds 1\n\
         a/sum, 1: 1.0, 2: 2.0\n\
         b/sum, 1: 5.0, 2: 6.0\n\
         The table was taken for one of divan: --x n, --y median and --by name\n",
    ),
    (
        "modes of JMH are not compared, bytes an operation are no time, and what has no score has failed",
        "\"Benchmark\",\"Mode\",\"Threads\",\"Samples\",\"Score\",\"Score Error (99.9%)\",\"Unit\",\"Param: n\"\n\
         \"s\",\"avgt\",1,5,\"10,5\",1,\"us/op\",1\n\"s\",\"avgt\",1,5,\"20,5\",1,\"us/op\",2\n\
         \"s\",\"ss\",1,5,\"4000,0\",1,\"us/op\",1\n\"s:gc\",\"avgt\",1,5,\"24,0\",1,\"B/op\",1\n",
        "n, ns, rounds 1\n\
         s avgt, 1: 10500.0, 2: 20500.0\n\
         s ss, 1: 4000000.0\n\
         Without time, and so passed over: s:gc\n\
         The table was taken for one of JMH: --x n, --y time and --by name,mode\n",
    ),
    (
        "commands have the parameters that vary where they stand",
        r#"{"results": [
          {"command": "a -j 1 -n 4 /srv/1", "times": [1.0], "exit_codes": [0], "parameters": {"j": "1", "flag": ""}},
          {"command": "a -j 4 -n 4 /srv/1", "times": [2.0], "exit_codes": [3], "parameters": {"j": "4", "flag": ""}}]}"#,
        "j, ns, rounds 1\n\
         a -j {j} -n 4 /srv/1, 1: 1000000000.0, 4: 2000000000.0\n\
         The table was taken for one of hyperfine: --x j, --y time and --by name\n\
         1 of 1 runs of `a -j 4 -n 4 /srv/1` failed\n",
    ),
    (
        "what Google Benchmark skips is no figure, and a name that ends like a statistic is one",
        r#"{"context": {}, "benchmarks": [
          {"name": "BM_find_min/8", "run_type": "iteration", "real_time": 5.0, "time_unit": "ns"},
          {"name": "BM_find_min/16", "run_type": "iteration", "real_time": 0.0, "time_unit": "ns", "skipped": true, "skip_message": "404 not found"},
          {"name": "BM_find_min/32", "run_type": "iteration", "error_occurred": true, "error_message": "5 us exceeded"}]}"#,
        "n, ns, rounds 1\n\
         BM_find_min, 8: 5.0, 16: none, 32: none\n\
         The table was taken for one of Google Benchmark: --x n, --y real_time and --by name\n",
    ),
    (
        "threads that grow with connections make no tables",
        "Running 1s test @ http://a/x\n  1 threads and 1 connections\nRequests/sec:   1000.0\n\
         Running 1s test @ http://a/x\n  2 threads and 4 connections\nRequests/sec:   2000.0\n\
         Running 1s test @ http://a/x\n  4 threads and 16 connections\nRequests/sec:   3000.0\n",
        "connections, requests/s, rounds 1\n\
         http://a/x, 1: 1000.0, 4: 2000.0, 16: 3000.0\n\
         The table was taken for one of wrk: --x connections, --y rate and --by name\n\
         threads grows with connections, and so its effect can't be separated\n\
         More was taken as better, since requests/s is a rate\n",
    ),
];

#[test]
fn pitfalls_of_exports_are_known() {
    for (what, export, wanted) in PITFALLS {
        let input = Input::new("export", Box::new(Cursor::new(export.as_bytes().to_vec())));
        let run = read(&TableRequest::default(), input, Vec::new());
        let run = run.unwrap_or_else(|error| panic!("{what}: {error}")).run;
        let mut came = summary(&run);
        for warning in run.warnings.iter().filter(|warning| !warning.what.contains("passed over")) {
            writeln!(came, "{}", warning.what).unwrap();
        }
        assert_eq!(came, *wanted, "{what}");
    }
}
