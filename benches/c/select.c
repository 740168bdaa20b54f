/*
 * select(2): a bitmap as long as the highest descriptor, copied before each wait because the call
 * overwrites it. It grows past FD_SETSIZE, which the kernel allows and the C library's type hides.
 */
#include "loop.h"
#include <sys/select.h>

enum { BITS = 8 * sizeof(unsigned long) };

static unsigned long *members, *ready_set;
static unsigned *slot_of; /* by descriptor */
static int highest = -1;

static unsigned words(void) {
    return (unsigned)highest / BITS + 1;
}

static void mechanism_open(unsigned room) {
    /* Both ends of each pair are open, after a few other descriptors. */
    unsigned descriptors = 2 * room + 1024;
    members = allocate(descriptors / BITS + 1, sizeof *members);
    ready_set = allocate(descriptors / BITS + 1, sizeof *ready_set);
    slot_of = allocate(descriptors, sizeof *slot_of);
}

static void mechanism_add(int fd, unsigned slot) {
    members[fd / BITS] |= 1UL << (fd % BITS);
    slot_of[fd] = slot;
    if (fd > highest) highest = fd;
}

static void mechanism_wait(void) {
    struct timeval none = {0};
    memcpy(ready_set, members, words() * sizeof *members);
    int ready = select(highest + 1, (fd_set *)ready_set, NULL, NULL, timeout_ms < 0 ? NULL : &none);
    if (ready < 0) fail("select");
    for (unsigned word = 0; ready > 0 && word < words(); word++) {
        for (unsigned long bits = ready_set[word]; bits != 0; bits &= bits - 1) {
            dispatch(slot_of[word * BITS + (unsigned)__builtin_ctzl(bits)]);
            ready--;
        }
    }
}
