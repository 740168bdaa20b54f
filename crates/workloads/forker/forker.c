/*
 * Creates processes one after the other, ends them one after the other, and reads the clock around
 * each. The build makes two programs of this file, one linked dynamically and one statically; the
 * workloads `fork` and `reap` run either from memory. It is the parent of all processes, so that all
 * ways of creating one start from the same state.
 *
 *     forker HOW ENDING COUNT MEGABYTES CLOCK STAMPS PARENT
 *
 * HOW is fork, clone3, fork-exec, clone3-exec, vfork or posix_spawn. ENDING is kill or pidfd. MEGABYTES of memory are touched
 * first. CLOCK is tsc, or anything else for CLOCK_MONOTONIC. STAMPS is the descriptor of a file for 2
 * times COUNT stamps, with the process ids after them. PARENT is the process whose death ends this
 * one. The dialogue:
 *
 *     → made N ERRNO WORDS     the number created; why no more, or 0
 *     ←                        one byte, or the end of input: end them
 *     → reaped N               all have ended
 *
 * or at any time `failed WORDS`. No process survives, whatever happens.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "../clock/clock.h"

extern char **environ;

struct stamp {
    uint64_t before, after;
};

/* The pipe that each new process writes its byte to. */
static int bytes[2];
/* This process: its death ends the processes that it created. */
static pid_t self;
/* Set if a created process ended by itself. */
static volatile sig_atomic_t died;

/* What is kept of each process is written to a file, between the timed regions: a map for it would be
   one more that each fork has to copy or to leave out. */
static int kept = -1;
static long count, made_count;

/* Asks to end with `parent`, and ends if it has ended already. */
static void end_with(pid_t parent) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
}

/* A new process: it writes its byte, for which the parent waits, before anything else. */
static _Noreturn void be_a_child(int to, pid_t parent) {
    if (write(to, "+", 1) != 1) _exit(1);
    end_with(parent);
    for (;;) pause();
}

static off_t place_of_pid(long n) {
    return (off_t)((size_t)(2 * count) * sizeof(struct stamp) + (size_t)n * sizeof(pid_t));
}

/* The n-th process; 0 if it has been waited for, or is unknown. */
static pid_t made(long n) {
    pid_t pid = 0;
    return pread(kept, &pid, sizeof pid, place_of_pid(n)) == sizeof pid ? pid : 0;
}

static void kill_all(void) {
    signal(SIGCHLD, SIG_DFL);
    for (long n = 0; n < made_count; n++) {
        pid_t pid = made(n);
        if (pid > 0) kill(pid, SIGKILL);
    }
    while (waitpid(-1, NULL, 0) > 0) {}
}

static _Noreturn void fail(const char *what, const char *why) {
    kill_all();
    dprintf(STDOUT_FILENO, "failed %s: %s\n", what, why);
    exit(1);
}

/* Stores the id of the n-th process, or 0 to forget it, and the stamp at `place`. */
static void keep(long n, pid_t pid, long place, uint64_t before, uint64_t after) {
    struct stamp stamp = {before, after};
    off_t at = (off_t)((size_t)place * sizeof stamp);
    if (pwrite(kept, &pid, sizeof pid, place_of_pid(n)) != sizeof pid ||
        pwrite(kept, &stamp, sizeof stamp, at) != sizeof stamp) {
        fail("keeping a figure", strerror(errno));
    }
}

/* ---- Ways to create a process: each returns its id, or -1 with errno. ---- */

/* The arguments of a program started by execve or posix_spawn. */
static char to_word[16], parent_word[16];
static char *child_words[] = {"forker", "child", to_word, parent_word, NULL};
/* This program, even if it is only in memory. */
static const char program[] = "/proc/self/exe";

static pid_t by_fork(void) {
    pid_t pid = fork();
    if (pid == 0) be_a_child(bytes[1], self);
    return pid;
}

static pid_t by_vfork(void) {
    /* The new process runs in this one's memory until its execve. */
    static volatile int refused;
    refused = 0;
    pid_t pid = vfork();
    if (pid == 0) {
        execve(program, child_words, environ);
        refused = errno;
        _exit(127);
    }
    if (pid > 0 && refused != 0) {
        waitpid(pid, NULL, 0);
        died = 0;
        errno = refused;
        return -1;
    }
    return pid;
}

static pid_t by_posix_spawn(void) {
    pid_t pid;
    int why = posix_spawn(&pid, program, NULL, NULL, child_words, environ);
    if (why == 0) return pid;
    /* posix_spawn has waited for a child that failed: its death does not count. */
    died = 0;
    errno = why;
    return -1;
}

/* The descriptor from clone3: closed after each, or every process would copy all of them. */
static int pidfd = -1;

static pid_t clone3_with_pidfd(void) {
    struct clone_args how = {
        .flags = CLONE_PIDFD,
        .pidfd = (uint64_t)(uintptr_t)&pidfd,
        .exit_signal = SIGCHLD,
    };
    return (pid_t)syscall(SYS_clone3, &how, sizeof how);
}

static pid_t by_clone3(void) {
    pid_t pid = clone3_with_pidfd();
    if (pid == 0) be_a_child(bytes[1], self);
    return pid;
}

/* A copy that is to execute this program tells by its exit code why it could not. */
static _Noreturn void execute(void) {
    execve(program, child_words, environ);
    _exit(errno);
}

static pid_t by_fork_exec(void) {
    pid_t pid = fork();
    if (pid == 0) execute();
    return pid;
}

static pid_t by_clone3_exec(void) {
    pid_t pid = clone3_with_pidfd();
    if (pid == 0) execute();
    return pid;
}

typedef pid_t (*way)(void);

static way way_called(const char *name) {
    if (strcmp(name, "fork") == 0) return by_fork;
    if (strcmp(name, "vfork") == 0) return by_vfork;
    if (strcmp(name, "posix_spawn") == 0) return by_posix_spawn;
    if (strcmp(name, "clone3") == 0) return by_clone3;
    if (strcmp(name, "fork-exec") == 0) return by_fork_exec;
    if (strcmp(name, "clone3-exec") == 0) return by_clone3_exec;
    fail("there is no way to make a process called", name);
}

/* ---- Ways to end one: each returns 1 if it was alive until then. ---- */

static int by_pid(pid_t pid) {
    int status;
    return kill(pid, SIGKILL) == 0 && waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) &&
           WTERMSIG(status) == SIGKILL;
}

/* P_PIDFD, which glibc has since 2.36. */
#define BY_PIDFD ((idtype_t)3)

static int by_pidfd(void) {
    siginfo_t info;
    return syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0) == 0 &&
           waitid(BY_PIDFD, (id_t)pidfd, &info, WEXITED) == 0 && info.si_code == CLD_KILLED &&
           info.si_status == SIGKILL;
}

/* ---- The sequence. ---- */

/* A process that ends by itself wakes the reader of its byte. */
static void on_death(int signal) {
    (void)signal;
    int saved = errno;
    died = 1;
    ssize_t written = write(bytes[1], "-", 1);
    (void)written;
    errno = saved;
}

static void forget_pidfd(void) {
    if (pidfd >= 0) close(pidfd);
    pidfd = -1;
}

static int is_copy_of_exec(way make) { return make == by_fork_exec || make == by_clone3_exec; }

/* The error of the execve in the copy `pid`, which has ended; 0 if it did not end by itself. */
static int error_of_exec(pid_t pid) {
    int status;
    return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : 0;
}

/* Creates up to `count` of them, and reports how many. */
static void make_all(way make) {
    int why = 0;
    while (made_count < count) {
        char byte = 0;
        uint64_t before = now();
        pid_t pid = make();
        ssize_t got = pid > 0 ? read(bytes[0], &byte, 1) : 0;
        uint64_t after = now();
        if (pid < 0) {
            why = errno;
            break;
        }
        if (died && is_copy_of_exec(make) && (why = error_of_exec(pid)) != 0) {
            died = 0;
            forget_pidfd();
            break;
        }
        long n = made_count++;
        keep(n, pid, n, before, after);
        if (got != 1 || byte != '+' || died) {
            fail("a new process", "it ended before its turn");
        }
        forget_pidfd();
    }
    const char *words = why == 0 ? "-" : strerror(why);
    dprintf(STDOUT_FILENO, "made %ld %d %s\n", made_count, why, words);
}

/* Ends all of them in the order of their creation. */
static void end_all(int with_pidfd) {
    if (died) fail("a process", "it ended before its turn");
    /* The deaths that follow are intended: no signal for them in the timed region. */
    signal(SIGCHLD, SIG_DFL);
    for (long n = 0; n < made_count; n++) {
        /* Opened one by one, because of the limit on descriptors. */
        pid_t pid = made(n);
        if (with_pidfd && (pidfd = (int)syscall(SYS_pidfd_open, pid, 0)) < 0) {
            fail("pidfd_open", strerror(errno));
        }
        uint64_t before = now();
        int ended = with_pidfd ? by_pidfd() : by_pid(pid);
        uint64_t after = now();
        if (!ended) fail("ending a process", "it had ended before, or in another way");
        keep(n, 0, count + n, before, after);
        forget_pidfd();
    }
    if (waitpid(-1, NULL, WNOHANG) != -1) fail("ending all processes", "some are left");
    dprintf(STDOUT_FILENO, "reaped %ld\n", made_count);
}

/* Private memory in ordinary pages, whose page tables fork copies. */
static void grow(size_t megabytes) {
    size_t size = megabytes << 20, page = (size_t)sysconf(_SC_PAGESIZE);
    if (size == 0) return;
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (memory == MAP_FAILED) fail("mapping memory", strerror(errno));
    madvise(memory, size, MADV_NOHUGEPAGE);
    for (size_t at = 0; at < size; at += page) ((volatile char *)memory)[at] = 1;
}

static void prepare_pipe(void) {
    if (pipe2(bytes, O_CLOEXEC) != 0) fail("pipe", strerror(errno));
    /* A program started by execve writes its byte to the same descriptor. */
    fcntl(bytes[1], F_SETFD, 0);
    snprintf(to_word, sizeof to_word, "%d", bytes[1]);
    snprintf(parent_word, sizeof parent_word, "%d", (int)self);
    struct sigaction act = {.sa_handler = on_death, .sa_flags = SA_RESTART};
    sigaction(SIGCHLD, &act, NULL);
}

int main(int argc, char **words) {
    if (argc == 4 && strcmp(words[1], "child") == 0) be_a_child(atoi(words[2]), atoi(words[3]));
    if (argc != 8) fail("arguments", "HOW ENDING COUNT MEGABYTES CLOCK STAMPS PARENT are wanted");
    end_with(atoi(words[7]));
    self = getpid();
    prctl(PR_SET_NAME, "forker");
    way make = way_called(words[1]);
    int with_pidfd = strcmp(words[2], "pidfd") == 0;
    count = atol(words[3]);
    with_tsc = strcmp(words[5], "tsc") == 0;
    kept = atoi(words[6]);
    fcntl(kept, F_SETFD, FD_CLOEXEC);
    grow((size_t)atol(words[4]));
    prepare_pipe();

    make_all(make);
    char go;
    while (read(STDIN_FILENO, &go, 1) < 0 && errno == EINTR) {}
    end_all(with_pidfd);
    return 0;
}
