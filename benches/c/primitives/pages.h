/* An unlinked file in the page cache, of which every second page is mapped. */
#include "single.h"
#include <sys/mman.h>

static size_t page_bytes;

static int file_of_pages(long pages) {
    const char *directory = getenv("TMPDIR");
    char path[4096];
    snprintf(path, sizeof path, "%s/knee-c-XXXXXX", directory ? directory : "/tmp");
    int file = mkstemp(path);
    if (file < 0) fail(path);
    if (unlink(path) < 0) fail("unlink");
    page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    errno = posix_fallocate(file, 0, (off_t)(page_bytes * (size_t)pages));
    if (errno) fail("posix_fallocate");
    static char buffer[1 << 20];
    ssize_t got;
    while ((got = read(file, buffer, sizeof buffer)) > 0) continue;
    if (got < 0) fail("read");
    return file;
}

static char *map_nth(int file, long n) {
    return mmap(NULL, page_bytes, PROT_READ, MAP_SHARED, file, (off_t)(2 * page_bytes * (size_t)n));
}
