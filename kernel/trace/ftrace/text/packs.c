// SPDX-License-Identifier: GPL-2.0
/*
 * The memory of trampolines.
 *
 * They are small, so many share a pack of pages. A pack is made read-only and executable
 * before it holds a trampoline. text_poke_copy() writes through a mapping of its own, so a
 * pack is never writable where it runs. Packs are never given back.
 *
 * Few trampolines are wanted mostly. Where many are, packs are larger: the pool looks
 * through them one after the other.
 */
#include <kunit/visibility.h>
#include <linux/execmem.h>
#include <linux/genalloc.h>
#include <linux/jiffies.h>
#include <linux/lockdep.h>
#include <linux/set_memory.h>
#include <asm/text-patching.h>

#include "text.h"

/* Modules and the BPF JIT want to live there, too. */
VISIBLE_IF_KUNIT size_t ftrace_packs_max_size = SZ_64M;

/* Each trampoline takes a multiple of this. */
#define PACK_ALIGN	64

/* The first packs are small, up to this sum; later ones large if there is memory for that. */
#define SMALL_TOTAL	(16 * FTRACE_PACK_SIZE)
#define LARGE_PACK	SZ_256K

/* After so long a time there may be memory again. */
#define REFUSED_TIME	(5 * HZ)

/* Covers all that follows, and the list of trampolines; inside ftrace_lock. */
DEFINE_MUTEX(ftrace_tramp_mutex);

static struct gen_pool *pool;
static size_t size_of_all;

/*
 * The smallest size that was refused, SIZE_MAX if nothing was or memory has been added or
 * given back since; and when something was refused last.
 */
static size_t refused_size = SIZE_MAX;
static unsigned long refused_at;

/*
 * All packs lie between the two. They only move apart, before the first trampoline is put
 * into a new pack. So a stale value can only hide addresses at which there was no
 * trampoline yet.
 */
static unsigned long packs_start __read_mostly = ULONG_MAX;
static unsigned long packs_end __read_mostly;

static int add_pack(size_t size)
{
	unsigned long start;
	void *pack;
	int ret;

	if (size_of_all + size > ftrace_packs_max_size)
		return -ENOSPC;
	pack = execmem_alloc(EXECMEM_FTRACE, size);
	if (!pack)
		return -ENOMEM;
	start = (unsigned long)pack;
	memset(pack, INT3_INSN_OPCODE, size);
	ret = set_memory_rox(start, size >> PAGE_SHIFT);
	if (!ret)
		ret = gen_pool_add(pool, start, size, NUMA_NO_NODE);
	if (ret) {
		execmem_free(pack);
		return ret;
	}
	size_of_all += size;
	WRITE_ONCE(refused_size, SIZE_MAX);
	WRITE_ONCE(packs_start, min(packs_start, start));
	WRITE_ONCE(packs_end, max(packs_end, start + size));
	return 0;
}

static int grow_pool(void)
{
	/* There may be no memory for a large one. */
	if (size_of_all >= SMALL_TOTAL && !add_pack(LARGE_PACK))
		return 0;
	return add_pack(FTRACE_PACK_SIZE);
}

/**
 * ftrace_packs_alloc - take memory for a trampoline
 * @size: in bytes, FTRACE_PACK_SIZE at most
 *
 * What was refused is refused again for some seconds, and all that is larger, unless
 * memory has been added or given back since.
 *
 * Context: process, ftrace_tramp_mutex held.
 * Return: the address, 0 if there is no memory.
 */
unsigned long ftrace_packs_alloc(size_t size)
{
	unsigned long ip = 0;

	lockdep_assert_held(&ftrace_tramp_mutex);
	if (!ftrace_packs_refused())
		WRITE_ONCE(refused_size, SIZE_MAX);
	else if (size >= refused_size)
		return 0;
	if (!pool)
		pool = gen_pool_create(ilog2(PACK_ALIGN), NUMA_NO_NODE);
	if (pool)
		ip = gen_pool_alloc(pool, size);
	if (pool && !ip && !grow_pool())
		ip = gen_pool_alloc(pool, size);
	if (!ip) {
		WRITE_ONCE(refused_at, jiffies);
		WRITE_ONCE(refused_size, size);
	}
	return ip;
}

/**
 * ftrace_packs_free - give memory of a trampoline to others
 * @ip: its address
 * @size: in bytes, as it was taken
 *
 * Context: process, ftrace_tramp_mutex held. Nobody is in it any more.
 */
void ftrace_packs_free(unsigned long ip, size_t size)
{
	lockdep_assert_held(&ftrace_tramp_mutex);
	gen_pool_free(pool, ip, size);
	WRITE_ONCE(refused_size, SIZE_MAX);
}

/**
 * ftrace_packs_refused - was somebody refused memory?
 *
 * Context: any.
 * Return: true for some seconds after that, unless memory has been added or given back.
 */
bool ftrace_packs_refused(void)
{
	return READ_ONCE(refused_size) != SIZE_MAX &&
	       time_before(jiffies, READ_ONCE(refused_at) + REFUSED_TIME);
}

/**
 * ftrace_packs_may_have - can there be a trampoline at an address?
 * @ip: the address
 *
 * Unwinders ask it of each entry of a stack, and most are in the kernel's image.
 *
 * Context: any.
 */
bool ftrace_packs_may_have(unsigned long ip)
{
	return ip >= READ_ONCE(packs_start) && ip < READ_ONCE(packs_end);
}
