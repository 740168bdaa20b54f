//! Conditions: what can be varied besides the axis. Each becomes a flag of `knee run`.

/// One condition of a workload.
#[derive(Debug)]
pub struct Condition {
    /// Its name, which is also its flag: `active` is `--active`.
    pub name: &'static str,
    /// What it is, in one line.
    pub about: &'static str,
    /// What it may be.
    pub values: Values,
    /// What it is when nobody says.
    pub default: &'static str,
}

/// What a condition may be.
#[derive(Debug)]
pub enum Values {
    /// A whole number, at least this.
    AtLeast(u64),
    /// One of these words.
    OneOf(&'static [&'static str]),
}

impl Condition {
    /// Checks one value as typed and returns it as the record keeps it, or says in one line what it
    /// may be.
    pub fn check(&self, typed: &str) -> Result<String, String> {
        match self.values {
            Values::AtLeast(least) => match crate::plan::whole_number(typed) {
                Ok(number) if number >= least => Ok(number.to_string()),
                Ok(number) => Err(format!("--{} is at least {least}, not {number}", self.name)),
                Err(why) => Err(format!("--{}: {why}", self.name)),
            },
            Values::OneOf(words) if words.contains(&typed) => Ok(typed.into()),
            Values::OneOf(words) => {
                Err(format!("--{} is one of {}, not `{typed}`", self.name, words.join(", ")))
            }
        }
    }
}
