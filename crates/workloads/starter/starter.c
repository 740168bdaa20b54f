/*
 * Starts one command, waits for its end, and reads the clock around that. It is embedded in knee, which runs it
 * from memory for each run of a command: the kernel counts the resident set of a process from that of the process
 * that started it on, so that this one is small.
 *
 *     starter CLOCK REPORT SELF GROUP CALLS PROGRAM ARGUMENT...
 *
 * CLOCK is tsc, or anything else for CLOCK_MONOTONIC. SELF is the descriptor of this program in memory, and REPORT
 * that for one line. GROUP is the file of a control group that takes processes, or empty; the command inherits the group.
 * CALLS is empty, or TRACEPOINT:NUMBER,NUMBER...: system calls of the command and of all that it starts are counted by
 * that tracepoint, all of them and those of each number. The lines are:
 *
 *     ran BEFORE AFTER HOW CODE USER_US SYSTEM_US VOLUNTARY INVOLUNTARY MINOR MAJOR RSS_KIB IO [COUNT...]
 *     failed ERRNO
 *     outside ERRNO
 *     uncounted ERRNO
 *
 * IO is RCHAR,WCHAR,SYSCR,SYSCW of /proc, or - where it is not known. HOW is exited or killed. It is outside where its control group could not be entered. The command has a process group of its own, which is killed when its first process
 * has ended: what is left of it competes with nothing that comes later.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "../clock/clock.h"

extern char **environ;

static long long us(struct timeval time) {
    return (long long)time.tv_sec * 1000000 + time.tv_usec;
}

/* Writes a line of at most a pipe's atomic length. */
static int report(int to, const char *line, int length) {
    return write(to, line, (size_t)length) == length ? 0 : 1;
}

enum { COUNTERS_MAX = 128 };

/* Opens a counter of the passes of a tracepoint that the filter lets through, or of all: it begins when a process that is
 * started from here runs its program. */
static int counter(uint64_t tracepoint, const char *filter) {
    struct perf_event_attr attributes = {
        .type = PERF_TYPE_TRACEPOINT,
        .size = sizeof attributes,
        .config = tracepoint,
        .disabled = 1,
        .inherit = 1,
        .enable_on_exec = 1,
    };
    int fd = (int)syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd >= 0 && filter && ioctl(fd, PERF_EVENT_IOC_SET_FILTER, filter) != 0) return -1;
    return fd;
}

/* Opens those of CALLS. Returns how many there are, or -1. */
static int open_counters(char *calls, int *counters) {
    if (calls[0] == 0) return 0;
    char *rest;
    uint64_t tracepoint = strtoull(calls, &rest, 10);
    int count = 0;
    counters[count++] = counter(tracepoint, NULL);
    for (char *number = strtok(rest, ":,"); number && count < COUNTERS_MAX; number = strtok(NULL, ":,")) {
        char filter[32];
        snprintf(filter, sizeof filter, "id == %s", number);
        if (counters[count - 1] < 0) return -1;
        counters[count++] = counter(tracepoint, filter);
    }
    return counters[count - 1] < 0 ? -1 : count;
}

/* Writes what a process that has ended read and wrote, by /proc: RCHAR,WCHAR,SYSCR,SYSCW. */
static void read_io(pid_t pid, char *io, size_t size) {
    char file[64], text[512];
    unsigned long long rchar, wchar, syscr, syscw;
    snprintf(file, sizeof file, "/proc/%d/io", (int)pid);
    snprintf(io, size, "-");
    int fd = open(file, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0) close(fd);
    if (length <= 0) return;
    text[length] = 0;
    if (sscanf(text, "rchar: %llu wchar: %llu syscr: %llu syscw: %llu", &rchar, &wchar, &syscr, &syscw) == 4) {
        snprintf(io, size, "%llu,%llu,%llu,%llu", rchar, wchar, syscr, syscw);
    }
}

int main(int count, char **words) {
    if (count < 7) return 2;
    /* Its file has no name, and by this one a profile leaves it out. */
    prctl(PR_SET_NAME, "knee starter");
    with_tsc = strcmp(words[1], "tsc") == 0;
    int to = atoi(words[2]);
    /* The command gets neither. */
    fcntl(to, F_SETFD, FD_CLOEXEC);
    fcntl(atoi(words[3]), F_SETFD, FD_CLOEXEC);
    char line[4096], io[128];
    if (words[4][0] != 0) {
        int entrance = open(words[4], O_WRONLY | O_CLOEXEC);
        if (entrance < 0 || write(entrance, "0", 1) != 1) {
            return report(to, line, snprintf(line, sizeof line, "outside %d\n", errno));
        }
        close(entrance);
    }

    int counters[COUNTERS_MAX];
    int counted = open_counters(words[5], counters);
    if (counted < 0) return report(to, line, snprintf(line, sizeof line, "uncounted %d\n", errno));

    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    posix_spawnattr_setpgroup(&attributes, 0);

    pid_t pid;
    siginfo_t info;
    uint64_t before = now();
    int error = posix_spawnp(&pid, words[6], NULL, &attributes, words + 6, environ);
    if (error != 0) {
        return report(to, line, snprintf(line, sizeof line, "failed %d\n", error));
    }
    while (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) != 0 && errno == EINTR) {}
    uint64_t after = now();

    /* Until it is waited for, no other process has its id, nor another group. */
    kill(-pid, SIGKILL);
    read_io(pid, io, sizeof io);
    int status = 0;
    struct rusage used = {0};
    while (wait4(pid, &status, 0, &used) < 0) {
        if (errno != EINTR) {
            return report(to, line, snprintf(line, sizeof line, "failed %d\n", errno));
        }
    }
    int killed = WIFSIGNALED(status);
    int length = snprintf(
        line, sizeof line, "ran %llu %llu %s %d %lld %lld %ld %ld %ld %ld %ld %s",
        (unsigned long long)before, (unsigned long long)after, killed ? "killed" : "exited",
        killed ? WTERMSIG(status) : WEXITSTATUS(status), us(used.ru_utime), us(used.ru_stime),
        used.ru_nvcsw, used.ru_nivcsw, used.ru_minflt, used.ru_majflt, used.ru_maxrss, io);
    for (int at = 0; at < counted; at++) {
        unsigned long long calls;
        if (read(counters[at], &calls, sizeof calls) != sizeof calls) {
            return report(to, line, snprintf(line, sizeof line, "uncounted %d\n", errno));
        }
        length += snprintf(line + length, sizeof line - (size_t)length, " %llu", calls);
    }
    length += snprintf(line + length, sizeof line - (size_t)length, "\n");
    return report(to, line, length);
}
