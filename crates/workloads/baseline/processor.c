/* Processor and processes: system calls, signals, and processes that are made and end. */
#define _GNU_SOURCE
#include "baseline.h"
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- System calls. ---- */

static void run_getppid(long n) {
    long sum = 0;
    while (n-- > 0) sum += getppid();
    if (sum == 0) fail("getppid knows no parent");
}

static int from_zero, to_null;

static void prepare_io(void) {
    if ((from_zero = open("/dev/zero", O_RDONLY | O_CLOEXEC)) < 0) fail_call("open of /dev/zero");
    if ((to_null = open("/dev/null", O_WRONLY | O_CLOEXEC)) < 0) fail_call("open of /dev/null");
}

static void run_read(long n) {
    char byte;
    while (n-- > 0) {
        if (read(from_zero, &byte, 1) != 1) fail_call("read of /dev/zero");
    }
}

static void run_write(long n) {
    char byte = 0;
    while (n-- > 0) {
        if (write(to_null, &byte, 1) != 1) fail_call("write to /dev/null");
    }
}

/* One operation is a read and a write, which count as two: the figure is the mean of both. */
static void run_io(long n) {
    run_read(n);
    run_write(n);
}

static char file[4096];

static void prepare_file(void) {
    snprintf(file, sizeof file, "%s", in_directory("file"));
    close(make_file(file, 4096));
}

static void run_stat(long n) {
    struct stat status;
    while (n-- > 0) {
        if (stat(file, &status) != 0) fail_call("stat");
    }
    if (status.st_size != 4096) fail("stat tells another size");
}

static void run_open(long n) {
    while (n-- > 0) {
        int fd = open(file, O_RDONLY);
        if (fd < 0) fail_call("open");
        if (close(fd) != 0) fail_call("close");
    }
}

/* ---- select of 100 descriptors, to write. ---- */

enum { SELECTED = 100 };

static fd_set watched;
static int watched_max, ready_wanted;

static void watch_copies(int fd) {
    FD_ZERO(&watched);
    for (int n = 0; n < SELECTED; n++) {
        int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
        if (copy < 0) fail_call("dup");
        if (copy >= FD_SETSIZE) fail("select has no room for this descriptor");
        FD_SET(copy, &watched);
        if (copy > watched_max) watched_max = copy;
    }
    close(fd);
    ready_wanted = SELECTED;
}

static void prepare_select(void) {
    prepare_file();
    int fd = open(file, O_RDONLY | O_CLOEXEC);
    if (fd < 0) fail_call("open");
    watch_copies(fd);
}

static int listener;

static void accept_and_wait(void) {
    char byte;
    int accepted = accept(listener, NULL, NULL);
    if (accepted >= 0 && read(accepted, &byte, 1) < 0) _exit(1);
}

static void prepare_select_tcp(void) {
    struct sockaddr_in address;
    listener = listen_on_loopback(&address);
    start_peer(accept_and_wait);
    close(listener);
    int sock = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (sock < 0) fail_call("socket");
    if (connect(sock, (struct sockaddr *)&address, sizeof address) != 0) fail_call("connect");
    watch_copies(sock);
}

static void run_select(long n) {
    struct timeval none = {0, 0};
    while (n-- > 0) {
        fd_set set = watched;
        int ready = select(watched_max + 1, NULL, &set, NULL, &none);
        if (ready < 0) fail_call("select");
        if (ready != ready_wanted) fail("select finds another number of descriptors");
    }
}

/* ---- Signals. ---- */

static volatile sig_atomic_t caught;

static void on_signal(int number) {
    (void)number;
    caught = caught + 1;
}

static void install(void) {
    struct sigaction action = {.sa_handler = on_signal}, old;
    sigemptyset(&action.sa_mask);
    if (sigaction(SIGUSR1, &action, &old) != 0) fail_call("sigaction");
}

static void run_install(long n) {
    while (n-- > 0) install();
}

/* A signal without a receiver. */
static void run_send(long n) {
    pid_t self = getpid();
    while (n-- > 0) {
        if (kill(self, 0) != 0) fail_call("kill");
    }
}

static void run_catch(long n) {
    pid_t self = getpid();
    caught = 0;
    for (long sent = 0; sent < n; sent++) {
        if (kill(self, SIGUSR1) != 0) fail_call("kill");
    }
    if (caught != (sig_atomic_t)n) fail("signals were lost");
}

static uint64_t time_send(long n) { return timed(run_send, n); }

/* What catching a signal takes, which a fault has besides. */
static uint64_t time_catch_alone(long n) {
    uint64_t both = timed(run_catch, n), send = timed(run_send, n);
    return both > send ? both - send : 0;
}

static volatile char *protected_page;
static long faults_left;
static sigjmp_buf past_the_fault;

static void on_fault(int number) {
    (void)number;
    if (--faults_left == 0) siglongjmp(past_the_fault, 1);
}

static void prepare_fault(void) {
    install();
    prepare_file();
    int fd = open(file, O_RDONLY | O_CLOEXEC);
    if (fd < 0) fail_call("open");
    protected_page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
    if (protected_page == MAP_FAILED) fail_call("mmap");
    close(fd);
    if (*protected_page != 'k') fail("the map has another content");
    struct sigaction action = {.sa_handler = on_fault};
    sigemptyset(&action.sa_mask);
    if (sigaction(SIGSEGV, &action, NULL) != 0 || sigaction(SIGBUS, &action, NULL) != 0) {
        fail_call("sigaction");
    }
}

/* The handler returns to the same instruction, which faults again. */
static void run_fault(long n) {
    faults_left = n;
    if (sigsetjmp(past_the_fault, 1) == 0) {
        *protected_page = 1;
        fail("a page that is protected could be written to");
    }
}

/* ---- Processes. ---- */

static void run_shell(long n);

static void wait_for(pid_t pid) {
    int status;
    if (pid < 0) fail_call("fork");
    if (waitpid(pid, &status, 0) != pid) fail_call("waitpid");
    if (!WIFEXITED(status)) fail("a process was killed");
    int code = WEXITSTATUS(status);
    if (code == 0) return;
    if (row->run == run_shell) fail("/bin/sh could not run the program hello");
    errno = code;
    fail_call("execve of the program hello");
}

static void run_fork(long n) {
    while (n-- > 0) {
        pid_t pid = fork();
        if (pid == 0) exit(0);
        wait_for(pid);
    }
}

static void prepare_exec(void) {
    static char block[1 << 16];
    snprintf(file, sizeof file, "%s", in_directory("hello"));
    int to = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
    if (to < 0) fail_call("open of the program hello");
    ssize_t got;
    off_t at = 0;
    while ((got = pread(hello, block, sizeof block, at)) > 0) {
        if (write(to, block, (size_t)got) != got) fail_call("write of the program hello");
        at += got;
    }
    if (got < 0) fail_call("read of the program hello");
    close(to);
    close(hello);
    /* Once before it is timed: it fails here where programs can't be run in this directory. */
    row->run(1);
}

static void run_exec(long n) {
    char *words[] = {file, NULL}, *none[] = {NULL};
    while (n-- > 0) {
        pid_t pid = fork();
        if (pid == 0) {
            close(STDOUT_FILENO);
            execve(file, words, none);
            _exit(errno);
        }
        wait_for(pid);
    }
}

static void run_shell(long n) {
    while (n-- > 0) {
        pid_t pid = fork();
        if (pid == 0) {
            close(STDOUT_FILENO);
            execlp("/bin/sh", "sh", "-c", file, (char *)NULL);
            _exit(errno);
        }
        wait_for(pid);
    }
}

/* ---- The clock. ---- */

/* Only the machine code knows that it is 1: so no addition is computed beforehand. */
static unsigned long one = 1;

#define ADD(i)      \
    sum += addend; \
    __asm__ volatile("" : "+r"(sum));

/* Each addition needs the sum of the one before. Both are in registers: a cycle of the clock on every processor that
   lmbench's mhz knows. */
static void run_add(long n) {
    unsigned long addend = *(volatile unsigned long *)&one, sum = 0;
    long left = n;
    while (left-- > 0) {
        EACH128(ADD)
    }
    if (sum != 128 * (unsigned long)n) fail("the additions have another sum");
}

struct row processor_rows[] = {
    {.name = "add", .run = run_add, .units = 128},
    {.name = "null-call", .run = run_getppid},
    {.name = "null-io", .prepare = prepare_io, .run = run_io, .units = 2},
    {.name = "stat", .prepare = prepare_file, .run = run_stat},
    {.name = "open-close", .prepare = prepare_file, .run = run_open},
    {.name = "select-100", .prepare = prepare_select, .run = run_select},
    {.name = "select-tcp-100", .prepare = prepare_select_tcp, .run = run_select},
    {.name = "signal-install", .run = run_install},
    {.name = "signal-catch", .prepare = install, .run = run_catch, .overhead = time_send},
    {.name = "protection-fault", .prepare = prepare_fault, .run = run_fault, .overhead = time_catch_alone},
    {.name = "fork-exit", .run = run_fork},
    {.name = "fork-exec", .prepare = prepare_exec, .run = run_exec},
    {.name = "fork-sh", .prepare = prepare_exec, .run = run_shell},
    {0},
};
