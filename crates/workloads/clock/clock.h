/*
 * The clock of the small programs, as knee's own reads it: `with_tsc` says whether it is the time stamp counter or
 * CLOCK_MONOTONIC in nanoseconds. Each program is one that includes this once.
 */
#pragma once
#include <stdint.h>
#include <time.h>

static int with_tsc;

static uint64_t now(void) {
#if defined(__x86_64__)
    if (with_tsc) {
        /* Fenced on both sides: no instruction of the timed region moves across the reading. */
        __builtin_ia32_lfence();
        uint64_t ticks = __builtin_ia32_rdtsc();
        __builtin_ia32_lfence();
        return ticks;
    }
#endif
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}
