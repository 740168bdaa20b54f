/*
 * Repeats one operation of the workload `baseline`, and reads the clock around each batch. It is embedded in
 * knee, which runs it from memory for each cell. It is a program of its own because what it measures depends on
 * the process: a fork copies the parent, and a context switch goes from one small process to the next.
 *
 *     baseline ROW CLOCK DIRECTORY HELLO PARENT
 *
 * CLOCK is tsc, or anything else for CLOCK_MONOTONIC. DIRECTORY is for files. HELLO is the descriptor of the
 * program that the rows with exec start. PARENT is the process whose death ends this one. The dialogue:
 *
 *     → fact NAME = TEXT                any number of them
 *     → ready UNITS OVERHEAD_UNITS      what one operation counts for; 0 where nothing is to be taken off
 *     ← run N                           do N operations
 *     → ran BEFORE AFTER                the clock before and after
 *     ← overhead N                      do N times what is not the operation itself
 *     → ran 0 TICKS
 *     ← repeat N                        go on with batches of N until there is more input
 *     → repeated BATCHES
 *
 * or at any time `failed ERRNO CALL`: 0 and words if it was no call. The end of input ends it, and so does that of
 * a peer.
 */
#define _GNU_SOURCE
#include "baseline.h"
#include "../clock/clock.h"
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct row *row;
const char *directory;
int hello = -1;

static struct row *const families[] = {processor_rows, switching_rows, local_rows,
                                       file_rows,      bandwidth_rows, latency_rows};
static volatile unsigned long used;

uint64_t timed(void (*run)(long), long n) {
    uint64_t before = now();
    run(n);
    return now() - before;
}

void use(unsigned long value) { used = value; }

/* Peers, which this process ends: none may be left when it has ended. */
enum { PEERS_MAX = 16 };
#define PEER_ENDED "a process that answers ended early"

static pid_t self, peers[PEERS_MAX];
static int peers_count;

static void end_peers(void) {
    if (getpid() != self) return;
    /* These end as they should. */
    signal(SIGCHLD, SIG_DFL);
    for (int n = 0; n < peers_count; n++) kill(peers[n], SIGKILL);
    for (int n = 0; n < peers_count; n++) waitpid(peers[n], NULL, 0);
}

_Noreturn void fail_call(const char *call) {
    int error = errno;
    /* A peer that dies closes its sockets first: its end, which says more, is known soon after. */
    if (getpid() == self && peers_count > 0 && error == ECONNREFUSED)
        nanosleep(&(struct timespec){.tv_sec = 1}, NULL);
    end_peers();
    dprintf(STDOUT_FILENO, "failed %d %s\n", error, call);
    exit(1);
}

_Noreturn void fail(const char *what) {
    end_peers();
    dprintf(STDOUT_FILENO, "failed 0 %s\n", what);
    exit(1);
}

_Noreturn void fail_transfer(const char *call, ssize_t bytes) {
    if (bytes == 0 || (bytes < 0 && (errno == EPIPE || errno == ECONNRESET))) fail(PEER_ENDED);
    if (bytes > 0) fail("a message was cut");
    fail_call(call);
}

/* A peer has ended by itself: whoever waits for it in a call, or for memory to change, would wait for ever. What the
   peer said of it stands before this. */
static void on_end_of_peer(int number) {
    static const char line[] = "failed 0 " PEER_ENDED "\n";
    (void)number;
    if (getpid() != self) return;
    end_peers();
    ssize_t written = write(STDOUT_FILENO, line, sizeof line - 1);
    (void)written;
    _exit(1);
}

void fact(const char *name, unsigned long long number) {
    dprintf(STDOUT_FILENO, "fact %s = %llu\n", name, number);
}

const char *in_directory(const char *name) {
    static char path[4096];
    if (snprintf(path, sizeof path, "%s/%s", directory, name) >= (int)sizeof path) {
        fail("the path of the directory is too long");
    }
    return path;
}

/* Asks to end with `parent`, and ends if it has ended already. */
static void end_with(pid_t parent) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
}

void start_peer(void (*body)(void)) {
    if (peers_count == PEERS_MAX) fail("a row has more peers than there is room for");
    struct sigaction action = {.sa_handler = on_end_of_peer, .sa_flags = SA_NOCLDSTOP | SA_RESTART};
    sigemptyset(&action.sa_mask);
    if (sigaction(SIGCHLD, &action, NULL) != 0) fail_call("sigaction");
    pid_t pid = fork();
    if (pid < 0) fail_call("fork");
    if (pid == 0) {
        end_with(self);
        body();
        _exit(1);
    }
    peers[peers_count++] = pid;
}

void close_peers(int descriptor) {
    if (close(descriptor) != 0) fail_call("close of what only a peer uses");
}

void *page_aligned(size_t bytes) {
    void *memory;
    if ((errno = posix_memalign(&memory, (size_t)sysconf(_SC_PAGESIZE), bytes)) != 0) {
        fail_call("posix_memalign");
    }
    memset(memory, 1, bytes);
    return memory;
}

int make_file(const char *path, size_t bytes) {
    /* As lmdd writes it: a file system that caches large pieces keeps the sizes in which they were written. */
    static char block[8 << 10];
    memset(block, 'k', sizeof block);
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0) fail_call("open of a file to read");
    for (size_t done = 0; done < bytes;) {
        size_t wanted = bytes - done < sizeof block ? bytes - done : sizeof block;
        ssize_t wrote = write(fd, block, wanted);
        if (wrote <= 0) fail_call("write of a file to read");
        done += (size_t)wrote;
    }
    /* Or pages would be written to the disk while they are read. */
    if (fsync(fd) != 0) fail_call("fsync");
    return fd;
}

/* xorshift64: any order without a pattern does. */
static uint64_t next_random(void) {
    static uint64_t state = 88172645463325252;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

size_t *permutation(size_t n, size_t scale) {
    size_t *order = malloc(n * sizeof *order);
    if (order == NULL) fail_call("malloc");
    for (size_t i = 0; i < n; i++) order[i] = i * scale;
    for (size_t i = n; i > 1; i--) {
        size_t j = next_random() % i, kept = order[j];
        order[j] = order[i - 1];
        order[i - 1] = kept;
    }
    return order;
}

int listen_on_loopback(struct sockaddr_in *address) {
    socklen_t length = sizeof *address;
    int sock = socket(AF_INET, SOCK_STREAM, 0);
    if (sock < 0) fail_call("socket");
    memset(address, 0, sizeof *address);
    address->sin_family = AF_INET;
    address->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(sock, (struct sockaddr *)address, length) != 0) fail_call("bind");
    if (listen(sock, 100) != 0) fail_call("listen");
    if (getsockname(sock, (struct sockaddr *)address, &length) != 0) fail_call("getsockname");
    return sock;
}

/* Every number is read and added, with an addition that reads memory: the build forbids the compiler to add several
   at once. The sum of a block needs no other block's, so that a processor works on several, as it does for lmbench. */
unsigned sum_ints(const unsigned *at, size_t bytes) {
    unsigned sum = 0;
    for (const unsigned *end = at + bytes / sizeof *at; at < end; at += 128) {
#define ADD(i) +at[i]
        sum += 0 EACH128(ADD);
    }
    return sum;
}

unsigned long sum_longs(const unsigned long *at, size_t bytes) {
    unsigned long sum = 0;
    for (const unsigned long *end = at + bytes / sizeof *at; at < end; at += 128) {
        sum += 0 EACH128(ADD);
#undef ADD
    }
    return sum;
}

static struct row *find_row(const char *name) {
    for (size_t family = 0; family < sizeof families / sizeof *families; family++) {
        for (struct row *at = families[family]; at->name != NULL; at++) {
            if (strcmp(at->name, name) == 0) return at;
        }
    }
    fail("there is no row of this name");
}

static void run_batch(long n) {
    if (row->before != NULL) row->before(n);
    uint64_t before = now();
    row->run(n);
    uint64_t after = now();
    if (row->after != NULL) row->after(n);
    dprintf(STDOUT_FILENO, "ran %llu %llu\n", (unsigned long long)before, (unsigned long long)after);
}

static void run_overhead(long n) {
    if (row->overhead == NULL) fail("nothing is to be taken off this row");
    dprintf(STDOUT_FILENO, "ran 0 %llu\n", (unsigned long long)row->overhead(n));
}

static void repeat(long n) {
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    long batches = 0;
    do {
        if (row->before != NULL) row->before(n);
        row->run(n);
        if (row->after != NULL) row->after(n);
        batches++;
    } while (poll(&input, 1, 0) == 0);
    dprintf(STDOUT_FILENO, "repeated %ld\n", batches);
}

/* The next line of standard input, without a buffer that a fork would copy; 0 at the end. */
static int read_line(char *line, size_t size) {
    size_t length = 0;
    while (length + 1 < size) {
        ssize_t got = read(STDIN_FILENO, line + length, 1);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return 0;
        if (line[length] == '\n') break;
        length++;
    }
    line[length] = '\0';
    return 1;
}

int main(int count, char **words) {
    if (count != 6) fail("ROW CLOCK DIRECTORY HELLO PARENT are wanted");
    self = getpid();
    end_with(atoi(words[5]));
    prctl(PR_SET_NAME, "baseline");
    signal(SIGPIPE, SIG_IGN);
    row = find_row(words[1]);
    with_tsc = strcmp(words[2], "tsc") == 0;
    directory = words[3];
    hello = atoi(words[4]);
    fcntl(hello, F_SETFD, FD_CLOEXEC);
    if (row->units == 0) row->units = 1;
    if (row->prepare != NULL) row->prepare();
    size_t overhead_units = row->overhead_units == 0 ? row->units : row->overhead_units;
    dprintf(STDOUT_FILENO, "ready %zu %zu\n", row->units, row->overhead == NULL ? 0 : overhead_units);
    char line[64];
    while (read_line(line, sizeof line)) {
        char command[16];
        long n = 0;
        if (sscanf(line, "%15s %ld", command, &n) != 2 || n < 1) fail("a command of another language");
        if (strcmp(command, "run") == 0) {
            run_batch(n);
        } else if (strcmp(command, "overhead") == 0) {
            run_overhead(n);
        } else if (strcmp(command, "repeat") == 0) {
            repeat(n);
        } else {
            fail("an unknown command");
        }
    }
    end_peers();
    return 0;
}
