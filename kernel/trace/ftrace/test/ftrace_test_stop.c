// SPDX-License-Identifier: GPL-2.0
/*
 * A stop of the machine, seen from within, for the kselftests.
 *
 * NMIs go on while call sites are written. A CPU that writes its share of a plan
 * loads the patch window by text_poke_load_mm(); this module traces that function
 * and sends an NMI to the other CPUs. One that is inside patch_share() then looks
 * at what is mapped, or at a call site, or raises a machine check; one that has
 * interrupts off sends the next NMI. So they go to and fro through all the steps of
 * a stop, however fast the machine is.
 *
 * In debugfs, below ftrace_test_stop/:
 *
 * pages   takes 1 and 0: look, from nothing found on, or do not. Gives one line:
 *           looks     how often an NMI has looked
 *           window    how many pages the window had at most
 *           odd       pages in it that were executable, for user space, or not
 *                     writable
 *           wx        pages anywhere that were writable and executable
 *           shown     kernel pages in the address space that the window stands
 *                     in for
 *           no-wp     looks that found that the CPU may write what is read-only
 *         and the last address that was odd, wx or shown
 * bytes   takes a call site that is a nop: look at it; takes 0: do not. Gives one
 *         line:
 *           looks        how often an NMI has looked
 *           breakpoints  how often there was one
 *           torn         how often there was neither that, nor the nop, nor a call
 * checks  takes the call site of a function that machine checks run: raise
 *         them; takes 0: do not. Gives one line:
 *           raised       how many were raised
 *           breakpoints  how many of them while there was a breakpoint at that
 *                        call site
 */
#include <linux/atomic.h>
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/ftrace.h>
#include <linux/kallsyms.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/nmi.h>
#include <linux/percpu.h>
#include <linux/pgtable.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/smp.h>
#include <linux/string.h>

#include <asm/apic.h>
#include <asm/mce.h>
#include <asm/msr.h>
#include <asm/nmi.h>
#include <asm/text-patching.h>

static bool pages_on;

/* All but @window: how often, or how many in all looks. */
static struct {
	atomic_t	looks;
	atomic_t	window;
	atomic_t	odd;
	atomic_t	wx;
	atomic_t	shown;
	atomic_t	no_wp;
	unsigned long	last;
} found;

/* ---- what is mapped -------------------------------------------------------- */

/**
 * struct view - what is found in one set of page tables
 * @levels: how many levels they have
 * @low: pages in the lower half
 * @kernel: those of them that are not for user space
 * @odd: those of them that the window should not have
 * @wx: pages of the kernel that are writable and executable
 * @last: the last address of any of these three
 */
struct view {
	int		levels;
	unsigned int	low;
	unsigned int	kernel;
	unsigned int	odd;
	unsigned int	wx;
	unsigned long	last;
};

static notrace void look_at_page(struct view *v, unsigned long addr, u64 entry,
				 bool write, bool exec)
{
	bool low = (long)addr >= 0, user = low && entry & _PAGE_USER;
	bool odd = low && (user || !write || exec);
	bool wx = !user && write && exec;

	v->low += low;
	v->kernel += low && !user;
	v->odd += odd;
	v->wx += wx;
	if (odd || wx || (low && !user))
		v->last = addr;
}

/*
 * What is allowed is what all levels allow. Nobody changes page tables while
 * all CPUs are in the stop.
 */
static notrace void walk(struct view *v, phys_addr_t table, int level,
			 unsigned long addr, bool write, bool exec)
{
	const u64 *entries = __va(table);
	unsigned int i;

	for (i = 0; i < PTRS_PER_PTE; i++) {
		u64 e = READ_ONCE(entries[i]);
		bool w = write && e & _PAGE_RW, x = exec && !(e & _PAGE_NX);
		unsigned long at = addr | (u64)i << (PAGE_SHIFT + 9 * (level - 1));

		if (!(e & _PAGE_PRESENT))
			continue;
		if (level == v->levels)
			at = sign_extend64(at, PAGE_SHIFT + 9 * level - 1);
		/* Of the upper half only what is both is of interest. */
		if ((long)at < 0 && (!w || !x))
			continue;
		if (level == 1 || e & _PAGE_PSE)
			look_at_page(v, at, e, w, x);
		else
			walk(v, e & PTE_PFN_MASK, level - 1, at, w, x);
	}
}

static void look(struct view *v, phys_addr_t root)
{
	v->levels = pgtable_l5_enabled() ? 5 : 4;
	walk(v, root, v->levels, 0, true, true);
}

static void note_view(const struct view *v, const struct view *other)
{
	int most = atomic_read(&found.window);

	while ((int)v->low > most &&
	       !atomic_try_cmpxchg(&found.window, &most, v->low))
		;
	atomic_add(v->odd, &found.odd);
	atomic_add(v->wx, &found.wx);
	atomic_add(other->kernel, &found.shown);
	if (v->odd || v->wx)
		WRITE_ONCE(found.last, v->last);
	if (other->kernel)
		WRITE_ONCE(found.last, other->last);
	if (!(read_cr0() & X86_CR0_WP))
		atomic_inc(&found.no_wp);
	atomic_inc(&found.looks);
}

static void look_at_pages(void)
{
	struct view window = {}, other = {};

	look(&window, read_cr3_pa());
	/* Without user pages these are the kernel's page tables, not the window's. */
	if (!window.low)
		return;
	look(&other, __pa(current->active_mm->pgd));
	note_view(&window, &other);
}

/* ---- the bytes of a call site ---------------------------------------------- */

static struct {
	const u8	*site;
	u8		nop[MCOUNT_INSN_SIZE];
	atomic_t	looks;
	atomic_t	breakpoints;
	atomic_t	torn;
} bytes;

/* A call has none of the bytes of the nop: that would be halves of two. */
static void look_at_bytes(void)
{
	const u8 *site = READ_ONCE(bytes.site);
	u8 now[MCOUNT_INSN_SIZE];
	bool whole;

	if (!site)
		return;
	memcpy(now, site, sizeof(now));
	atomic_inc(&bytes.looks);
	if (now[0] == INT3_INSN_OPCODE) {
		atomic_inc(&bytes.breakpoints);
		return;
	}
	whole = now[0] == CALL_INSN_OPCODE ?
		memcmp(now + 1, bytes.nop + 1, sizeof(now) - 1) :
		!memcmp(now, bytes.nop, sizeof(now));
	atomic_add(!whole, &bytes.torn);
}

/* ---- machine checks -------------------------------------------------------- */

static atomic_t raised, breakpoints;

/* The call site of a function that each machine check runs. */
static const u8 *watched;

/*
 * One that finds nothing in any bank: it runs functions that are traced like
 * others, and the CPU goes on (Intel SDM volume 3, section 16.3.1.2: RIPV).
 */
static void raise_check(void)
{
	const u8 *site = READ_ONCE(watched);

	if (!site)
		return;
	atomic_inc(&raised);
	atomic_add(READ_ONCE(*site) == INT3_INSN_OPCODE, &breakpoints);
	wrmsrl(MSR_IA32_MCG_STATUS, MCG_STATUS_MCIP | MCG_STATUS_RIPV);
	asm volatile("int $18" : : : "memory");
}

/* Elsewhere all CPUs wait for each other in a machine check. */
static bool can_check(void)
{
	return IS_ENABLED(CONFIG_X86_MCE) && boot_cpu_has(X86_FEATURE_MCA) &&
	       boot_cpu_data.x86_vendor == X86_VENDOR_AMD;
}

/* ---- the NMI --------------------------------------------------------------- */

/*
 * By name, as nobody else's business leads there: a CPU that writes its share of
 * a plan. It has the window loaded from before the first byte is written until
 * after the last, and page tables that are not those of its task.
 */
static bool in_stop(const struct pt_regs *regs)
{
	const struct mm_struct *mm = READ_ONCE(current->active_mm);
	char name[KSYM_SYMBOL_LEN];

	if (regs->flags & X86_EFLAGS_IF || !mm ||
	    read_cr3_pa() == __pa(mm->pgd) ||
	    !str_has_prefix(current->comm, "migration/"))
		return false;
	sprint_symbol_no_offset(name, regs->ip);
	return str_has_prefix(name, "patch_share");
}

/* The NMIs that a stop may have in all, and which CPUs are to get one. */
#define BUDGET		64
static atomic_t budget, sending;
static DEFINE_PER_CPU(atomic_t, pending);

/*
 * To all but this one, or to none if one is on its way already: two could merge.
 * Only the short form of an IPI may be sent from an NMI.
 */
static notrace void send_to_others(void)
{
	int this = smp_processor_id(), cpu;

	if (atomic_cmpxchg(&sending, 0, 1))
		return;
	for_each_online_cpu(cpu) {
		if (cpu != this && atomic_read(per_cpu_ptr(&pending, cpu)))
			goto out;
	}
	if (atomic_dec_if_positive(&budget) < 0)
		goto out;
	for_each_online_cpu(cpu) {
		if (cpu != this)
			atomic_set(per_cpu_ptr(&pending, cpu), 1);
	}
	apic->send_IPI_allbutself(NMI_VECTOR);
out:
	atomic_set(&sending, 0);
}

static int on_nmi(unsigned int type, struct pt_regs *regs)
{
	if (!atomic_xchg(this_cpu_ptr(&pending), 0))
		return NMI_DONE;
	if (in_stop(regs)) {
		if (READ_ONCE(pages_on))
			look_at_pages();
		look_at_bytes();
		raise_check();
	}
	if (!(regs->flags & X86_EFLAGS_IF))
		send_to_others();
	return NMI_HANDLED;
}

static bool is_on(void)
{
	return READ_ONCE(pages_on) || READ_ONCE(bytes.site) || READ_ONCE(watched);
}

/* Others load an address space for a moment, too. */
static notrace void on_load(unsigned long ip, unsigned long parent_ip,
			    struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	if (!is_on() || !str_has_prefix(current->comm, "migration/"))
		return;
	atomic_set(&budget, BUDGET);
	send_to_others();
}

static struct ftrace_ops load_ops = {
	.func	= on_load,
};

static bool all_quiet(void)
{
	int cpu;

	if (atomic_read(&sending))
		return false;
	/* Whoever sends says for whom before it says that it is done. */
	smp_rmb();
	for_each_online_cpu(cpu) {
		if (atomic_read(per_cpu_ptr(&pending, cpu)))
			return false;
	}
	return true;
}

/* ---- the files ------------------------------------------------------------- */

static int pages_show(struct seq_file *m, void *v)
{
	seq_printf(m, "looks %d window %d odd %d wx %d shown %d no-wp %d %lx\n",
		   atomic_read(&found.looks), atomic_read(&found.window),
		   atomic_read(&found.odd), atomic_read(&found.wx),
		   atomic_read(&found.shown), atomic_read(&found.no_wp),
		   READ_ONCE(found.last));
	return 0;
}

static int bytes_show(struct seq_file *m, void *v)
{
	seq_printf(m, "looks %d breakpoints %d torn %d\n",
		   atomic_read(&bytes.looks), atomic_read(&bytes.breakpoints),
		   atomic_read(&bytes.torn));
	return 0;
}

static int checks_show(struct seq_file *m, void *v)
{
	seq_printf(m, "raised %d breakpoints %d\n", atomic_read(&raised),
		   atomic_read(&breakpoints));
	return 0;
}

static ssize_t pages_write(struct file *file, const char __user *ubuf,
			   size_t cnt, loff_t *ppos)
{
	bool on;
	int ret;

	ret = kstrtobool_from_user(ubuf, cnt, &on);
	if (ret)
		return ret;
	if (on)
		memset(&found, 0, sizeof(found));
	WRITE_ONCE(pages_on, on);
	return cnt;
}

static ssize_t bytes_write(struct file *file, const char __user *ubuf,
			   size_t cnt, loff_t *ppos)
{
	unsigned long site;
	int ret;

	ret = kstrtoul_from_user(ubuf, cnt, 16, &site);
	if (ret)
		return ret;
	if (site)
		memcpy(bytes.nop, (const void *)site, sizeof(bytes.nop));
	WRITE_ONCE(bytes.site, (const u8 *)site);
	return cnt;
}

static ssize_t checks_write(struct file *file, const char __user *ubuf,
			    size_t cnt, loff_t *ppos)
{
	unsigned long site;
	int ret;

	if (!can_check())
		return -EOPNOTSUPP;
	ret = kstrtoul_from_user(ubuf, cnt, 16, &site);
	if (ret)
		return ret;
	WRITE_ONCE(watched, (const u8 *)site);
	return cnt;
}

static int pages_open(struct inode *inode, struct file *file)
{
	return single_open(file, pages_show, NULL);
}

static int bytes_open(struct inode *inode, struct file *file)
{
	return single_open(file, bytes_show, NULL);
}

static int checks_open(struct inode *inode, struct file *file)
{
	return single_open(file, checks_show, NULL);
}

static const struct file_operations pages_fops = {
	.owner		= THIS_MODULE,
	.open		= pages_open,
	.read		= seq_read,
	.write		= pages_write,
	.release	= single_release,
};

static const struct file_operations bytes_fops = {
	.owner		= THIS_MODULE,
	.open		= bytes_open,
	.read		= seq_read,
	.write		= bytes_write,
	.release	= single_release,
};

static const struct file_operations checks_fops = {
	.owner		= THIS_MODULE,
	.open		= checks_open,
	.read		= seq_read,
	.write		= checks_write,
	.release	= single_release,
};

static struct dentry *dir;

static int trace_load(void)
{
	unsigned char name[] = "text_poke_load_mm";
	int ret;

	ret = ftrace_set_filter(&load_ops, name, strlen(name), 1) ?:
	      register_ftrace_function(&load_ops);
	if (ret)
		ftrace_free_filter(&load_ops);
	return ret;
}

static int __init ftrace_test_stop_init(void)
{
	int ret = -EBUSY;

	cpu_hotplug_disable();
	/* The short form of an IPI goes to CPUs that are off, too. */
	if (!cpumask_equal(cpu_online_mask, cpu_present_mask))
		goto enable;
	ret = register_nmi_handler(NMI_LOCAL, on_nmi, 0, "ftrace_test_stop");
	if (ret)
		goto enable;
	ret = trace_load();
	if (ret)
		goto unregister;
	dir = debugfs_create_dir("ftrace_test_stop", NULL);
	debugfs_create_file("pages", 0600, dir, NULL, &pages_fops);
	debugfs_create_file("bytes", 0600, dir, NULL, &bytes_fops);
	debugfs_create_file("checks", 0600, dir, NULL, &checks_fops);
	return 0;

unregister:
	unregister_nmi_handler(NMI_LOCAL, "ftrace_test_stop");
enable:
	cpu_hotplug_enable();
	return ret;
}
module_init(ftrace_test_stop_init);

static void __exit ftrace_test_stop_exit(void)
{
	debugfs_remove(dir);
	unregister_ftrace_function(&load_ops);
	ftrace_free_filter(&load_ops);
	atomic_set(&budget, 0);
	/* Those that are on their way need a handler. */
	while (!all_quiet())
		msleep(20);
	unregister_nmi_handler(NMI_LOCAL, "ftrace_test_stop");
	cpu_hotplug_enable();
}
module_exit(ftrace_test_stop_exit);

MODULE_DESCRIPTION("A look into a stop of the machine for the kselftests of ftrace");
MODULE_LICENSE("GPL");
