/*
 * io_uring by its system calls alone: a submission queue of poll requests and a completion queue,
 * both shared with the kernel. The kernel does its work for this thread when the thread enters it
 * to wait (DEFER_TASKRUN).
 */
#ifndef RING_H
#define RING_H

#define EVENTS_OUTLIVE true
#include "loop.h"
#include <linux/io_uring.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/syscall.h>

enum { REQUESTS_MAX = 4096, COMPLETIONS_MAX = 32768 };

static int ring = -1;
static struct io_uring_sqe *requests;
static struct io_uring_cqe *completions;
static unsigned *request_head, *request_tail, request_mask, request_capacity;
static unsigned *completion_head, *completion_tail, completion_mask;
static unsigned queued; /* requests that are not yet submitted */

static unsigned within(unsigned value, unsigned low, unsigned high) {
    return value < low ? low : value > high ? high : value;
}

static unsigned char *map(size_t bytes, off_t offset) {
    void *memory =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring, offset);
    if (memory == MAP_FAILED) fail("mapping the ring");
    return memory;
}

static void mechanism_open(unsigned watched_count) {
    struct io_uring_params params = {
        .flags = IORING_SETUP_CQSIZE | IORING_SETUP_CLAMP | IORING_SETUP_SUBMIT_ALL |
                 IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN |
                 IORING_SETUP_TASKRUN_FLAG,
        .cq_entries = 2 * within(watched_count, 16, COMPLETIONS_MAX),
    };
    ring = (int)syscall(SYS_io_uring_setup, within(watched_count, 8, REQUESTS_MAX), &params);
    if (ring < 0) impossible("io_uring_setup");
    size_t submissions_bytes = params.sq_off.array + params.sq_entries * sizeof(unsigned);
    size_t completions_bytes = params.cq_off.cqes + params.cq_entries * sizeof *completions;
    unsigned char *submission = map(submissions_bytes, IORING_OFF_SQ_RING);
    unsigned char *completion = map(completions_bytes, IORING_OFF_CQ_RING);
    requests = (void *)map(params.sq_entries * sizeof *requests, IORING_OFF_SQES);
    request_head = (void *)(submission + params.sq_off.head);
    request_tail = (void *)(submission + params.sq_off.tail);
    request_mask = *(unsigned *)(void *)(submission + params.sq_off.ring_mask);
    request_capacity = params.sq_entries;
    completion_head = (void *)(completion + params.cq_off.head);
    completion_tail = (void *)(completion + params.cq_off.tail);
    completion_mask = *(unsigned *)(void *)(completion + params.cq_off.ring_mask);
    completions = (void *)(completion + params.cq_off.cqes);
    /* Queue slots and requests always correspond one to one. */
    unsigned *array = (void *)(submission + params.sq_off.array);
    for (unsigned place = 0; place < params.sq_entries; place++) array[place] = place;
}

/* Submits queued requests, waits for that many completions, and takes all of them. */
static void enter(unsigned wanted) {
    while (syscall(SYS_io_uring_enter, ring, queued, wanted, IORING_ENTER_GETEVENTS, NULL, 0) < 0)
        if (errno != EINTR) fail("io_uring_enter");
    queued = 0;
}

/* Queues a poll request; `shots` is 0 for oneshot, or IORING_POLL_ADD_MULTI. */
static void queue_poll(int fd, unsigned slot, unsigned shots) {
    unsigned tail = *request_tail;
    if (tail - __atomic_load_n(request_head, __ATOMIC_ACQUIRE) == request_capacity) enter(0);
    requests[tail & request_mask] = (struct io_uring_sqe){
        .opcode = IORING_OP_POLL_ADD,
        .fd = fd,
        .len = shots,
        .poll32_events = POLLIN,
        .user_data = slot,
    };
    __atomic_store_n(request_tail, tail + 1, __ATOMIC_RELEASE);
    queued++;
}

/* The next completion, or none. It is valid until advance(). */
static inline const struct io_uring_cqe *next_completion(void) {
    unsigned head = *completion_head;
    if (head == __atomic_load_n(completion_tail, __ATOMIC_ACQUIRE)) return NULL;
    return &completions[head & completion_mask];
}

static inline void advance(void) {
    __atomic_store_n(completion_head, *completion_head + 1, __ATOMIC_RELEASE);
}

#endif
