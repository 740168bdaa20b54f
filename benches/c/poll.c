/* poll(2): each wait passes the whole array to the kernel and scans it for events. */
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
    int ready = poll(polled, count, timeout_ms);
    if (ready < 0) fail("poll");
    for (unsigned slot = 0; ready > 0 && slot < count; slot++) {
        if (polled[slot].revents == 0) continue;
        dispatch(slot);
        ready--;
    }
}
