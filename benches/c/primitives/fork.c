/*
 * fork, as Felix von Leitner's forkbench measured it: COUNT children one after the other, each of
 * which writes a byte into a pipe and then sleeps. Then each is killed and waited for, the oldest
 * first. Compiled with -static or without, it is the static or the dynamic one.
 *
 *     fork COUNT [fork|reap]
 *
 * It prints the figures of the first, from before the fork until the byte is read, or with `reap`
 * those of the second.
 */
#include "single.h"
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

/* Sleeps until it is killed. */
static void be_a_child(int to, pid_t parent) {
    if (write(to, "+", 1) != 1) _exit(1);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (getppid() == parent) pause();
    _exit(1);
}

/* Whether the figures of `reap` are wanted, by the second argument. */
static int reap_wanted(int argc, char **words) {
    if (argc < 3 || strcmp(words[2], "fork") == 0) return 0;
    if (argc == 3 && strcmp(words[2], "reap") == 0) return 1;
    fprintf(stderr, "usage: %s COUNT [fork|reap]\n", words[0]);
    exit(2);
}

int main(int argc, char **words) {
    int reap = reap_wanted(argc, words);
    long count = count_of(argc == 3 ? 2 : argc, words);
    uint64_t *fork_ns = room_for(count), *reap_ns = room_for(count);
    pid_t *children = calloc((size_t)count, sizeof *children);
    int bytes[2];
    if (!children || pipe(bytes) != 0) fail("starting");

    pid_t self = getpid();
    for (long n = 0; n < count; n++) {
        char byte = 0;
        uint64_t before = now_ns();
        pid_t pid = fork();
        if (pid == 0) be_a_child(bytes[1], self);
        ssize_t got = pid > 0 ? read(bytes[0], &byte, 1) : 0;
        uint64_t after = now_ns();
        /* Earlier children end with this process. */
        if (pid < 0) fail("fork");
        if (got != 1 || byte != '+') fail("read");
        children[n] = pid;
        fork_ns[n] = after - before;
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
    print(reap ? reap_ns : fork_ns, count);
    return 0;
}
