/* Starts and reaps /bin/true N times from a parent of so many bytes in pages of 4 KiB, by posix_spawn or by fork and exec, and
 * prints the nanoseconds that each took. */
#define _GNU_SOURCE
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

int main(int count, char **words)
{
	if (count != 4)
		return 2;
	int is_fork = strcmp(words[1], "fork") == 0, times = atoi(words[2]);
	size_t bytes = strtoul(words[3], NULL, 10);
	char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return 1;
	madvise(memory, bytes, MADV_NOHUGEPAGE);
	memset(memory, 1, bytes);
	char *arguments[] = { "/bin/true", NULL };
	struct timespec start, end;
	clock_gettime(CLOCK_MONOTONIC, &start);
	for (int i = 0; i < times; i++) {
		pid_t pid;
		if (is_fork) {
			pid = fork();
			if (pid == 0) {
				execv(arguments[0], arguments);
				_exit(127);
			}
		} else if (posix_spawn(&pid, arguments[0], NULL, NULL, arguments, environ) != 0) {
			return 1;
		}
		int status;
		if (waitpid(pid, &status, 0) != pid || status != 0)
			return 1;
	}
	clock_gettime(CLOCK_MONOTONIC, &end);
	printf("%.0f\n", ((end.tv_sec - start.tv_sec) * 1e9 + (end.tv_nsec - start.tv_nsec)) / times);
	return 0;
}
