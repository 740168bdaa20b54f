/*
 * Real-time signals as events: each descriptor queues one for each arrival, which carries its
 * number (F_SETSIG).
 */
#ifndef REALTIME_H
#define REALTIME_H

#define EVENTS_OUTLIVE true
#include "loop.h"
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>

static sigset_t wanted;
static unsigned *slot_of; /* by descriptor */

/* Blocks the signals, so that they wait to be taken. */
static void block_signals(unsigned watched_count) {
    sigemptyset(&wanted);
    sigaddset(&wanted, SIGRTMAX);
    sigaddset(&wanted, SIGIO); /* comes instead when the queue is full */
    if (sigprocmask(SIG_BLOCK, &wanted, NULL) != 0) fail("sigprocmask");
    slot_of = allocate(2 * (size_t)watched_count + 1024, sizeof *slot_of);
}

static void mechanism_add(int fd, unsigned slot) {
    struct f_owner_ex owner = {.type = F_OWNER_TID, .pid = gettid()};
    slot_of[fd] = slot;
    if (fcntl(fd, F_SETSIG, SIGRTMAX) != 0) impossible("F_SETSIG");
    if (fcntl(fd, F_SETOWN_EX, &owner) != 0) fail("F_SETOWN_EX");
    if (fcntl(fd, F_SETFL, O_NONBLOCK | O_ASYNC) != 0) fail("O_ASYNC");
}

/* Handles one signal. Only input counts: writability is signalled too. */
static inline void dispatch_signal(int signal, int fd, long band) {
    if (signal == SIGIO) wrong("the signal queue is full");
    if ((band & POLLIN) == 0) return;
    exhaust(slot_of[fd]);
}

#endif
