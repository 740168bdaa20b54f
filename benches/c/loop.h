/*
 * The shared part of all programs here. A mechanism is one C file that includes this header and
 * defines the three functions declared first; a game is one header with the operations. Together
 * they are a program: pairs.h by default, pipetest.h with -DPIPETEST.
 *
 * It prints one figure per line for each batch of turns. Exit status: 1 for a failure, 2 for
 * invalid arguments, 5 if the mechanism is not available.
 */
#ifndef LOOP_H
#define LOOP_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* Defined by the mechanism: allocates for that many descriptors … */
static void mechanism_open(unsigned watched);
/* … watches a descriptor for input; its events go to dispatch() as `slot` … */
static void mechanism_add(int fd, unsigned slot);
/* … and waits once, for as long as timeout_ms says, calling dispatch() for each event, or
   exhaust() where the mechanism tells only of arrivals. */
static void mechanism_wait(void);

/* The time-out of a wait: 0 returns at once, -1 sleeps until something is ready. */
static int timeout_ms;

/* Whether an event can outlive its cause: signals and completions are queued as they happen, and
   not looked at again. The mechanism says so before it includes this file. */
#ifndef EVENTS_OUTLIVE
#define EVENTS_OUTLIVE false
#endif

/* Ends the program after a call that failed. */
static void fail(const char *call) {
    fprintf(stderr, "%s: %s\n", call, strerror(errno));
    exit(1);
}

/* Ends the program: a loop that lost an event must not give a figure. */
static void wrong(const char *what) {
    fprintf(stderr, "%s\n", what);
    exit(1);
}

/* Ends the program: the arguments are invalid. */
static void refuse(const char *argument, const char *why) {
    fprintf(stderr, "%s: %s\n", argument, why);
    exit(2);
}

/* Ends the program: the kernel lacks the mechanism, or forbids it. */
static inline void impossible(const char *call) {
    fprintf(stderr, "%s: %s\n", call, strerror(errno));
    exit(5);
}

static void *allocate(size_t count, size_t size) {
    void *memory = calloc(count ? count : 1, size);
    if (memory == NULL) fail("calloc");
    return memory;
}

static unsigned number(const char *text) {
    char *end;
    long value = strtol(text, &end, 10);
    if (*end != '\0' || value < 1 || value > 10000000) refuse(text, "not from 1 to 10000000");
    return (unsigned)value;
}

/* One check for events without waiting, whatever the time-out. */
static void look(void) {
    int asked_ms = timeout_ms;
    timeout_ms = 0;
    mechanism_wait();
    timeout_ms = asked_ms;
}

/*
 * A game defines its ARGUMENTS and how many they are (before MILLISECONDS, which come last), a
 * `struct slot` with the watched descriptor `fd` in it, the array `slots` of `watched` of them, and:
 *
 *     game_open(words)     reads its arguments and opens the descriptors
 *     dispatch(slot)       reads once what an event announced
 *     exhaust(slot)        reads until the call would block
 *     turn()               writes, waits, reads; returns the number of operations
 *     figure(ns, count)    the figure to print for a number of operations and nanoseconds
 *     game_close()         checks the totals
 */
#ifdef PIPETEST
#include "pipetest.h"
#else
#include "pairs.h"
#endif

/* The maximum and minimum number of batches in a run, as in knee. */
enum { BATCHES_MAX = 200, BATCHES_MIN = 5 };

static double now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* The nanoseconds of a batch of that many turns; counts its operations. */
static double batch_ns(unsigned long turns, unsigned long *operations) {
    unsigned long done = 0;
    double start = now_ns();
    for (unsigned long n = 0; n < turns; n++) done += turn();
    *operations = done;
    return now_ns() - start;
}

/* The turns that fill `wanted_ns`, approached in steps, which are the warm-up too. */
static unsigned long batch_size(double wanted_ns) {
    unsigned long turns = 1, operations;
    for (;;) {
        /* The faster of two: an interrupted one would make every batch too short. */
        double first_ns = batch_ns(turns, &operations);
        double second_ns = batch_ns(turns, &operations);
        double scale = wanted_ns / (first_ns < second_ns ? first_ns : second_ns);
        unsigned long next = (unsigned long)((double)turns * (scale < 10 ? scale : 10)) + 1;
        if (scale <= 2) return next;
        turns = next;
    }
}

/* Raises the limit on descriptors as far as this user may. */
static void raise_limit(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) fail("getrlimit");
    limit.rlim_cur = limit.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0) fail("setrlimit");
}

int main(int argc, char **argv) {
    if (argc != ARGUMENTS_COUNT + 2) {
        fprintf(stderr, "usage: %s " ARGUMENTS " MILLISECONDS\n", argv[0]);
        return 2;
    }
    double measure_ns = number(argv[argc - 1]) * 1e6;
    raise_limit();
    game_open(argv + 1);
    mechanism_open(watched);
    for (unsigned index = 0; index < watched; index++) mechanism_add(slots[index].fd, index);
    /* io_uring and AIO defer work until a wait: it happens here. */
    look();

    unsigned long turns = batch_size(measure_ns / BATCHES_MAX), operations;
    double end = now_ns() + measure_ns;
    for (int batch = 0; batch < BATCHES_MAX && (batch < BATCHES_MIN || now_ns() < end); batch++) {
        double ns = batch_ns(turns, &operations);
        printf("%.1f\n", figure(ns, (double)operations));
    }
    game_close();
    return 0;
}

#endif
