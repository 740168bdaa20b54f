//! The virtual machines of a suite, for `knee vm --suite NAME`.

use crate::model::Wrong;
use crate::quantity;
use crate::walk::Node;
use quantities::{bytes, count_within};

/// What a suite says of the virtual machines that it is measured in. Each key works as the flag of `knee vm` of that name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Guests {
    /// Kernels to boot.
    pub kernels: Vec<String>,
    /// CPU models of QEMU, with flags.
    pub cpu_models: Vec<String>,
    /// Words for the kernels' command lines.
    pub appends: Vec<String>,
    /// CPUs of each.
    pub cpus: Option<u32>,
    /// CPUs of the host that they run on.
    pub on: Option<u32>,
    /// Memory of each, in bytes.
    pub memory: Option<usize>,
}

/// What there is to say.
pub(crate) const KEYS: [&str; 6] = ["kernel", "cpu", "append", "cpus", "on", "memory"];

pub(crate) fn read(node: &Node<'_>) -> Result<Guests, Wrong> {
    let mut guests = Guests::default();
    for (key, value) in node.entries("the table vm of a suite", &KEYS)? {
        let texts = || -> Result<Vec<String>, Wrong> {
            let texts = value.members();
            texts.iter().map(|text| Ok(text.text()?.typed)).collect()
        };
        let count = |max: u64| quantity(&value.word()?, count_within::<u32>(1..=max));
        match key.typed.as_str() {
            "kernel" => guests.kernels = texts()?,
            "cpu" => guests.cpu_models = texts()?,
            "append" => guests.appends = texts()?,
            "cpus" => guests.cpus = Some(count(CPUS_MAX)?),
            "on" => guests.on = Some(count(HOST_CPUS_MAX)?),
            "memory" => guests.memory = Some(quantity(&value.text()?, bytes)?),
            unread => {
                return Err(value.wrong(format!("no virtual machine reads the key `{unread}`")));
            }
        }
    }
    Ok(guests)
}

/// As many CPUs as QEMU gives a machine of one socket, and as many as the largest host has.
const CPUS_MAX: u64 = 255;
const HOST_CPUS_MAX: u64 = 4_096;
