//! The page in a real browser: a headless Chromium opens it, looks, points, drags and types.
//!
//! Every test opens its own page in its own tab by [`page::with`], which also holds that the page
//! raised no error, wrote nothing on the console and loaded nothing. A test that passes
//! leaves its browser to the next one; of its tab nothing remains.
//! `KNEE_NO_BROWSER=1` skips them all, aloud.

mod answer;
mod browser;
mod builds;
mod choosing;
mod clean;
mod controls;
mod crossing;
mod drawing;
#[path = "../fixture/mod.rs"]
mod fixture;
mod gestures;
mod heads;
mod heavy;
mod hover;
mod input;
mod locks;
mod looks;
mod map;
mod odd;
mod page;
mod profile;
mod program;
mod tables;
mod trajectory;
mod zero;
