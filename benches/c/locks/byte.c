/* Test-and-set on a byte, as crates/locks/src/algorithms/byte.rs has it. */
#define _GNU_SOURCE
#include <stdatomic.h>

struct lock { atomic_uchar taken; };
struct seat { char nothing; };

#include "hold.h"

static void lock_init(struct lock *lock) { atomic_init(&lock->taken, 0); }

static __attribute__((noinline)) void wait_turn(struct lock *lock)
{
    do {
        while (atomic_load_explicit(&lock->taken, memory_order_relaxed) != 0)
            spin();
    } while (atomic_exchange_explicit(&lock->taken, 1, memory_order_acquire) != 0);
}

static void acquire(struct lock *lock, struct seat *seat)
{
    (void)seat;
    if (atomic_exchange_explicit(&lock->taken, 1, memory_order_acquire) != 0)
        wait_turn(lock);
}

static void release(struct lock *lock, struct seat *seat)
{
    (void)seat;
    atomic_store_explicit(&lock->taken, 0, memory_order_release);
}
