/* Signal-driven input by sigtimedwait(2), which takes one signal at a time. */
#include "realtime.h"

static void mechanism_open(unsigned watched_count) {
    block_signals(watched_count);
}

static void mechanism_wait(void) {
    struct timespec none = {0};
    siginfo_t info;
    int signal = sigtimedwait(&wanted, &info, timeout_ms < 0 ? NULL : &none);
    if (signal >= 0) dispatch_signal(signal, info.si_fd, info.si_band);
    else if (errno != EAGAIN) fail("sigtimedwait");
}
