/*
 * Starts one command, waits for its end, and reads the clock around that. It is embedded in knee, which runs it
 * from memory for each run of a command: the kernel counts the resident set of a process from that of the process
 * that started it on, so that this one is small.
 *
 *     starter CLOCK REPORT SELF GROUP PROGRAM ARGUMENT...
 *
 * CLOCK is tsc, or anything else for CLOCK_MONOTONIC. SELF is the descriptor of this program in memory, and REPORT
 * that for one line. GROUP is the file of a control group that takes processes, or empty; the command inherits the group.
 * The lines are:
 *
 *     ran BEFORE AFTER HOW CODE USER_US SYSTEM_US VOLUNTARY INVOLUNTARY MINOR MAJOR RSS_KIB
 *     failed ERRNO
 *     outside ERRNO
 *
 * HOW is exited or killed. It is outside where its control group could not be entered. The command has a process group of its own, which is killed when its first process
 * has ended: what is left of it competes with nothing that comes later.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
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

int main(int count, char **words) {
    if (count < 6) return 2;
    with_tsc = strcmp(words[1], "tsc") == 0;
    int to = atoi(words[2]);
    /* The command gets neither. */
    fcntl(to, F_SETFD, FD_CLOEXEC);
    fcntl(atoi(words[3]), F_SETFD, FD_CLOEXEC);
    char line[256];
    if (words[4][0] != 0) {
        int entrance = open(words[4], O_WRONLY | O_CLOEXEC);
        if (entrance < 0 || write(entrance, "0", 1) != 1) {
            return report(to, line, snprintf(line, sizeof line, "outside %d\n", errno));
        }
        close(entrance);
    }

    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    posix_spawnattr_setpgroup(&attributes, 0);

    pid_t pid;
    siginfo_t info;
    uint64_t before = now();
    int error = posix_spawnp(&pid, words[5], NULL, &attributes, words + 5, environ);
    if (error != 0) {
        return report(to, line, snprintf(line, sizeof line, "failed %d\n", error));
    }
    while (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) != 0 && errno == EINTR) {}
    uint64_t after = now();

    /* Until it is waited for, no other process has its id, nor another group. */
    kill(-pid, SIGKILL);
    int status = 0;
    struct rusage used = {0};
    while (wait4(pid, &status, 0, &used) < 0) {
        if (errno != EINTR) {
            return report(to, line, snprintf(line, sizeof line, "failed %d\n", errno));
        }
    }
    int killed = WIFSIGNALED(status);
    int length = snprintf(
        line, sizeof line, "ran %llu %llu %s %d %lld %lld %ld %ld %ld %ld %ld\n",
        (unsigned long long)before, (unsigned long long)after, killed ? "killed" : "exited",
        killed ? WTERMSIG(status) : WEXITSTATUS(status), us(used.ru_utime), us(used.ru_stime),
        used.ru_nvcsw, used.ru_nivcsw, used.ru_minflt, used.ru_majflt, used.ru_maxrss);
    return report(to, line, length);
}
