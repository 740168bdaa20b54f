/* The n-th mmap, of every second page of a file in the page cache: `mmap COUNT`. See single.h. */
#include "pages.h"

int main(int argc, char **words) {
    long count = count_of(argc, words);
    uint64_t *samples = room_for(count);
    int file = file_of_pages(2 * count);
    for (long n = 0; n < count; n++) {
        uint64_t start = now_ns();
        char *map = map_nth(file, n);
        samples[n] = now_ns() - start;
        if (map == MAP_FAILED) fail("mmap");
    }
    print(samples, count);
}
