/* N processes that sleep, and M that reckon at the lowest priority, until this one ends. */
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

static void start(int wanted, int busy)
{
	for (int i = 0; i < wanted; i++)
		if (fork() == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			if (busy && nice(19) == -1)
				_exit(1);
			for (volatile unsigned long turns = 0;; turns++)
				if (!busy)
					pause();
		}
}

int main(int count, char **words)
{
	start(count > 1 ? atoi(words[1]) : 5000, 0);
	start(count > 2 ? atoi(words[2]) : 0, 1);
	if (write(1, "ready\n", 6) != 6)
		return 1;
	pause();
	return 0;
}
