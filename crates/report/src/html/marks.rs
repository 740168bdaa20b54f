//! Colours and shapes of the subjects: one source for the plot, its legend and the maps.

use maud::{Markup, html};
use serde::Serialize;

/// Colours in the style sheet: `--series-0` and on.
const COLOURS: usize = 8;
/// Marker shapes within a radius of 1, as SVG paths.
const SHAPES: [&str; 8] = [
    "M-.95 0A.95 .95 0 1 0 .95 0A.95 .95 0 1 0-.95 0Z",
    "M-.85-.85H.85V.85H-.85Z",
    "M0-1.15L1.1 .8H-1.1Z",
    "M0-1.25L1.1 0L0 1.25L-1.1 0Z",
    "M0 1.15L1.1-.8H-1.1Z",
    "M-1-.55L-.55-1L0-.45L.55-1L1-.55L.45 0L1 .55L.55 1L0 .45L-.55 1L-1 .55L-.45 0Z",
    "M-.35-1.15H.35V-.35H1.15V.35H.35V1.15H-.35V.35H-1.15V-.35H-.35Z",
    "M-1.15 0L-.6-1H.6L1.15 0L.6 1H-.6Z",
];

/// How a subject looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Look {
    /// Which of the colours.
    pub colour: usize,
    /// Which of the shapes.
    pub shape: usize,
}

impl Look {
    /// Its colour as the style of an element.
    pub(super) fn hue(self) -> String {
        format!("--hue: var(--series-{})", self.colour)
    }
}

/// Colour and shape of a subject by its place; no two of 64 are alike in both.
pub(super) fn look(index: usize) -> Look {
    let turn = index / COLOURS;
    Look { colour: index % COLOURS, shape: (index + 3 * turn) % SHAPES.len() }
}

/// What the scripts of the page know of it; it stands before them.
pub(super) fn script() -> String {
    let shapes = serde_json::json!(SHAPES);
    format!(
        "'use strict';\n\
         /** Marker shapes within a radius of 1, as SVG paths. */\n\
         const SHAPES = {shapes};\n\
         /** How many colours of series there are. */\n\
         const COLOURS = {COLOURS};\n"
    )
}

/// A marker as a small image; whoever shows it says in words what it stands for.
pub(super) fn marker(look: Look) -> Markup {
    html! {
        svg.shape viewBox="-1.4 -1.4 2.8 2.8" width="13" height="13" aria-hidden="true" {
            path d=(SHAPES[look.shape]) {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_of_sixty_four_look_alike() {
        let mut seen: Vec<(usize, usize)> =
            (0..64).map(look).map(|look| (look.colour, look.shape)).collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), 64);
    }

    #[test]
    fn the_style_sheet_has_every_colour_in_light_and_dark() {
        for colour in 0..COLOURS {
            let both = format!("--series-{colour}: light-dark(#");
            assert_eq!(super::super::STYLE.matches(&both).count(), 1, "{both}");
        }
    }
}
