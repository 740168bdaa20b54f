/* The cost of a lock: one or two threads acquire it a fixed number of times per batch, and the program
 * prints the nanoseconds per acquisition. A file that includes this header first defines struct lock,
 * struct seat, lock_init(), acquire() and release(). crates/locks/examples/cost.rs is its counterpart. */
#ifndef HOLD_H
#define HOLD_H

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#if defined(__x86_64__) || defined(__i386__)
#define spin() __builtin_ia32_pause()
#elif defined(__aarch64__)
#define spin() __asm__ volatile("isb")
#else
#define spin() ((void)0)
#endif

static void lock_init(struct lock *lock);
static inline void acquire(struct lock *lock, struct seat *seat);
static inline void release(struct lock *lock, struct seat *seat);

/* How long a thread stays outside when there are two, in spins. */
#define OUTSIDE 4

/* On its own cache lines, like all data that the threads share. */
static _Alignas(128) struct lock lock;
static _Alignas(128) volatile uint64_t count;
static _Alignas(128) atomic_uint_fast64_t ready, go, done;
static uint64_t threads, batches, holds;

static void hold_batch(struct seat *seat)
{
    for (uint64_t i = 0; i < holds; i++) {
        acquire(&lock, seat);
        count = count + 1;
        release(&lock, seat);
        if (threads > 1)
            for (int j = 0; j < OUTSIDE; j++)
                spin();
    }
}

static void pin(int cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0) {
        perror("can't stay on a CPU");
        exit(1);
    }
}

static void wait_for(atomic_uint_fast64_t *counter, uint64_t value)
{
    while (atomic_load_explicit(counter, memory_order_acquire) < value)
        spin();
}

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* The second thread, where there is one. */
static void *partner(void *seat)
{
    pin(0);
    for (uint64_t batch = 1; batch <= batches; batch++) {
        atomic_store_explicit(&ready, batch, memory_order_release);
        wait_for(&go, batch);
        hold_batch(seat);
        atomic_store_explicit(&done, batch, memory_order_release);
    }
    return NULL;
}

static void measure(struct seat *seat)
{
    for (uint64_t batch = 1; batch <= batches; batch++) {
        if (threads > 1)
            wait_for(&ready, batch);
        uint64_t begun_ns = now_ns();
        atomic_store_explicit(&go, batch, memory_order_release);
        hold_batch(seat);
        if (threads > 1)
            wait_for(&done, batch);
        printf("%.3f\n", (double)(now_ns() - begun_ns) / (double)(holds * threads));
    }
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "%s THREADS BATCHES HOLDS\n", argv[0]);
        return 2;
    }
    threads = strtoull(argv[1], NULL, 10);
    batches = strtoull(argv[2], NULL, 10);
    holds = strtoull(argv[3], NULL, 10);
    static struct seat seats[2];
    lock_init(&lock);
    pin(threads > 1 ? 1 : 0);
    pthread_t thread;
    if (threads > 1 && pthread_create(&thread, NULL, partner, &seats[1]) != 0) {
        fputs("can't start a thread\n", stderr);
        return 1;
    }
    measure(&seats[0]);
    if (threads > 1)
        pthread_join(thread, NULL);
    if (count != threads * batches * holds) {
        fputs("two were inside at once\n", stderr);
        return 1;
    }
    return 0;
}

#endif
