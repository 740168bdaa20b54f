//! Clocks: the invariant TSC where the kernel itself uses it, else `CLOCK_MONOTONIC`.
