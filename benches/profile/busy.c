// A program of known shares for profilers: it spins in four functions and polls sockets, for so many seconds of CPU time, and prints
// how many rounds it got done.
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>

#define SPIN(name) \
    __attribute__((noinline)) static void name(long n) { for (volatile long i = 0; i < n; i++); }
SPIN(spin_forty)
SPIN(spin_twenty)
SPIN(spin_ten)
SPIN(spin_five)

enum { WATCHED = 400, POLLS = 4 };

__attribute__((noinline)) static void spins(void) {
    spin_forty(40000);
    spin_twenty(20000);
    spin_ten(10000);
    spin_five(5000);
}

static double cpu_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec + now.tv_nsec * 1e-9;
}

int main(int argc, char **argv) {
    double seconds = argc > 1 ? atof(argv[1]) : 1;
    struct pollfd watched[WATCHED];
    for (int i = 0; i < WATCHED; i += 2) {
        int pair[2];
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair)) return 1;
        watched[i] = (struct pollfd){ .fd = pair[0], .events = POLLIN };
        watched[i + 1] = (struct pollfd){ .fd = pair[1], .events = POLLIN };
    }
    long rounds = 0;
    for (; cpu_s() < seconds; rounds++) {
        spins();
        for (int i = 0; i < POLLS; i++) poll(watched, WATCHED, 0);
    }
    printf("%ld\n", rounds);
    return 0;
}
