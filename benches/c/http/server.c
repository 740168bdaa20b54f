/* A server that reads nothing: each piece of input is answered with the same 128 bytes, under the head that knee
   sends. One thread, epoll, one recv and one send a reply.

   server: listens on a port of the kernel's choice, prints its address in the first line, and serves until it is killed. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define EVENTS 512
#define BODY 128

static const char head[] =
    "HTTP/1.1 200 OK\r\nServer: knee\r\nDate: Sun, 29 Nov 2026 12:00:00 GMT\r\n"
    "Content-Type: text/plain; charset=utf-8\r\nContent-Length: 128\r\n"
    "Last-Modified: Sun, 29 Nov 2026 12:00:00 GMT\r\nETag: \"6b0c6584-1a999fe1-80\"\r\n"
    "Accept-Ranges: bytes\r\n\r\n";

static void check(int ok, const char *what)
{
    if (!ok) {
        perror(what);
        exit(1);
    }
}

static void watch(int instance, int fd)
{
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
    check(epoll_ctl(instance, EPOLL_CTL_ADD, fd, &event) == 0, "epoll_ctl");
}

static int listens(void)
{
    int one = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    check(fd >= 0, "socket");
    check(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) == 0, "setsockopt");
    check(bind(fd, (struct sockaddr *)&address, length) == 0, "bind");
    check(listen(fd, 4096) == 0, "listen");
    check(getsockname(fd, (struct sockaddr *)&address, &length) == 0, "getsockname");
    printf("http://127.0.0.1:%d/\n", ntohs(address.sin_port));
    fflush(stdout);
    return fd;
}

int main(void)
{
    static char input[64 * 1024], reply[sizeof head - 1 + BODY];
    memcpy(reply, head, sizeof head - 1);
    memset(reply + sizeof head - 1, 'k', BODY);
    int listener = listens(), instance = epoll_create1(0), one = 1;
    check(instance >= 0, "epoll_create1");
    watch(instance, listener);
    for (;;) {
        struct epoll_event events[EVENTS];
        int count = epoll_wait(instance, events, EVENTS, -1);
        for (int i = 0; i < count; i++) {
            int fd = events[i].data.fd;
            if (fd == listener) {
                int accepted;
                while ((accepted = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) >= 0) {
                    setsockopt(accepted, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
                    watch(instance, accepted);
                }
                continue;
            }
            ssize_t received = recv(fd, input, sizeof input, 0);
            if (received > 0)
                check(send(fd, reply, sizeof reply, MSG_NOSIGNAL) == (ssize_t)sizeof reply, "send");
            else if (received == 0 || errno != EAGAIN)
                close(fd);
        }
    }
}
