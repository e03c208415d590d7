// SPDX-License-Identifier: GPL-2.0
/*
 * The C side of entry_64.S: changing what its code does, and hooking the return of
 * a function.
 */
#include <linux/cpu.h>
#include <linux/errno.h>
#include <linux/ftrace.h>
#include <linux/ftrace_text.h>
#include <linux/init.h>
#include <linux/memory.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <asm/alternative.h>
#include <asm/nops.h>
#include <asm/text-patching.h>

#include "entry.h"
#include "site.h"

#ifdef CONFIG_FTRACE_RECORDER
/**
 * ftrace_text_arm_recorder() - from now on let __fentry__ take notes
 *
 * ftrace_notes must point to a table by now, and must never be NULL again.
 *
 * Context: boot CPU, while ftrace_text_early() is true.
 */
void __init ftrace_text_arm_recorder(void)
{
	/* pushq %rax, made two bytes long by a REX.W that changes nothing */
	static const u8 push_rax[] = { 0x48, 0x50 };

	text_poke_early(ftrace_recorder_switch, push_rax, sizeof(push_rax));
}
#endif

static int update_call(unsigned long ip, ftrace_func_t func)
{
	u32 key = ftrace_text_key(ip);
	struct ftrace_site_insn now;
	u8 insn[CALL_INSN_SIZE];
	void *dest;

	/* alternative_instructions() may have changed the target, no more. */
	if (!ftrace_site_read(ip, &now) || now.first != CALL_INSN_OPCODE)
		return -EINVAL;

	dest = callthunks_translate_call_dest(func);
	ftrace_text_expect(key, ftrace_text_key((unsigned long)dest), insn);
	ftrace_site_poke(ip, insn, insn);
	return 0;
}

/**
 * ftrace_update_ftrace_func() - say what ftrace_caller calls
 * @func: the function; ftrace_regs_caller calls it too
 *
 * A CPU that is under way may still call the previous function: before that is
 * freed, wait for an RCU-tasks grace period.
 *
 * Context: process context, early boot included; takes text_mutex.
 *
 * Return: 0; -EINVAL if there is no call at ftrace_call, and nothing is
 * written then.
 */
int ftrace_update_ftrace_func(ftrace_func_t func)
{
	guard(mutex)(&text_mutex);

	return update_call((unsigned long)ftrace_call, func) ?:
	       update_call((unsigned long)ftrace_regs_call, func);
}

#ifdef CONFIG_FUNCTION_GRAPH_TRACER
/* The site after a template's call: a nop, or a call of ftrace_graph_caller. */
static int update_graph_call(unsigned long ip, bool on)
{
	u32 key = ftrace_text_key(ip);
	struct ftrace_site_insn now;
	u8 insn[CALL_INSN_SIZE];

	if (!ftrace_site_read(ip, &now))
		return -EINVAL;
	if (on)
		ftrace_text_expect(key, ftrace_text_key((unsigned long)ftrace_graph_caller),
				   insn);
	else
		memcpy(insn, x86_nops[CALL_INSN_SIZE], CALL_INSN_SIZE);
	if (memcmp(&now, insn, sizeof(insn)))
		ftrace_site_poke(ip, insn, insn);
	return 0;
}

static int update_graph_calls(bool on)
{
	guard(cpus_read_lock)();
	guard(mutex)(&text_mutex);

	return update_graph_call((unsigned long)ftrace_graph_call, on) ?:
	       update_graph_call((unsigned long)ftrace_graph_regs_call, on);
}

/**
 * ftrace_enable_ftrace_graph_caller() - have ftrace_caller serve graph users
 *
 * And ftrace_regs_caller. For call sites that have no trampoline of their own.
 *
 * Context: process, early boot included; takes text_mutex.
 *
 * Return: 0; -EINVAL if the text cannot be read, and nothing is written then.
 */
int ftrace_enable_ftrace_graph_caller(void)
{
	return update_graph_calls(true);
}

/**
 * ftrace_disable_ftrace_graph_caller() - have it no longer do so
 *
 * Context: as ftrace_enable_ftrace_graph_caller().
 *
 * Return: as ftrace_enable_ftrace_graph_caller().
 */
int ftrace_disable_ftrace_graph_caller(void)
{
	return update_graph_calls(false);
}

/**
 * ftrace_graph_func() - hook the return of a traced function
 * @ip: the call site
 * @parent_ip: where the function returns to
 * @op: not used; fgraph.c looks up who wants the function
 * @fregs: of the call
 *
 * The return address is replaced on the stack before the function has begun,
 * so nobody else can have looked at it but other tracers.
 *
 * Context: any, NMI included. Turns preemption off while graph users are asked:
 * the grace period after which their filters are freed has to wait for this.
 */
void ftrace_graph_func(unsigned long ip, unsigned long parent_ip,
		       struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	unsigned long *ret;
	int level;

	if (unlikely(ftrace_graph_is_dead()) ||
	    unlikely(atomic_read(&current->tracing_graph_pause)))
		return;
	level = ftrace_test_recursion_trylock(ip, parent_ip);
	if (level < 0)
		return;
	ret = (unsigned long *)ftrace_regs_get_stack_pointer(fregs);
	if (!function_graph_enter(*ret, ip, 0, ret))
		*ret = (unsigned long)return_to_handler;
	ftrace_test_recursion_unlock(level);
}
#endif /* CONFIG_FUNCTION_GRAPH_TRACER */
