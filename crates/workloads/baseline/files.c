/* Files and virtual memory: files that are made and deleted, maps that are made and touched. */
#define _GNU_SOURCE
#include "baseline.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Files: a hundred in a directory, made and deleted from the last to the first. ---- */

enum { FILES_IN_DIRECTORY = 100 };

static char **names;
static long names_count;
static size_t file_bytes;

static void make_names(long n) {
    if (n <= names_count) return;
    names = realloc(names, (size_t)n * sizeof *names);
    if (names == NULL) fail_call("realloc");
    for (; names_count < n; names_count++) {
        char name[64];
        long in = names_count / FILES_IN_DIRECTORY;
        snprintf(name, sizeof name, "%ld", in);
        if (names_count % FILES_IN_DIRECTORY == 0 && mkdir(in_directory(name), 0700) != 0) {
            fail_call("mkdir");
        }
        snprintf(name, sizeof name, "%ld/%ld", in, names_count % FILES_IN_DIRECTORY);
        names[names_count] = strdup(in_directory(name));
        if (names[names_count] == NULL) fail_call("strdup");
    }
}

static void create(long n) {
    static char content[10 << 10];
    while (n-- > 0) {
        int fd = creat(names[n], 0666);
        if (fd < 0) fail_call("creat");
        if (file_bytes > 0 && write(fd, content, file_bytes) != (ssize_t)file_bytes) fail_call("write");
        if (close(fd) != 0) fail_call("close");
    }
}

static void delete_all(long n) {
    while (n-- > 0) {
        if (unlink(names[n]) != 0) fail_call("unlink");
    }
}

static void make_names_and_files(long n) {
    make_names(n);
    create(n);
}

static void prepare_10k(void) { file_bytes = 10 << 10; }

/* ---- Maps of one file. ---- */

static const size_t map_bytes = (size_t)MAPPED_MIB << 20;
static int fd;

static void prepare_mapped_file(void) {
    fd = make_file(in_directory("mapped"), map_bytes);
    fact("size of the file_mib", MAPPED_MIB);
}

/* Every fourth page of the first tenth is written to. */
static void run_mmap(long n) {
    while (n-- > 0) {
        char *map = mmap(NULL, map_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (map == MAP_FAILED) fail_call("mmap");
        for (char *at = map; at < map + map_bytes / 10; at += 16 << 10) *(volatile char *)at = 'k';
        if (munmap(map, map_bytes) != 0) fail_call("munmap");
    }
}

static char *map;
static size_t *pages, pages_count;

static void map_again(void) {
    if (map != NULL && munmap(map, map_bytes) != 0) fail_call("munmap");
    map = mmap(NULL, map_bytes, PROT_READ, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED) fail_call("mmap");
    if (msync(map, map_bytes, MS_INVALIDATE) != 0) fail_call("msync");
}

static void run_map(long n) {
    while (n-- > 0) map_again();
}

static uint64_t time_map(long n) { return timed(run_map, n); }

/* Every page of a new map is read, in random order. */
static void run_faults(long n) {
    while (n-- > 0) {
        long sum = 0;
        for (size_t page = 0; page < pages_count; page++) sum += *(volatile char *)(map + pages[page]);
        if (sum != 'k' * (long)pages_count) fail("a page has another content");
        map_again();
    }
}

static void prepare_faults(void) {
    size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    prepare_mapped_file();
    close(fd);
    if ((fd = open(in_directory("mapped"), O_RDONLY | O_CLOEXEC)) < 0) fail_call("open");
    pages_count = map_bytes / page_bytes;
    pages = permutation(pages_count, page_bytes);
    row->units = pages_count;
    map_again();
}

struct row file_rows[] = {
    {.name = "create-0k", .before = make_names, .run = create, .after = delete_all},
    {.name = "delete-0k", .before = make_names_and_files, .run = delete_all},
    {.name = "create-10k", .prepare = prepare_10k, .before = make_names, .run = create, .after = delete_all},
    {.name = "delete-10k", .prepare = prepare_10k, .before = make_names_and_files, .run = delete_all},
    {.name = "mmap", .prepare = prepare_mapped_file, .run = run_mmap},
    {.name = "page-fault", .prepare = prepare_faults, .run = run_faults, .overhead = time_map},
    {0},
};
