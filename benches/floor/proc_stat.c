/* What most tools do for each task at each refresh: opens, reads and closes /proc/PID/stat. */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(void)
{
	static char names[32768], text[4096];
	int proc = open("/proc", O_RDONLY | O_DIRECTORY);
	long bytes = 0;
	for (long got; (got = syscall(SYS_getdents64, proc, names, sizeof names)) > 0;)
		for (long at = 0; at < got;) {
			struct dirent64 *entry = (struct dirent64 *)(names + at);
			at += entry->d_reclen;
			if (entry->d_name[0] < '1' || entry->d_name[0] > '9')
				continue;
			char path[300];
			snprintf(path, sizeof path, "%s/stat", entry->d_name);
			int file = openat(proc, path, O_RDONLY);
			if (file < 0)
				continue;
			bytes += read(file, text, sizeof text);
			close(file);
		}
	printf("%ld\n", bytes);
	return 0;
}
