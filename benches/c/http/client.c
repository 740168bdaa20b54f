/* A load generator that reads nothing: every reply has the length of the first one. One thread, epoll, one send and
   one recv a request.

   client PORT PATH CONNECTIONS SECONDS [RATE]: a closed loop; or, with requests a second, an open one. It prints its
   replies and the nanoseconds of CPU time that they took. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>

#define EVENTS 128
#define WAIT_NS_MAX 50e6

static void check(int ok, const char *what)
{
    if (!ok) {
        perror(what);
        exit(1);
    }
}

static double now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e9 + time.tv_nsec;
}

static double cpu_ns(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e9 +
           (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e3;
}

static char request[512];
static int request_bytes;

static void ask(int fd)
{
    check(send(fd, request, request_bytes, MSG_NOSIGNAL) == request_bytes, "send");
}

static int connected(int port, int instance)
{
    int one = 1, fd = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port)};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    check(connect(fd, (struct sockaddr *)&to, sizeof to) == 0, "connect");
    check(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one) == 0, "setsockopt");
    struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP | EPOLLET, .data.fd = fd};
    check(epoll_ctl(instance, EPOLL_CTL_ADD, fd, &event) == 0, "epoll_ctl");
    return fd;
}

int main(int words, char **word)
{
    static char input[256 * 1024];
    if (words < 5 || words > 6 || atoi(word[3]) < 1) {
        fprintf(stderr, "usage: client PORT PATH CONNECTIONS SECONDS [RATE]\n");
        return 2;
    }
    int port = atoi(word[1]), connections = atoi(word[3]), instance = epoll_create1(0);
    double time_ns = atof(word[4]) * 1e9, rate = words > 5 ? atof(word[5]) : 0;
    const char *form = "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n";
    request_bytes = snprintf(request, sizeof request, form, word[2], port);
    /* Not later than the time that is waited for. */
    prctl(PR_SET_TIMERSLACK, 1);

    /* The connections without a request, in a circle: the one that has been free for longest goes first. */
    int *free_ones = malloc(connections * sizeof *free_ones), first = 0, count_free = 0;
    check(free_ones != NULL, "malloc");
    for (int i = 0; i < connections; i++)
        free_ones[count_free++] = connected(port, instance);
    double begun_ns = now_ns(), cpu_begun_ns = cpu_ns(), at_ns = begun_ns;
    for (; rate == 0 && count_free > 0; count_free--)
        ask(free_ones[count_free - 1]);

    unsigned long replies = 0, sent = 0;
    ssize_t reply_bytes = 0;
    while (at_ns < begun_ns + time_ns) {
        double left_ns = WAIT_NS_MAX;
        if (rate > 0) {
            while (count_free > 0 && begun_ns + sent * 1e9 / rate <= at_ns) {
                ask(free_ones[first]);
                first = (first + 1) % connections;
                count_free--;
                sent++;
                at_ns = now_ns();
            }
            double due_ns = begun_ns + sent * 1e9 / rate - at_ns;
            if (count_free > 0 && due_ns < left_ns)
                left_ns = due_ns > 0 ? due_ns : 0;
        }
        struct timespec left = {0, left_ns};
        struct epoll_event events[EVENTS];
        int count = epoll_pwait2(instance, events, EVENTS, &left, NULL);
        for (int i = 0; i < count; i++) {
            int fd = events[i].data.fd;
            ssize_t received = recv(fd, input, sizeof input, 0);
            if (reply_bytes == 0)
                reply_bytes = received;
            if (received <= 0 || received != reply_bytes) {
                fprintf(stderr, "a reply of %zd bytes, after some of %zd\n", received, reply_bytes);
                return 1;
            }
            replies++;
            if (rate == 0)
                ask(fd);
            else
                free_ones[(first + count_free++) % connections] = fd;
        }
        at_ns = now_ns();
    }
    printf("%lu %.0f\n", replies, cpu_ns() - cpu_begun_ns);
    return 0;
}
