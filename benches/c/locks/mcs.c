/* The queue lock of Mellor-Crummey and Scott, with pointers to nodes as they wrote it. The node
 * indices of crates/locks/src/algorithms/mcs.rs are addresses here. */
#define _GNU_SOURCE
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct seat {
    _Alignas(128) struct seat *_Atomic next;
    atomic_bool waiting;
};
struct lock { _Alignas(128) struct seat *_Atomic tail; };

#include "hold.h"

static void lock_init(struct lock *lock) { atomic_init(&lock->tail, NULL); }

static __attribute__((noinline)) void wait_turn(struct seat *seat, struct seat *before)
{
    atomic_store_explicit(&seat->waiting, true, memory_order_relaxed);
    atomic_store_explicit(&before->next, seat, memory_order_release);
    while (atomic_load_explicit(&seat->waiting, memory_order_acquire))
        spin();
}

static void acquire(struct lock *lock, struct seat *seat)
{
    atomic_store_explicit(&seat->next, NULL, memory_order_relaxed);
    struct seat *before = atomic_exchange_explicit(&lock->tail, seat, memory_order_acq_rel);
    if (before)
        wait_turn(seat, before);
}

static __attribute__((noinline)) struct seat *wait_for_next(struct seat *seat)
{
    struct seat *next;
    while (!(next = atomic_load_explicit(&seat->next, memory_order_acquire)))
        spin();
    return next;
}

static void release(struct lock *lock, struct seat *seat)
{
    struct seat *next = atomic_load_explicit(&seat->next, memory_order_acquire);
    if (!next) {
        struct seat *last = seat;
        if (atomic_compare_exchange_strong_explicit(&lock->tail, &last, NULL, memory_order_release,
                                                    memory_order_relaxed))
            return;
        next = wait_for_next(seat);
    }
    atomic_store_explicit(&next->waiting, false, memory_order_release);
}
