/* N processes that sleep until this one ends. */
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(int count, char **words)
{
	int wanted = count > 1 ? atoi(words[1]) : 5000;
	for (int i = 0; i < wanted; i++)
		if (fork() == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			for (;;)
				pause();
		}
	if (write(1, "ready\n", 6) != 6)
		return 1;
	pause();
	return 0;
}
