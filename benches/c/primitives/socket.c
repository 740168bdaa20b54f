/* The n-th socket, while those before it stay open: `socket COUNT`. See single.h. */
#include "single.h"
#include <sys/socket.h>

int main(int argc, char **words) {
    long count = count_of(argc, words);
    uint64_t *samples = room_for(count);
    for (long n = 0; n < count; n++) {
        uint64_t start = now_ns();
        int made = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        samples[n] = now_ns() - start;
        if (made < 0) fail("socket");
    }
    print(samples, count);
}
