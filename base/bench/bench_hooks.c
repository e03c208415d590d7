// SPDX-License-Identifier: GPL-2.0
/* The rows of others that hook functions: probes, BPF, modules. */
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/klog.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bench.h"
#include "bpf.h"

#define MULTI		1000	/* functions of one kprobe.multi */
#define NAMES		4000	/* the same, by their names */
#define FENTRIES	1000	/* BPF programs on a function each */
#define FENTRIES_MANY	20000

void kprobe_rows(void)
{
	int i;

	echo("p:bench " TRACED, "kprobe_events");
	for (i = 0; i < ROUNDS; i++) {
		settle();
		sample("kprobe-on", i, echo, "1", "events/kprobes/bench/enable");
		settle();
		sample("kprobe-off", i, echo, "0", "events/kprobes/bench/enable");
	}
	echo("", "kprobe_events");
}

/* Of what does nothing here. */
static const char *const idle_functions[] = {
	"acpi_", "ata_", "dev_", "drm_", "ext4_", "fib", "genl_", "inet", "input_", "ip6_",
	"ip_", "ipv6_", "jbd2_", "neigh_", "net", "nf", "pci", "rtnl", "scsi_", "sk_", "skb_",
	"snd_", "tcp_", "udp", "usb_", "virtio_", "xfrm",
};

static int is_idle(const char *function)
{
	unsigned int i;

	for (i = 0; i < sizeof(idle_functions) / sizeof(*idle_functions); i++) {
		if (!strncmp(function, idle_functions[i], strlen(idle_functions[i])))
			return 1;
	}
	return 0;
}

static uint64_t multi_addr[MULTI];
static uint64_t multi_name[NAMES];
static int link_fd = -1;

static int is_among(const uint64_t *names, int nr, const char *name)
{
	while (nr--) {
		if (!strcmp((const char *)(uintptr_t)names[nr], name))
			return 1;
	}
	return 0;
}

/* The stock core finds no name twice. */
static void some_names(uint64_t *names, int nr)
{
	FILE *f = fopen(path_of("available_filter_functions"), "r");
	char line[256];
	int i = 0;

	must(!!f, "open", "available_filter_functions");
	while (i < nr && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = 0;
		if (is_idle(line) && !strchr(line, '[') && !is_among(names, i, line))
			names[i++] = (uintptr_t)strdup(line);
	}
	fclose(f);
	must(i == nr, "too few in", "available_filter_functions");
}

static void names_attach(const char *program, const char *unused)
{
	union bpf_attr attr = {
		.link_create = {
			.prog_fd	= atoi(program),
			.attach_type	= BPF_TRACE_KPROBE_MULTI,
			.kprobe_multi	= {
				.cnt	= NAMES,
				.syms	= (uintptr_t)multi_name,
			},
		},
	};

	(void)unused;
	link_fd = bpf(BPF_LINK_CREATE, &attr);
	must(link_fd >= 0, "BPF_LINK_CREATE", "kprobe.multi by name");
}

static void multi_attach(const char *program, const char *unused)
{
	union bpf_attr attr = {
		.link_create = {
			.prog_fd	= atoi(program),
			.attach_type	= BPF_TRACE_KPROBE_MULTI,
			.kprobe_multi	= {
				.cnt	= MULTI,
				.addrs	= (uintptr_t)multi_addr,
			},
		},
	};

	(void)unused;
	link_fd = bpf(BPF_LINK_CREATE, &attr);
	must(link_fd >= 0, "BPF_LINK_CREATE", "kprobe.multi");
}

static void detach(const char *program, const char *unused)
{
	(void)program;
	(void)unused;
	close(link_fd);
}

void multi_rows(void)
{
	char program[16];
	int i, fd = program_of(BPF_PROG_TYPE_KPROBE, BPF_TRACE_KPROBE_MULTI, 0);

	must(fd >= 0, "BPF_PROG_LOAD", "kprobe.multi");
	snprintf(program, sizeof(program), "%d", fd);
	/* These mostly do not run. */
	some_addresses(" acpi_", "", multi_addr, MULTI);
	for (i = 0; i < ROUNDS; i++) {
		settle();
		sample("multi-on", i, multi_attach, program, NULL);
		settle();
		sample("multi-off", i, detach, program, NULL);
	}
	some_names(multi_name, NAMES);
	for (i = 0; i < ROUNDS; i++) {
		settle();
		sample("names-on", i, names_attach, program, NULL);
		detach(NULL, NULL);
	}
	close(fd);
}

/* ---- the BPF trampoline ---- */

static void fentry_attach(const char *program, const char *unused)
{
	union bpf_attr attr = {
		.link_create = {
			.prog_fd	= atoi(program),
			.attach_type	= BPF_TRACE_FENTRY,
		},
	};

	(void)unused;
	link_fd = bpf(BPF_LINK_CREATE, &attr);
	must(link_fd >= 0, "BPF_LINK_CREATE", "fentry");
}

/* With a program on each, a call of one of these would never end, or take too long. */
static int is_used_by_programs(const char *function)
{
	static const char *const part[] = { "bpf", "rcu", "lock", "preempt", "migrate", "trace" };
	unsigned int i;

	for (i = 0; i < sizeof(part) / sizeof(*part); i++) {
		if (strstr(function, part[i]))
			return 1;
	}
	return 0;
}

struct crowd {
	int	left;
	int	anywhere;	/* too many for the idle functions alone */
};

/* One more of the crowd, if it can have a program at all. */
static int fentry_joins(int id, const char *name, void *arg)
{
	struct crowd *crowd = arg;
	int fd;

	if (crowd->anywhere ? is_used_by_programs(name) : !is_idle(name))
		return 0;
	fd = program_of(BPF_PROG_TYPE_TRACING, BPF_TRACE_FENTRY, id);
	if (fd >= 0) {
		union bpf_attr attr = {
			.link_create = {
				.prog_fd	= fd,
				.attach_type	= BPF_TRACE_FENTRY,
			},
		};

		crowd->left -= bpf(BPF_LINK_CREATE, &attr) >= 0;
	}
	return !crowd->left;
}

static void on_and_off(const char *on, const char *off)
{
	char program[16];
	int i, fd = program_of(BPF_PROG_TYPE_TRACING, BPF_TRACE_FENTRY, btf_id_of(TRACED));

	must(fd >= 0, "BPF_PROG_LOAD", "fentry");
	snprintf(program, sizeof(program), "%d", fd);
	for (i = 0; i < ROUNDS; i++) {
		settle();
		sample(on, i, fentry_attach, program, NULL);
		settle();
		sample(off, i, detach, program, NULL);
	}
	close(fd);
}

void fentry_rows(void)
{
	on_and_off("fentry-on", "fentry-off");
}

static void fentry_crowd(int nr, int anywhere)
{
	struct rlimit limit = { .rlim_cur = 1 << 17, .rlim_max = 1 << 17 };
	struct crowd crowd = { .left = nr, .anywhere = anywhere };

	must(!setrlimit(RLIMIT_NOFILE, &limit), "setrlimit", "");
	must(any_function(fentry_joins, &crowd), "too few functions for", "fentry");
}

/*
 * The same beside many others, each on a function of its own. They stay: nothing can be
 * measured after this.
 */
void fentry_crowd_rows(void)
{
	fentry_crowd(FENTRIES, 0);
	on_and_off("fentry-crowd-on", "fentry-crowd-off");
}

/* And beside the function tracer, which writes nothing meanwhile. */
void fentry_host_rows(void)
{
	fentry_crowd(FENTRIES_MANY, 1);
	echo("0", "tracing_on");
	echo("function", "current_tracer");
	on_and_off("fentry-host-on", "fentry-host-off");
}

/* ---- samples/ftrace/ftrace-ops ---- */

#define OPS_MODULE	"/ftrace-ops.ko"

/* The module measures while it is loaded, says so in the log, and does not stay. */
static void ops_row(int relevant, int irrelevant)
{
	static char log[1 << 16];
	unsigned long long took;
	unsigned int calls;
	char params[128];
	const char *at, *in;
	int n, fd = open(OPS_MODULE, O_RDONLY);

	must(fd >= 0, "open", OPS_MODULE);
	snprintf(params, sizeof(params),
		 "nr_function_calls=10000 nr_ops_relevant=%d nr_ops_irrelevant=%d",
		 relevant, irrelevant);
	klogctl(5 /* SYSLOG_ACTION_CLEAR */, NULL, 0);
	syscall(SYS_finit_module, fd, params, 0);
	close(fd);
	n = klogctl(3 /* SYSLOG_ACTION_READ_ALL */, log, sizeof(log) - 1);
	log[n > 0 ? n : 0] = 0;
	/* "Attempted N calls to FUNCTION [MODULE] in Nns (Nns / call)" */
	at = strstr(log, "Attempted ");
	in = at ? strstr(at, " in ") : NULL;
	must(in && sscanf(at, "Attempted %u", &calls) == 1 &&
	     sscanf(in, " in %lluns", &took) == 1, "no result of", OPS_MODULE);
	say("ops-%d-%d %.1f\n", relevant, irrelevant, (double)took / calls);
}

void ops_rows(void)
{
	static const int steps[] = { 0, 1, 2, 10, 100 };
	unsigned int i;

	if (access(OPS_MODULE, R_OK))
		return;
	settle();
	for (i = 0; i < sizeof(steps) / sizeof(*steps); i++)
		ops_row(steps[i], 0);
	for (i = 1; i < sizeof(steps) / sizeof(*steps); i++) {
		ops_row(0, steps[i]);
		ops_row(1, steps[i]);
	}
}

/* ---- named tracers ---- */

#define NAMED_MODULE	"/ftrace_test_ops.ko"
#define NAMED		16

static const char *const elsewhere[] = { "__x64_sys_sync", "__x64_sys_getpgid" };

/* The module registers ops as it is told. */
static void tell(const char *format, ...)
{
	static const char file[] = "/sys/kernel/debug/ftrace_test_ops/cmd";
	va_list args;
	int fd = open(file, O_WRONLY);

	must(fd >= 0, "open", file);
	va_start(args, format);
	must(vdprintf(fd, format, args) > 0, format, file);
	va_end(args);
	close(fd);
}

static void named(int nr, const char *function)
{
	tell("name %d t%d\n", nr, nr);
	tell("filter %d %s\n", nr, function);
	tell("register %d\n", nr);
}

/* Of many named tracers one that wants a function, and one that is changed. */
void named_rows(void)
{
	char filter[64];
	double plain, one;
	int i, fd = open(NAMED_MODULE, O_RDONLY);

	/* The stock kernel has no such thing. */
	if (fd < 0)
		return;
	mount("debugfs", "/sys/kernel/debug", "debugfs", 0, NULL);
	must(!syscall(SYS_finit_module, fd, "", 0), "init_module", NAMED_MODULE);
	close(fd);

	settle();
	per_call();
	plain = per_call();
	named(0, TRACED);
	settle();
	per_call();
	one = per_call();
	say("named-call-1 %.1f\n", one - plain);
	for (i = 1; i < NAMED; i++)
		named(i, elsewhere[0]);
	settle();
	per_call();
	say("named-call-16 %.1f\n", per_call() - one);

	for (i = 0; i < ROUNDS; i++) {
		settle();
		snprintf(filter, sizeof(filter), "[t%d] %s", NAMED / 2, elsewhere[i % 2]);
		sample("named-filter", i, echo, filter, "set_ftrace_filter");
	}
	for (i = 0; i < NAMED; i++)
		tell("drop %d\n", i);
}
