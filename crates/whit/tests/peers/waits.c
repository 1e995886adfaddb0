/* Waits for one thing until it is ended: words[1] says for what, words[2] is a file that it may make. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static char byte;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static int is(const char *one, const char *other) { return !strcmp(one, other); }
static int take(int descriptor) { return read(descriptor, &byte, 1); }
static void *nothing(void *unused) { prctl(PR_SET_PDEATHSIG, SIGKILL); pause(); return unused; }
/* A datagram socket that is connected to an address, or to none. */
static int datagrams(int family, const char *address) {
    struct sockaddr_in short_address = { .sin_family = AF_INET, .sin_port = htons(9) };
    struct sockaddr_in6 long_address = { .sin6_family = AF_INET6, .sin6_port = htons(9) };
    int made = socket(family, SOCK_DGRAM, 0);
    if (!address) return made;
    inet_pton(family, address, family == AF_INET ? (void *)&short_address.sin_addr : (void *)&long_address.sin6_addr);
    if (family == AF_INET ? connect(made, (void *)&short_address, sizeof short_address)
                          : connect(made, (void *)&long_address, sizeof long_address)) exit(4);
    return made;
}
/* A listening socket of loopback, and its address. */
static int listening(struct sockaddr_in *address) {
    socklen_t length = sizeof *address;
    int made = socket(AF_INET, SOCK_STREAM, 0);
    *address = (struct sockaddr_in){ .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    bind(made, (void *)address, length);
    getsockname(made, (void *)address, &length);
    listen(made, 1);
    return made;
}
int main(int count, char **words) {
    const char *what = words[1], *path = count > 2 ? words[2] : "";
    struct timespec day = { .tv_sec = 86400 };
    int pair[2];
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGUSR1);
    pipe(pair);
    if (is(what, "mutex")) { pthread_mutex_lock(&mutex); pthread_mutex_lock(&mutex); }
    if (is(what, "condition")) { pthread_mutex_lock(&mutex); pthread_cond_wait(&condition, &mutex); }
    if (is(what, "rwlock")) { pthread_rwlock_rdlock(&rwlock); pthread_rwlock_wrlock(&rwlock); }
    if (is(what, "semaphore")) { sem_t semaphore; sem_init(&semaphore, 0, 0); sem_wait(&semaphore); }
    if (is(what, "thread")) { pthread_t thread; pthread_create(&thread, 0, nothing, 0); pthread_join(thread, 0); }
    if (is(what, "flock")) {
        flock(open(path, O_RDWR | O_CREAT, 0600), LOCK_EX);
        flock(open(path, O_RDWR), LOCK_EX);
    }
    if (is(what, "fcntl")) {
        struct flock whole = { .l_type = F_WRLCK };
        fcntl(open(path, O_RDWR | O_CREAT, 0600), F_OFD_SETLKW, &whole);
        fcntl(open(path, O_RDWR), F_OFD_SETLKW, &whole);
    }
    if (is(what, "pipe-empty")) take(pair[0]);
    if (is(what, "pipe-full")) for (;;) write(pair[1], &byte, 1);
    if (is(what, "fifo")) { mkfifo(path, 0600); open(path, O_RDONLY); }
    if (is(what, "socketpair")) { socketpair(AF_UNIX, SOCK_STREAM, 0, pair); take(pair[0]); }
    if (is(what, "loopback-4")) recv(datagrams(AF_INET, "127.0.0.1"), &byte, 1, 0);
    if (is(what, "loopback-6")) recv(datagrams(AF_INET6, "::1"), &byte, 1, 0);
    if (is(what, "mapped")) recv(datagrams(AF_INET6, "::ffff:127.0.0.1"), &byte, 1, 0);
    if (is(what, "own-4")) recv(datagrams(AF_INET, "192.0.2.1"), &byte, 1, 0);
    if (is(what, "remote-4")) recv(datagrams(AF_INET, "192.0.2.2"), &byte, 1, 0);
    if (is(what, "remote-6")) recv(datagrams(AF_INET6, "2001:db8::2"), &byte, 1, 0);
    if (is(what, "unconnected")) recv(datagrams(AF_INET, 0), &byte, 1, 0);
    if (is(what, "server")) {
        struct sockaddr_in address;
        int client = socket(AF_INET, SOCK_STREAM, 0);
        listening(&address);
        connect(client, (void *)&address, sizeof address);
        take(client);
    }
    if (is(what, "accept")) { struct sockaddr_in address; accept(listening(&address), 0, 0); }
    if (is(what, "child")) { if (!fork()) nothing(0); wait(0); }
    if (is(what, "known-child")) { pid_t child = fork(); if (!child) nothing(0); waitpid(child, 0, 0); }
    if (is(what, "vfork")) { if (!vfork()) nothing(0); }
    if (is(what, "sleep")) nanosleep(&day, 0);
    if (is(what, "poll-pause")) poll(0, 0, 86400000);
    if (is(what, "select-pause")) { struct timeval time = { .tv_sec = 86400 }; select(0, 0, 0, 0, &time); }
    if (is(what, "timerfd")) {
        struct itimerspec later = { .it_value = day };
        int timer = timerfd_create(CLOCK_MONOTONIC, 0);
        timerfd_settime(timer, 0, &later, 0);
        read(timer, &later, sizeof later);
    }
    if (is(what, "poll")) { struct pollfd one = { .fd = pair[0], .events = POLLIN }; poll(&one, 1, -1); }
    if (is(what, "select")) { fd_set set; FD_ZERO(&set); FD_SET(pair[0], &set); select(pair[0] + 1, &set, 0, 0, 0); }
    if (is(what, "epoll")) { struct epoll_event event; epoll_wait(epoll_create1(0), &event, 1, -1); }
    if (is(what, "eventfd")) { unsigned long long number; read(eventfd(0, 0), &number, sizeof number); }
    if (is(what, "inotify")) { char buffer[512]; int watches = inotify_init1(0); inotify_add_watch(watches, "/", IN_MOVE_SELF); read(watches, buffer, sizeof buffer); }
    if (is(what, "terminal")) { int terminal = posix_openpt(O_RDWR | O_NOCTTY); grantpt(terminal); unlockpt(terminal); take(open(ptsname(terminal), O_RDWR | O_NOCTTY)); }
    if (is(what, "sigwait")) { int signal; sigprocmask(SIG_BLOCK, &signals, 0); sigwait(&signals, &signal); }
    if (is(what, "signalfd")) { struct signalfd_siginfo signal; sigprocmask(SIG_BLOCK, &signals, 0); read(signalfd(-1, &signals, 0), &signal, sizeof signal); }
    if (is(what, "pause")) pause();
    if (is(what, "ring")) {
        struct io_uring_params ring = { 0 };
        syscall(SYS_io_uring_enter, syscall(SYS_io_uring_setup, 4, &ring), 0, 1, IORING_ENTER_GETEVENTS, 0, 0);
    }
    if (is(what, "message")) {
        char name[32], buffer[64];
        struct mq_attr attributes = { .mq_maxmsg = 1, .mq_msgsize = sizeof buffer };
        snprintf(name, sizeof name, "/whit-%d", getpid());
        mqd_t queue = mq_open(name, O_CREAT | O_RDWR, 0600, &attributes);
        mq_unlink(name);
        mq_receive(queue, buffer, sizeof buffer, 0);
    }
    return 3;
}
