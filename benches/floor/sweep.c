/* Reads more memory than the caches nearest to a CPU hold, ten times a second, on that CPU: what else runs there is cold. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#define BYTES (32UL * 1024 * 1024)
#define LINE 64

int main(int count, char **words)
{
	cpu_set_t cpus;
	volatile char *memory = malloc(BYTES);
	struct timespec pause = { 0, 100 * 1000 * 1000 };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	CPU_ZERO(&cpus);
	CPU_SET(count > 1 ? atoi(words[1]) : 0, &cpus);
	if (!memory || sched_setaffinity(0, sizeof cpus, &cpus) == -1)
		return 1;
	for (unsigned long at = 0; at < BYTES; at += LINE)
		memory[at] = 1;
	if (write(1, "ready\n", 6) != 6)
		return 1;
	for (;;) {
		for (unsigned long at = 0; at < BYTES; at += LINE)
			(void)memory[at];
		nanosleep(&pause, 0);
	}
}
