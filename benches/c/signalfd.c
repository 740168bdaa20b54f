/* Signal-driven input by signalfd(2), from which one read takes many signals. */
#include "realtime.h"

static int queue = -1;
static struct signalfd_siginfo *taken;
static size_t room;

static void mechanism_open(unsigned watched_count) {
    block_signals(watched_count);
    queue = signalfd(-1, &wanted, SFD_NONBLOCK | SFD_CLOEXEC);
    if (queue < 0) impossible("signalfd");
    room = watched_count < 16 ? 16 : watched_count > 4096 ? 4096 : watched_count;
    taken = allocate(room, sizeof *taken);
}

static void mechanism_wait(void) {
    ssize_t bytes = read(queue, taken, room * sizeof *taken);
    if (bytes < 0 && errno == EAGAIN && timeout_ms < 0) {
        /* Non-blocking, so that a program can check without waiting; poll() sleeps for it. */
        struct pollfd sleeper = {.fd = queue, .events = POLLIN};
        if (poll(&sleeper, 1, timeout_ms) < 0) fail("poll");
        bytes = read(queue, taken, room * sizeof *taken);
    }
    if (bytes < 0 && errno == EAGAIN) return;
    if (bytes < 0) fail("reading the signals");
    for (size_t n = 0; n < (size_t)bytes / sizeof *taken; n++)
        dispatch_signal((int)taken[n].ssi_signo, taken[n].ssi_fd, taken[n].ssi_band);
}
