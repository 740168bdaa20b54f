/* The C library's mutex, as a C program uses it. */
#define _GNU_SOURCE
#include <pthread.h>

struct lock { pthread_mutex_t mutex; };
struct seat { char nothing; };

#include "hold.h"

static void lock_init(struct lock *lock) { pthread_mutex_init(&lock->mutex, NULL); }

static void acquire(struct lock *lock, struct seat *seat)
{
    (void)seat;
    if (pthread_mutex_lock(&lock->mutex) != 0)
        abort();
}

static void release(struct lock *lock, struct seat *seat)
{
    (void)seat;
    pthread_mutex_unlock(&lock->mutex);
}
