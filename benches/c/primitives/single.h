/*
 * The shared part of the programs that time single calls: a clock, the cost of reading it, and the
 * samples. Each prints nanoseconds, one line per call in order, with the cost of a clock reading
 * subtracted. The first line has that cost: `# overhead_ns 24.1`. Exit status: 1 for a failure, 2
 * for invalid arguments.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static uint64_t now_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* Ends the program after a call that failed. */
static void fail(const char *call) {
    fprintf(stderr, "%s: %s\n", call, strerror(errno));
    exit(1);
}

/* The cost of one reading: the best of several spans of readings, without interruptions. */
static double overhead_ns(void) {
    double best = 1e9;
    for (int span = 0; span < 15; span++) {
        uint64_t start = now_ns();
        for (int n = 0; n < 1999; n++) (void)now_ns();
        double each = (double)(now_ns() - start) / 2000;
        if (each < best) best = each;
    }
    return best;
}

/* The only argument: the number of calls. */
static long count_of(int argc, char **words) {
    if (argc != 2) {
        fprintf(stderr, "usage: %s COUNT\n", words[0]);
        exit(2);
    }
    char *end;
    long count = strtol(words[1], &end, 10);
    if (*end || count < 1 || count > 1000000) {
        fprintf(stderr, "%s: not from 1 to 1000000\n", words[1]);
        exit(2);
    }
    return count;
}

/* The samples, allocated before the first is taken. */
static uint64_t *room_for(long count) {
    uint64_t *samples = calloc((size_t)count, sizeof *samples);
    if (!samples) fail("calloc");
    memset(samples, 1, (size_t)count * sizeof *samples);
    return samples;
}

static void print(const uint64_t *samples, long count) {
    double overhead = overhead_ns();
    printf("# overhead_ns %.1f\n", overhead);
    for (long n = 0; n < count; n++) {
        double ns = (double)samples[n] - overhead;
        printf("%.2f\n", ns > 0 ? ns : 0);
    }
}
