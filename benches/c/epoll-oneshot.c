/* epoll(7), oneshot: one event, then armed again by EPOLL_CTL_MOD. */
#include "loop.h"
#include <sys/epoll.h>

static int epoll = -1;
static struct epoll_event *events;
static int room;

static void mechanism_open(unsigned watched_count) {
    epoll = epoll_create1(EPOLL_CLOEXEC);
    if (epoll < 0) fail("epoll_create1");
    room = (int)watched_count;
    events = allocate(watched_count, sizeof *events);
}

static void mechanism_add(int fd, unsigned slot) {
    struct epoll_event event = {.events = EPOLLIN | EPOLLONESHOT, .data.u64 = slot};
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) != 0) fail("epoll_ctl");
}

static void mechanism_wait(void) {
    int ready = epoll_wait(epoll, events, room, timeout_ms);
    if (ready < 0) fail("epoll_wait");
    for (int n = 0; n < ready; n++) {
        unsigned slot = (unsigned)events[n].data.u64;
        dispatch(slot);
        events[n].events = EPOLLIN | EPOLLONESHOT;
        if (epoll_ctl(epoll, EPOLL_CTL_MOD, slots[slot].fd, &events[n]) != 0) fail("epoll_ctl");
    }
}
