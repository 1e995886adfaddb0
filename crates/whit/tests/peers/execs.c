/* For so many seconds forks and executes /bin/true as fast as it can, at most so many a second if a third word says so, or only
 * forks where the first word is "fork"; prints how many, and the CPU time that wait4 reported of them in nanoseconds. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec + time.tv_nsec / 1e9;
}

int main(int count, char **words)
{
	if (count < 3)
		return 2;
	int is_fork = strcmp(words[1], "fork") == 0;
	double start = now(), seconds = atof(words[2]), rate = count > 3 ? atof(words[3]) : 1e9;
	unsigned long started = 0, cpu_us = 0;
	while (now() - start < seconds) {
		if (started > (now() - start) * rate) {
			usleep(500);
			continue;
		}
		pid_t pid = is_fork ? fork() : vfork();
		if (pid == 0) {
			if (!is_fork)
				execl("/bin/true", "true", NULL);
			_exit(0);
		}
		started++;
		struct rusage usage;
		wait4(pid, NULL, 0, &usage);
		cpu_us += (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 + usage.ru_utime.tv_usec +
			  usage.ru_stime.tv_usec;
	}
	printf("%lu %lu\n", started, cpu_us * 1000);
	return 0;
}
