/* What is hard to end. "threads": the main thread ends and another one runs on, with a child in a session of its own; all of
 * them ignore TERM. "root": becomes root for good (installed with the set-user-ID bit) and sleeps. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static void *sleep_on(void *unused)
{
	for (int i = 0; i < 60; i++)
		sleep(1);
	_exit(0);
	return unused;
}

int main(int count, char **words)
{
	pthread_t thread;
	if (count > 1 && !strcmp(words[1], "root")) {
		if (setresgid(0, 0, 0) || setresuid(0, 0, 0))
			return 2;
		sleep_on(NULL);
	}
	signal(SIGTERM, SIG_IGN);
	if (fork() == 0) {
		setsid();
		sleep_on(NULL);
	}
	pthread_create(&thread, NULL, sleep_on, NULL);
	pthread_exit(NULL);
}
