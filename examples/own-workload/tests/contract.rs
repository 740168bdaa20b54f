//! What a lock and a mechanism must do, as knee holds its own to it.

mod nap {
    knee::locks::contract!(own_workload::nap::Nap);
}

mod spin {
    knee::readiness::contract!([&own_workload::spin::MECHANISM]);
}
