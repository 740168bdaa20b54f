/*
 * Assert how the cost of a function grows, from C99 or C++ on POSIX:
 *
 *     static void sum(void *items, size_t n) { ... }
 *     ...
 *     const size_t points[] = {1000, 10000, 100000};
 *     return knee_at_most("linear", "sum", sum, items, points, 3) != KNEE_HOLDS;
 *
 * The function is timed at each point, in rounds that take the points in turns; `knee judge` judges the samples, prints
 * its sentence, and its exit code is returned. The program is named by the environment variable KNEE, or is on PATH.
 * Define _POSIX_C_SOURCE as 200809L before the first include, or compile with -std=gnu99.
 */
#ifndef KNEE_H
#define KNEE_H

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#define KNEE_HOLDS 0
#define KNEE_FAILS 3
#define KNEE_OPEN 4
/* The program could not be started, or refused the samples. */
#define KNEE_ERROR 2

/* A batch of calls takes at least this long. */
#define KNEE_BATCH_NS_MIN 200000
#define KNEE_ROUNDS 9

typedef void (*knee_function)(void *argument, size_t point);

static inline uint64_t knee_now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Nanoseconds a call, of as many calls as the clock asks for. */
static inline double knee_call_ns(knee_function function, void *argument, size_t point) {
    uint64_t calls = 1;
    for (;;) {
        uint64_t start = knee_now_ns();
        for (uint64_t call = 0; call < calls; call++) function(argument, point);
        uint64_t elapsed = knee_now_ns() - start;
        if (elapsed >= KNEE_BATCH_NS_MIN || calls >= (uint64_t)1 << 24) {
            return (double)elapsed / (double)calls;
        }
        calls *= elapsed < KNEE_BATCH_NS_MIN / 16 ? 16 : 2;
    }
}

/*
 * Whether the cost of `function` over `points` grows at most like `limit`: constant, logarithmic, square-root, linear,
 * linearithmic or quadratic. `name` is letters, digits, - and _. Returns KNEE_HOLDS, KNEE_FAILS, KNEE_OPEN or KNEE_ERROR.
 */
static inline int knee_at_most(const char *limit, const char *name, knee_function function, void *argument,
                               const size_t *points, size_t count) {
    const char *letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
    char command[512];
    const char *program = getenv("KNEE");
    if (limit[strspn(limit, letters)] || name[strspn(name, letters)]) {
        fprintf(stderr, "knee_at_most: limit and name are letters, digits, - and _\n");
        return KNEE_ERROR;
    }
    snprintf(command, sizeof command, "%s judge --at-most %s", program ? "\"$KNEE\"" : "knee", limit);
    double *values = (double *)calloc(count * KNEE_ROUNDS, sizeof *values);
    if (!values) return KNEE_ERROR;
    for (size_t round = 0; round < KNEE_ROUNDS; round++) {
        for (size_t turn = 0; turn < count; turn++) {
            /* Forwards and backwards in turns: what gets slower by and by is not taken for growth. */
            size_t index = round % 2 ? count - 1 - turn : turn;
            values[round * count + index] = knee_call_ns(function, argument, points[index]);
        }
    }
    /* A program that is not there, or that refuses the flags, must not end this one. */
    void (*before)(int) = signal(SIGPIPE, SIG_IGN);
    FILE *judge = popen(command, "w");
    for (size_t at = 0; judge && at < count * KNEE_ROUNDS; at++) {
        fprintf(judge, "{\"series\": \"%s\", \"point\": %zu, \"round\": %zu, \"value\": %.17g, \"unit\": \"ns\"}\n",
                name, points[at % count], at / count, values[at]);
    }
    int status = judge ? pclose(judge) : -1;
    signal(SIGPIPE, before);
    free(values);
    int code = status != -1 && WIFEXITED(status) ? WEXITSTATUS(status) : KNEE_ERROR;
    return code == KNEE_HOLDS || code == KNEE_FAILS || code == KNEE_OPEN ? code : KNEE_ERROR;
}

#endif
