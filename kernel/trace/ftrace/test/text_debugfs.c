// SPDX-License-Identifier: GPL-2.0
/*
 * What the text says, whatever the core believes; for the kselftests.
 *
 * In debugfs, below ftrace_test/:
 *
 * text      takes names of functions and addresses of call sites, ended by
 *           white space; the same open file then gives a line for each: address,
 *           the 5 bytes there, what they are, and whom they call
 * calls     every function whose entry calls __fentry__ or a tracer's code,
 *           found by a walk over all symbols: address, what it is. The walk
 *           is done when it is opened; read again from the start, it tells
 *           what those functions that it found call by then
 * image     the text of the kernel as it is now, byte by byte from _stext on,
 *           with zeroes for the branches of static keys, which others change
 * kill      takes 1: ftrace_kill(), after which the machine is of no more use
 * run       takes "NAME COUNT" and runs a function of this file
 * counts    how often each of them ran
 * corrupt   see corrupt_debugfs.c
 * place     see place_debugfs.c
 * nmi...    see nmi_debugfs.c
 */

#include <linux/debugfs.h>
#include <linux/ftrace.h>
#include <linux/jump_label.h>
#include <linux/kallsyms.h>
#include <linux/memory.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sort.h>

#include <asm/nops.h>
#include <asm/sections.h>
#include <asm/text-patching.h>

#include "run.h"
#include "site.h"

/* ---- the functions ----------------------------------------------------- */

FTRACE_TEST_FUNC(ftrace_test_plain)
FTRACE_TEST_FUNC(ftrace_test_first)
FTRACE_TEST_FUNC(ftrace_test_twin)
FTRACE_TEST_FUNC(ftrace_test_victim0)
FTRACE_TEST_FUNC(ftrace_test_victim1)
FTRACE_TEST_FUNC(ftrace_test_victim2)
FTRACE_TEST_FUNC(ftrace_test_victim3)
FTRACE_TEST_FUNC(ftrace_test_in_nmi)

/* Another name of the same function. */
static void __used __alias(ftrace_test_plain) ftrace_test_alias(void);

static struct ftrace_test_func funcs[] = {
	FTRACE_TEST_ENTRY(ftrace_test_plain),
	FTRACE_TEST_ENTRY(ftrace_test_first),
	FTRACE_TEST_ENTRY(ftrace_test_twin),
	FTRACE_TEST_ENTRY(ftrace_test_victim0),
	FTRACE_TEST_ENTRY(ftrace_test_victim1),
	FTRACE_TEST_ENTRY(ftrace_test_victim2),
	FTRACE_TEST_ENTRY(ftrace_test_victim3),
	FTRACE_TEST_ENTRY(ftrace_test_in_nmi),
};

static ssize_t run_write(struct file *file, const char __user *ubuf, size_t cnt,
			 loff_t *ppos)
{
	return ftrace_test_run(funcs, ARRAY_SIZE(funcs), ubuf, cnt) ?: cnt;
}

static const struct file_operations run_fops = {
	.owner	= THIS_MODULE,
	.open	= simple_open,
	.write	= run_write,
};

static int counts_show(struct seq_file *m, void *v)
{
	ftrace_test_show_calls(funcs, ARRAY_SIZE(funcs), m);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(counts);

/* ---- what lies at a call site ------------------------------------------- */

/* What the bytes are; *@target is whom they call, or 0. */
static const char *kind_of(unsigned long ip, const u8 *insn,
			   unsigned long *target)
{
	s32 rel;

	*target = 0;
	if (!memcmp(insn, x86_nops[MCOUNT_INSN_SIZE], MCOUNT_INSN_SIZE))
		return "nop5";
	if (insn[0] == JMP8_INSN_OPCODE &&
	    insn[1] == MCOUNT_INSN_SIZE - JMP8_INSN_SIZE)
		return "jmp";
	if (insn[0] != CALL_INSN_OPCODE)
		return "other";

	memcpy(&rel, insn + 1, sizeof(rel));
	*target = ip + MCOUNT_INSN_SIZE + rel;
	if (*target == (unsigned long)__fentry__)
		return "fentry";
	if (*target == FTRACE_ADDR || *target == FTRACE_REGS_ADDR ||
	    is_ftrace_trampoline(*target))
		return "tracer";
	return "call";
}

/* ---- text ---------------------------------------------------------------- */

/**
 * struct sites - the call sites that an open file is about
 * @lock: for the rest; taken by the reader and the writer of the file
 * @ip: where they are
 * @nr: how many
 * @size: how many @ip has room for
 * @target: whom the last site calls that calls anybody; 0: not known
 * @said: where the buffer of the file has the name of that
 * @said_len: how long it is
 * @len: length of what is in @word
 * @word: a word that has not ended yet
 */
struct sites {
	struct mutex	lock; /* for the rest */
	unsigned long	*ip;
	size_t		nr;
	size_t		size;
	unsigned long	target;
	size_t		said;
	size_t		said_len;
	size_t		len;
	char		word[KSYM_NAME_LEN];
};

static int sites_add(struct sites *s, unsigned long ip)
{
	if (s->nr == s->size) {
		size_t size = max_t(size_t, 512, s->size * 2);
		unsigned long *more;

		more = kvrealloc(s->ip, size * sizeof(*more), GFP_KERNEL);
		if (!more)
			return -ENOMEM;
		s->ip = more;
		s->size = size;
	}
	s->ip[s->nr++] = ip;
	return 0;
}

/* Take in one word: an address, which has 16 digits, or a name. */
static int sites_add_word(struct sites *s)
{
	unsigned long ip;
	u8 insn[MCOUNT_INSN_SIZE];
	bool address = s->len == 2 * sizeof(ip);

	s->word[s->len] = '\0';
	s->len = 0;
	if (!address || kstrtoul(s->word, 16, &ip)) {
		ip = kallsyms_lookup_name(s->word);
		if (!ip)
			return -ENOENT;
		ip = ftrace_test_site_of(ip);
	}
	return ftrace_test_read_site(ip, insn) ?: sites_add(s, ip);
}

static void *sites_start(struct seq_file *m, loff_t *pos)
{
	struct sites *s = m->private;

	mutex_lock(&s->lock);
	/* The buffer is empty again. */
	s->target = 0;
	return *pos < s->nr ? s->ip + *pos : NULL;
}

static void *sites_next(struct seq_file *m, void *v, loff_t *pos)
{
	struct sites *s = m->private;

	return ++*pos < s->nr ? s->ip + *pos : NULL;
}

static void sites_stop(struct seq_file *m, void *v)
{
	struct sites *s = m->private;

	mutex_unlock(&s->lock);
}

/* Thousands call the same, and to look up a name takes long. */
static void show_target(struct seq_file *m, unsigned long target)
{
	struct sites *s = m->private;

	if (s->target == target) {
		seq_write(m, m->buf + s->said, s->said_len);
		return;
	}
	s->target = target;
	s->said = m->count;
	seq_printf(m, " %ps", (void *)target);
	s->said_len = m->count - s->said;
}

static int text_show(struct seq_file *m, void *v)
{
	unsigned long ip = *(unsigned long *)v, target;
	struct sites *s = m->private;
	u8 insn[MCOUNT_INSN_SIZE];
	const char *kind;

	/* Somebody has sought: the buffer was emptied after each line. */
	if (m->count < s->said + s->said_len)
		s->target = 0;
	if (ftrace_test_read_site(ip, insn)) {
		seq_printf(m, "%lx gone\n", ip);
		return 0;
	}
	kind = kind_of(ip, insn, &target);
	seq_printf(m, "%lx %*phN %s", ip, MCOUNT_INSN_SIZE, insn, kind);
	if (target)
		show_target(m, target);
	seq_putc(m, '\n');
	return 0;
}

static const struct seq_operations text_sops = {
	.start	= sites_start,
	.next	= sites_next,
	.stop	= sites_stop,
	.show	= text_show,
};

static int sites_open(struct file *file, const struct seq_operations *sops)
{
	struct sites *s = __seq_open_private(file, sops, sizeof(*s));

	if (!s)
		return -ENOMEM;
	mutex_init(&s->lock);
	return 0;
}

static int sites_release(struct inode *inode, struct file *file)
{
	struct seq_file *m = file->private_data;
	struct sites *s = m->private;

	kvfree(s->ip);
	return seq_release_private(inode, file);
}

static int text_open(struct inode *inode, struct file *file)
{
	return sites_open(file, &text_sops);
}

/* Does not move the position: that is the reader's. */
static ssize_t text_write(struct file *file, const char __user *ubuf,
			  size_t cnt, loff_t *ppos)
{
	struct seq_file *m = file->private_data;
	struct sites *s = m->private;
	size_t i;
	char *buf;
	int ret = 0;

	cnt = min_t(size_t, cnt, PAGE_SIZE);
	buf = memdup_user(ubuf, cnt);
	if (IS_ERR(buf))
		return PTR_ERR(buf);

	mutex_lock(&s->lock);
	for (i = 0; !ret && i < cnt; i++) {
		if (isspace(buf[i])) {
			if (s->len)
				ret = sites_add_word(s);
		} else if (s->len < sizeof(s->word) - 1) {
			s->word[s->len++] = buf[i];
		} else {
			ret = -EINVAL;
		}
	}
	if (ret)
		s->len = 0;
	mutex_unlock(&s->lock);
	kfree(buf);
	return ret ?: cnt;
}

static const struct file_operations text_fops = {
	.owner		= THIS_MODULE,
	.open		= text_open,
	.read		= seq_read,
	.write		= text_write,
	.release	= sites_release,
};

/* ---- calls --------------------------------------------------------------- */

/* What a function's entry is, if it can be a call site; or NULL. */
static const char *entry_kind(unsigned long ip)
{
	u8 insn[MCOUNT_INSN_SIZE];
	unsigned long target;
	const char *kind;

	/* Below module_mutex, which text_mutex has no place in. */
	if (copy_from_kernel_nofault(insn, (void *)ip, sizeof(insn)))
		return NULL;
	kind = kind_of(ip, insn, &target);
	return strcmp(kind, "call") && strcmp(kind, "other") ? kind : NULL;
}

static int add_entry(void *data, const char *name, unsigned long addr)
{
	unsigned long ip;

	if (!kernel_text_address(addr))
		return 0;
	ip = ftrace_test_site_of(addr);
	return entry_kind(ip) ? sites_add(data, ip) : 0;
}

static int cmp_site(const void *a, const void *b)
{
	unsigned long x = *(unsigned long *)a, y = *(unsigned long *)b;

	return x < y ? -1 : x > y;
}

static int calls_show(struct seq_file *m, void *v)
{
	struct sites *s = m->private;
	unsigned long *ip = v;
	const char *kind;

	/* Aliases: the same site under several names. */
	if (ip > s->ip && ip[-1] == ip[0])
		return 0;
	kind = entry_kind(*ip);
	if (kind && (!strcmp(kind, "fentry") || !strcmp(kind, "tracer")))
		seq_printf(m, "%lx %s\n", *ip, kind);
	return 0;
}

static const struct seq_operations calls_sops = {
	.start	= sites_start,
	.next	= sites_next,
	.stop	= sites_stop,
	.show	= calls_show,
};

static int calls_open(struct inode *inode, struct file *file)
{
	struct sites *s;
	int ret;

	ret = sites_open(file, &calls_sops);
	if (ret)
		return ret;
	s = ((struct seq_file *)file->private_data)->private;

	ret = kallsyms_on_each_symbol(add_entry, s);
	if (!ret && IS_ENABLED(CONFIG_MODULES))
		ret = module_kallsyms_on_each_symbol(NULL, add_entry, s);
	if (ret) {
		sites_release(inode, file);
		return ret;
	}
	sort(s->ip, s->nr, sizeof(*s->ip), cmp_site, NULL);
	return 0;
}

static const struct file_operations calls_fops = {
	.owner		= THIS_MODULE,
	.open		= calls_open,
	.read		= seq_read,
	.llseek		= seq_lseek,
	.release	= sites_release,
};

/* ---- image --------------------------------------------------------------- */

#ifdef CONFIG_JUMP_LABEL

/* @buf holds the text from @start on. text_mutex. */
static void blank_static_keys(u8 *buf, unsigned long start, size_t cnt)
{
	struct jump_entry *e;

	for (e = __start___jump_table; e < __stop___jump_table; e++) {
		unsigned long at = jump_entry_code(e), end;

		if (at + JMP32_INSN_SIZE <= start || at >= start + cnt)
			continue;
		end = min(at + jump_entry_size(e), start + cnt);
		at = max(at, start);
		if (at < end)
			memset(buf + (at - start), 0, end - at);
	}
}

#else
static void blank_static_keys(u8 *buf, unsigned long start, size_t cnt) { }
#endif

static ssize_t image_read(struct file *file, char __user *ubuf, size_t cnt,
			  loff_t *ppos)
{
	size_t size = _etext - _stext;
	ssize_t ret;
	char *buf;

	if (*ppos < 0)
		return -EINVAL;
	if (*ppos >= size)
		return 0;
	cnt = min3(cnt, (size_t)SZ_64K, (size_t)(size - *ppos));
	buf = kvmalloc(cnt, GFP_KERNEL);
	if (!buf)
		return -ENOMEM;

	mutex_lock(&text_mutex);
	ret = copy_from_kernel_nofault(buf, _stext + *ppos, cnt);
	if (!ret)
		blank_static_keys(buf, (unsigned long)_stext + *ppos, cnt);
	mutex_unlock(&text_mutex);
	if (!ret)
		ret = copy_to_user(ubuf, buf, cnt) ? -EFAULT : cnt;
	kvfree(buf);
	if (ret > 0)
		*ppos += ret;
	return ret;
}

static const struct file_operations image_fops = {
	.owner	= THIS_MODULE,
	.open	= simple_open,
	.read	= image_read,
	.llseek	= default_llseek,
};

/* ---- kill ------------------------------------------------------------------- */

static int kill_set(void *data, u64 val)
{
	if (val != 1)
		return -EINVAL;
	ftrace_kill();
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(kill_fops, NULL, kill_set, "%llu\n");

static int __init ftrace_test_text_init(void)
{
	struct dentry *dir = debugfs_create_dir("ftrace_test", NULL);

	debugfs_create_file("text", 0600, dir, NULL, &text_fops);
	debugfs_create_file("calls", 0400, dir, NULL, &calls_fops);
	debugfs_create_file("image", 0400, dir, NULL, &image_fops);
	ftrace_test_corrupt_file(dir);
	ftrace_test_place_file(dir);
	debugfs_create_file_unsafe("kill", 0200, dir, NULL, &kill_fops);
	debugfs_create_file("run", 0200, dir, NULL, &run_fops);
	debugfs_create_file("counts", 0400, dir, NULL, &counts_fops);
	ftrace_test_nmi_files(dir, ftrace_test_in_nmi);
	return 0;
}
late_initcall(ftrace_test_text_init);
