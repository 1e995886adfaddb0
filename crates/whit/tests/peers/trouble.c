/* Makes one trouble until it is ended: words[1] says which, words[2] is a file, words[3] a size in MiB. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int turn;
static void *take_turns(void *own) {
    pthread_mutex_lock(&mutex);
    for (;;) {
        while (turn != (int)(long)own) pthread_cond_wait(&condition, &mutex);
        turn = !turn;
        pthread_cond_broadcast(&condition);
    }
}
int main(int count, char **words) {
    const char *what = words[1];
    long megabytes = count > 3 ? atol(words[3]) : 1;
    size_t size = megabytes << 20;
    if (!strcmp(what, "spin")) for (;;) ;
    if (!strcmp(what, "fork")) for (;;) { pid_t child = fork(); if (!child) _exit(0); waitpid(child, 0, 0); }
    if (!strcmp(what, "poll")) for (;;) usleep(100);
    if (!strcmp(what, "locks")) {
        pthread_t thread;
        pthread_create(&thread, 0, take_turns, (void *)1L);
        take_turns((void *)0L);
    }
    if (!strcmp(what, "flood")) {
        int in = socket(AF_INET, SOCK_DGRAM, 0), out = socket(AF_INET, SOCK_DGRAM, 0);
        struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
        socklen_t length = sizeof address;
        bind(in, (void *)&address, length);
        getsockname(in, (void *)&address, &length);
        for (;;) sendto(out, "x", 1, 0, (void *)&address, length);
    }
    if (!strcmp(what, "unread")) {
        /* Datagrams that nothing reads: too few for the network to be busy. */
        int in = socket(AF_INET, SOCK_DGRAM, 0), out = socket(AF_INET, SOCK_DGRAM, 0);
        struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
        socklen_t length = sizeof address;
        static char datagram[1000];
        bind(in, (void *)&address, length);
        getsockname(in, (void *)&address, &length);
        for (;; usleep(2000)) sendto(out, datagram, sizeof datagram, 0, (void *)&address, length);
    }
    if (!strcmp(what, "unaccepted")) {
        /* Connections that nothing accepts, and clients that give up after half a second. */
        int server = socket(AF_INET, SOCK_STREAM, 0);
        struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
        socklen_t length = sizeof address;
        if (bind(server, (void *)&address, length) || listen(server, 4)) return 2;
        getsockname(server, (void *)&address, &length);
        for (int clients[10], round = 0;; round++) {
            for (int i = 0; i < 10; i++) {
                if (round) close(clients[i]);
                clients[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
                connect(clients[i], (void *)&address, length);
            }
            usleep(500000);
        }
    }
    if (!strcmp(what, "ring")) {
        /* Waits in io_uring for what never comes: no disk has a part in it. */
        struct io_uring_params ring = { 0 };
        int never[2], instance = syscall(SYS_io_uring_setup, 4, &ring);
        if (instance < 0 || pipe(never)) return 2;
        char *rings = mmap(0, ring.sq_off.array + ring.sq_entries * sizeof(unsigned), PROT_READ | PROT_WRITE,
                           MAP_SHARED | MAP_POPULATE, instance, IORING_OFF_SQ_RING);
        struct io_uring_sqe *entries = mmap(0, ring.sq_entries * sizeof *entries, PROT_READ | PROT_WRITE,
                                            MAP_SHARED | MAP_POPULATE, instance, IORING_OFF_SQES);
        char byte;
        entries[0] = (struct io_uring_sqe){ .opcode = IORING_OP_READ, .fd = never[0], .addr = (unsigned long)&byte, .len = 1 };
        ((unsigned *)(rings + ring.sq_off.array))[0] = 0;
        __atomic_store_n((unsigned *)(rings + ring.sq_off.tail), 1, __ATOMIC_RELEASE);
        for (int submitted = 1;; submitted = 0)
            if (syscall(SYS_io_uring_enter, instance, submitted, 1, IORING_ENTER_GETEVENTS, 0, 0) < 0) return 3;
    }
    if (!strcmp(what, "grow")) {
        for (long grown = 0;; grown++) {
            volatile char *more = grown < megabytes ? malloc(1 << 20) : 0;
            for (size_t place = 0; more && place < 1 << 20; place += 4096) more[place] = 1;
            usleep(20000);
        }
    }
    if (!strcmp(what, "touch")) {
        volatile char *memory = malloc(size);
        for (;;) for (size_t place = 0; place < size; place += 4096) memory[place]++;
    }
    int file = open(words[2], O_RDWR | O_CREAT, 0600);
    char *buffer = calloc(1, 1 << 20);
    if (!strcmp(what, "write")) for (;;) { pwrite(file, buffer, 1 << 20, 0); fdatasync(file); }
    if (!strcmp(what, "direct")) {
        /* Waits for the disk and does next to nothing else, however fast it is. */
        void *pages;
        posix_memalign(&pages, 4096, 1 << 20);
        file = open(words[2], O_RDWR | O_DIRECT);
        while (pwrite(file, pages, 1 << 20, 0) > 0) ;
        return 2;
    }
    if (!strcmp(what, "log")) for (;;) { pwrite(file, buffer, 4096, 0); fdatasync(file); }
    if (!strcmp(what, "trickle")) for (;;) { pwrite(file, buffer, 1 << 16, 0); usleep(40000); }
    if (!strcmp(what, "gulp")) {
        void *pages;
        posix_memalign(&pages, 4096, 1 << 16);
        for (file = open(words[2], O_RDONLY | O_DIRECT);;) pread(file, pages, 1 << 16, 0);
    }
    if (!strcmp(what, "sip")) {
        void *page;
        posix_memalign(&page, 4096, 4096);
        for (file = open(words[2], O_RDONLY | O_DIRECT);; usleep(20000)) pread(file, page, 4096, 0);
    }
    if (!strcmp(what, "fill")) {
        while (write(file, buffer, 1 << 16) > 0) ;
        for (;;) { pwrite(file, buffer, 1 << 20, 0); fdatasync(file); usleep(20000); }
    }
    if (!strcmp(what, "map")) {
        volatile char *memory = mmap(0, size, PROT_READ, MAP_SHARED, file, 0);
        volatile char sum = 0;
        for (;;) for (size_t place = 0; place < size; place += 4096) sum += memory[place];
    }
    return 1;
}
