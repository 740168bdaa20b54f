/*
 * fork, as Felix von Leitner's forkbench measured it: COUNT children one after the other, each of
 * which writes a byte into a pipe and then sleeps. Then each is killed and waited for. Compiled with
 * -static or without, it is the static or the dynamic one.
 *
 *     fork COUNT [fork|reap]
 *
 * It prints nanoseconds, a line for each child: from before the fork until its byte is read, or with
 * `reap` of its kill and wait, the oldest first. Exit status: 1 for a failure, 2 for odd arguments.
 */
#include "single.h"
#include <signal.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <sys/wait.h>

static pid_t *children;
static long count, made;

/* Whatever ends the program, its children end with it. */
static void end_children(void) {
    for (long n = 0; n < made; n++) kill(children[n], SIGKILL);
}

/* Sleeps until it is killed, by whomever. */
static void be_a_child(int to, pid_t parent) {
    if (write(to, "+", 1) != 1) _exit(1);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (getppid() == parent) pause();
    _exit(1);
}

int main(int argc, char **words) {
    const char *wanted = argc == 3 ? words[2] : "fork";
    int with_fork = strcmp(wanted, "fork") == 0, with_reap = strcmp(wanted, "reap") == 0;
    if (with_fork == with_reap || argc > 3) {
        fprintf(stderr, "usage: fork COUNT [fork|reap]\n");
        return 2;
    }
    count = count_of(argc == 3 ? 2 : argc, words);
    uint64_t *fork_ns = room_for(count), *reap_ns = room_for(count);
    children = calloc((size_t)count, sizeof *children);
    int bytes[2];
    if (!children || pipe(bytes) != 0) fail("starting");
    atexit(end_children);

    pid_t self = getpid();
    for (; made < count; made++) {
        char byte = 0;
        uint64_t before = now_ns();
        pid_t pid = fork();
        if (pid == 0) be_a_child(bytes[1], self);
        if (pid < 0) fail("fork");
        ssize_t got = read(bytes[0], &byte, 1);
        uint64_t after = now_ns();
        children[made] = pid;
        if (got != 1 || byte != '+') fail("read");
        fork_ns[made] = after - before;
    }
    for (long n = 0; n < count; n++) {
        int status;
        uint64_t before = now_ns();
        int killed = kill(children[n], SIGKILL);
        pid_t waited = waitpid(children[n], &status, 0);
        uint64_t after = now_ns();
        if (killed != 0 || waited != children[n]) fail("kill and wait");
        reap_ns[n] = after - before;
    }
    made = 0;
    print(with_reap ? reap_ns : fork_ns, count);
    return 0;
}
