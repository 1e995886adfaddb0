/* The least that anything costs that does something each second: waking up. */
#include <time.h>

int main(void)
{
	for (;;) {
		struct timespec second = { 1, 0 };
		clock_nanosleep(CLOCK_BOOTTIME, 0, &second, NULL);
	}
}
