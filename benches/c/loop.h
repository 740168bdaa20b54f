/*
 * What every loop here shares: the socketpairs, the bytes written, the check that each event came
 * exactly once, and the clock. A mechanism is one C file that includes this one and defines the
 * three functions declared below; then it is a program:
 *
 *     PROGRAM WATCHED ACTIVE MILLISECONDS
 *
 * It prints one line per batch: the mean nanoseconds of a loop in it. A loop writes one byte to
 * each of ACTIVE pairs, waits once with a time-out of zero, and reads one byte from each pair that
 * the wait reported. Exit status: 1 for a failure, 5 where the mechanism is not possible.
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
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* Defined by the mechanism: makes room for that many descriptors … */
static void mechanism_open(unsigned watched);
/* … watches a descriptor for input; its events are to be handed to dispatch() as `slot` … */
static void mechanism_add(int fd, unsigned slot);
/* … and waits once, not at all if nothing is ready, calling dispatch() for each event. */
static void mechanism_wait(void);

/* Batches in a whole run, as many as knee's own. */
enum { BATCHES = 200 };

/* One watched descriptor. */
struct slot {
    int fd;            /* the read end, watched */
    int peer;          /* the write end */
    unsigned char due; /* the byte that was written last */
    bool waiting;      /* whether that byte is still to be read */
};

static struct slot *slots;
static unsigned watched, active;
static unsigned outstanding; /* bytes written and not yet read in this loop */
static unsigned char tag;    /* differs from loop to loop */

/* Ends the program: a loop that lost an event must not give a figure. */
static void fail(const char *what) {
    fprintf(stderr, "%s: %s\n", what, errno ? strerror(errno) : "wrong answer");
    exit(1);
}

/* Ends the program: the kernel lacks the mechanism, or forbids it. */
static inline void impossible(const char *what) {
    fprintf(stderr, "%s: %s\n", what, strerror(errno));
    exit(5);
}

static void *allocate(size_t count, size_t size) {
    void *memory = calloc(count ? count : 1, size);
    if (memory == NULL) fail("calloc");
    return memory;
}

/* Reads the byte that an event announced. */
static inline void dispatch(unsigned index) {
    struct slot *slot = &slots[index];
    unsigned char byte;
    if (read(slot->fd, &byte, 1) != 1) fail("read");
    if (byte != slot->due || !slot->waiting) fail("a byte that was not due");
    slot->waiting = false;
    outstanding--;
}

/* What an edge obliges a handler to do: to read until the call would block. */
static inline void drain(unsigned index) {
    unsigned char byte;
    if (read(slots[index].fd, &byte, 1) >= 0 || errno != EAGAIN) fail("more than was written");
}

/* Write, wait, dispatch. The active pairs lie evenly apart, each in the middle of its share. */
static inline void loop_once(void) {
    unsigned spacing = watched / active;
    tag++;
    for (unsigned k = 0; k < active; k++) {
        struct slot *slot = &slots[spacing / 2 + k * spacing];
        slot->due = tag;
        slot->waiting = true;
        if (write(slot->peer, &tag, 1) != 1) fail("write");
    }
    outstanding = active;
    /* Most mechanisms hand over everything at once; signals come one at a time. */
    while (outstanding != 0) {
        unsigned before = outstanding;
        mechanism_wait();
        if (outstanding == before) fail("an event was lost");
    }
}

static double now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* The mean nanoseconds of a loop over a batch of that many. */
static double batch_ns(unsigned long loops) {
    double start = now_ns();
    for (unsigned long n = 0; n < loops; n++) loop_once();
    return (now_ns() - start) / (double)loops;
}

/* The loops that fill `wanted_ns`, approached in steps, which are the warm-up too. */
static unsigned long batch_size(double wanted_ns) {
    unsigned long loops = 1;
    for (;;) {
        double scale = wanted_ns / (batch_ns(loops) * (double)loops);
        unsigned long next = (unsigned long)((double)loops * (scale < 10 ? scale : 10)) + 1;
        if (scale <= 2) return next;
        loops = next;
    }
}

static unsigned number(const char *text) {
    char *end;
    long value = strtol(text, &end, 10);
    if (*end != '\0' || value < 1 || value > 10000000) fail(text);
    return (unsigned)value;
}

int main(int argc, char **argv) {
    if (argc != 4) {
        fprintf(stderr, "usage: %s WATCHED ACTIVE MILLISECONDS\n", argv[0]);
        return 2;
    }
    watched = number(argv[1]);
    active = number(argv[2]);
    double measure_ns = number(argv[3]) * 1e6;
    if (active > watched) fail("more active than watched");
    slots = allocate(watched, sizeof *slots);
    for (unsigned index = 0; index < watched; index++) {
        int pair[2];
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) != 0)
            fail("socketpair");
        slots[index].fd = pair[0];
        slots[index].peer = pair[1];
    }
    mechanism_open(watched);
    for (unsigned index = 0; index < watched; index++) mechanism_add(slots[index].fd, index);

    unsigned long loops = batch_size(measure_ns / BATCHES);
    double end = now_ns() + measure_ns;
    for (int batch = 0; batch < BATCHES && (batch < 5 || now_ns() < end); batch++)
        printf("%.1f\n", batch_ns(loops));
    return 0;
}

#endif
