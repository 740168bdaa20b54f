//! Figures as text, in the words of the findings, so that a table and a sentence agree.

pub(crate) use findings::format::{
    Unit, count as whole, factor, percent, place, ratio, significant as figure,
};

/// What stands where there is no figure.
pub(crate) const NONE: &str = "–";

/// A ratio as it is told: a percentage (`10 %`), or how many there are for each of the whole (`2`, `0.5`).
pub(crate) fn share(value: f64, multiple: bool) -> String {
    if !multiple {
        return percent(value);
    }
    if !value.is_finite() {
        return NONE.to_owned();
    }
    if value >= 99.95 {
        return whole(value.round() as u64);
    }
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_multiple_is_never_a_percentage() {
        let told = [0.5, 1.0, 1.25, 2.0, 10.0, 16.0, 1_024.0, f64::NAN].map(|of| share(of, true));
        assert_eq!(told, ["0.5", "1", "1.25", "2", "10", "16", "1,024", "–"]);
        assert_eq!(share(0.5, false), "50 %");
    }
}
