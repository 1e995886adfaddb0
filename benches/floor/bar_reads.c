/* The floor of `whit bar`: the reads of one tick on kept descriptors and one write, each second. */
#include <fcntl.h>
#include <time.h>
#include <sys/vfs.h>
#include <unistd.h>

int main(int count, char **words)
{
	static char text[16384];
	const char *paths[] = { "/proc/net/dev", count > 1 ? words[1] : "/proc/uptime", "/proc/meminfo", "/proc/stat", "/proc/loadavg" };
	int files[5], out = open("/dev/null", O_WRONLY);
	for (int i = 0; i < 5; i++)
		files[i] = open(paths[i], O_RDONLY);
	for (;;) {
		struct timespec second = { 1, 0 };
		struct statfs space;
		clock_nanosleep(CLOCK_BOOTTIME, 0, &second, NULL);
		for (int i = 0; i < 5; i++)
			if (pread(files[i], text, sizeof text, 0) < 0)
				return 1;
		if (statfs("/", &space) || write(out, text, 120) != 120)
			return 1;
	}
}
