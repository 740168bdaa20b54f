/* Local communication: a message goes to another process and back. */
#define _GNU_SOURCE
#include "baseline.h"
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Where this process reads and writes, where the peer does, and how many bytes a message has. */
static int our_read, our_write, peer_read, peer_write;
static size_t message_bytes = 1;

static void echo(void) {
    char message[8];
    while (read(peer_read, message, message_bytes) == (ssize_t)message_bytes) {
        if (write(peer_write, message, message_bytes) != (ssize_t)message_bytes) return;
    }
}

static void run_echo(long n) {
    uint64_t message = 1;
    while (n-- > 0) {
        ssize_t bytes = write(our_write, &message, message_bytes);
        if (bytes != (ssize_t)message_bytes) fail_transfer("write", bytes);
        bytes = read(our_read, &message, message_bytes);
        if (bytes != (ssize_t)message_bytes) fail_transfer("read", bytes);
    }
    if (message != 1) fail("the message came back as another");
}

/* Starts the peer, and has it answer once before anything is timed. */
static void start_echo(void) {
    start_peer(echo);
    /* Both use both of two eventfds. */
    if (peer_read != our_write) {
        close_peers(peer_read);
        if (peer_write != peer_read) close_peers(peer_write);
    }
    run_echo(1);
}

static void prepare_pipe(void) {
    int there[2], back[2];
    if (pipe2(there, O_CLOEXEC) != 0 || pipe2(back, O_CLOEXEC) != 0) fail_call("pipe");
    our_write = there[1];
    peer_read = there[0];
    our_read = back[0];
    peer_write = back[1];
    start_echo();
}

static void prepare_unix(void) {
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) fail_call("socketpair");
    our_read = our_write = pair[0];
    peer_read = peer_write = pair[1];
    start_echo();
}

static void prepare_eventfd(void) {
    message_bytes = 8;
    our_write = peer_read = eventfd(0, EFD_CLOEXEC);
    our_read = peer_write = eventfd(0, EFD_CLOEXEC);
    if (our_write < 0 || our_read < 0) fail_call("eventfd");
    start_echo();
}

static int connect_to(const struct sockaddr_in *address) {
    int sock = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (sock < 0) fail_call("socket");
    if (connect(sock, (const struct sockaddr *)address, sizeof *address) != 0) fail_call("connect");
    return sock;
}

static void prepare_tcp(void) {
    struct sockaddr_in address;
    int listener = listen_on_loopback(&address);
    our_read = our_write = connect_to(&address);
    peer_read = peer_write = accept(listener, NULL, NULL);
    if (peer_read < 0) fail_call("accept");
    close(listener);
    start_echo();
}

/* ---- UDP. ---- */

static void echo_datagrams(void) {
    static char message[1 << 16];
    struct sockaddr_in from;
    for (;;) {
        socklen_t length = sizeof from;
        ssize_t got = recvfrom(peer_read, message, sizeof message, 0, (struct sockaddr *)&from, &length);
        if (got < 0) return;
        if (sendto(peer_read, message, (size_t)got, 0, (struct sockaddr *)&from, length) != got) return;
    }
}

static void run_udp(long n) {
    for (uint32_t sequence = 1; n-- > 0; sequence++) {
        uint32_t message = htonl(sequence);
        if (send(our_read, &message, sizeof message, 0) != sizeof message) fail_call("send");
        if (recv(our_read, &message, sizeof message, 0) != sizeof message) fail_call("recv");
        if (ntohl(message) != sequence) fail("another datagram came back");
    }
}

static void prepare_udp(void) {
    struct sockaddr_in address;
    socklen_t length = sizeof address;
    memset(&address, 0, sizeof address);
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    peer_read = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    our_read = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (peer_read < 0 || our_read < 0) fail_call("socket");
    if (bind(peer_read, (struct sockaddr *)&address, length) != 0) fail_call("bind");
    if (getsockname(peer_read, (struct sockaddr *)&address, &length) != 0) fail_call("getsockname");
    if (connect(our_read, (struct sockaddr *)&address, length) != 0) fail_call("connect");
    /* A datagram that is lost would be waited for in vain. */
    struct timeval patience = {10, 0};
    if (setsockopt(our_read, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) != 0) {
        fail_call("setsockopt");
    }
    start_peer(echo_datagrams);
    close_peers(peer_read);
    run_udp(1);
}

/* ---- TCP connections. ---- */

static int listener;
static struct sockaddr_in server;
static long opened;
/* How many the server has closed: shared with it. */
static _Atomic long *closed;

/* Closes each connection when its client has. */
static void accept_and_close(void) {
    char byte;
    for (;;) {
        int accepted = accept(listener, NULL, NULL);
        if (accepted < 0 || read(accepted, &byte, 1) != 0) return;
        close(accepted);
        atomic_fetch_add(closed, 1);
    }
}

/* Batches are smaller than the queue of the listener: where that is full, the kernel drops a connection, which is tried
   again a second later. */
static void wait_for_server(long n) {
    opened += n;
    while (atomic_load(closed) < opened) sched_yield();
}

static void run_connect(long n) {
    int one = 1;
    while (n-- > 0) {
        int sock = socket(AF_INET, SOCK_STREAM, IPPROTO_TCP);
        if (sock < 0) fail_call("socket");
        if (setsockopt(sock, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) != 0) fail_call("setsockopt");
        if (connect(sock, (const struct sockaddr *)&server, sizeof server) != 0) fail_call("connect");
        if (close(sock) != 0) fail_call("close");
    }
}

static void prepare_connect(void) {
    closed = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (closed == MAP_FAILED) fail_call("mmap");
    listener = listen_on_loopback(&server);
    start_peer(accept_and_close);
    close_peers(listener);
    run_connect(1);
    wait_for_server(1);
}

/* ---- A futex: whoever is not next sleeps. ---- */

static _Atomic uint32_t *next_one;

static void sleep_while(uint32_t value) {
    while (atomic_load(next_one) == value) {
        long result = syscall(SYS_futex, next_one, FUTEX_WAIT, value, NULL, NULL, 0);
        if (result != 0 && errno != EAGAIN && errno != EINTR) fail_call("futex wait");
    }
}

static void hand_over(uint32_t to) {
    atomic_store(next_one, to);
    if (syscall(SYS_futex, next_one, FUTEX_WAKE, 1, NULL, NULL, 0) < 0) fail_call("futex wake");
}

static void hand_back(void) {
    for (;;) {
        sleep_while(0);
        hand_over(0);
    }
}

static void run_futex(long n) {
    while (n-- > 0) {
        hand_over(1);
        sleep_while(1);
    }
}

static void prepare_futex(void) {
    next_one = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (next_one == MAP_FAILED) fail_call("mmap");
    start_peer(hand_back);
    run_futex(1);
}

struct row local_rows[] = {
    {.name = "pipe", .prepare = prepare_pipe, .run = run_echo},
    {.name = "unix", .prepare = prepare_unix, .run = run_echo},
    {.name = "udp", .prepare = prepare_udp, .run = run_udp},
    {.name = "tcp", .prepare = prepare_tcp, .run = run_echo},
    {.name = "tcp-connect", .prepare = prepare_connect, .run = run_connect, .after = wait_for_server},
    {.name = "futex", .prepare = prepare_futex, .run = run_futex},
    {.name = "eventfd", .prepare = prepare_eventfd, .run = run_echo},
    {0},
};
