/*
 * The game of knee's workload `pipetest`: tokens circulate in N pipes. In each turn the pending ones
 * are written, the program waits once, and each ready pipe is read. Each token rises by one
 * generation and is pending again until it has reached the last; then the next game begins. A
 * figure is tokens passed on per second.
 *
 * Every token that arrives must have been sent to that pipe and not have arrived before, and at the
 * end each pipe must have the number of hits that the spread prescribes.
 */
#ifndef PIPETEST_H
#define PIPETEST_H

#define ARGUMENTS "PIPES TOKENS GENERATIONS tail|spread|random BUFSIZE 0|-1"
enum { ARGUMENTS_COUNT = 6 };

/* Bytes that identify a token, tokens per read, and the strides and seed of `random`. */
enum { HEAD = 8, TOKENS_READ = 16, SEED = 12345, STRIDES = 256 };

/* One pipe. */
struct slot {
    int fd;             /* the read end, watched */
    int peer;           /* the write end */
    unsigned long hits; /* tokens read */
};

struct token {
    uint32_t generation;
    enum { PENDING, UNDER_WAY, RETIRED } state;
    unsigned slot; /* its pipe, if in flight */
};

static struct slot *slots;
static struct token *tokens;
static unsigned watched, token_count, generations;
static enum { TAIL, ORIGINAL, RANDOM } spread;
static uint32_t *pending, *sending; /* tokens, by number */
static unsigned pending_count;
static unsigned retired;    /* tokens of this game */
static unsigned long games; /* completed */
static unsigned event_count, arrived; /* events and tokens of this turn */
static uint64_t strides[STRIDES]; /* of `random` */
static size_t token_bytes;
static unsigned char *message, *buffer;

static void read_rules(char **words) {
    static const char *const names[] = {"tail", "spread", "random"}; /* as the enumeration */
    watched = number(words[0]);
    token_count = number(words[1]);
    if (token_count > watched) refuse(words[1], "more tokens than pipes");
    generations = number(words[2]);
    while (strcmp(words[3], names[spread]) != 0)
        if (spread++ == RANDOM) refuse(words[3], "no such spread");
    token_bytes = number(words[4]);
    if (token_bytes < HEAD || token_bytes > 4096) refuse(words[4], "not from 8 to 4096");
    if (strcmp(words[5], "0") != 0 && strcmp(words[5], "-1") != 0) refuse(words[5], "not 0 or -1");
    timeout_ms = atoi(words[5]);
}

static void draw_strides(void);

static void game_open(char **words) {
    read_rules(words);
    draw_strides();
    slots = allocate(watched, sizeof *slots);
    tokens = allocate(token_count, sizeof *tokens);
    pending = allocate(token_count, sizeof *pending);
    sending = allocate(token_count, sizeof *sending);
    message = allocate(1, token_bytes);
    buffer = allocate(TOKENS_READ, token_bytes);
    retired = token_count;
    for (unsigned index = 0; index < watched; index++) {
        int ends[2];
        if (pipe2(ends, O_NONBLOCK | O_CLOEXEC) != 0) fail("pipe2");
        slots[index].fd = ends[0];
        slots[index].peer = ends[1];
    }
}

/* SplitMix64's finaliser. */
static inline uint64_t mixed(uint64_t word) {
    word += 0x9e3779b97f4a7c15;
    word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9;
    word = (word ^ (word >> 27)) * 0x94d049bb133111eb;
    return word ^ (word >> 31);
}

static uint64_t common_factor(uint64_t a, uint64_t b) {
    while (b > 0) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Strides that reach every pipe before one comes again: each generation takes one of them. */
static void draw_strides(void) {
    unsigned drawn = 0;
    for (uint64_t count = 0; drawn < STRIDES; count++) {
        uint64_t stride = 1 + mixed(SEED + count) % watched;
        if (common_factor(stride, watched) == 1) strides[drawn++] = stride;
    }
}

/* The pipe that a token is sent to in a generation. */
static inline unsigned place(uint64_t token, uint64_t generation) {
    uint64_t pipe;
    if (spread == TAIL) {
        pipe = watched - token - 1;
    } else if (spread == ORIGINAL) {
        uint64_t apart = 1 + watched / token_count;
        pipe = (SEED % watched + generation * 17 + token * apart) % watched;
    } else {
        uint64_t drawn = mixed(SEED ^ generation);
        pipe = ((drawn >> 32) + token * strides[drawn % STRIDES]) % watched;
    }
    return (unsigned)pipe;
}

static inline void send_token(uint32_t number) {
    struct token *token = &tokens[number];
    unsigned slot = place(number, token->generation);
    memcpy(message, &number, 4);
    memcpy(message + 4, &token->generation, 4);
    ssize_t bytes = write(slots[slot].peer, message, token_bytes);
    if (bytes == (ssize_t)token_bytes) {
        token->state = UNDER_WAY;
        token->slot = slot;
    } else if (bytes < 0 && errno == EAGAIN) {
        pending[pending_count++] = number; /* the pipe is full: in the next turn */
    } else if (bytes < 0) {
        fail("write");
    } else {
        wrong("a write was short");
    }
}

/* Takes a token out of the bytes of a pipe. */
static inline void take(unsigned slot, const unsigned char *bytes) {
    uint32_t number, generation;
    memcpy(&number, bytes, 4);
    memcpy(&generation, bytes + 4, 4);
    if (number >= token_count) wrong("a token arrived that does not exist");
    struct token *token = &tokens[number];
    if (token->generation != generation || token->state != UNDER_WAY || token->slot != slot)
        wrong("a token arrived twice, or was never sent there");
    if (++token->generation == generations) {
        token->state = RETIRED;
        if (++retired == token_count) games++;
    } else {
        token->state = PENDING;
        pending[pending_count++] = number;
    }
}

/* Reads a pipe once; returns whether it had a token. */
static inline bool receive(unsigned slot) {
    ssize_t bytes = read(slots[slot].fd, buffer, TOKENS_READ * token_bytes);
    if (bytes == 0) wrong("a pipe was closed");
    if (bytes < 0 && errno != EAGAIN) fail("read");
    if (bytes < 0) return false;
    if ((size_t)bytes % token_bytes != 0) wrong("a token was torn");
    for (size_t at = 0; at < (size_t)bytes; at += token_bytes) take(slot, buffer + at);
    unsigned tokens_read = (unsigned)((size_t)bytes / token_bytes);
    slots[slot].hits += tokens_read;
    arrived += tokens_read;
    return true;
}

static inline bool dispatch(unsigned slot) {
    bool any = receive(slot);
    event_count++;
    if (!any && !EVENTS_OUTLIVE) wrong("an event arrived without its data");
    return any;
}

static inline void exhaust(unsigned slot) {
    if (dispatch(slot))
        while (receive(slot)) continue;
}

/* Waits until tokens arrive: once, except for events whose data an earlier event has read. */
static inline unsigned collect(void) {
    arrived = 0;
    do {
        event_count = 0;
        mechanism_wait();
        if (event_count == 0) wrong("a token was lost: nothing is ready");
    } while (arrived == 0);
    return arrived;
}

static inline unsigned turn(void) {
    if (retired == token_count) {
        memset(tokens, 0, token_count * sizeof *tokens);
        for (pending_count = 0; pending_count < token_count; pending_count++)
            pending[pending_count] = pending_count;
        retired = 0;
    }
    uint32_t *now = pending;
    unsigned now_count = pending_count;
    pending = sending;
    sending = now;
    pending_count = 0;
    for (unsigned n = 0; n < now_count; n++) send_token(now[n]);
    return collect();
}

static double figure(double ns, double passes) {
    return 1e9 * passes / ns;
}

/* Collects the tokens in flight. Then nothing may be ready, and the totals must be right. */
static void game_close(void) {
    for (unsigned number = 0; number < token_count; number++)
        while (tokens[number].state == UNDER_WAY) collect();
    arrived = event_count = 0;
    look();
    if (arrived != 0 || (event_count != 0 && !EVENTS_OUTLIVE)) wrong("an event arrived without a cause");
    unsigned long *expected = allocate(watched, sizeof *expected);
    for (unsigned number = 0; number < token_count; number++) {
        /* A completed game has been counted. */
        uint32_t further = retired == token_count ? 0 : tokens[number].generation;
        for (uint32_t generation = 0; generation < generations; generation++)
            expected[place(number, generation)] += games + (generation < further);
    }
    for (unsigned slot = 0; slot < watched; slot++)
        if (slots[slot].hits != expected[slot]) wrong("a pipe was not hit as its spread says");
    free(expected);
}

#endif
