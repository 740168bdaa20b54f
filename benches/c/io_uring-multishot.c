/* io_uring, a poll request that goes on telling, once for each arrival. */
#include "ring.h"

static void mechanism_add(int fd, unsigned slot) {
    queue_poll(fd, slot, IORING_POLL_ADD_MULTI);
}

static void mechanism_wait(void) {
    const struct io_uring_cqe *completion;
    enter();
    while ((completion = next_completion()) != NULL) {
        unsigned slot = (unsigned)completion->user_data;
        if (completion->res < 0) fail("a poll request");
        if ((completion->flags & IORING_CQE_F_MORE) == 0) fail("a multishot request ended");
        advance();
        dispatch(slot);
        drain(slot);
    }
}
