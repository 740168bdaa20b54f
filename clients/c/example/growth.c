/* The sum of an array grows linearly with its length. */
#define _POSIX_C_SOURCE 200809L
#include "knee.h"

static volatile long sink;

static void sum(void *argument, size_t n) {
    const long *items = argument;
    long total = 0;
    for (size_t at = 0; at < n; at++) total += items[at];
    sink = total;
}

int main(void) {
    static long items[100000];
    const size_t points[] = {1000, 3000, 10000, 30000, 100000};
    return knee_at_most("linear", "sum", sum, items, points, 5);
}
