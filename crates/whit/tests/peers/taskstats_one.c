/* An independent reader of taskstats, by the struct of the system's own header: one task, one request, "name value"
 * lines. The causes that the header lacks are left out. */
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/taskstats.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct request {
	struct nlmsghdr header;
	struct genlmsghdr generic;
	struct nlattr attribute;
	char value[12];
};

static char reply[8192];

static char *ask(int sock, int family, int command, int attribute, const void *value, int length)
{
	struct request request = {
		.header = { NLMSG_HDRLEN + GENL_HDRLEN + NLA_HDRLEN + NLA_ALIGN(length), family, NLM_F_REQUEST, 1, 0 },
		.generic = { command, 1, 0 },
		.attribute = { NLA_HDRLEN + length, attribute },
	};
	memcpy(request.value, value, length);
	if (send(sock, &request, request.header.nlmsg_len, 0) < 0 || recv(sock, reply, sizeof reply, 0) < 0)
		exit(2);
	if (((struct nlmsghdr *)reply)->nlmsg_type == NLMSG_ERROR)
		exit(1);
	return reply + NLMSG_HDRLEN + GENL_HDRLEN;
}

int main(int count, char **words)
{
	if (count != 3)
		return 2;
	int is_group = !strcmp(words[1], "-g");
	unsigned id = atoi(words[2]);
	int sock = socket(AF_NETLINK, SOCK_RAW, NETLINK_GENERIC);
	struct sockaddr_nl address = { .nl_family = AF_NETLINK };
	if (sock < 0 || bind(sock, (struct sockaddr *)&address, sizeof address))
		return 2;
	char *at = ask(sock, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, CTRL_ATTR_FAMILY_NAME, "TASKSTATS", 10);
	while (((struct nlattr *)at)->nla_type != CTRL_ATTR_FAMILY_ID)
		at += NLA_ALIGN(((struct nlattr *)at)->nla_len);
	int family = *(unsigned short *)(at + NLA_HDRLEN);
	int attribute = is_group ? TASKSTATS_CMD_ATTR_TGID : TASKSTATS_CMD_ATTR_PID;
	at = ask(sock, family, TASKSTATS_CMD_GET, attribute, &id, sizeof id);
	at += NLA_HDRLEN;			/* into the aggregate */
	at += NLA_HDRLEN + sizeof id;		/* behind the id */
	struct taskstats *stats = (struct taskstats *)(at + NLA_HDRLEN);
	printf("version %u\n", stats->version);
	printf("on_cpu %llu\n", stats->cpu_run_virtual_total);
	printf("ticks.user %llu\nticks.system %llu\n", stats->ac_utime * 1000ULL, stats->ac_stime * 1000ULL);
	printf("ticks.real %llu\n", stats->cpu_run_real_total);
	printf("run_queue.count %llu\nrun_queue.total %llu\n", stats->cpu_count, stats->cpu_delay_total);
	printf("block_io.count %llu\nblock_io.total %llu\n", stats->blkio_count, stats->blkio_delay_total);
	printf("swap_in.count %llu\nswap_in.total %llu\n", stats->swapin_count, stats->swapin_delay_total);
	printf("reclaim.count %llu\nreclaim.total %llu\n", stats->freepages_count, stats->freepages_delay_total);
#if TASKSTATS_VERSION >= 9
	printf("thrashing.count %llu\nthrashing.total %llu\n", stats->thrashing_count, stats->thrashing_delay_total);
#endif
#if TASKSTATS_VERSION >= 11
	printf("compaction.count %llu\ncompaction.total %llu\n", stats->compact_count, stats->compact_delay_total);
#endif
#if TASKSTATS_VERSION >= 13
	printf("copy.count %llu\ncopy.total %llu\n", stats->wpcopy_count, stats->wpcopy_delay_total);
#endif
	return 0;
}
