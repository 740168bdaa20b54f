/* The first read of the n-th mapped page of a file in the page cache: `touch COUNT`. See single.h. */
#include "pages.h"

int main(int argc, char **words) {
    long count = count_of(argc, words);
    uint64_t *samples = room_for(count);
    int file = file_of_pages(2 * count);
    volatile char **maps = calloc((size_t)count, sizeof *maps);
    if (!maps) fail("calloc");
    for (long n = 0; n < count; n++) {
        maps[n] = map_nth(file, n);
        if (maps[n] == MAP_FAILED) fail("mmap");
    }
    for (long n = 0; n < count; n++) {
        uint64_t start = now_ns();
        (void)*maps[n];
        samples[n] = now_ns() - start;
    }
    print(samples, count);
}
