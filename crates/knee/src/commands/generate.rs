//! `knee completions` and `knee man`: what is made from the command line's own description.

use crate::args;
use crate::exit::{Exit, Trouble};
use crate::output::print_exactly;
use std::path::Path;

pub fn completions(shell: clap_complete::Shell) -> Result<Exit, Trouble> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut args::command(), "knee", &mut script);
    print_exactly(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Done)
}

pub fn man(directory: Option<&Path>) -> Result<Exit, Trouble> {
    if let Some(directory) = directory {
        let failed = |error| Trouble::failed(format!("{}: {error}", directory.display()));
        std::fs::create_dir_all(directory).map_err(failed)?;
        clap_mangen::generate_to(args::command(), directory).map_err(failed)?;
        return Ok(Exit::Done);
    }
    let mut page = Vec::new();
    let rendered = clap_mangen::Man::new(args::command()).render(&mut page);
    rendered.map_err(|error| Trouble::failed(format!("the manual page: {error}")))?;
    print_exactly(&String::from_utf8_lossy(&page))?;
    Ok(Exit::Done)
}
