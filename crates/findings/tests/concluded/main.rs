//! What is concluded from runs that are made for it.

mod attribution;
mod averages;
mod common;
mod limit;
mod locks;
mod mattheij;
mod overtaking;
mod run;
mod zero;
