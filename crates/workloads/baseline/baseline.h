/* What the rows of the workload `baseline` share: see main.c. */
#ifndef BASELINE_H
#define BASELINE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Sizes that lmbench's runner asks for: its files and memory, and what its chains of pointers go through. */
enum { MAPPED_MIB = 32, MEMORY_MIB = 32, LATENCY_MIB = 128 };

/* One row: an operation that is repeated. Only `run` and `overhead` are timed. */
struct row {
    /* The name of the subject. */
    const char *name;
    /* Prepares what all batches need. */
    void (*prepare)(void);
    /* Before and after each batch of n operations. */
    void (*before)(long n), (*after)(long n);
    /* Does n operations. */
    void (*run)(long n);
    /* Clock ticks of what is not the operation itself, in n operations. */
    uint64_t (*overhead)(long n);
    /* What one operation counts for: bytes, loads, pages or hand-overs. Set at the latest by `prepare`. */
    size_t units;
    /* The same of one operation of `overhead`; 0 is the same as `units`. */
    size_t overhead_units;
};

/* The rows of each family, which end with one without a name. */
extern struct row processor_rows[], switching_rows[], local_rows[], file_rows[], bandwidth_rows[],
    latency_rows[];

/* The row that is being measured. */
extern struct row *row;
/* The directory for its files; may be empty. */
extern const char *directory;
/* A descriptor of the program hello in memory. */
extern int hello;

/* Ticks of n operations of `run`. */
uint64_t timed(void (*run)(long), long n);
/* Ends the program, and says which call failed with errno. */
_Noreturn void fail_call(const char *call);
/* Ends the program, and says what is wrong. */
_Noreturn void fail(const char *what);
/* Ends the program after a read or write that returned another number of bytes than a message has. */
_Noreturn void fail_transfer(const char *call, ssize_t bytes);
/* A fact that a reader has to know. */
void fact(const char *name, unsigned long long number);
/* A path in the directory. */
const char *in_directory(const char *name);
/* Starts a process that runs `body`, and ends with this one. This one fails when it ends. */
void start_peer(void (*body)(void));
/* Closes what only a peer uses once that has been started, so that its end is seen here. */
void close_peers(int descriptor);
/* The address of a buffer at a page's beginning, which has been written to. */
void *page_aligned(size_t bytes);
/* A file of as many bytes that are not zero, open to read and write. */
int make_file(const char *path, size_t bytes);
/* A random permutation of the numbers below n, each times `scale`. */
size_t *permutation(size_t n, size_t scale);
/* A socket that listens at a port of loopback, and its address. */
struct sockaddr_in;
int listen_on_loopback(struct sockaddr_in *address);
/* The sums of all ints and of all longs; `bytes` is a multiple of 512 and of 1,024. */
unsigned sum_ints(const unsigned *at, size_t bytes);
unsigned long sum_longs(const unsigned long *at, size_t bytes);
/* Keeps a result from being optimized away. */
void use(unsigned long value);

/* Repeats M(i) for 0 to 127: a loop that is unrolled by hand. */
#define EACH4(M, i) M((i)) M((i) + 1) M((i) + 2) M((i) + 3)
#define EACH16(M, i) EACH4(M, i) EACH4(M, (i) + 4) EACH4(M, (i) + 8) EACH4(M, (i) + 12)
#define EACH64(M, i) EACH16(M, i) EACH16(M, (i) + 16) EACH16(M, (i) + 32) EACH16(M, (i) + 48)
#define EACH128(M) EACH64(M, 0) EACH64(M, 64)

#endif
