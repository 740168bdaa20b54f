/* io_uring, a oneshot poll request: queued again after each event, submitted by the wait. */
#include "ring.h"

static void mechanism_add(int fd, unsigned slot) {
    queue_poll(fd, slot, 0);
}

static void mechanism_wait(void) {
    const struct io_uring_cqe *completion;
    enter(timeout_ms < 0 ? 1 : 0);
    while ((completion = next_completion()) != NULL) {
        unsigned slot = (unsigned)completion->user_data;
        if (completion->res < 0) wrong("a poll request failed");
        advance();
        dispatch(slot);
        queue_poll(slots[slot].fd, slot, 0);
    }
}
