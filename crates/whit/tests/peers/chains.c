/* Parts of chains of waits. words[1] says which, words[2] is the name that the process takes; the others are the part's own. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <fcntl.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>
static pthread_mutex_t mutexes[2] = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER };
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int is(const char *one, const char *other) { return !strcmp(one, other); }
static void rest(long milliseconds) {
    struct timespec time = { milliseconds / 1000, milliseconds % 1000 * 1000000 };
    nanosleep(&time, 0);
}
static void begin(pthread_t *thread, void *(*body)(void *), void *word) {
    if (pthread_create(thread, 0, body, word)) exit(2);
}
/* Takes a lock for two milliseconds, again and again. */
static void *queue(void *word) {
    for (;;) {
        pthread_mutex_lock(mutexes);
        rest(2);
        pthread_mutex_unlock(mutexes);
        rest(1);
    }
    return word;
}
/* Takes one of two locks, and then the other. */
static void *cross(void *first) {
    long place = (long)first;
    pthread_mutex_lock(mutexes + place);
    rest(300);
    pthread_mutex_lock(mutexes + !place);
    return first;
}
/* Waits for work that does not come. */
static void *idle(void *word) {
    pthread_mutex_lock(mutexes);
    for (;;) pthread_cond_wait(&condition, mutexes);
    return word;
}
static int listening(const char *file) {
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t length = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, (void *)&address, length) || listen(listener, 64)) exit(2);
    getsockname(listener, (void *)&address, &length);
    char temporary[512];
    snprintf(temporary, sizeof temporary, "%s.new", file);
    FILE *made = fopen(temporary, "w");
    fprintf(made, "%d\n", ntohs(address.sin_port));
    fclose(made);
    rename(temporary, file);
    return listener;
}
static int connected(const char *port) {
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(atoi(port)) };
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int made = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(made, (void *)&address, sizeof address)) exit(2);
    return made;
}
/* One client, one upstream, and a loop over what happens to either. */
static void proxy(int listener, int upstream) {
    char bytes[64];
    struct epoll_event event = { .events = EPOLLIN };
    int loop = epoll_create1(0), client = -1;
    event.data.fd = listener;
    epoll_ctl(loop, EPOLL_CTL_ADD, listener, &event);
    event.data.fd = upstream;
    epoll_ctl(loop, EPOLL_CTL_ADD, upstream, &event);
    while (epoll_wait(loop, &event, 1, -1) == 1) {
        int ready = event.data.fd;
        if (ready == listener) {
            client = accept(listener, 0, 0);
            event.data.fd = client;
            epoll_ctl(loop, EPOLL_CTL_ADD, client, &event);
        } else {
            ssize_t length = read(ready, bytes, sizeof bytes);
            if (length <= 0) exit(0);
            if (write(ready == client ? upstream : client, bytes, length) < 0) exit(0);
        }
    }
}
int main(int count, char **words) {
    pthread_t threads[16];
    char bytes[64];
    if (count < 3) return 2;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_NAME, words[2]);
    if (is(words[1], "convoy")) {
        for (int place = 0; place < 16; place++) begin(threads + place, queue, 0);
    } else if (is(words[1], "deadlock")) {
        begin(threads, cross, (void *)0);
        begin(threads + 1, cross, (void *)1);
        pthread_join(threads[0], 0);
    } else if (is(words[1], "pool")) {
        for (int place = 0; place < 8; place++) begin(threads + place, idle, 0);
    } else if (is(words[1], "client")) {
        int server = connected(words[3]);
        while (write(server, "x", 1) == 1 && read(server, bytes, 1) == 1) {}
    } else if (is(words[1], "polite")) {
        /* Asks now and then, and is answered at once. */
        int server = connected(words[3]);
        while (write(server, "x", 1) == 1 && read(server, bytes, 1) == 1) rest(200);
    } else if (is(words[1], "proxy")) {
        proxy(listening(words[3]), connected(words[4]));
    } else if (is(words[1], "echo")) {
        int client = accept(listening(words[3]), 0, 0);
        while (read(client, bytes, 1) == 1 && write(client, bytes, 1) == 1) {}
    } else if (is(words[1], "locked")) {
        /* Answers when it has the lock of a file. */
        int client = accept(listening(words[3]), 0, 0);
        if (read(client, bytes, 1) == 1) flock(open(words[4], O_RDWR | O_CREAT, 0600), LOCK_EX);
    } else if (is(words[1], "busy")) {
        /* Serves several, and answers none: it computes. */
        int listener = listening(words[3]);
        for (int place = 0; place < 4; place++) accept(listener, 0, 0);
        for (;;) {}
    } else if (is(words[1], "unix")) {
        /* Two processes at a socket that one of them does not read. */
        int ends[2];
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) return 2;
        if (!fork()) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            prctl(PR_SET_NAME, words[3]);
            close(ends[0]);
            pause();
        }
        close(ends[1]);
        while (write(ends[0], bytes, sizeof bytes) > 0) {}
    }
    pause();
    return 0;
}
