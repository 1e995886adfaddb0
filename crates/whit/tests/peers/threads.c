/* Threads that spin for some seconds; the leader waits for them and then spins itself, or ends before them if a third
 * word says so: at once, or after as many seconds as it begins with. */
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static double seconds;

static void *spin(void *unused)
{
	struct timespec start, now;
	clock_gettime(CLOCK_MONOTONIC, &start);
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while ((now.tv_sec - start.tv_sec) + (now.tv_nsec - start.tv_nsec) / 1e9 < seconds);
	return unused;
}

int main(int count, char **words)
{
	pthread_t threads[64];
	int wanted = count > 2 ? atoi(words[1]) : 0;
	if (wanted < 1 || wanted > 64)
		return 2;
	seconds = atof(words[2]);
	for (int i = 0; i < wanted; i++)
		pthread_create(&threads[i], NULL, spin, NULL);
	if (count > 3) {
		sleep(atoi(words[3]));
		pthread_exit(NULL);
	}
	for (int i = 0; i < wanted; i++)
		pthread_join(threads[i], NULL);
	spin(NULL);
	return 0;
}
