/* ppoll(2): as poll, with a time-out in nanoseconds and no signal mask. */
#include "loop.h"
#include <poll.h>

static struct pollfd *polled;
static unsigned count;

static void mechanism_open(unsigned room) {
    polled = allocate(room, sizeof *polled);
}

static void mechanism_add(int fd, unsigned slot) {
    polled[slot] = (struct pollfd){.fd = fd, .events = POLLIN};
    count++;
}

static void mechanism_wait(void) {
    struct timespec none = {0};
    int ready = ppoll(polled, count, timeout_ms < 0 ? NULL : &none, NULL);
    if (ready < 0) fail("ppoll");
    for (unsigned slot = 0; ready > 0 && slot < count; slot++) {
        if (polled[slot].revents == 0) continue;
        dispatch(slot);
        ready--;
    }
}
