//! A page of the hand-made run in a browser, and what a test may ask of it.

use crate::browser::Browser;
use crate::fixture::{self, trajectory::Size};
use crate::input::{Held, Spot};
use crate::program;
use analysis::{PointSummary, Table};
use findings::Conclusions;
use model::Run;
use serde::de::DeserializeOwned;
use serde_json::json;
use std::collections::BTreeMap;
use std::fs;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use tempfile::TempDir;

/// Runs with what was concluded from them.
pub type Runs = Vec<(Run, Conclusions)>;

/// One run, small enough to be drawn often.
pub static ONE: LazyLock<Runs> = LazyLock::new(|| vec![fixture::realistic(20)]);
/// The same with all lines on each other.
pub static ALIKE: LazyLock<Runs> = LazyLock::new(|| vec![fixture::alike(20)]);
/// The same plan on two machines.
pub static TWO: LazyLock<Runs> =
    LazyLock::new(|| vec![fixture::realistic(20), fixture::slower(20)]);

/// A run with its points down, crossovers and a map.
pub static PIPES: LazyLock<Runs> = LazyLock::new(|| vec![fixture::pipetest::pipetest(20)]);
/// The same on two machines.
pub static PIPES_TWO: LazyLock<Runs> =
    LazyLock::new(|| vec![fixture::pipetest::pipetest(20), fixture::pipetest::slower(20)]);
/// Trajectories: two curves, a step, a series that ended early.
pub static CALLS: LazyLock<Runs> = LazyLock::new(|| vec![fixture::trajectory::before(Size::SMALL)]);
/// The same before and after something.
pub static CALLS_TWO: LazyLock<Runs> = LazyLock::new(|| {
    vec![fixture::trajectory::before(Size::SMALL), fixture::trajectory::after(Size::SMALL)]
});
/// Dead connections: an axis that begins at zero.
pub static DEAD: LazyLock<Runs> = LazyLock::new(|| vec![fixture::dead::dead(12)]);
/// A load at one number of connections: intervals.
pub static LOAD: LazyLock<Runs> = LazyLock::new(|| vec![fixture::load::load(0)]);
/// Locks: threads as multiples of CPUs, waiting times, one that did not finish, a control.
pub static LOCKS: LazyLock<Runs> = LazyLock::new(|| vec![fixture::locks::locks(5)]);
/// The same with a model's prediction laid over it.
pub static LOCKS_MODEL: LazyLock<Runs> =
    LazyLock::new(|| vec![fixture::locks::locks(5), fixture::locks::predicted(5)]);
/// Builds on one CPU and on two: averages.
pub static BUILDS: LazyLock<Runs> = LazyLock::new(|| vec![fixture::build::build(&[1, 2])]);
/// Builds in two virtual machines.
pub static GUESTS: LazyLock<Runs> = LazyLock::new(fixture::build::guests);
/// Two subjects with profiles at four points.
pub static PROFILED: LazyLock<Runs> = LazyLock::new(|| vec![fixture::profile::profiled(2)]);
/// The same on a kernel on which one function costs twice as much.
pub static PROFILED_TWO: LazyLock<Runs> =
    LazyLock::new(|| vec![fixture::profile::profiled(2), fixture::profile::slower(2)]);
/// Loads over the sizes of a working set: the levels of memory.
pub static MEMORY: LazyLock<Runs> = LazyLock::new(|| vec![fixture::memory::memory()]);
/// Three machines whose figures are no series.
pub static MACHINES: LazyLock<Runs> = LazyLock::new(fixture::baseline::machines);
/// A table of somebody else.
pub static FOREIGN: LazyLock<Runs> = LazyLock::new(|| vec![fixture::pipetest::foreign()]);

/// An opened page; dereferences to its browser.
pub struct Page {
    browser: Browser,
    _directory: TempDir,
}

/// One point of a series, and where it stands in the window.
#[derive(Clone, Debug, serde::Deserialize)]
pub struct Place {
    pub subject: String,
    pub run: usize,
    pub point: u64,
    pub x: f64,
    pub y: f64,
}

/// Opens the page of `runs`, does `what`, and holds that the page made no complaint.
pub fn with(runs: &'static Runs, what: impl FnOnce(&mut Page)) {
    is_quiet(complaints_of(&written(runs), what));
}

/// The same with runs of one test.
pub fn with_made(runs: &Runs, what: impl FnOnce(&mut Page)) {
    is_quiet(complaints_of(&report::html::page(runs), what));
}

fn is_quiet(complaints: Option<Vec<String>>) {
    let complaints = complaints.unwrap_or_default();
    assert!(complaints.is_empty(), "the page is not quiet: {complaints:#?}");
}

/// The page of runs of several tests, which is written once.
pub fn written(runs: &'static Runs) -> Arc<str> {
    static PAGES: Mutex<BTreeMap<usize, Arc<str>>> = Mutex::new(BTreeMap::new());
    let mut pages = PAGES.lock().unwrap_or_else(PoisonError::into_inner);
    let page = pages.entry(std::ptr::from_ref(runs).addr());
    page.or_insert_with(|| report::html::page(runs).into()).clone()
}

/// Opens a page's text, does `what`, and gives the complaints; nothing when tests are skipped.
pub fn complaints_of(text: &str, what: impl FnOnce(&mut Page)) -> Option<Vec<String>> {
    if program::skipped() {
        return None;
    }
    let mut page = Page::open(text, Browser::take());
    what(&mut page);
    page.settle();
    let complaints = page.complaints().to_vec();
    page.browser.give_back();
    Some(complaints)
}

impl Page {
    /// Opens a page's text from a file of its own.
    pub fn open(text: &str, mut browser: Browser) -> Self {
        let directory = TempDir::new().expect("a directory for the page");
        let file = directory.path().join("page.html");
        fs::write(&file, text).expect("the page is written");
        browser.resize(1280, 900);
        browser.open(&file);
        browser.evaluate(include_str!("probe.js"));
        let mut page = Self { browser, _directory: directory };
        page.settle();
        page
    }

    /// Waits until what was asked for is drawn.
    pub fn settle(&mut self) {
        self.evaluate("globalThis.probe?.settled()");
    }

    /// The value of an expression in the page, as the type that is asked for.
    pub fn get<T: DeserializeOwned>(&mut self, expression: &str) -> T {
        let value = self.evaluate(expression);
        let shown = value.to_string();
        serde_json::from_value(value).unwrap_or_else(|why| panic!("{expression}: {shown}: {why}"))
    }

    /// Where all points stand that are shown.
    pub fn markers(&mut self) -> Vec<Place> {
        self.get("probe.points()")
    }

    /// A pixel inside the axes: from 0 to 1 across, and from the top down.
    pub fn inside(&mut self, across: f64, down: f64) -> Spot {
        self.point_of(&format!("probe.pixel({across}, {down})"))
    }

    /// Clicks what an expression finds.
    pub fn press(&mut self, element: &str, modifiers: Held) {
        let spot = self.point_of(&format!("probe.middle({element})"));
        self.click(spot, modifiers);
        self.settle();
    }

    /// The middle of what an expression finds.
    pub fn middle(&mut self, element: &str) -> Spot {
        self.point_of(&format!("probe.middle({element})"))
    }

    /// Chooses from the drop-down list `label` the option that begins with `start`.
    pub fn choose(&mut self, label: &str, start: &str) -> String {
        let chosen = self.get(&format!("probe.choose({}, {})", json!(label), json!(start)));
        self.settle();
        chosen
    }

    /// The line below the plot.
    pub fn read_out(&mut self) -> String {
        self.get("document.querySelector('.readout').textContent")
    }

    /// The part of the plane that is seen: from and to across, from and to upwards.
    pub fn view(&mut self) -> [f64; 4] {
        self.get("(() => { const v = probe.plot(0).view; return [v.x0, v.x1, v.y0, v.y1]; })()")
    }

    /// The labels of the subjects that the last frame drew.
    pub fn drawn(&mut self) -> Vec<String> {
        self.get("probe.plot(0).drawn.map((series) => series.label)")
    }

    fn point_of(&mut self, expression: &str) -> Spot {
        let [x, y] = self.get(&format!("(({{ x, y }}) => [x, y])({expression})"));
        Spot { x, y }
    }
}

impl Deref for Page {
    type Target = Browser;

    fn deref(&self) -> &Browser {
        &self.browser
    }
}

impl DerefMut for Page {
    fn deref_mut(&mut self) -> &mut Browser {
        &mut self.browser
    }
}

/// The table of one metric with so many active descriptors.
pub fn table<'a>(conclusions: &'a Conclusions, metric: &str, active: &str) -> &'a Table {
    let match_found = conclusions.analysis.tables.iter().find(|table| {
        table.metric.name == metric
            && table.parameters.get("active").is_some_and(|value| value == active)
    });
    match_found.unwrap_or_else(|| panic!("no table of {metric} with {active} active"))
}

/// The figures of one point of one subject.
pub fn figures<'a>(table: &'a Table, label: &str, point: u64) -> &'a PointSummary {
    let row = table.rows.iter().find(|row| row.label == label);
    let cells = &row.unwrap_or_else(|| panic!("no row of {label}")).cells;
    let match_found = cells.iter().flatten().find(|cell| cell.point == point);
    match_found.unwrap_or_else(|| panic!("no figures of {label} at {point}"))
}
