//! What a gate says, as test cases: `JUnit` XML, which systems of continuous integration show.

use std::io::{self, Write};

pub const BEGINNING: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"knee\"";

#[derive(Debug, PartialEq, Eq)]
pub struct Case {
    pub workload: String,
    /// The series, and the point of it.
    pub name: String,
    pub outcome: Outcome,
}

#[derive(Debug, PartialEq, Eq)]
pub enum Outcome {
    Passed,
    Refused(String),
    /// It is open: no test may pass that tested nothing.
    Open(String),
}

pub fn write(out: &mut dyn Write, cases: &[Case]) -> io::Result<()> {
    let refused = cases.iter().filter(|case| matches!(case.outcome, Outcome::Refused(_))).count();
    let open = cases.iter().filter(|case| matches!(case.outcome, Outcome::Open(_))).count();
    let counts = format!("tests=\"{}\" failures=\"{refused}\" errors=\"{open}\"", cases.len());
    writeln!(out, "{BEGINNING} {counts}>\n  <testsuite name=\"knee\" {counts}>")?;
    for Case { workload, name, outcome } in cases {
        let [workload, name] = [workload, name].map(|text| escaped(text));
        write!(out, "    <testcase classname=\"knee.{workload}\" name=\"{name}\"")?;
        match outcome {
            Outcome::Passed => writeln!(out, "/>")?,
            Outcome::Refused(why) => element(out, "failure", "refused", why)?,
            Outcome::Open(why) => element(out, "error", "undecided", why)?,
        }
    }
    writeln!(out, "  </testsuite>\n</testsuites>")
}

fn element(out: &mut dyn Write, name: &str, kind: &str, why: &str) -> io::Result<()> {
    let why = escaped(why);
    writeln!(out, ">\n      <{name} type=\"{kind}\" message=\"{why}\"/>\n    </testcase>")
}

/// A text as the value of an attribute, without what XML can't hold.
fn escaped(text: &str) -> String {
    let mut value = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => value.push_str("&amp;"),
            '<' => value.push_str("&lt;"),
            '"' => value.push_str("&quot;"),
            c if c.is_control() || "\u{fffe}\u{ffff}".contains(c) => value.push(' '),
            c => value.push(c),
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_case_has_its_outcome() {
        let case = |name: &str, outcome| Case {
            workload: "command".to_owned(),
            name: name.to_owned(),
            outcome,
        };
        let cases = [
            case("a<\"&\u{1b}>", Outcome::Passed),
            case("b", Outcome::Refused("×1.2".to_owned())),
            case("c", Outcome::Open("?".to_owned())),
        ];
        let mut out = Vec::new();
        write(&mut out, &cases).unwrap();
        assert!(out.starts_with(BEGINNING.as_bytes()));
        let wanted = r#"<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="knee" tests="3" failures="1" errors="1">
  <testsuite name="knee" tests="3" failures="1" errors="1">
    <testcase classname="knee.command" name="a&lt;&quot;&amp; >"/>
    <testcase classname="knee.command" name="b">
      <failure type="refused" message="×1.2"/>
    </testcase>
    <testcase classname="knee.command" name="c">
      <error type="undecided" message="?"/>
    </testcase>
  </testsuite>
</testsuites>
"#;
        assert_eq!(String::from_utf8(out).unwrap(), wanted);
    }
}
