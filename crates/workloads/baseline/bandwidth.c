/* Bandwidths: between two processes, of a file in the cache, and of memory. */
#define _GNU_SOURCE
#include "baseline.h"
#include <arpa/inet.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- Between two processes: the other one writes the ordered amount. ---- */

static const size_t transfer_bytes = 10 << 20;
static int from, peer_to, orders[2];
static size_t message_bytes = 64 << 10;
static char *buffer;

static void send_on_order(void) {
    size_t wanted;
    buffer = page_aligned(message_bytes);
    while (read(orders[0], &wanted, sizeof wanted) == sizeof wanted) {
        for (size_t done = 0; done < wanted;) {
            ssize_t wrote = write(peer_to, buffer, message_bytes);
            if (wrote <= 0) return;
            done += (size_t)wrote;
        }
    }
}

static void run_ordered(long n) {
    size_t wanted = transfer_bytes;
    while (n-- > 0) {
        ssize_t sent = write(orders[1], &wanted, sizeof wanted);
        if (sent != sizeof wanted) fail_transfer("write of an order", sent);
        for (size_t done = 0; done < wanted;) {
            ssize_t got = read(from, buffer, message_bytes);
            if (got <= 0) fail_transfer("read", got);
            done += (size_t)got;
        }
    }
}

static void start_sender(void) {
    row->units = transfer_bytes;
    if (pipe2(orders, O_CLOEXEC) != 0) fail_call("pipe");
    start_peer(send_on_order);
    close_peers(orders[0]);
    close_peers(peer_to);
    fact("message_bytes", message_bytes);
    /* Not at a page's beginning, as lmbench reads from a pipe. */
    buffer = (char *)page_aligned(message_bytes + 4096) + (strcmp(row->name, "bw-pipe") == 0 ? 128 : 0);
    run_ordered(1);
}

static void prepare_pipe(void) {
    int pair[2];
    if (pipe2(pair, O_CLOEXEC) != 0) fail_call("pipe");
    from = pair[0];
    peer_to = pair[1];
    start_sender();
}

static void prepare_unix(void) {
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) fail_call("socketpair");
    from = pair[0];
    peer_to = pair[1];
    start_sender();
}

/* ---- TCP: the other one writes all the time. ---- */

static void send_always(void) {
    buffer = page_aligned(message_bytes);
    while (write(peer_to, buffer, message_bytes) > 0) {}
}

static void run_read(long n) {
    while (n-- > 0) {
        for (size_t left = transfer_bytes; left > 0;) {
            ssize_t got = read(from, buffer, message_bytes);
            if (got <= 0) fail_transfer("read", got);
            left -= (size_t)got < left ? (size_t)got : left;
        }
    }
}

/* Between two batches the other one fills the buffers of both sockets: what is in them comes first, untimed. */
static void empty_buffers(long n) {
    (void)n;
    run_read(1);
}

static void set_buffer(int sock, int option) {
    int bytes = 1 << 20;
    if (setsockopt(sock, SOL_SOCKET, option, &bytes, sizeof bytes) != 0) fail_call("setsockopt");
}

static void prepare_tcp(void) {
    struct sockaddr_in address;
    int listener = listen_on_loopback(&address);
    set_buffer(listener, SO_SNDBUF);
    from = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (from < 0) fail_call("socket");
    set_buffer(from, SO_RCVBUF);
    set_buffer(from, SO_SNDBUF);
    if (connect(from, (struct sockaddr *)&address, sizeof address) != 0) fail_call("connect");
    peer_to = accept(listener, NULL, NULL);
    if (peer_to < 0) fail_call("accept");
    close(listener);
    set_buffer(peer_to, SO_SNDBUF);
    message_bytes = row->units = transfer_bytes;
    fact("message_bytes", message_bytes);
    start_peer(send_always);
    close_peers(peer_to);
    buffer = page_aligned(message_bytes);
    /* The connection's window grows first. */
    run_read(20);
}

/* ---- A file in the cache, read or mapped, and summed. ---- */

static const size_t file_bytes = (size_t)MAPPED_MIB << 20;
static int file;
static char *map;

static void prepare_file(void) {
    row->units = file_bytes;
    buffer = page_aligned(message_bytes);
    file = make_file(in_directory("file"), file_bytes);
    fact("size of the file_mib", MAPPED_MIB);
}

static void run_reread(long n) {
    while (n-- > 0) {
        if (lseek(file, 0, SEEK_SET) != 0) fail_call("lseek");
        for (size_t done = 0; done < file_bytes; done += message_bytes) {
            if (read(file, buffer, message_bytes) != (ssize_t)message_bytes) fail_call("read");
            use(sum_longs((unsigned long *)buffer, message_bytes));
        }
    }
}

static void prepare_map(void) {
    prepare_file();
    map = mmap(NULL, file_bytes, PROT_READ, MAP_SHARED, file, 0);
    if (map == MAP_FAILED) fail_call("mmap");
    if (sum_longs((unsigned long *)map, file_bytes) == 0) fail("the map has another content");
}

static void run_map(long n) {
    while (n-- > 0) use(sum_longs((unsigned long *)map, file_bytes));
}

/* ---- Memory. ---- */

static const size_t memory_bytes = (size_t)MEMORY_MIB << 20;
static int *source, *target;

static void prepare_memory(void) {
    row->units = memory_bytes;
    source = page_aligned(memory_bytes);
    fact("size of the memory_mib", MEMORY_MIB);
}

static void prepare_copy(void) {
    prepare_memory();
    target = page_aligned(memory_bytes);
    row->run(1);
    if (memcmp(source, target, memory_bytes) != 0) fail("the copy differs");
}

static void run_copy_libc(long n) {
    while (n-- > 0) {
        memmove(target, source, memory_bytes);
        /* Or the copies but the last would be dropped. */
        __asm__ volatile("" : : "r"(target) : "memory");
    }
}

static void run_copy_hand(long n) {
    while (n-- > 0) {
        const volatile int *at = source;
        volatile int *to = target;
        for (size_t done = 0; done < memory_bytes; done += 512, at += 128, to += 128) {
#define COPY(i) to[i] = at[i];
            EACH128(COPY)
#undef COPY
        }
    }
}

static void run_memory_read(long n) {
    while (n-- > 0) use(sum_ints((unsigned *)source, memory_bytes));
}

static void run_memory_write(long n) {
    while (n-- > 0) {
        volatile int *to = source;
        for (size_t done = 0; done < memory_bytes; done += 512, to += 128) {
/* Downwards in each block, as the assignment p[0] = p[1] = … = 1 does. */
#define WRITE(i) to[127 - (i)] = 1;
            EACH128(WRITE)
#undef WRITE
        }
    }
}

struct row bandwidth_rows[] = {
    {.name = "bw-pipe", .prepare = prepare_pipe, .run = run_ordered},
    {.name = "bw-unix", .prepare = prepare_unix, .run = run_ordered},
    {.name = "bw-tcp", .prepare = prepare_tcp, .before = empty_buffers, .run = run_read},
    {.name = "bw-file-reread", .prepare = prepare_file, .run = run_reread},
    {.name = "bw-mmap-reread", .prepare = prepare_map, .run = run_map},
    {.name = "copy-libc", .prepare = prepare_copy, .run = run_copy_libc},
    {.name = "copy-hand", .prepare = prepare_copy, .run = run_copy_hand},
    {.name = "memory-read", .prepare = prepare_memory, .run = run_memory_read},
    {.name = "memory-write", .prepare = prepare_memory, .run = run_memory_write},
    {0},
};
