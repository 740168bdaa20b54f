/*
 * The game of knee's workload `poll`, with N socketpairs. In each turn one byte is written to each
 * of the active ones, one wait with a time-out of zero collects events, and one byte is read from
 * each pair with an event. Each event must come exactly once. A figure is the mean nanoseconds of a
 * turn.
 */
#ifndef PAIRS_H
#define PAIRS_H

#define ARGUMENTS "WATCHED ACTIVE"
enum { ARGUMENTS_COUNT = 2 };

/* One watched descriptor. */
struct slot {
    int fd;            /* the read end, watched */
    int peer;          /* the write end */
    unsigned char due; /* the byte that was written last */
    bool waiting;      /* whether that byte is still to be read */
};

static struct slot *slots;
static unsigned watched, active;
static unsigned outstanding; /* bytes written and not yet read in this turn */
static unsigned char tag;    /* differs from turn to turn */

static void game_open(char **words) {
    watched = number(words[0]);
    active = number(words[1]);
    if (active > watched) refuse(words[1], "more active than watched");
    slots = allocate(watched, sizeof *slots);
    for (unsigned index = 0; index < watched; index++) {
        int pair[2];
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) != 0)
            fail("socketpair");
        slots[index].fd = pair[0];
        slots[index].peer = pair[1];
    }
}

/* Reads the byte that an event announced. */
static inline void dispatch(unsigned index) {
    struct slot *slot = &slots[index];
    unsigned char byte;
    if (read(slot->fd, &byte, 1) != 1) fail("read");
    if (byte != slot->due || !slot->waiting) wrong("a byte came that was not due");
    slot->waiting = false;
    outstanding--;
}

static inline void exhaust(unsigned index) {
    unsigned char byte;
    dispatch(index);
    if (read(slots[index].fd, &byte, 1) >= 0) wrong("more came than was written");
    if (errno != EAGAIN) fail("read");
}

/* Write, wait, dispatch. The active pairs lie evenly apart, each in the middle of its share. */
static inline unsigned turn(void) {
    unsigned spacing = watched / active;
    tag++;
    for (unsigned k = 0; k < active; k++) {
        struct slot *slot = &slots[spacing / 2 + k * spacing];
        slot->due = tag;
        slot->waiting = true;
        if (write(slot->peer, &tag, 1) != 1) fail("write");
    }
    outstanding = active;
    /* Most mechanisms return all events at once; signals come one at a time. */
    while (outstanding != 0) {
        unsigned before = outstanding;
        mechanism_wait();
        if (outstanding == before) wrong("an event was lost");
    }
    return 1;
}

static double figure(double ns, double turns) {
    return ns / turns;
}

/* Each turn has checked its own events. */
static void game_close(void) {
    look();
}

#endif
