/* A ticket lock, as crates/locks/src/algorithms/ticket.rs has it. */
#define _GNU_SOURCE
#include <stdatomic.h>
#include <stdint.h>

struct lock { _Alignas(8) _Atomic uint32_t next, owner; };
struct seat { char nothing; };

#include "hold.h"

static void lock_init(struct lock *lock)
{
    atomic_init(&lock->next, 0);
    atomic_init(&lock->owner, 0);
}

static __attribute__((noinline)) void wait_turn(struct lock *lock, uint32_t mine)
{
    while (atomic_load_explicit(&lock->owner, memory_order_acquire) != mine)
        spin();
}

static void acquire(struct lock *lock, struct seat *seat)
{
    (void)seat;
    uint32_t mine = atomic_fetch_add_explicit(&lock->next, 1, memory_order_relaxed);
    if (atomic_load_explicit(&lock->owner, memory_order_acquire) != mine)
        wait_turn(lock, mine);
}

static void release(struct lock *lock, struct seat *seat)
{
    (void)seat;
    uint32_t next = atomic_load_explicit(&lock->owner, memory_order_relaxed) + 1;
    atomic_store_explicit(&lock->owner, next, memory_order_release);
}
