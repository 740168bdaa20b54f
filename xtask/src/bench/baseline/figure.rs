//! Figures in the output of lmbench's programs, in the units of knee's record: nanoseconds, and bytes a second.

/// Where a figure is.
pub(super) enum Figure {
    /// `Pipe latency: 3.5 microseconds`.
    Microseconds,
    /// The mean of all of those.
    MeanMicroseconds,
    /// `2 0.61`: microseconds a switch between this many processes.
    Switch(u32),
    /// `10k 50 132104 265912`: so many a second, in this column after the size.
    Files(&'static str, usize),
    /// `33.554432 72`: microseconds for so many megabytes.
    SecondMicroseconds,
    /// `33.55 9134.21`: megabytes a second for so many megabytes.
    SecondMegabytes,
    /// `Pipe bandwidth: 3134.10 MB/sec`.
    Megabytes,
    /// `0.12500 1.72`: nanoseconds a load from so many megabytes.
    Load(&'static str),
}

/// The figure in what a program printed; none where there is none, or it is zero.
pub(super) fn find(figure: &Figure, printed: &str) -> Option<f64> {
    let rows: Vec<Vec<&str>> =
        printed.lines().map(|line| line.split_whitespace().collect()).collect();
    let numbers_before = |unit: &str| -> Vec<f64> {
        let pairs = rows.iter().flat_map(|row| row.windows(2));
        pairs.filter(|pair| pair[1] == unit).filter_map(|pair| pair[0].parse().ok()).collect()
    };
    // The column of the first line that has this word first, and as many words.
    let column = |first: &str, index: usize, words: usize| -> Option<f64> {
        let row = rows.iter().find(|row| row.len() == words && row[0] == first)?;
        row[index].parse().ok()
    };
    let second = || -> Option<f64> {
        let row = rows.iter().rfind(|row| row.len() == 2 && row[0].parse::<f64>().is_ok())?;
        row[1].parse().ok()
    };
    let value = match figure {
        Figure::Microseconds => numbers_before("microseconds").last().map(|us| us * 1e3),
        Figure::MeanMicroseconds => {
            let all = numbers_before("microseconds");
            (!all.is_empty()).then(|| all.iter().sum::<f64>() / all.len() as f64 * 1e3)
        }
        Figure::Switch(processes) => column(&processes.to_string(), 1, 2).map(|us| us * 1e3),
        Figure::Files(size, index) => column(size, *index, 4).map(|rate| 1e9 / rate),
        Figure::SecondMicroseconds => second().map(|us| us * 1e3),
        Figure::SecondMegabytes => second().map(|rate| rate * 1e6),
        Figure::Megabytes => numbers_before("MB/sec").last().map(|rate| rate * 1e6),
        Figure::Load(size) => column(size, 1, 2),
    };
    value.filter(|figure| figure.is_finite() && *figure > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_found_in_the_output_of_lmbench() {
        let micro = "Pipe latency: 3.5164 microseconds\n";
        assert_eq!(find(&Figure::Microseconds, micro), Some(3_516.4));
        let both = "Simple read: 0.1 microseconds\nSimple write: 0.2 microseconds\n";
        let mean = find(&Figure::MeanMicroseconds, both).unwrap();
        assert!((mean - 150.0).abs() < 1e-9, "{mean}");
        let switch = "\n\"size=16k ovr=1.25\n2 0.61\n";
        assert_eq!(find(&Figure::Switch(2), switch), Some(610.0));
        assert_eq!(find(&Figure::Switch(8), switch), None);
        let files = "0k\t40\t1000\t4000\n10k\t40\t500\t2000\n";
        assert_eq!(find(&Figure::Files("10k", 2), files), Some(2e6));
        assert_eq!(find(&Figure::Files("0k", 3), files), Some(250_000.0));
        assert_eq!(find(&Figure::SecondMicroseconds, "33.554432 72\n"), Some(72_000.0));
        assert_eq!(find(&Figure::SecondMegabytes, "33.55 9134.5\n"), Some(9_134.5e6));
        assert_eq!(find(&Figure::Megabytes, "0.065536 3134.1 MB/sec\n"), Some(3_134.1e6));
        let loads = "\"stride=128\n0.00098 1.2\n0.12500 1.7\n128.00000 18.5\n\n";
        assert_eq!(find(&Figure::Load("0.12500"), loads), Some(1.7));
    }

    #[test]
    fn nothing_and_zero_are_no_figures() {
        for printed in
            ["", "fork: Resource temporarily unavailable", "Pipe latency: 0.0 microseconds"]
        {
            assert_eq!(find(&Figure::Microseconds, printed), None, "{printed}");
        }
    }
}
