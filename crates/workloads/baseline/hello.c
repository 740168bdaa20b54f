/* The program that the rows fork-exec and fork-sh of `baseline` start. */
#include <unistd.h>

int main(void) {
    /* Standard output is closed: the call is made, and fails. */
    ssize_t written = write(STDOUT_FILENO, "hello\n", 6);
    (void)written;
    return 0;
}
