// SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only
//
// Task iterators (bpf iter/task, Linux 5.8), as facts::linux::bpf_task reads them: `tasks` writes a record for each thread;
// `changes` only for those that ran since the last round, and says at the end of the round how many it left out. Three small programs
// beside them notice exits, execs and releases.
//
// Types are declared with the fields that are read and no more; the loader moves each access to where the running
// kernel has the field (CO-RE). What a kernel or a task lacks is written as ABSENT. `make bpf` makes tasks.bpf.o.

typedef unsigned char u8;
typedef signed char s8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef int s32;
typedef unsigned long long u64;
typedef long long s64;

#define SECTION(name) __attribute__((section(name), used))
#define RELOCATED __attribute__((preserve_access_index))
#define FIELD_EXISTS 2
#define ENUM_VALUE_EXISTS 0
#define ENUM_VALUE 1
#define has(field) __builtin_preserve_field_info(field, FIELD_EXISTS)
#define ABSENT (~0ULL)
#define PF_EXITING 0x00000004
#define PF_KTHREAD 0x00200000

static long (*seq_write)(void *seq, const void *data, u32 bytes) = (void *)127;
static u64 (*current_task)(void) = (void *)35;
static u32 (*current_cpu)(void) = (void *)8;
static u64 (*boottime)(void) = (void *)125;
static long (*read_kernel)(void *to, u32 bytes, const void *from) = (void *)113;
static void *(*registers_of)(void *task) = (void *)175;

struct seq_file;
struct bpf_iter_meta { struct seq_file *seq; u64 session_id; u64 seq_num; } RELOCATED;
struct kernfs_node { u64 id; } RELOCATED;
struct cgroup_root;
struct cgroup { int level; struct kernfs_node *kn; struct cgroup_root *root; } RELOCATED;
struct cgroup_subsys_state { struct cgroup *cgroup; } RELOCATED;
struct css_set { struct cgroup_subsys_state *subsys[16]; struct cgroup *dfl_cgrp; } RELOCATED;
enum cgroup_subsys_id { memory_cgrp_id = 7 };
struct kuid { u32 val; };
struct cred { struct kuid uid; } RELOCATED;
struct upid { int nr; void *ns; };
struct pid { u32 level; struct upid numbers[1]; } RELOCATED;
// x86-64 has the number of a system call in orig_ax; aarch64 in syscallno, and its arguments in regs and, as it may be overwritten by
// the result, the first in orig_x0.
struct pt_regs { unsigned long di, si, dx, r8, orig_ax; u64 regs[31]; u64 orig_x0; s32 syscallno; } RELOCATED;
struct thread_info { unsigned long flags; u32 status; } RELOCATED;
// Linux 5.15 has the helper.
enum bpf_func_id { BPF_FUNC_task_pt_regs = 175 };
struct qstr { const unsigned char *name; } RELOCATED;
struct dentry { struct qstr d_name; } RELOCATED;
struct path { struct dentry *dentry; } RELOCATED;
struct file_system_type { int fs_flags; } RELOCATED;
struct super_block { unsigned long s_magic; struct file_system_type *s_type; } RELOCATED;
struct inode { unsigned short i_mode; u32 i_rdev; struct super_block *i_sb; } RELOCATED;
struct file { struct path f_path; struct inode *f_inode; void *private_data; } RELOCATED;
struct fdtable { u32 max_fds; struct file **fd; } RELOCATED;
struct files_struct { struct fdtable *fdt; } RELOCATED;
struct in6_addr { u32 words[4]; };
struct sock_common {
	u32 skc_daddr, skc_rcv_saddr;
	unsigned short skc_family;
	struct in6_addr skc_v6_daddr, skc_v6_rcv_saddr;
} RELOCATED;
struct sock { struct sock_common __sk_common; } RELOCATED;
struct socket { struct sock *sk; } RELOCATED;
struct percpu_counter { s64 count; } RELOCATED;
struct mm_struct { u64 total_vm; struct percpu_counter rss_stat[4]; } RELOCATED;
// Before 6.2. The kernel's elements are structs of one number, without a name by which CO-RE would find them.
struct mm_rss_stat { s64 counts[4]; };
struct mm_struct___before_6_2 { struct mm_rss_stat rss_stat; } RELOCATED;
struct task_io_accounting { u64 read_bytes; u64 write_bytes; } RELOCATED;
struct sched_info { unsigned long pcount; u64 run_delay; u64 max_run_delay; u64 last_arrival; } RELOCATED;
struct sched_entity { u64 sum_exec_runtime; } RELOCATED;
struct task_delay_info {
	u64 blkio_delay, swapin_delay, freepages_delay, thrashing_delay, compact_delay, wpcopy_delay, irq_delay;
	u32 blkio_count, swapin_count, freepages_count, thrashing_count, compact_count, wpcopy_count, irq_count;
	u64 blkio_delay_max, swapin_delay_max, freepages_delay_max, thrashing_delay_max, compact_delay_max,
		wpcopy_delay_max, irq_delay_max;
} RELOCATED;
struct task_struct {
	struct thread_info thread_info;
	int pid, tgid;
	u32 __state;
	int exit_state;
	// Unsigned, since only such numbers may have another size: on_cpu is a byte in Linux 7.2.
	u32 on_cpu, flags, policy;
	int static_prio;
	char comm[16];
	u64 start_boottime, utime, stime;
	unsigned long nvcsw, nivcsw, min_flt, maj_flt, jobctl;
	struct task_struct *real_parent, *group_leader;
	struct pid *thread_pid;
	const struct cred *real_cred;
	struct css_set *cgroups;
	struct mm_struct *mm;
	struct files_struct *files;
	struct task_io_accounting ioac;
	struct sched_info sched_info;
	struct sched_entity se;
	struct task_delay_info *delays;
} RELOCATED;
// Before 5.14.
struct task_struct___before_5_14 { long state; } RELOCATED;
struct bpf_iter__task { struct bpf_iter_meta *meta; struct task_struct *task; };

// The order of facts::task::figure::Figure.
struct record {
	u32 pid, tgid, ppid, uid;
	u64 start_ns, cgroup;
	u32 state, exit_state;
	u32 flags;
	u8 policy, spare;
	s8 nice;
	u8 counts_delays;
	char comm[16];
	// The system call in which it sleeps; see `wait_of`.
	s32 call;
	u8 file, is_native, spares[2];
	// The first three and the fifth.
	u64 arguments[4];
	u64 on_cpu_ns, user_ns, system_ns;
	u64 delay_ns[8], delay_count[8], delay_max_ns[8];
	u64 voluntary_switches, involuntary_switches, minor_faults, major_faults;
	u64 read_bytes, written_bytes;
	u64 resident_pages, virtual_pages;
};

// The end of a round, in place of a record. The ids that were given up follow.
#define END_OF_ROUND (~0U)
struct end {
	u32 mark, skipped;
	u64 fingerprints, freed_on_cpu_ns;
	u32 given_up;
	// 1: more ids than a list holds; 2: the reader is in a PID namespace, and no ids are told.
	u32 is_overflown;
};

// A thread that sleeps is compared with what was last written of it once in so many rounds, by blocks of neighbours: others may
// change its niceness, parent, user, cgroup or name, and reclaim its memory.
#define WHOLE_ROUNDS 8
#define BLOCK_SHIFT 6

// Time on a CPU of all tasks that were freed, their whole lives: what a task does after its exit record is made (giving its
// memory back, above all) is in no record, and of short lives a tenth.
u64 freed_on_cpu_ns;

// So that the layouts of both are in the object's BTF, which a test compares with what Rust reads.
struct record *record_layout;
struct end *end_layout;

// The record that is being made: it would leave no room on the stack, which has 512 bytes. Only one round is read at a time.
struct record record;

// Whether a thread ran since the last round. Kept in memory and read back: the verifier knows nothing of such a value, so that it follows
// what comes next once, and not once for each way to get there.
u32 ran;

// What is behind pointers of the thread that is being looked at.
struct pointed_at {
	u32 ppid, uid;
	u64 cgroup, resident_pages, virtual_pages;
} pointed_at;

// Threads that `changes` left out in this round, and the sum of their fingerprints.
u32 skipped;
u64 skipped_fingerprints;

// Ids that were given up since the last round: by tasks that started to exit, and by threads that took over their main thread's
// with execve(2). A list for each CPU, or for several: a program of version 2 of the instruction set cannot claim a place
// atomically. An id that is lost in a race makes the reader's count wrong, which then reads everything. Two sides: events of a round
// that is being read belong to the next one.
#define LISTS 8
#define LIST_LENGTH 480
struct list { u32 count; u32 ids[LIST_LENGTH]; };
struct list given_up[2][LISTS];
// When the last round ended: the reader cannot know tasks that started later. The highest number while a round is read.
u64 round_ended_ns;

// What was last written of the properties that others can change, by the id of the thread, which some share.
#define PROPERTIES 65536
u32 properties[PROPERTIES];

// The depth of the reader's PID namespace, set at the first task of each round.
u32 own_level;
u32 rounds;
// What the clocks of two CPUs may be apart.
#define SLACK_NS 10000000
// When this round began and when the one before, on the scheduler's clock: the reader's own arrival on its CPU.
u64 begin_ns, last_begin_ns;
// Who was on a CPU or could have been when it was looked at in this round, and in the one before: a bit an id, which ids
// beyond their number share.
#define RUNNABLE_WORDS 1024
u64 runnable[2][RUNNABLE_WORDS];

char license_of_program[] SECTION("license") = "Dual MIT/GPL";

static __attribute__((always_inline)) u32 pid_in_own_namespace(struct task_struct *task)
{
	struct pid *pid = 0;
	u32 nr = 0, level = 0;
	// Copied, so that the address is a number to calculate with.
	read_kernel(&pid, sizeof(pid), &task->thread_pid);
	if (!pid)
		return 0;
	// A parent may be in an outer namespace only, where it has fewer numbers than the reader is deep. /proc says 0 then, too.
	read_kernel(&level, sizeof(level), &pid->level);
	if (level < own_level)
		return 0;
	u64 numbers = (u64)__builtin_preserve_access_index(&pid->numbers[0]);
	read_kernel(&nr, sizeof(nr), (void *)(numbers + (u64)own_level * sizeof(struct upid)));
	return nr;
}

static __attribute__((always_inline)) u32 level_of_reader(void)
{
	struct task_struct *task = (void *)current_task();
	struct pid *pid = 0;
	u32 level = 0;
	read_kernel(&pid, sizeof(pid), &task->thread_pid);
	read_kernel(&level, sizeof(level), &pid->level);
	return level & 31;
}

static __attribute__((always_inline)) u64 cgroup_of(struct task_struct *task)
{
	struct css_set *set = task->cgroups;
	struct cgroup *cgroup = set->dfl_cgrp;
	// A machine of version 1 leaves the second's hierarchy at its root; there memory's stands for the others.
	if (cgroup->level == 0 &&
	    __builtin_preserve_enum_value(*(enum cgroup_subsys_id *)memory_cgrp_id, ENUM_VALUE_EXISTS)) {
		u64 index = __builtin_preserve_enum_value(*(enum cgroup_subsys_id *)memory_cgrp_id, ENUM_VALUE);
		struct cgroup_subsys_state *state = *(struct cgroup_subsys_state **)((void *)set->subsys + 8 * index);
		struct cgroup *other = state->cgroup;
		if (other != cgroup)
			return other->kn->id | 1ULL << 63;
	}
	return cgroup->kn->id;
}

#define delay(index, name)                                                                     \
	if (has(delays->name##_delay)) {                                                       \
		record.delay_ns[index] = delays->name##_delay;                                 \
		record.delay_count[index] = delays->name##_count;                              \
		if (has(delays->name##_delay_max))                                             \
			record.delay_max_ns[index] = delays->name##_delay_max;                 \
	}

static __attribute__((always_inline)) u32 pid_of(struct task_struct *task)
{
	return own_level == 0 ? task->pid : pid_in_own_namespace(task);
}

static __attribute__((always_inline)) u32 state_of(struct task_struct *task)
{
	if (has(task->__state))
		return task->__state;
	return ((struct task_struct___before_5_14 *)task)->state;
}

static __attribute__((always_inline)) void begin_round(void)
{
	own_level = level_of_reader();
	for (u32 list = 0; list < LISTS; list++)
		given_up[(rounds & 1) ^ 1][list].count = 0;
	rounds++;
	skipped = 0;
	skipped_fingerprints = 0;
	round_ended_ns = ABSENT;
	struct task_struct *reader = (void *)current_task();
	last_begin_ns = begin_ns;
	begin_ns = 0;
	if (has(reader->sched_info.last_arrival))
		read_kernel(&begin_ns, sizeof(begin_ns), &reader->sched_info.last_arrival);
	volatile u64 *words = runnable[rounds & 1];
	for (u32 word = 0; word < RUNNABLE_WORDS; word++)
		words[word] = 0;
}

// Whether nothing can have happened to a thread since it was looked at in the last round. It was off the CPUs then and has
// not come back: what it counted stands still. One born since has no arrival, and one that was never seen asleep has its bit.
static __attribute__((always_inline)) u32 did_run(struct task_struct *task, u32 pid)
{
	u32 word = pid / 64 % RUNNABLE_WORDS;
	u64 bit = 1ULL << pid % 64;
	u32 is_off = state_of(task) != 0 && task->exit_state == 0 && !(task->flags & PF_EXITING);
	if (has(task->on_cpu))
		is_off = is_off && task->on_cpu == 0;
	if (!is_off) {
		runnable[rounds & 1][word] |= bit;
		return 1;
	}
	if (!has(task->sched_info.last_arrival) || runnable[(rounds & 1) ^ 1][word] & bit)
		return 1;
	u64 arrival = task->sched_info.last_arrival;
	return arrival == 0 || arrival + SLACK_NS >= last_begin_ns;
}

static __attribute__((always_inline)) s64 resident_pages(struct mm_struct *mm)
{
	// Pages of files, anonymous and shared memory: 0, 1 and 3; 2 counts what is in swap.
	s64 pages;
	if (has(mm->rss_stat[0].count)) {
		pages = mm->rss_stat[0].count + mm->rss_stat[1].count + mm->rss_stat[3].count;
	} else {
		struct mm_struct___before_6_2 *old = (void *)mm;
		s64 counts[4] = {};
		// The verifier of these kernels follows no address into an array of them.
		read_kernel(counts, sizeof(counts), &old->rss_stat);
		pages = counts[0] + counts[1] + counts[3];
	}
	// Counted on each CPU apart since 6.2: the sum of what was handed in may lie below zero.
	return pages < 0 ? 0 : pages;
}

// Whether a property that others can change is another than when it was last written. What is behind a pointer is kept for the record: the
// verifier looks through all types of the kernel for each pointer that is read of a task, once for each way to get there. Threads of a
// process share its memory, which is compared for the main thread.
static __attribute__((always_inline)) u32 has_other_properties(struct task_struct *task, u32 pid)
{
	const struct cred *cred = task->real_cred;
	struct task_struct *parent = task->real_parent;
	struct mm_struct *mm = task->mm;
	u64 cgroup = ABSENT, resident = 0, virtual = 0;
	u32 uid = cred->uid.val, ppid = parent->tgid;
	if (has(task->cgroups))
		cgroup = cgroup_of(task);
	if (mm && !(task->flags & PF_KTHREAD)) {
		resident = resident_pages(mm);
		virtual = mm->total_vm;
	}
	pointed_at.ppid = own_level == 0 ? ppid : pid_in_own_namespace(parent->group_leader);
	pointed_at.uid = uid;
	pointed_at.cgroup = cgroup;
	pointed_at.resident_pages = resident;
	pointed_at.virtual_pages = virtual;
	u64 hash = task->static_prio ^ (u64)task->policy << 8 ^ (u64)uid << 16;
	// The freezer changes the state of a sleeper without running it.
	hash ^= (u64)state_of(task) << 48;
	hash = (hash ^ ppid) * 0x9e3779b97f4a7c15ULL;
	hash = (hash ^ cgroup) * 0x9e3779b97f4a7c15ULL;
	u64 name[2];
	__builtin_memcpy(name, task->comm, sizeof(name));
	hash = (hash ^ name[0]) * 0x9e3779b97f4a7c15ULL;
	hash = (hash ^ name[1]) * 0x9e3779b97f4a7c15ULL;
	if (task->pid == task->tgid)
		hash = (hash ^ resident) * 0x9e3779b97f4a7c15ULL;
	u32 now = hash >> 32;
	u32 before = properties[pid % PROPERTIES];
	properties[pid % PROPERTIES] = now;
	return now != before;
}

// The kinds of files, as facts::task::wait reads them.
enum file_kind {
	UNKNOWN_FILE, REGULAR, DIRECTORY, BLOCK_DEVICE, DEVICE, TERMINAL, PIPE, UNIX_SOCKET, LOOPBACK_SOCKET, REMOTE_SOCKET, OTHER_SOCKET,
	EVENT_POLL, EVENT_COUNTER, TIMER, SIGNALS, WATCHES, RING, ANONYMOUS, USERSPACE_FILESYSTEM, REMOTE_FILESYSTEM, PATH,
};

#define PF_IO_WORKER 0x00000010
#define PF_USER_WORKER 0x00004000
#define JOBCTL_TRAP_FREEZE (1UL << 23)
#define AF_UNIX 1
#define AF_INET 2
#define AF_INET6 10
#define LETTERS(a, b, c, d) (a | b << 8 | c << 16 | (u32)d << 24)

static __attribute__((always_inline)) u8 kind_of_socket(struct file *file)
{
	struct socket *socket = 0;
	struct sock *sock = 0;
	unsigned short family = 0;
	u32 address = 0, own = 0;
	struct in6_addr long_address = {}, long_own = {};
	read_kernel(&socket, sizeof(socket), &file->private_data);
	read_kernel(&sock, sizeof(sock), &socket->sk);
	if (!sock)
		return OTHER_SOCKET;
	read_kernel(&family, sizeof(family), &sock->__sk_common.skc_family);
	if (family == AF_UNIX)
		return UNIX_SOCKET;
	read_kernel(&address, sizeof(address), &sock->__sk_common.skc_daddr);
	read_kernel(&own, sizeof(own), &sock->__sk_common.skc_rcv_saddr);
	if (family == AF_INET6 && has(sock->__sk_common.skc_v6_daddr)) {
		read_kernel(&long_address, sizeof(long_address), &sock->__sk_common.skc_v6_daddr);
		read_kernel(&long_own, sizeof(long_own), &sock->__sk_common.skc_v6_rcv_saddr);
		u32 *words = long_address.words, *own_words = long_own.words;
		if (words[0] == 0 && words[1] == 0 && words[2] == 0 && words[3] == __builtin_bswap32(1))
			return LOOPBACK_SOCKET;
		// An address of version 4 in one of version 6.
		if (words[0] == 0 && words[1] == 0 && words[2] == __builtin_bswap32(0xffff)) {
			address = words[3];
			own = own_words[3];
		} else if (!(words[0] | words[1] | words[2] | words[3]))
			return OTHER_SOCKET;
		else
			return words[0] == own_words[0] && words[1] == own_words[1] && words[2] == own_words[2] &&
					       words[3] == own_words[3]
				       ? LOOPBACK_SOCKET
				       : REMOTE_SOCKET;
	} else if (family != AF_INET)
		return OTHER_SOCKET;
	if (address == 0)
		return OTHER_SOCKET;
	return (address & 0xff) == 127 || address == own ? LOOPBACK_SOCKET : REMOTE_SOCKET;
}

// Anonymous files have a name that the kernel gives them, by their kind.
static __attribute__((always_inline)) u8 kind_of_anonymous(struct file *file)
{
	struct dentry *dentry = 0;
	const unsigned char *name = 0;
	u32 letters[2] = {};
	read_kernel(&dentry, sizeof(dentry), &file->f_path.dentry);
	read_kernel(&name, sizeof(name), &dentry->d_name.name);
	read_kernel(letters, sizeof(letters), name);
	switch (letters[1]) {
	case LETTERS('n', 't', 'p', 'o'): return EVENT_POLL;
	case LETTERS('n', 't', 'f', 'd'): return EVENT_COUNTER;
	case LETTERS('e', 'r', 'f', 'd'): return TIMER;
	case LETTERS('n', 'a', 'l', 'f'): return SIGNALS;
	case LETTERS('t', 'i', 'f', 'y'):
	case LETTERS('o', 't', 'i', 'f'): return WATCHES;
	case LETTERS('u', 'r', 'i', 'n'): return RING;
	}
	return letters[0] == LETTERS('i', 'n', 'o', 't') ? WATCHES : ANONYMOUS;
}

static __attribute__((always_inline)) u8 kind_of_file(struct task_struct *task, u64 descriptor)
{
	struct files_struct *opened = 0;
	struct fdtable *table = 0;
	struct file **files = 0, *file = 0;
	struct inode *inode = 0;
	struct super_block *filesystem = 0;
	struct file_system_type *type = 0;
	unsigned long magic = 0;
	int flags = 0;
	unsigned short mode = 0;
	u32 most = 0, device = 0;
	if (!has(task->files))
		return UNKNOWN_FILE;
	read_kernel(&opened, sizeof(opened), &task->files);
	if (!opened)
		return UNKNOWN_FILE;
	read_kernel(&table, sizeof(table), &opened->fdt);
	read_kernel(&most, sizeof(most), &table->max_fds);
	// Addresses, the first argument of many other calls, are beyond it.
	if (descriptor >= most)
		return UNKNOWN_FILE;
	read_kernel(&files, sizeof(files), &table->fd);
	read_kernel(&file, sizeof(file), (void *)((u64)files + descriptor * sizeof(file)));
	if (!file)
		return UNKNOWN_FILE;
	read_kernel(&inode, sizeof(inode), &file->f_inode);
	read_kernel(&mode, sizeof(mode), &inode->i_mode);
	read_kernel(&filesystem, sizeof(filesystem), &inode->i_sb);
	read_kernel(&magic, sizeof(magic), &filesystem->s_magic);
	// uapi/linux/magic.h.
	if (magic == 0x09041934)
		return kind_of_anonymous(file);
	switch (mode & 0170000) {
	case 0140000: return kind_of_socket(file);
	case 0010000: return PIPE;
	case 0060000: return BLOCK_DEVICE;
	case 0020000:
		read_kernel(&device, sizeof(device), &inode->i_rdev);
		u32 major = device >> 20;
		// The other end of a pseudo-terminal (5:2) waits for a program.
		if (device == (5 << 20 | 2))
			return DEVICE;
		return major == 4 || major == 5 || (major >= 136 && major <= 143) ? TERMINAL : DEVICE;
	case 0100000:
	case 0040000:
		if (magic == 0x65735546)
			return USERSPACE_FILESYSTEM;
		// NFS, SMB (two), 9p, Ceph, AFS.
		if (magic == 0x6969 || magic == 0xff534d42 || magic == 0xfe534d42 || magic == 0x01021997 || magic == 0x00c36400 ||
		    magic == 0x5346414f)
			return REMOTE_FILESYSTEM;
		// FS_REQUIRES_DEV: others are in memory, of the kernel itself, or above another one.
		read_kernel(&type, sizeof(type), &filesystem->s_type);
		read_kernel(&flags, sizeof(flags), &type->fs_flags);
		if (!(flags & 1))
			return PATH;
		return (mode & 0170000) == 0040000 ? DIRECTORY : REGULAR;
	}
	return UNKNOWN_FILE;
}

// Whether the first argument of a system call is a descriptor whose file says what is waited for: to look for the file of each sleeping task
// would take longer than all else that is read of it. A test compares the numbers with the table of facts/src/linux/system_calls.rs.
static __attribute__((always_inline)) int has_file_x86_64(s32 call)
{
	switch (call) {
	case 0: case 1: case 5: case 16: case 17: case 18: case 19: case 20: case 42: case 44: case 45: case 46:
	case 47: case 72: case 74: case 75: case 77: case 217: case 277: case 285: case 295: case 296: case 299:
	case 306: case 307: case 327: case 328:
		return 1;
	}
	return 0;
}

static __attribute__((always_inline)) int has_file_aarch64(s32 call)
{
	switch (call) {
	case 25: case 29: case 46: case 47: case 61: case 63: case 64: case 65: case 66: case 67: case 68: case 69:
	case 70: case 80: case 82: case 83: case 84: case 203: case 206: case 207: case 211: case 212: case 243:
	case 267: case 269: case 286: case 287:
		return 1;
	}
	return 0;
}

// What a task waits for that sleeps: the number of its system call, arguments, and the kind of file that the first one is a descriptor of,
// if it is one. A call of -1 is no system call. All bits are 1 if the task runs, and before Linux 5.15. is_native is 0 if the registers
// do not say it: in a program of 32 bits, in a worker of io_uring or vhost (it has the registers of its starter), in a frozen task.
static __attribute__((always_inline)) void wait_of(struct task_struct *task)
{
	if (record.state == 0 || record.exit_state || task->flags & (PF_KTHREAD | PF_EXITING))
		return;
	if (!__builtin_preserve_enum_value(*(enum bpf_func_id *)BPF_FUNC_task_pt_regs, ENUM_VALUE_EXISTS))
		return;
	struct pt_regs *registers = registers_of(task);
	if (!registers)
		return;
	record.is_native = !(task->flags & (PF_IO_WORKER | PF_USER_WORKER));
	if (has(task->jobctl) && task->jobctl & JOBCTL_TRAP_FREEZE)
		record.is_native = 0;
	if (has(registers->orig_ax)) {
		// TS_COMPAT: a call of a program of 32 bits.
		if (has(task->thread_info.status) && task->thread_info.status & 2)
			record.is_native = 0;
		record.call = registers->orig_ax;
		record.arguments[0] = registers->di;
		record.arguments[1] = registers->si;
		record.arguments[2] = registers->dx;
		record.arguments[3] = registers->r8;
		if (has_file_x86_64(record.call))
			record.file = kind_of_file(task, record.arguments[0]);
	} else if (has(registers->syscallno)) {
		// TIF_32BIT.
		if (has(task->thread_info.flags) && task->thread_info.flags & 1 << 22)
			record.is_native = 0;
		record.call = registers->syscallno;
		record.arguments[0] = registers->orig_x0;
		record.arguments[1] = registers->regs[1];
		record.arguments[2] = registers->regs[2];
		record.arguments[3] = registers->regs[4];
		if (has_file_aarch64(record.call))
			record.file = kind_of_file(task, record.arguments[0]);
	} else {
		record.is_native = 0xff;
		return;
	}
}

static __attribute__((noinline)) void write_whole(struct seq_file *seq, struct task_struct *task)
{
	__builtin_memset(&record, 0xff, sizeof(record));
	record.pid = pid_of(task);
	record.tgid = own_level == 0 ? task->tgid : pid_in_own_namespace(task->group_leader);
	record.ppid = pointed_at.ppid;
	record.uid = pointed_at.uid;
	record.start_ns = task->start_boottime;
	record.cgroup = pointed_at.cgroup;
	record.state = state_of(task);
	record.exit_state = task->exit_state;
	record.flags = task->flags;
	record.policy = task->policy;
	record.nice = task->static_prio - 120;
	__builtin_memcpy(record.comm, task->comm, sizeof(record.comm));
	record.on_cpu_ns = task->se.sum_exec_runtime;
	record.user_ns = task->utime;
	record.system_ns = task->stime;
	if (has(task->sched_info.run_delay)) {
		record.delay_ns[0] = task->sched_info.run_delay;
		record.delay_count[0] = task->sched_info.pcount;
		if (has(task->sched_info.max_run_delay))
			record.delay_max_ns[0] = task->sched_info.max_run_delay;
	}
	record.counts_delays = 0;
	if (has(task->delays)) {
		struct task_delay_info *delays = task->delays;
		if (delays) {
			record.counts_delays = 1;
			delay(1, blkio) delay(2, swapin) delay(3, freepages) delay(4, thrashing)
			delay(5, compact) delay(6, wpcopy) delay(7, irq)
		}
	}
	record.voluntary_switches = task->nvcsw;
	record.involuntary_switches = task->nivcsw;
	record.minor_faults = task->min_flt;
	record.major_faults = task->maj_flt;
	if (has(task->ioac.read_bytes)) {
		record.read_bytes = task->ioac.read_bytes;
		record.written_bytes = task->ioac.write_bytes;
	}
	record.resident_pages = pointed_at.resident_pages;
	record.virtual_pages = pointed_at.virtual_pages;
	wait_of(task);
	// A record that does not fit is dropped, and the program runs again for this thread: what was remembered of it has not been
	// written.
	if (seq_write(seq, &record, sizeof(record)))
		properties[record.pid % PROPERTIES] = ~properties[record.pid % PROPERTIES];
}

static __attribute__((always_inline)) void end_round(struct seq_file *seq)
{
	struct end end = {
		.mark = END_OF_ROUND,
		.skipped = skipped,
		.fingerprints = skipped_fingerprints,
		.freed_on_cpu_ns = freed_on_cpu_ns,
		// The programs that notice exits know numbers of the initial namespace alone.
		.is_overflown = own_level > 0 ? 2 : 0,
	};
	round_ended_ns = boottime();
	struct list *lists = given_up[(rounds & 1) ^ 1];
	for (u32 list = 0; list < LISTS; list++) {
		u32 count = *(volatile u32 *)&lists[list].count;
		if (count > LIST_LENGTH)
			end.is_overflown |= 1;
		else
			end.given_up += count;
	}
	seq_write(seq, &end, sizeof(end));
	if (end.is_overflown)
		return;
	for (u32 list = 0; list < LISTS; list++) {
		u64 count = *(volatile u32 *)&lists[list].count;
		// The verifier follows a comparison of all 64 bits.
		asm volatile("" : "+r"(count));
		if (count <= LIST_LENGTH)
			seq_write(seq, lists[list].ids, count * sizeof(u32));
	}
}

static __attribute__((always_inline)) void give_up(u32 pid)
{
	struct list *list = &given_up[rounds & 1][current_cpu() % LISTS];
	u32 count = list->count;
	if (count < LIST_LENGTH)
		list->ids[count] = pid;
	list->count = count < LIST_LENGTH ? count + 1 : LIST_LENGTH + 1;
}

SECTION("tp_btf/sched_process_exit") int exiting(u64 *context)
{
	struct task_struct *task = (void *)context[0];
	if (task->start_boottime <= round_ended_ns)
		give_up(task->pid);
	return 0;
}

SECTION("tp_btf/sched_process_exec") int executed(u64 *context)
{
	struct task_struct *task = (void *)context[0];
	u32 old_pid = context[1];
	if (old_pid != task->pid)
		give_up(old_pid);
	return 0;
}

SECTION("tp_btf/sched_process_free") int freed(u64 *context)
{
	struct task_struct *task = (void *)context[0];
	__sync_fetch_and_add(&freed_on_cpu_ns, task->se.sum_exec_runtime);
	return 0;
}

static __attribute__((always_inline)) int tell(struct bpf_iter__task *context, u32 tells_all)
{
	struct seq_file *seq = context->meta->seq;
	struct task_struct *task = context->task;
	if (context->meta->seq_num == 0)
		begin_round();
	if (!task) {
		end_round(seq);
		return 0;
	}
	u32 pid = pid_of(task);
	u32 is_due = ((pid >> BLOCK_SHIFT) + rounds) % WHOLE_ROUNDS == 0;
	// What either of them remembers is kept up to date, whatever the other says.
	volatile u32 *result = &ran;
	*result = did_run(task, pid) | tells_all;
	u32 is_changed = 0;
	if (*result | is_due)
		is_changed = has_other_properties(task, pid);
	if (*result | is_changed) {
		write_whole(seq, task);
		return 0;
	}
	skipped++;
	// facts::task::store::fingerprint.
	skipped_fingerprints += (task->start_boottime ^ (u64)pid * 0x9e3779b97f4a7c15ULL) * 0xff51afd7ed558ccdULL;
	return 0;
}

SECTION("iter/task") int tasks(struct bpf_iter__task *context)
{
	return tell(context, 1);
}

SECTION("iter/task") int changes(struct bpf_iter__task *context)
{
	return tell(context, 0);
}
