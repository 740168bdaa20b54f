/* The n-th bind to port 0, each on a socket that was opened before: `bind COUNT`. See single.h. */
#include "single.h"
#include <netinet/in.h>
#include <sys/socket.h>

int main(int argc, char **words) {
    long count = count_of(argc, words);
    uint64_t *samples = room_for(count);
    int *sockets = calloc((size_t)count, sizeof *sockets);
    if (!sockets) fail("calloc");
    for (long n = 0; n < count; n++) {
        sockets[n] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (sockets[n] < 0) fail("socket");
    }
    struct sockaddr_in anywhere = {.sin_family = AF_INET};
    for (long n = 0; n < count; n++) {
        uint64_t start = now_ns();
        int done = bind(sockets[n], (struct sockaddr *)&anywhere, sizeof anywhere);
        samples[n] = now_ns() - start;
        if (done < 0) fail("bind");
    }
    print(samples, count);
}
