//! The workloads. A new one is one file beside these and one line in the table here.
#![forbid(unsafe_code)]

use engine::Workload;

mod client;
mod cpus;
mod files;
mod folder;
mod mechanisms;
mod objects;
mod pages;
mod processes;
mod served;
pub mod servers;
mod shortage;
mod tcp;
mod turns;

pub use known::SLOWER;

/// Declares each module and puts its `WORKLOAD` into the table, in this order.
macro_rules! table {
    ($($file:ident,)*) => {
        $(mod $file;)*

        /// Every workload that knee knows.
        pub static TABLE: &[&dyn Workload] = &[$(&$file::WORKLOAD,)*];
    };
}

table! {
    poll,
    pipetest,
    socket,
    bind,
    accept,
    close,
    mmap,
    touch,
    munmap,
    open,
    manyfiles,
    fork,
    reap,
    thread,
    lock,
    connect,
    request,
    dead,
    download,
    build,
    null,
    fault,
    known,
}

#[cfg(test)]
mod tests {
    use super::TABLE;

    #[test]
    fn every_workload_names_what_it_has() {
        for about in TABLE.iter().map(|row| row.about()) {
            let has = |name: &str| about.parameter(name).is_some();
            assert!(about.axes().any(|axis| axis.name == about.axis), "{}: its axis", about.name);
            if let Some(ratio) = &about.ratio {
                assert!(has(ratio.part) && has(ratio.whole), "{}: {ratio:?}", about.name);
            }
        }
    }
}
