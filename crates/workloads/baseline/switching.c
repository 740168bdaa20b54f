/* Context switches: a token goes round a ring of processes, each of which sums an array of its own. */
#define _GNU_SOURCE
#include "baseline.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PROCESSES_MAX = 16 };

static int processes, pipes[PROCESSES_MAX][2], position;
static size_t array_bytes;
static unsigned long *array;

static void pass(int to) {
    int token = 1;
    ssize_t bytes = write(to, &token, sizeof token);
    if (bytes != sizeof token) fail_transfer("write to a pipe", bytes);
}

static void take(int from) {
    int token;
    ssize_t bytes = read(from, &token, sizeof token);
    if (bytes != sizeof token) fail_transfer("read of a pipe", bytes);
}

/* Memory of this process's own: what a fork shares would be one array for all. */
static void make_array(void) {
    if (array_bytes == 0) return;
    array = malloc(array_bytes);
    if (array == NULL) fail_call("malloc");
    memset(array, 0, array_bytes);
}

static void be_in_the_ring(void) {
    int from = pipes[position - 1][0], to = pipes[position][1];
    make_array();
    for (;;) {
        int token;
        if (read(from, &token, sizeof token) != sizeof token) _exit(1);
        use(sum_longs(array, array_bytes));
        if (write(to, &token, sizeof token) != sizeof token) _exit(1);
    }
}

static void run_ring(long n) {
    while (n-- > 0) {
        pass(pipes[0][1]);
        take(pipes[processes - 1][0]);
        use(sum_longs(array, array_bytes));
    }
}

/* The same pipes and sums in this process alone. They are other pipes, or the ring would take the token. */
static int own_pipes[PROCESSES_MAX][2];

static void run_alone(long n) {
    int at = 0;
    while (n-- > 0) {
        pass(own_pipes[at][1]);
        take(own_pipes[at][0]);
        if (++at == processes) at = 0;
        use(sum_longs(array, array_bytes));
    }
}

static uint64_t time_alone(long n) { return timed(run_alone, n); }

/* The size of the ring is in the row's name: switch-2p-16k. */
static void prepare_ring(void) {
    int kib;
    if (sscanf(row->name, "switch-%dp-%dk", &processes, &kib) != 2 || processes > PROCESSES_MAX) {
        fail("the row's name has no size");
    }
    array_bytes = (size_t)kib << 10;
    row->units = (size_t)processes;
    for (int n = 0; n < processes; n++) {
        if (pipe2(pipes[n], O_CLOEXEC) != 0 || pipe2(own_pipes[n], O_CLOEXEC) != 0) fail_call("pipe");
    }
    for (position = 1; position < processes; position++) start_peer(be_in_the_ring);
    /* This process writes to the first and reads from the last. */
    for (int n = 0; n < processes; n++) {
        if (n != processes - 1) close_peers(pipes[n][0]);
        if (n != 0) close_peers(pipes[n][1]);
    }
    make_array();
    /* Once round, so that all are there. */
    run_ring(1);
}

#define RING(size) \
    {.name = "switch-" size, .prepare = prepare_ring, .run = run_ring, .overhead = time_alone, .overhead_units = 1}

struct row switching_rows[] = {
    RING("2p-0k"),  RING("2p-16k"),  RING("2p-64k"), RING("8p-16k"),
    RING("8p-64k"), RING("16p-16k"), RING("16p-64k"), {0},
};
