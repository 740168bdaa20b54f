//! Every format holds the whole run, and is what its specification says: read back by other readers
//! than the writers, gnuplot's script by gnuplot itself.

use crate::fixture::trajectory::{self, Size};
use crate::fixture::{build, dead, locks, pipetest, realistic, small};
use model::{Cell, Run, SubjectInfo};
use quick_xml::events::Event;
use report::export::{Content, Format, Material, TABLE, What, find, narrowed};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

/// Text that means something in each of the formats.
const AWKWARD: &str = "a|b, \"c\" 'd' `touch made-by-a-title` {x}_y^z @e \\ <i>&amp;\n# EOF";

fn written(run: &Run, format: &str, what: impl Into<Option<What>>) -> String {
    String::from_utf8(written_bytes(run, format, what)).expect("UTF-8")
}

fn written_bytes(run: &Run, format: &str, what: impl Into<Option<What>>) -> Vec<u8> {
    let mut bytes = Vec::new();
    let format = find(format).expect("a format");
    let what = what.into().filter(|what| format.choices.contains(what));
    (format.write)(&Material::new(run, what), &mut bytes).expect("written");
    assert!(is_marked(format, &bytes), "{}: {:?}", format.name, bytes.get(..16));
    bytes
}

/// Whether a file has the mark of its format near its beginning, if that has one.
pub fn is_marked(format: &Format, bytes: &[u8]) -> bool {
    let mark = format.mark.as_bytes();
    mark.is_empty() || bytes.windows(mark.len()).take(1 << 10).any(|part| part == mark)
}

/// A run whose every word is awkward.
fn awkward() -> Run {
    let word = || AWKWARD.to_owned();
    let mut run = small();
    let old = run.plan.workloads[0].subjects[3].name.clone();
    let info = &mut run.plan.workloads[0];
    info.axis = word();
    info.metrics[0].about = word();
    info.subjects[3].label = word();
    info.subjects[3].name = word();
    info.subjects[3].note = word();
    run.warnings[0].what = format!("{AWKWARD} \\");
    run.summary.command.push(AWKWARD.to_owned());
    run.plan.unavailable[0].reason = word();
    let keys = run.plan.cells.iter_mut().chain(run.cells.iter_mut().map(|cell| &mut cell.key));
    for key in keys {
        if key.subject == old {
            key.subject = word();
        }
        key.parameters.insert("run".to_owned(), word().into());
    }
    run
}

/// A table as another program reads it: its columns' names, and its rows by name.
fn read(text: &str) -> Vec<BTreeMap<String, String>> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let names = reader.headers().expect("names").clone();
    let unlike: BTreeSet<&str> = names.iter().collect();
    assert_eq!(unlike.len(), names.len(), "{names:?}");
    let rows = reader.records().map(|row| row.expect("as many fields as there are names"));
    let named = |row: csv::StringRecord| {
        names.iter().map(str::to_owned).zip(row.iter().map(str::to_owned)).collect()
    };
    rows.map(named).collect()
}

/// What tells one sample of a run from all others.
type Place = [String; 6];

/// Every sample of a run by its place.
fn samples(run: &Run) -> BTreeMap<Place, u64> {
    let mut all = BTreeMap::new();
    for cell in &run.cells {
        for metric in &cell.metrics {
            for (n, sample) in metric.samples.iter().enumerate() {
                let position = metric.positions.get(n).copied().unwrap_or(cell.key.point);
                let key = [
                    cell.key.subject.clone(),
                    cell.key.parameters.get("active").map(ToString::to_string).unwrap_or_default(),
                    metric.name.clone(),
                    cell.key.round.to_string(),
                    position.to_string(),
                    n.to_string(),
                ];
                all.insert(key, sample.to_bits());
            }
        }
    }
    all
}

#[test]
fn csv_has_every_sample_to_the_last_bit_and_no_other() {
    for run in [realistic(3).0, trajectory::before(Size::SMALL).0, awkward()] {
        let text = written(&run, "csv", What::Samples);
        assert!(text.ends_with("\r\n"), "lines end as RFC 4180 wants");
        let rows = read(&text);
        let columns = ["subject", "active", "metric", "round", "point", "sample"];
        let mut figures = BTreeMap::new();
        for row in rows.iter().filter(|row| !row["value"].is_empty()) {
            assert_eq!((row["run"].as_str(), row["unit"].as_str()), (&*run.summary.id, "ns"));
            assert_eq!(row["missing"], "");
            let key = columns.map(|name| row.get(name).cloned().unwrap_or_default());
            figures.insert(key, row["value"].parse::<f64>().unwrap().to_bits());
        }
        assert!(figures == samples(&run), "{} rows of {}", figures.len(), samples(&run).len());
    }
}

#[test]
fn csv_says_what_is_missing_and_why() {
    let (run, _) = realistic(3);
    let rows = read(&written(&run, "csv", What::Samples));
    let failed: Vec<_> = rows.iter().filter(|row| row["value"].is_empty()).collect();
    let ended = run.cells.iter().filter(|cell| cell.metrics.is_empty()).count();
    assert_eq!(failed.len(), ended);
    let killed = failed.iter().find(|row| row["subject"] == "ppoll").unwrap();
    assert_eq!(killed["missing"], "it was killed by SIGKILL");
    assert_eq!((&*killed["point"], &*killed["round"], &*killed["sample"]), ("1000", "2", ""));
    assert_eq!(killed["metric"], "loop");

    let (run, _) = trajectory::before(Size::SMALL);
    let rows = read(&written(&run, "csv", What::Samples));
    let short: Vec<_> = rows.iter().filter(|row| !row["missing"].is_empty()).collect();
    assert_eq!(short.len(), Size::SMALL.rounds as usize);
    let missing = format!("ended at {}: {}", Size::SMALL.reached(), trajectory::BECAUSE);
    assert!(short.iter().all(|row| row["missing"] == missing && row["point"] == "1000"));
}

#[test]
fn a_parameter_that_is_called_like_a_column_has_one_of_its_own() {
    let run = awkward();
    for what in [What::Samples, What::Medians] {
        let rows = read(&written(&run, "csv", what));
        assert!(rows.iter().all(|row| row["run"] == run.summary.id));
        assert!(rows.iter().all(|row| row["parameter_run"] == AWKWARD));
        assert!(rows.iter().any(|row| row["subject"] == AWKWARD));
    }
}

#[test]
fn csv_of_medians_has_a_row_for_each_point_of_each_series() {
    let (run, conclusions) = realistic(3);
    let rows = read(&written(&run, "csv", What::Medians));
    let mut rows = rows.iter();
    for table in &conclusions.analysis.tables {
        for series in &table.rows {
            for (point, cell) in table.points.iter().zip(&series.cells) {
                let row = rows.next().expect("a row");
                assert_eq!(
                    (&row["subject"], &row["metric"]),
                    (&series.subject, &table.metric.name)
                );
                assert_eq!(row["point"], point.to_string());
                let Some(at) = cell else {
                    assert!(row["median"].is_empty() && !row["missing"].is_empty(), "{row:?}");
                    continue;
                };
                let expected = [at.median.value, at.median.low, at.median.high, at.p10, at.max];
                let figures = ["median", "low", "high", "p10", "max"];
                let figures = figures.map(|name| row[name].parse::<f64>().unwrap());
                assert_eq!(figures.map(f64::to_bits), expected.map(f64::to_bits));
                assert_eq!((&*row["samples"], &*row["missing"]), (&*at.samples.to_string(), ""));
            }
        }
    }
    assert!(rows.next().is_none());
    let all = read(&written(&run, "csv", What::Medians));
    let kqueue = all.iter().find(|row| row["subject"] == "kqueue").unwrap();
    assert!(kqueue["missing"].starts_with("unavailable: libkqueue"), "{kqueue:?}");
}

#[test]
fn json_is_what_show_prints() {
    let (run, conclusions) = realistic(3);
    let shown =
        serde_json::to_string_pretty(&report::json::run(&run, &conclusions)).unwrap() + "\n";
    assert!(written(&run, "json", What::Samples) == shown);
}

/// The cells of a line of a table: what stands between bars that are not escaped.
fn cells(line: &str) -> Vec<String> {
    let inner = line.strip_prefix("| ").and_then(|line| line.strip_suffix(" |"));
    let mut cells = vec![String::new()];
    let mut letters = inner.unwrap_or_else(|| panic!("no line of a table: {line}")).chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => cells.last_mut().unwrap().extend(letters.next()),
            '|' => cells.push(String::new()),
            letter => cells.last_mut().unwrap().push(letter),
        }
    }
    cells.iter().map(|cell| cell.trim().to_owned()).collect()
}

#[test]
fn markdown_has_whole_tables_whatever_stands_in_them() {
    for (run, headline) in [(awkward(), 8), (pipetest::pipetest(2).0, 5)] {
        let text = written(&run, "markdown", What::Samples);
        let lines: Vec<&str> = text.lines().collect();
        let mut tables = 0;
        for table in lines.split(|line| !line.starts_with('|')).filter(|part| !part.is_empty()) {
            tables += 1;
            let columns = cells(table[0]).len();
            assert!(cells(table[1]).iter().all(|cell| cell.trim_matches(':') == "---"));
            for line in table {
                assert_eq!(cells(line).len(), columns, "{line}");
            }
            assert!(table.len() > 2 && columns > headline / 2, "{}", table[0]);
        }
        let conclusions = findings::conclude(&run);
        assert_eq!(tables, conclusions.analysis.tables.len());
        for finding in conclusions.findings.iter().filter(|finding| !finding.subjects.is_empty()) {
            assert!(lines.iter().any(|line| line.starts_with("- ")), "{:?}", finding.data);
        }
        let items = lines.iter().filter(|line| line.starts_with("- ")).count();
        assert!(items >= conclusions.findings.len() + conclusions.caveats.len());
    }
}

#[test]
fn markdown_escapes_a_label_in_a_table_and_in_a_sentence() {
    let text = written(&awkward(), "markdown", What::Samples);
    let escaped =
        "a\\|b, \"c\" 'd' \\`touch made-by-a-title\\` {x}\\_y^z @e \\\\ \\<i\\>\\&amp; \\# EOF";
    assert!(text.lines().any(|line| line.starts_with(&format!("| {escaped} |"))), "{text}");
    assert!(text.contains(&format!("- {escaped} ")), "{text}");
    let row = text.lines().find(|line| line.starts_with(&format!("| {escaped}"))).unwrap();
    assert_eq!(cells(row)[0], AWKWARD.replace('\n', " "));
}

#[test]
fn markdown_marks_the_best_and_folds_what_is_no_headline() {
    let text = written(&pipetest::pipetest(2).0, "markdown", What::Samples);
    assert!(text.contains("**\\* ("), "{text}");
    let (run, conclusions) = realistic(3);
    let text = written(&run, "markdown", What::Samples);
    let (open, folded) = text.split_once("<details>").unwrap();
    let headlines = conclusions.analysis.tables.iter().filter(|table| table.headline).count();
    assert_eq!(open.matches("\n### poll ").count(), headlines);
    assert_eq!(
        folded.matches("\n### poll ").count(),
        conclusions.analysis.tables.len() - headlines
    );
    assert!(folded.trim_end().ends_with("</details>"));
    let machine = "AMD EPYC 7B13, 2 CPUs, Linux 6.18.5-amd64";
    assert!(open.lines().take(3).any(|line| line.starts_with(machine)), "{open}");
}

/// `gnuplot` with a script, in a directory; nothing where there is none.
fn gnuplot(script: &str, directory: &Path, settings: &str) -> Option<()> {
    let file = directory.join("plot.gp");
    std::fs::write(&file, script).unwrap();
    let mut command = Command::new("gnuplot");
    command.args(["-e", settings]).arg(&file).current_dir(directory);
    let Ok(output) = command.output() else {
        eprintln!("SKIPPED: gnuplot is not installed (`cargo xtask test` installs it)");
        return None;
    };
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), stderr.as_ref()), (Some(0), ""), "{settings}");
    Some(())
}

/// The files in a directory that end so, sorted.
fn images(directory: &Path, ending: &str) -> Vec<String> {
    let entries = std::fs::read_dir(directory).unwrap().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = names.filter(|name| name.ends_with(ending)).collect();
    names.sort();
    names
}

#[test]
fn gnuplot_draws_every_call_of_a_trajectory_as_a_dot() {
    let (run, _) = trajectory::before(Size::SMALL);
    let directory = tempfile::tempdir().unwrap();
    let script = written(&run, "gnuplot", What::Samples);
    if gnuplot(&script, directory.path(), "terminal='svg'").is_none() {
        return;
    }
    assert_eq!(images(directory.path(), ".svg"), ["fork.svg"]);
    let image = std::fs::read_to_string(directory.path().join("fork.svg")).unwrap();
    let samples: usize = run.cells.iter().map(|cell| cell.metrics[0].samples.len()).sum();
    assert_eq!(image.matches("<use xlink:href='#gpPt6' transform").count(), samples);
    for label in ["dynamic", "static", "vfork", "posix_spawn", "clone3 pidfd"] {
        assert!(image.contains(&format!(">{label}<")), "{label}");
    }
    assert!(image.contains(">µs per fork + write + read<") && image.contains(">processes<"));
    assert!(image.contains("every call of 4 rounds is a dot"));
}

#[test]
fn gnuplot_says_how_many_calls_lie_at_the_upper_edge() {
    let (mut run, _) = trajectory::before(Size::SMALL);
    run.cells[0].metrics[0].samples[17] = 1e9;
    run.cells[1].metrics[0].samples[18] = 2e9;
    let directory = tempfile::tempdir().unwrap();
    let script = written(&run, "gnuplot", What::Samples);
    let is_cut_off = |image: &str| {
        let image = std::fs::read_to_string(directory.path().join(image)).unwrap();
        image.contains(" of 18,400 calls took longer and lie at the upper edge<")
    };
    if gnuplot(&script, directory.path(), "terminal='svg'").is_some() {
        assert!(is_cut_off("fork.svg"));
        gnuplot(&script, directory.path(), "terminal='svg'; whole=1").unwrap();
        assert!(!is_cut_off("fork.svg"));
    }
}

#[test]
fn gnuplot_draws_every_table_by_any_terminal_and_says_nothing() {
    let runs = [realistic(3), pipetest::pipetest(2), dead::dead(2), locks::locks(3)];
    for (run, conclusions) in runs.into_iter().chain([build::build(&[2]), build::build(&[1, 2])]) {
        let directory = tempfile::tempdir().unwrap();
        let script = written(&run, "gnuplot", What::Samples);
        for (terminal, ending) in [("pngcairo", ".png"), ("svg", ".svg"), ("dumb", ".txt")] {
            let settings = format!("terminal='{terminal}'");
            if gnuplot(&script, directory.path(), &settings).is_none() {
                return;
            }
            let images = images(directory.path(), ending);
            assert_eq!(images.len(), conclusions.analysis.tables.len(), "{images:?}");
            for image in images {
                assert!(directory.path().join(&image).metadata().unwrap().len() > 1000, "{image}");
            }
        }
    }
}

#[test]
fn gnuplot_gives_zero_a_place_of_its_own() {
    let run = dead::dead(2).0;
    let directory = tempfile::tempdir().unwrap();
    let script = written(&run, "gnuplot", What::Samples);
    assert!(script.contains("using ($1 > 0 ? $1 : zero):2:3:4 with yerrorlines"), "{script}");
    if gnuplot(&script, directory.path(), "terminal='svg'").is_none() {
        return;
    }
    let image = directory.path().join("dead-replies-workers-1.svg");
    let image = std::fs::read_to_string(image).unwrap();
    // Ticks of the axis across, and the strokes that break it.
    for text in ["0", "100", "1000", "10000", "//", "dead connections"] {
        let written = |line: &str| {
            let tags = line.replace("<tspan", "\n<tspan");
            tags.lines().any(|tag| {
                tag.split('>')
                    .nth(1)
                    .is_some_and(|text| text.split('<').next().unwrap_or_default().trim() == text)
            })
        };
        assert!(image.lines().any(written), "{text} is not in {image}");
    }
    // No figure at zero is missing: each series has one mark more than what lies above it.
    let marks = image.matches("<use xlink:href='#gpPt").count();
    let points = run.plan.cells.iter().filter(|key| key.round == 0).count() / 2;
    assert!(marks >= points, "{marks} of {points}");
}

#[test]
fn markdown_and_csv_have_rates_from_zero_on() {
    let (run, conclusions) = dead::dead(4);
    let text = written(&run, "markdown", What::Samples);
    let poll = text.lines().find(|line| line.starts_with("| growth |")).unwrap();
    assert!(poll.contains("| collapses ÷") && poll.contains("| holds ×"), "{poll}");
    assert!(text.contains("poll (workers = 1) collapse"), "{text}");
    let rows = read(&written(&run, "csv", What::Medians));
    let at_zero = rows.iter().filter(|row| row["point"] == "0" && row["metric"] == "replies");
    assert_eq!(at_zero.filter(|row| !row["median"].is_empty()).count(), 12);
    let rate =
        &serde_json::to_value(&conclusions.analysis).unwrap()["tables"][0]["rows"][1]["rate"];
    assert_eq!((&rate["trend"], &rate["from"]), (&"collapses".into(), &0.into()));
    let half = rate["halved"]["at"]["value"].as_f64().unwrap();
    assert!((2_000.0..2_500.0).contains(&half), "{rate}");
}

#[test]
fn markdown_has_averages_multiples_and_waiting_times() {
    let text = written(&build::build(&[1, 2]).0, "markdown", What::Samples);
    assert!(text.contains("|  | half -j 3 | optimal -j 4 | maximal |"), "{text}");
    let elapsed: Vec<&str> =
        text.lines().filter(|line| line.starts_with("| Elapsed Time, s |")).collect();
    assert_eq!(elapsed.len(), 2, "a table for each number of CPUs: {text}");
    assert!(elapsed[0].ends_with("| aborted after 30 min |"), "{elapsed:?}");
    assert!(text.contains("- maximal: aborted after 30 min: make (waits), cc1 ×4 (running)"));
    // The averages are the tables: there are no medians.
    assert!(!text.contains("Also measured"), "{text}");

    let text = written(&locks::locks(3).0, "markdown", What::Samples);
    assert!(
        text.contains("| subject | 1 (0.5 per CPU) | 2 (1 per CPU) | 4 (2 per CPU) |"),
        "{text}"
    );
    assert!(text.contains("#### waiting at 32 threads (16 per CPU)"), "{text}");
    assert!(!text.contains("| broken"), "{text}");
}

#[test]
fn csv_keeps_units_as_they_are_and_says_what_did_not_finish() {
    let (run, _) = locks::locks(2);
    let rows = read(&written(&run, "csv", What::Samples));
    let units = |metric: &str| {
        let text: BTreeSet<&str> =
            rows.iter().filter(|row| row["metric"] == metric).map(|row| &*row["unit"]).collect();
        text.into_iter().collect::<Vec<_>>()
    };
    assert_eq!((units("fairness"), units("acquisitions")), (vec![""], vec!["acquisitions/s"]));
    let failed = rows.iter().filter(|row| row["subject"] == "ticket" && row["point"] == "32");
    let missing: Vec<&str> = failed.map(|row| &*row["missing"]).collect();
    assert!(
        missing.len() == 2 && missing[0].starts_with("did not finish within 10 s"),
        "{missing:?}"
    );
    let medians = read(&written(&run, "csv", What::Medians));
    let gap = medians.iter().find(|row| row["subject"] == "ticket" && row["point"] == "32");
    assert!(gap.unwrap()["missing"].contains("did not finish"), "{gap:?}");
    let builds = read(&written(&build::build(&[2]).0, "csv", What::Samples));
    assert!(builds.iter().any(|row| row["metric"] == "percent cpu" && row["unit"] == "%"));
}

#[test]
fn no_title_runs_a_program_or_ends_a_string() {
    let directory = tempfile::tempdir().unwrap();
    let script = written(&awkward(), "gnuplot", What::Samples);
    if gnuplot(&script, directory.path(), "terminal='svg'").is_none() {
        return;
    }
    assert!(!directory.path().join("made-by-a-title").exists());
    let image = images(directory.path(), ".svg").remove(0);
    let image = std::fs::read_to_string(directory.path().join(image)).unwrap();
    assert!(image.contains("{x}_y^z @e \\ &lt;i>"), "nothing is taken for markup: {image}");
}

/// The texts of a picture, as a reader of XML finds them.
fn texts(picture: &str) -> Vec<String> {
    let mut reader = quick_xml::Reader::from_str(picture);
    let mut all = Vec::new();
    loop {
        match reader.read_event().expect("XML") {
            Event::Start(start) if start.name().as_ref() == b"text" => all.push(String::new()),
            Event::Text(text) => {
                if let Some(last) = all.last_mut() {
                    last.push_str(text.decode().expect("UTF-8").trim());
                }
            }
            Event::GeneralRef(name) => {
                let name = name.decode().expect("UTF-8");
                let character = quick_xml::escape::resolve_predefined_entity(&name);
                all.last_mut().expect("a text").push_str(character.expect("a known one"));
            }
            Event::Eof => return all,
            _ => {}
        }
    }
}

#[test]
fn a_picture_names_what_it_shows() {
    let (run, _) = realistic(3);
    let shown = texts(&written(&run, "svg", None));
    for word in ["poll", "epoll-level", "100", "10,000", "median of 5 rounds, with 95 % CIs"] {
        assert!(shown.iter().any(|text| text == word), "{word}: {shown:?}");
    }
    let mut many = small();
    let first = many.plan.workloads[0].subjects[0].clone();
    let of_first: Vec<Cell> =
        many.cells.iter().filter(|cell| cell.key.subject == first.name).cloned().collect();
    for number in 0..30 {
        let name = format!("another-{number}");
        let label = name.clone();
        many.plan.workloads[0].subjects.push(SubjectInfo { name, label, ..first.clone() });
        let renamed = of_first.iter().cloned().map(|mut cell| {
            cell.key.subject = format!("another-{number}");
            cell
        });
        many.plan.cells.extend(renamed.clone().map(|cell| cell.key));
        many.cells.extend(renamed);
    }
    let picture = written(&many, "svg", None);
    let at = |name: &str| {
        let (head, _) = picture.split_once(name)?;
        let (_, y) = head.rsplit_once(" y=\"")?;
        y.split('"').next()?.parse::<u32>().ok()
    };
    let positions: Vec<u32> = (0..30).filter_map(|n| at(&format!("another-{n}\n"))).collect();
    assert!(
        positions.len() == 30 && positions.is_sorted_by(|a, b| a < b),
        "a line each: {positions:?}"
    );
    let awkward = texts(&written(&awkward(), "svg", None));
    assert!(awkward.iter().any(|text| text.contains("<i>")), "no text is markup: {awkward:?}");
}

#[test]
fn a_picture_in_pixels_has_lines_and_text() {
    let (run, _) = realistic(3);
    let bytes = written_bytes(&run, "png", None);
    let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().expect("a head");
    let mut pixels = vec![0; reader.output_buffer_size().expect("a size")];
    let frame = reader.next_frame(&mut pixels).expect("pixels");
    assert_eq!((frame.width, frame.height % 480), (960, 0));
    let rows: Vec<&[u8]> = pixels.chunks_exact(3 * 960).collect();
    let count = |columns: std::ops::Range<usize>, colour: [u8; 3]| {
        let pixels = rows.iter().flat_map(|row| row.chunks_exact(3)).enumerate();
        pixels.filter(|(at, pixel)| columns.contains(&(at % 960)) && *pixel == colour).count()
    };
    let drawn = written(&run, "svg", None);
    let stroke = drawn.split("<polyline").nth(1).and_then(|line| line.split("stroke=\"#").nth(1));
    let colour = stroke.and_then(|rest| u32::from_str_radix(&rest[..6], 16).ok());
    let [_, colour @ ..] = colour.expect("a colour").to_be_bytes();
    assert!(count(0..760, colour) > 100, "a line");
    assert!(count(790..960, [0; 3]) > 20, "a name");
}

#[test]
fn gnuplot_draws_a_single_point_and_a_run_of_nothing() {
    let (mut run, _) = trajectory::before(Size::SMALL);
    for cell in &mut run.cells {
        let metric = &mut cell.metrics[0];
        metric.samples = vec![0.0];
        metric.positions = vec![1];
    }
    let directory = tempfile::tempdir().unwrap();
    gnuplot(&written(&run, "gnuplot", What::Samples), directory.path(), "terminal='svg'");
    run.cells.clear();
    for format in TABLE {
        // Those that hold figures and nothing else say that there are none.
        match (format.check)(&Material::new(&run, None)) {
            Ok(()) => drop(written(&run, format.name, What::Medians)),
            Err(why) => assert!(why.contains(" has no "), "{}: {why}", format.name),
        }
    }
    gnuplot(&written(&run, "gnuplot", What::Samples), directory.path(), "terminal='svg'");
    let mut run = small();
    run.cells.retain(|cell| cell.key.point == 100);
    run.plan.cells.retain(|key| key.point == 100);
    gnuplot(&written(&run, "gnuplot", What::Samples), directory.path(), "terminal='svg'");
}

#[test]
fn a_format_that_can_choose_gives_two_forms_and_others_one() {
    let run = small();
    let differs = |format: &Format| {
        let [samples, medians] =
            [What::Samples, What::Medians].map(|what| written_bytes(&run, format.name, what));
        samples != medians
    };
    // Profiles have tests of their own: profile_exports.rs.
    for format in TABLE.iter().filter(|format| format.content != Content::Profile) {
        assert_eq!(differs(format), format.choices.contains(&What::Medians), "{}", format.name);
    }
}

#[test]
fn one_table_is_a_workload_or_one_metric_of_it() {
    let run = small();
    let points = |run: &Run| {
        let rows = read(&written(run, "csv", None));
        let names: BTreeSet<(String, String)> =
            rows.iter().map(|row| (row["workload"].clone(), row["metric"].clone())).collect();
        names
    };
    let all = points(&run);
    let metrics = all.iter().filter(|(workload, _)| workload == "poll").count();
    assert!(metrics > 1, "{all:?}");
    assert_eq!(points(&narrowed(run.clone(), "poll").unwrap()).len(), metrics);
    let single = points(&narrowed(run.clone(), "poll/loop").unwrap());
    assert_eq!(single, BTreeSet::from([("poll".to_owned(), "loop".to_owned())]));
    let samples = written(&narrowed(run.clone(), "poll/loop").unwrap(), "csv", What::Samples);
    assert!(samples.lines().count() > 100 && !samples.contains(",wait,"));
    assert!(narrowed(run.clone(), "pol").unwrap_err().contains("it has poll"));
    assert!(narrowed(run, "poll/lop").unwrap_err().contains("it has loop"));
}

/// A load of one subject, whose maximum is one figure of all of it.
fn load() -> Run {
    let load = fixtures::workload("load").axis("connections", "connections").subjects(["shop"]);
    let mut load = model::WorkloadInfo::from(load.time("latency").time("max"));
    load.metrics[1].role = model::MetricRole::Whole;
    let cells = (0..8).map(|round| {
        let level = f64::from(round).mul_add(1e3, 1e5);
        let cell = fixtures::cell("load", "shop", 10, round).samples("latency", vec![level]);
        if round < 7 { cell } else { cell.samples("max", vec![9e6]) }
    });
    fixtures::run(load).cells(cells).complete()
}

#[test]
fn a_single_figure_of_a_whole_load_has_no_ci() {
    let run = load();
    let table = written(&run, "csv", None);
    let line = |metric: &str| {
        let line = table.lines().skip(1).find(|line| line.contains(metric)).expect("a line");
        line.split(',').map(str::to_owned).collect::<Vec<String>>()
    };
    let column = |name: &str| {
        table.lines().next().unwrap().split(',').position(|column| column == name).unwrap()
    };
    let figures_in_csv =
        |metric: &str| ["median", "low", "high"].map(|name| line(metric)[column(name)].clone());
    assert_eq!(figures_in_csv("max"), ["9000000", "", ""]);
    assert!(figures_in_csv("latency").iter().all(|figure| !figure.is_empty()));

    let benchmarks: serde_json::Value =
        serde_json::from_str(&written(&run, "bencher", None)).unwrap();
    let figures = |metric: &str| {
        let (_, figures) = benchmarks
            .as_object()
            .unwrap()
            .iter()
            .find(|(name, _)| name.contains(metric))
            .expect("a benchmark");
        figures["latency"].clone()
    };
    assert_eq!(figures("max"), serde_json::json!({"value": 9e6}));
    assert!(figures("latency")["lower_value"].is_number());

    let families = written(&run, "openmetrics", None);
    assert!(families.contains("# TYPE knee_load_max_seconds gauge\n"), "{families}");
    assert!(!families.contains("knee_load_max_median"), "{families}");
    assert!(families.contains("knee_load_latency_median_low_seconds{"), "{families}");
}
