/* The layouts that facts::freebsd reads, held against FreeBSD's own headers: compiling this is the test. */
#include <stddef.h>
#include <sys/param.h>
#include <sys/socket.h>
#include <sys/sysctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/user.h>
#include <sys/vmmeter.h>
#include <net/if.h>
#include <net/if_dl.h>
#include <net/if_mib.h>
#include <net/if_types.h>
#include <vm/vm_param.h>

#define HOLDS(condition) _Static_assert(condition, #condition)
#define AT(type, member, offset) HOLDS(offsetof(type, member) == (offset))

/* ifmibdata.rs */
HOLDS(sizeof(struct ifmibdata) == 208);
AT(struct ifmibdata, ifmd_name, 0);
HOLDS(IFNAMSIZ == 16);
AT(struct ifmibdata, ifmd_flags, 20);
AT(struct ifmibdata, ifmd_data, 56);
AT(struct if_data, ifi_type, 0);
AT(struct if_data, ifi_link_state, 4);
AT(struct if_data, ifi_baudrate, 16);
AT(struct if_data, ifi_ipackets, 24);
AT(struct if_data, ifi_ierrors, 32);
AT(struct if_data, ifi_opackets, 40);
AT(struct if_data, ifi_oerrors, 48);
AT(struct if_data, ifi_ibytes, 64);
AT(struct if_data, ifi_obytes, 72);
AT(struct if_data, ifi_iqdrops, 96);
AT(struct if_data, ifi_oqdrops, 104);
HOLDS(offsetof(struct ifmibdata, ifmd_data.ifi_ibytes) == 120);
HOLDS(offsetof(struct ifmibdata, ifmd_data.ifi_obytes) == 128);
HOLDS(IFF_UP == 1 && IFF_LOOPBACK == 8);
HOLDS(LINK_STATE_DOWN == 1 && LINK_STATE_UP == 2);
HOLDS(IFT_LOOP == 0x18 && IFT_IEEE80211 == 0x47 && IFT_ETHER == 6);
HOLDS(IFT_PPP == 0x17 && IFT_SLIP == 0x1c && IFT_TUNNEL == 0x83 && IFT_GIF == 0xf0 && IFT_WIREGUARD == 0xf8);
HOLDS(IFT_BRIDGE == 0xd1 && IFT_L2VLAN == 0x87 && IFT_IEEE8023ADLAG == 0xa1);
HOLDS(CTL_NET == 4 && PF_LINK == 18 && NETLINK_GENERIC == 0 && IFMIB_IFDATA == 2 && IFDATA_GENERAL == 1);

/* cp_time.rs, loadavg.rs, boottime.rs, vmtotal.rs */
HOLDS(CPUSTATES == 5 && CP_USER == 0 && CP_NICE == 1 && CP_SYS == 2 && CP_INTR == 3 && CP_IDLE == 4);
HOLDS(sizeof(long) == 8);
HOLDS(sizeof(struct clockinfo) == 20);
AT(struct clockinfo, stathz, 12);
HOLDS(sizeof(struct loadavg) == 24);
AT(struct loadavg, fscale, 16);
HOLDS(sizeof(struct timeval) == 16);
AT(struct timeval, tv_usec, 8);
AT(struct vmtotal, t_rq, 72);
AT(struct vmtotal, t_dw, 74);
AT(struct vmtotal, t_pw, 76);
AT(struct vmtotal, t_sl, 78);
AT(struct vmtotal, t_sw, 80);

/* swap.rs */
HOLDS(XSWDEV_VERSION == 2);
AT(struct xswdev, xsw_nblks, 20);
AT(struct xswdev, xsw_used, 24);

/* kinfo_proc.rs */
HOLDS(sizeof(struct kinfo_proc) == 1088);
AT(struct kinfo_proc, ki_structsize, 0);
AT(struct kinfo_proc, ki_pid, 72);
AT(struct kinfo_proc, ki_ppid, 76);
AT(struct kinfo_proc, ki_ruid, 172);
AT(struct kinfo_proc, ki_size, 256);
AT(struct kinfo_proc, ki_rssize, 264);
AT(struct kinfo_proc, ki_runtime, 328);
AT(struct kinfo_proc, ki_start, 336);
AT(struct kinfo_proc, ki_stat, 388);
AT(struct kinfo_proc, ki_nice, 389);
AT(struct kinfo_proc, ki_comm, 447);
AT(struct kinfo_proc, ki_numthreads, 596);
AT(struct kinfo_proc, ki_tid, 600);
AT(struct kinfo_proc, ki_rusage, 608);
AT(struct kinfo_proc, ki_tdflags, 1080);
HOLDS(COMMLEN == 19);
AT(struct rusage, ru_utime, 0);
AT(struct rusage, ru_stime, 16);
AT(struct rusage, ru_maxrss, 32);
AT(struct rusage, ru_minflt, 64);
AT(struct rusage, ru_majflt, 72);
AT(struct rusage, ru_nvcsw, 128);
AT(struct rusage, ru_nivcsw, 136);
HOLDS(CTL_KERN == 1 && KERN_PROC == 14 && KERN_PROC_PID == 1 && KERN_PROC_PROC == 8 && KERN_PROC_INC_THREAD == 0x10);
