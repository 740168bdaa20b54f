//! What the kernel counts for a process, and where it may run: rusage, affinity, limits.
