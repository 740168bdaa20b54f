/* The C library's spinlock, as a C program uses it. */
#define _GNU_SOURCE
#include <pthread.h>

struct lock { pthread_spinlock_t spinlock; };
struct seat { char nothing; };

#include "hold.h"

static void lock_init(struct lock *lock)
{
    pthread_spin_init(&lock->spinlock, PTHREAD_PROCESS_PRIVATE);
}

static void acquire(struct lock *lock, struct seat *seat)
{
    (void)seat;
    if (pthread_spin_lock(&lock->spinlock) != 0)
        abort();
}

static void release(struct lock *lock, struct seat *seat)
{
    (void)seat;
    pthread_spin_unlock(&lock->spinlock);
}
