//! The documents as a site with search: an mdBook of the pages, and of reference pages that the program writes.

use crate::shell::{self, output};
use crate::tally::Tally;
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What is installed where it is missing.
const MDBOOK: &str = "mdbook@0.4.52";
/// Where the generated pages stand.
const REFERENCE: &str = "docs/reference";

/// Builds the site in the target directory, and says where.
pub fn run(tally: &mut Tally) -> Result<()> {
    let (root, target) = (shell::root(), shell::target_dir()?);
    let book = target.join("docs");
    let source = book.join("src");
    if source.exists() {
        fs::remove_dir_all(&source).with_context(|| format!("emptying {}", source.display()))?;
    }
    let is_shown =
        |path: &&PathBuf| path.extension().is_some_and(|ext| ext == "md" || ext == "png");
    for file in shell::files(&root)?.iter().filter(is_shown) {
        write(&source.join(file), &fs::read(root.join(file))?)?;
    }
    let knee = built(&root, &target)?;
    let reference = reference(&knee)?;
    for (file, page) in &reference {
        write(&source.join(REFERENCE).join(file), page.as_bytes())?;
    }
    let summary = fs::read_to_string(root.join("docs/README.md"))?;
    write(&source.join("SUMMARY.md"), as_summary(&summary, &reference).as_bytes())?;
    write(&book.join("book.toml"), b"[book]\ntitle = \"knee\"\nlanguage = \"en\"\n")?;
    let mut build = Command::new(mdbook(&target)?);
    tally.check("docs", shell::succeeds(build.arg("build").arg(&book))?);
    println!("The site is {}.", book.join("book/index.html").display());
    Ok(())
}

/// The program, as it is now.
fn built(root: &Path, target: &Path) -> Result<PathBuf> {
    let done = shell::succeeds(shell::cargo(root, "build").args(["--package", "knee"]))?;
    ensure!(done, "knee was not built");
    Ok(target.join("debug/knee"))
}

/// The program mdBook: the one on the path, or else one that is installed into the target directory.
fn mdbook(target: &Path) -> Result<PathBuf> {
    let name = PathBuf::from("mdbook");
    if shell::has("mdbook") {
        return Ok(name);
    }
    let own = target.join("tools");
    let program = own.join("bin/mdbook");
    if !program.exists() {
        let mut install = shell::cargo(&shell::root(), "install");
        install.args(["--no-default-features", "--features", "search", "--root"]).arg(&own);
        ensure!(shell::succeeds(install.arg(MDBOOK))?, "mdBook was not installed");
    }
    Ok(program)
}

/// The generated pages: the name of each file, and its text.
fn reference(knee: &Path) -> Result<Vec<(&'static str, String)>> {
    let says = |words: &[&str]| output(Command::new(knee).args(words).env("COLUMNS", "100"));
    let json = |words: &[&str]| -> Result<Value> { Ok(serde_json::from_str(&says(words)?)?) };
    Ok(vec![
        (
            "commands.md",
            commands(&says(&["--help"])?, &json(&["list", "commands", "--json"])?["commands"])?,
        ),
        ("workloads.md", workloads(&json(&["list", "workloads", "--json"])?["workloads"])?),
        ("json.md", schemas(&json(&["list", "schemas", "--json"])?["schemas"])?),
    ])
}

/// The help of the program, exit codes at its end, and of every command.
fn commands(help: &str, all: &Value) -> Result<String> {
    let mut page = format!("# Commands\n\n```text\n{help}```\n");
    for (name, help) in all.as_object().into_iter().flatten() {
        let help = help.as_str().unwrap_or_default();
        write!(page, "\n## knee {name}\n\n```text\n{help}```\n")?;
    }
    Ok(page)
}

/// Every workload with its subjects.
fn workloads(all: &Value) -> Result<String> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let list = |value: &Value| -> Vec<String> {
        value.as_array().into_iter().flatten().map(text).collect()
    };
    let mut page = "# Workloads\n".to_owned();
    for workload in all.as_array().into_iter().flatten() {
        write!(
            page,
            "\n## {}\n\n{}\n\n- One operation: {}.\n- Axis: `{}`. Parameters: {}.\n",
            text(&workload["name"]),
            text(&workload["question"]),
            text(&workload["operation"]),
            text(&workload["axis"]),
            list(&workload["parameters"]).join(", "),
        )?;
        for not_measured in list(&workload["not_measured"]) {
            writeln!(page, "- Not measured: {not_measured}.")?;
        }
        page += "\n| subject | |\n| --- | --- |\n";
        for subject in workload["subjects"].as_array().into_iter().flatten() {
            let summary = text(&subject["summary"]).replace('|', "\\|");
            writeln!(page, "| {} | {summary} |", text(&subject["label"]))?;
        }
    }
    Ok(page)
}

/// The keys of each document, and its whole schema.
fn schemas(all: &Value) -> Result<String> {
    let mut page = "# JSON\n\nWhat commands print with `--json`, as JSON Schemas.\n".to_owned();
    for (name, schema) in all.as_object().into_iter().flatten() {
        let about = schema["description"].as_str().unwrap_or_default();
        write!(page, "\n## {name}\n\n{about}\n\n| key | |\n| --- | --- |\n")?;
        for (key, property) in schema["properties"].as_object().into_iter().flatten() {
            let about = property["description"].as_str().unwrap_or_default().replace('\n', " ");
            writeln!(page, "| `{key}` | {about} |")?;
        }
        let whole = serde_json::to_string_pretty(schema)?;
        write!(
            page,
            "\n<details><summary>The schema</summary>\n\n```json\n{whole}\n```\n\n</details>\n"
        )?;
    }
    Ok(page)
}

/// The list of documents as one at the top of the tree, with the generated pages.
fn as_summary(list: &str, reference: &[(&str, String)]) -> String {
    let list = list.replace("](", "](docs/").replace("](docs/../", "](");
    let titles = reference.iter().map(|(file, page)| {
        let title = page.lines().next().unwrap_or_default().trim_start_matches("# ");
        format!("- [{title}]({REFERENCE}/{file})\n")
    });
    list.replace("# Reference\n\n", &format!("# Reference\n\n{}", titles.collect::<String>()))
}

fn write(path: &Path, content: &[u8]) -> Result<()> {
    let directory = path.parent().context("a file has a directory")?;
    fs::create_dir_all(directory).with_context(|| format!("making {}", directory.display()))?;
    fs::write(path, content).with_context(|| format!("writing {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_of_the_list_begin_at_the_top() {
        let list = "[knee](../README.md)\n\n# Reference\n\n- [Glossary](glossary.md)\n";
        let pages = [("json.md", "# JSON\n".to_owned())];
        assert_eq!(
            as_summary(list, &pages),
            "[knee](README.md)\n\n# Reference\n\n- [JSON](docs/reference/json.md)\n- [Glossary](docs/glossary.md)\n"
        );
    }
}
