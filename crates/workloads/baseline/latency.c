/* Latency of loads, each of which needs the one before: a chain of pointers through memory. */
#define _GNU_SOURCE
#include "baseline.h"
#include <stdlib.h>
#include <unistd.h>

static const size_t large_bytes = (size_t)LATENCY_MIB << 20;
static char *memory;
static void **at;

static void **pointer(size_t offset) { return (void **)(memory + offset); }

static void allocate(size_t bytes, size_t chained, size_t stride) {
    memory = page_aligned(bytes);
    at = pointer(0);
    row->units = 100;
    fact("size of the memory_kib", chained >> 10);
    fact("stride_bytes", stride);
}

/* One pointer in 128 bytes, in order of address. */
static void chain_in_order(size_t bytes) {
    const size_t stride = 128;
    allocate(bytes < 4096 ? 4096 : bytes, bytes, stride);
    for (size_t offset = 0; offset < bytes; offset += stride) {
        *pointer(offset) = pointer((offset + stride) % bytes);
    }
}

static void prepare_l1(void) { chain_in_order(1 << 10); }
static void prepare_l2(void) { chain_in_order(128 << 10); }
static void prepare_main(void) { chain_in_order(large_bytes); }

/* The bits of a word's number in reverse, so that words next to each other in time are far apart. */
static size_t reversed(size_t word, size_t words) {
    size_t result = 0;
    for (size_t bit = 1, mirrored = words >> 1; mirrored != 0; bit <<= 1, mirrored >>= 1) {
        if (word & bit) result |= mirrored;
    }
    return result;
}

/* One pointer in 16 bytes; each load is in another page than the one before, in random order of pages. */
static void prepare_random(void) {
    const size_t stride = 16, page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    const size_t words = page_bytes / stride, pages_count = large_bytes / page_bytes;
    size_t *pages = permutation(pages_count, page_bytes);
    size_t *offsets = malloc(words * sizeof *offsets);
    if (offsets == NULL) fail_call("malloc");
    for (size_t word = 0; word < words; word++) offsets[word] = reversed(word, words) * stride;
    allocate(large_bytes, large_bytes, stride);
    for (size_t page = 0; page < pages_count; page++) {
        int is_last = page + 1 == pages_count;
        size_t next_page = pages[is_last ? 0 : page + 1];
        for (size_t word = 0; word < words; word++) {
            /* After the last page, the chain goes on at the next word of the first. */
            size_t next_word = is_last ? (word + 1) % words : (page + word + 1) % words;
            size_t this_word = (page + word) % words;
            *pointer(pages[page] + offsets[this_word]) = pointer(next_page + offsets[next_word]);
        }
    }
    at = pointer(pages[0] + offsets[0]);
    free(offsets);
    free(pages);
}

static void run_loads(long n) {
    void **next = at;
#define LOAD next = *(void **volatile *)next;
#define TEN LOAD LOAD LOAD LOAD LOAD LOAD LOAD LOAD LOAD LOAD
    while (n-- > 0) {
        TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN
    }
    at = next;
    if (next == NULL) fail("the chain has an end");
}

struct row latency_rows[] = {
    {.name = "latency-l1", .prepare = prepare_l1, .run = run_loads},
    {.name = "latency-l2", .prepare = prepare_l2, .run = run_loads},
    {.name = "latency-main", .prepare = prepare_main, .run = run_loads},
    {.name = "latency-random", .prepare = prepare_random, .run = run_loads},
    {0},
};
