// SPDX-License-Identifier: GPL-2.0
/*
 * A storm of NMIs, for the kselftests: each CPU gets them at a given rate, and
 * each one that was sent has to be handled, and to be seen by a tracer.
 *
 * In debugfs, below ftrace_test_nmi/:
 *
 * rate    takes how many NMIs a second each CPU is to get; 0 ends the storm,
 *         and what is under way is waited for. Gives the rate.
 * counts  a line for each CPU that was online when the storm began, and one
 *         with the time it has lasted or did last
 *
 * An NMI is sent to a CPU only when the one before has reached the handler
 * there, so no two of them merge into one: sent and handled must be the same.
 *
 * A timer of each CPU sends to the next one. Timers do not run while the machine
 * is stopped to change text, which is when NMIs are wanted most. So an NMI that
 * finds its CPU with interrupts off, or CPUs that got fewer than they are to
 * get, sends the next ones. What a CPU may send that way until its timer runs
 * again is bounded, or nothing else would ever run.
 *
 * CPUs cannot come and go meanwhile.
 */
#include <linux/cpu.h>
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/ftrace.h>
#include <linux/hrtimer.h>
#include <linux/module.h>
#include <linux/nmi.h>
#include <linux/percpu.h>
#include <linux/smp.h>

#include <asm/apic.h>
#include <asm/ibt.h>
#include <asm/nmi.h>
#include <asm/text-patching.h>

#include "run.h"

#define MAX_RATE	20000

/* How many NMIs a CPU may send from NMIs before its timer runs again. */
#define BUDGET		64

/**
 * struct target - one CPU, as a target of NMIs
 * @pending: one was sent that has not reached the handler
 * @sent: how many were sent to it
 * @handled: how many its handler has seen
 * @chased: how many of those that it got were sent by an NMI
 * @irqs_off: how many came while interrupts were off
 * @breakpoints: how many found a breakpoint where they were to call next
 * @seen: how many calls the tracer has seen
 * @budget: how many it may send from NMIs until its timer runs
 * @timer: sends to the next CPU
 */
struct target {
	atomic_t	pending;
	atomic_t	sent;
	atomic_t	chased;
	unsigned int	handled;
	unsigned int	irqs_off;
	unsigned int	breakpoints;
	unsigned int	seen;
	unsigned int	budget;
	struct hrtimer	timer;
};

static DEFINE_PER_CPU(struct target, targets);

/* Held while a storm starts or ends; covers all below. */
static DEFINE_MUTEX(storm_mutex);

static unsigned int rate;
static bool storm;
static struct cpumask storm_cpus;
static u64 began_ns, lasted_ns;

/* One CPU at a time sends from an NMI. */
static atomic_t chasing;

static void *other_site;

/* ---- what is traced ------------------------------------------------------ */

/* The module's own tracer is on this function for as long as the storm lasts. */
static noinline void ftrace_test_nmi_seen(void)
{
	barrier();
}

/* And this one is for others. */
static noinline void ftrace_test_nmi_other(void)
{
	barrier();
}

static notrace void count_call(unsigned long ip, unsigned long parent_ip,
			       struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	this_cpu_inc(targets.seen);
}

static struct ftrace_ops count_ops = {
	.func	= count_call,
};

/* ---- sending ------------------------------------------------------------- */

static bool claim(int cpu)
{
	return !atomic_cmpxchg(&per_cpu(targets.pending, cpu), 0, 1);
}

static void count_sent(int cpu)
{
	atomic_inc(&per_cpu(targets.sent, cpu));
}

/* Interrupts are off, and this is no NMI. */
static void send_to(int cpu)
{
	if (!claim(cpu))
		return;
	count_sent(cpu);
	apic->send_IPI(cpu, NMI_VECTOR);
}

/*
 * To all CPUs but this one, or to none. Only the short form of an IPI may be
 * sent from an NMI: it leaves alone the register that says where to, which the
 * NMI may have found between its setting and its use.
 */
static bool send_to_others(void)
{
	int this = smp_processor_id(), cpu, undo;

	for_each_cpu(cpu, &storm_cpus) {
		if (cpu != this && !claim(cpu))
			goto undo;
	}
	for_each_cpu(cpu, &storm_cpus) {
		if (cpu == this)
			continue;
		count_sent(cpu);
		atomic_inc(&per_cpu(targets.chased, cpu));
	}
	apic->send_IPI_allbutself(NMI_VECTOR);
	return true;
undo:
	for_each_cpu(undo, &storm_cpus) {
		if (undo == cpu)
			break;
		if (undo != this)
			atomic_set(&per_cpu(targets.pending, undo), 0);
	}
	return false;
}

static bool is_late(void)
{
	u64 due = div_u64((ktime_get_mono_fast_ns() - began_ns) * rate,
			  NSEC_PER_SEC);
	int cpu;

	for_each_cpu(cpu, &storm_cpus) {
		if (atomic_read(&per_cpu(targets.sent, cpu)) < due)
			return true;
	}
	return false;
}

static void chase(struct target *t, struct pt_regs *regs)
{
	if (!READ_ONCE(storm) || !t->budget || cpumask_weight(&storm_cpus) == 1)
		return;
	if (regs->flags & X86_EFLAGS_IF && !is_late())
		return;
	if (atomic_cmpxchg(&chasing, 0, 1))
		return;
	if (send_to_others())
		t->budget--;
	atomic_set(&chasing, 0);
}

/* ---- receiving ------------------------------------------------------------- */

static int on_nmi(unsigned int type, struct pt_regs *regs)
{
	struct target *t = this_cpu_ptr(&targets);

	if (!atomic_xchg(&t->pending, 0))
		return NMI_DONE;

	t->handled++;
	if (!(regs->flags & X86_EFLAGS_IF))
		t->irqs_off++;
	if (READ_ONCE(*(u8 *)other_site) == INT3_INSN_OPCODE)
		t->breakpoints++;
	ftrace_test_nmi_other();
	ftrace_test_nmi_seen();
	chase(t, regs);
	return NMI_HANDLED;
}

/* ---- a storm ------------------------------------------------------------- */

static ktime_t period(void)
{
	return ns_to_ktime(NSEC_PER_SEC / rate);
}

static enum hrtimer_restart on_timer(struct hrtimer *timer)
{
	unsigned int next = cpumask_next(smp_processor_id(), &storm_cpus);

	if (next >= nr_cpu_ids)
		next = cpumask_first(&storm_cpus);
	__this_cpu_write(targets.budget, BUDGET);
	send_to(next);
	hrtimer_forward_now(timer, period());
	return HRTIMER_RESTART;
}

static void start_timer(void *unused)
{
	struct hrtimer *timer = this_cpu_ptr(&targets.timer);

	hrtimer_init(timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	timer->function = on_timer;
	hrtimer_start(timer, period(), HRTIMER_MODE_REL_PINNED_HARD);
}

static bool all_quiet(void)
{
	int cpu;

	for_each_cpu(cpu, &storm_cpus) {
		if (atomic_read(&per_cpu(targets.pending, cpu)))
			return false;
	}
	return true;
}

/* Returns an error if NMIs are missing when nothing is to come any more. */
static int end_storm(void)
{
	unsigned int tries;
	int cpu, ret = 0;

	for_each_cpu(cpu, &storm_cpus)
		hrtimer_cancel(&per_cpu(targets.timer, cpu));
	/* Code that still saw it true has sent its NMIs by then. */
	WRITE_ONCE(storm, false);
	synchronize_rcu();
	for (tries = 0; !all_quiet(); tries++) {
		if (tries == 1000) {
			ret = -ETIMEDOUT;
			break;
		}
		msleep(20);
	}
	lasted_ns = ktime_get_mono_fast_ns() - began_ns;
	unregister_nmi_handler(NMI_LOCAL, "ftrace_test_nmi");
	cpu_hotplug_enable();
	rate = 0;
	return unregister_ftrace_function(&count_ops) ?: ret;
}

static int begin_storm(unsigned int new_rate)
{
	int cpu, ret;

	for_each_possible_cpu(cpu)
		memset(per_cpu_ptr(&targets, cpu), 0, sizeof(struct target));
	ret = register_ftrace_function(&count_ops);
	if (ret)
		return ret;
	ret = register_nmi_handler(NMI_LOCAL, on_nmi, 0, "ftrace_test_nmi");
	if (ret) {
		unregister_ftrace_function(&count_ops);
		return ret;
	}
	cpu_hotplug_disable();
	/* The short form goes to CPUs that are off, too. */
	cpumask_copy(&storm_cpus, cpu_online_mask);
	if (!cpumask_equal(&storm_cpus, cpu_present_mask)) {
		cpu_hotplug_enable();
		unregister_nmi_handler(NMI_LOCAL, "ftrace_test_nmi");
		unregister_ftrace_function(&count_ops);
		return -EBUSY;
	}
	rate = new_rate;
	began_ns = ktime_get_mono_fast_ns();
	WRITE_ONCE(storm, true);
	on_each_cpu(start_timer, NULL, 1);
	return 0;
}

static int rate_set(void *data, u64 val)
{
	int ret = 0;

	if (val > MAX_RATE)
		return -EINVAL;
	mutex_lock(&storm_mutex);
	if (val && rate)
		ret = -EBUSY;
	else if (val)
		ret = begin_storm(val);
	else if (rate)
		ret = end_storm();
	mutex_unlock(&storm_mutex);
	return ret;
}

static int rate_get(void *data, u64 *val)
{
	*val = READ_ONCE(rate);
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(rate_fops, rate_get, rate_set, "%llu\n");

static int counts_show(struct seq_file *m, void *v)
{
	u64 ns;
	int cpu;

	mutex_lock(&storm_mutex);
	ns = rate ? ktime_get_mono_fast_ns() - began_ns : lasted_ns;
	for_each_cpu(cpu, &storm_cpus) {
		const struct target *t = per_cpu_ptr(&targets, cpu);

		seq_printf(m, "cpu %d sent %d handled %u seen %u chased %d irqs-off %u breakpoints %u\n",
			   cpu, atomic_read(&t->sent), t->handled, t->seen,
			   atomic_read(&t->chased), t->irqs_off,
			   t->breakpoints);
	}
	seq_printf(m, "ms %llu\n", div_u64(ns, NSEC_PER_MSEC));
	mutex_unlock(&storm_mutex);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(counts);

/* ---- the module ------------------------------------------------------------ */

static struct dentry *dir;

static void *site_of(void (*func)(void))
{
	void *site = func;

	/* Or it is folded, and the kernel's tools object to what comes out. */
	OPTIMIZER_HIDE_VAR(site);
	return is_endbr(*(u32 *)site) ? site + ENDBR_INSN_SIZE : site;
}

static int __init ftrace_test_nmi_init(void)
{
	int ret;

	other_site = site_of(ftrace_test_nmi_other);
	ret = ftrace_set_filter_ip(&count_ops,
				   (unsigned long)ftrace_test_nmi_seen, 0, 1);
	if (ret)
		return ret;
	dir = debugfs_create_dir("ftrace_test_nmi", NULL);
	debugfs_create_file_unsafe("rate", 0600, dir, NULL, &rate_fops);
	debugfs_create_file("counts", 0400, dir, NULL, &counts_fops);
	return 0;
}
module_init(ftrace_test_nmi_init);

static void __exit ftrace_test_nmi_exit(void)
{
	debugfs_remove(dir);
	mutex_lock(&storm_mutex);
	if (rate)
		end_storm();
	mutex_unlock(&storm_mutex);
	ftrace_free_filter(&count_ops);
}
module_exit(ftrace_test_nmi_exit);

MODULE_DESCRIPTION("A storm of NMIs for the kselftests of ftrace");
MODULE_LICENSE("GPL");
