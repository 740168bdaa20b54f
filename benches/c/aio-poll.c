/*
 * Linux AIO: a oneshot poll request (IOCB_CMD_POLL) for each descriptor. Completed requests are
 * submitted again in one io_submit at the next wait.
 */
#define EVENTS_OUTLIVE true
#include "loop.h"
#include <linux/aio_abi.h>
#include <poll.h>
#include <sys/syscall.h>

static aio_context_t context;
static struct iocb *requests; /* by slot */
static struct iocb **queued;
static struct io_event *done;
static long queued_count, room;

static void mechanism_open(unsigned watched_count) {
    room = watched_count;
    if (syscall(SYS_io_setup, room, &context) != 0) impossible("io_setup");
    requests = allocate(watched_count, sizeof *requests);
    queued = allocate(watched_count, sizeof *queued);
    done = allocate(watched_count, sizeof *done);
}

static void mechanism_add(int fd, unsigned slot) {
    requests[slot] = (struct iocb){
        .aio_data = slot,
        .aio_lio_opcode = IOCB_CMD_POLL,
        .aio_fildes = (uint32_t)fd,
        .aio_buf = POLLIN,
    };
    queued[queued_count++] = &requests[slot];
}

/* Submits every queued request; the kernel may take a part at a time. */
static void submit(void) {
    for (long taken = 0; taken < queued_count;) {
        long count = syscall(SYS_io_submit, context, queued_count - taken, queued + taken);
        if (count <= 0) fail("io_submit");
        taken += count;
    }
    queued_count = 0;
}

static void mechanism_wait(void) {
    struct timespec none = {0};
    submit();
    long count = syscall(SYS_io_getevents, context, 1L, room, done,
                         timeout_ms < 0 ? NULL : &none);
    if (count < 0) fail("io_getevents");
    for (long n = 0; n < count; n++) {
        unsigned slot = (unsigned)done[n].data;
        dispatch(slot);
        queued[queued_count++] = &requests[slot];
    }
}
