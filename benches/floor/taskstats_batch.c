/* The floor of `whit delays -a`: lists /proc and asks taskstats for each pid, 32 requests in one send and their
 * replies in one recvmmsg. Adds the run-queue delays up, so that the replies are looked at, and prints nothing else. */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/taskstats.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { BATCH = 32, REPLY = 2048 };

struct request {
	struct nlmsghdr header;
	struct genlmsghdr generic;
	struct nlattr attribute;
	unsigned value;
};

static struct request requests[BATCH];
static char replies[BATCH][REPLY];
static struct iovec vectors[BATCH];
static struct mmsghdr messages[BATCH];
static int sock;

static unsigned short family(void)
{
	struct {
		struct nlmsghdr header;
		struct genlmsghdr generic;
		struct nlattr attribute;
		char name[12];
	} ask = {
		.header = { sizeof ask, GENL_ID_CTRL, NLM_F_REQUEST, 0, 0 },
		.generic = { CTRL_CMD_GETFAMILY, 1, 0 },
		.attribute = { 4 + sizeof "TASKSTATS", CTRL_ATTR_FAMILY_NAME },
		.name = "TASKSTATS",
	};
	char reply[4096];
	if (send(sock, &ask, sizeof ask, 0) < 0 || recv(sock, reply, sizeof reply, 0) < 0)
		exit(1);
	struct nlattr *at = (struct nlattr *)(reply + NLMSG_HDRLEN + GENL_HDRLEN);
	while (at->nla_type != CTRL_ATTR_FAMILY_ID)
		at = (struct nlattr *)((char *)at + NLA_ALIGN(at->nla_len));
	return *(unsigned short *)((char *)at + NLA_HDRLEN);
}

static unsigned long long sum;

static void exchange(int count)
{
	if (send(sock, requests, count * sizeof *requests, 0) < 0)
		exit(1);
	int got = recvmmsg(sock, messages, count, MSG_DONTWAIT, NULL);
	for (int i = 0; i < got; i++) {
		struct nlmsghdr *header = (struct nlmsghdr *)replies[i];
		if (header->nlmsg_type == NLMSG_ERROR)
			continue;
		/* aggregate, then pid, then stats */
		char *stats = replies[i] + NLMSG_HDRLEN + GENL_HDRLEN + NLA_HDRLEN + NLA_HDRLEN + 4 + NLA_HDRLEN;
		sum += ((struct taskstats *)stats)->cpu_delay_total;
	}
}

int main(void)
{
	sock = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
	struct sockaddr_nl address = { .nl_family = AF_NETLINK };
	if (sock < 0 || bind(sock, (struct sockaddr *)&address, sizeof address))
		return 1;
	unsigned short id = family();
	for (int i = 0; i < BATCH; i++) {
		vectors[i] = (struct iovec){ replies[i], REPLY };
		messages[i].msg_hdr.msg_iov = &vectors[i];
		messages[i].msg_hdr.msg_iovlen = 1;
		requests[i] = (struct request){
			.header = { sizeof *requests, id, NLM_F_REQUEST, i, 0 },
			.generic = { TASKSTATS_CMD_GET, 1, 0 },
			.attribute = { 8, TASKSTATS_CMD_ATTR_PID },
		};
	}
	static char names[32768];
	int proc = open("/proc", O_RDONLY | O_DIRECTORY), count = 0;
	for (long got; (got = syscall(SYS_getdents64, proc, names, sizeof names)) > 0;)
		for (long at = 0; at < got;) {
			struct dirent64 *entry = (struct dirent64 *)(names + at);
			at += entry->d_reclen;
			if (entry->d_name[0] < '1' || entry->d_name[0] > '9')
				continue;
			requests[count++].value = atoi(entry->d_name);
			if (count == BATCH) {
				exchange(count);
				count = 0;
			}
		}
	if (count)
		exchange(count);
	printf("%llu\n", sum);
	return 0;
}
