/* Forks as many processes as its word says, each of which ends at once, and waits for them. */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int count, char **words)
{
	int wanted = count > 1 ? atoi(words[1]) : 0;
	for (int i = 0; i < wanted; i++) {
		if (fork() == 0)
			_exit(0);
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
	}
	while (wait(NULL) > 0)
		;
	return 0;
}
