//! The workloads. A new one is one file beside these and one line in the table here.
#![forbid(unsafe_code)]

use engine::Workload;

mod mechanisms;
mod objects;

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
    null,
    fault,
}
