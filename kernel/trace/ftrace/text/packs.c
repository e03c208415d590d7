// SPDX-License-Identifier: GPL-2.0
/*
 * The memory of trampolines.
 *
 * They are small, so many share a pack of pages. A pack is read-only and executable
 * before the first trampoline is written to it, through the mapping that text_poke_copy()
 * makes for that; it is never writable where it runs. Packs are never given back.
 */
#include <linux/execmem.h>
#include <linux/genalloc.h>
#include <linux/set_memory.h>
#include <linux/vmalloc.h>
#include <asm/text-patching.h>

#include "text.h"

/* Modules and the BPF JIT want to live there, too. */
#define MAX_PACKS	(SZ_64M / FTRACE_PACK_SIZE)

/* Callers of all that changes these take turns. */
static struct gen_pool *pool;
static unsigned int nr_packs;

/*
 * All packs lie between the two. They only move apart, before the first trampoline is put
 * into a new pack. So a stale value can only hide addresses at which there was no
 * trampoline yet.
 */
static unsigned long packs_start __read_mostly = ULONG_MAX;
static unsigned long packs_end __read_mostly;

static int add_pack(void)
{
	unsigned long start;
	void *pack;
	int ret;

	if (nr_packs >= MAX_PACKS)
		return -ENOSPC;
	pack = execmem_alloc(EXECMEM_FTRACE, FTRACE_PACK_SIZE);
	if (!pack)
		return -ENOMEM;
	start = (unsigned long)pack;
	memset(pack, INT3_INSN_OPCODE, FTRACE_PACK_SIZE);
	set_vm_flush_reset_perms(pack);
	ret = set_memory_rox(start, FTRACE_PACK_SIZE >> PAGE_SHIFT);
	if (!ret)
		ret = gen_pool_add(pool, start, FTRACE_PACK_SIZE, NUMA_NO_NODE);
	if (ret) {
		execmem_free(pack);
		return ret;
	}
	nr_packs++;
	WRITE_ONCE(packs_start, min(packs_start, start));
	WRITE_ONCE(packs_end, max(packs_end, start + FTRACE_PACK_SIZE));
	return 0;
}

/**
 * ftrace_packs_alloc - take memory for a trampoline
 * @size: in bytes, a multiple of FTRACE_PACK_ALIGN, FTRACE_PACK_SIZE at most
 * @grow: if there is not that much in one piece, get more
 *
 * Context: process, one caller at a time.
 * Return: the address, 0 if there is none.
 */
unsigned long ftrace_packs_alloc(size_t size, bool grow)
{
	unsigned long ip;

	if (!pool)
		pool = gen_pool_create(ilog2(FTRACE_PACK_ALIGN), NUMA_NO_NODE);
	if (!pool)
		return 0;
	ip = gen_pool_alloc(pool, size);
	if (!ip && grow && !add_pack())
		ip = gen_pool_alloc(pool, size);
	return ip;
}

/**
 * ftrace_packs_free - give memory of a trampoline to others
 * @ip: its address
 * @size: in bytes
 *
 * Context: process, one caller at a time. Nobody is in it any more.
 */
void ftrace_packs_free(unsigned long ip, size_t size)
{
	gen_pool_free(pool, ip, size);
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
