/* io_uring, a multishot poll request: one event for each arrival. */
#include "ring.h"

static void mechanism_add(int fd, unsigned slot) {
    queue_poll(fd, slot, IORING_POLL_ADD_MULTI);
}

static void mechanism_wait(void) {
    const struct io_uring_cqe *completion;
    enter(timeout_ms < 0 ? 1 : 0);
    while ((completion = next_completion()) != NULL) {
        unsigned slot = (unsigned)completion->user_data;
        if (completion->res < 0) wrong("a poll request failed");
        if ((completion->flags & IORING_CQE_F_MORE) == 0) wrong("a multishot request ended");
        advance();
        exhaust(slot);
    }
}
