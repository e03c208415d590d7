// SPDX-License-Identifier: GPL-2.0
/*
 * The code of trampolines.
 *
 * A trampoline is made of
 *
 *   accounting	for the depth of calls, if the CPU needs that
 *   save	copied from ftrace_caller or ftrace_regs_caller
 *   calls	one after the other, each with its own argument; if there are
 *		several, after the parent address has been kept for all of them
 *   follow	lets the traced function go on where a callback said, if one may
 *   restore	copied from where save was
 *   leave	a return, or a jump to the code of the direct call
 *
 * Nothing calls it but call sites, by direct calls, so it needs no ENDBR. The
 * unwinder knows it by the template, see ftrace_tramp_template_at().
 */
#include <linux/cpu.h>
#include <linux/ftrace.h>
#include <linux/ftrace_text.h>
#include <linux/memory.h>
#include <linux/string.h>
#include <asm/alternative.h>
#include <asm/nospec-branch.h>
#include <asm/text-patching.h>

#include "entry.h"

/**
 * struct template - a trampoline that is part of the kernel
 * @start: where it begins
 * @save: what is copied
 * @call: where it ends, and the calls begin
 * @restore: what is copied after the calls
 * @end: where that ends
 */
struct template {
	const u8	*start;
	const u8	*save;
	const u8	*call;
	const u8	*restore;
	const u8	*end;
};

static const struct template args_template = {
	.start		= (const u8 *)ftrace_caller,
	.save		= ftrace_caller_save,
	.call		= (const u8 *)ftrace_call,
	.restore	= ftrace_caller_restore,
	.end		= ftrace_caller_end,
};

static const struct template regs_template = {
	.start		= (const u8 *)ftrace_regs_caller,
	.save		= ftrace_regs_caller_save,
	.call		= ftrace_regs_call,
	.restore	= ftrace_regs_caller_restore,
	.end		= ftrace_regs_caller_end,
};

static const struct template *template_of(bool regs)
{
	return regs ? &regs_template : &args_template;
}

/**
 * ftrace_text_in_entry_code() - is an address in code that is on the way to callbacks?
 * @addr: the address
 *
 * That is what calls them where there is no trampoline, what goes on to a direct call
 * from there, and what the functions return to that the graph tracer has hooked.
 *
 * Context: any.
 */
bool ftrace_text_in_entry_code(unsigned long addr)
{
	return addr - (unsigned long)ftrace_caller < ftrace_entry_size;
}

/**
 * struct emitter - code being written
 * @at: where the next byte goes
 * @bias: what to add to an address in the buffer to get where it will run
 */
struct emitter {
	u8		*at;
	unsigned long	bias;
};

static unsigned long ip_of(const struct emitter *e)
{
	return (unsigned long)e->at + e->bias;
}

static void emit(struct emitter *e, const void *code, size_t len)
{
	memcpy(e->at, code, len);
	e->at += len;
}

#define EMIT(e, ...) do {						\
	static const u8 code[] = { __VA_ARGS__ };			\
	emit(e, code, sizeof(code));					\
} while (0)

/* A call or a jump. */
static void emit_branch(struct emitter *e, u8 opcode, const void *dest)
{
	u8 insn[CALL_INSN_SIZE];

	__text_gen_insn(insn, opcode, (void *)ip_of(e), dest, CALL_INSN_SIZE);
	emit(e, insn, sizeof(insn));
}

/* A 32-bit displacement, at the end of an instruction. */
static void emit_disp(struct emitter *e, u32 disp)
{
	emit(e, &disp, sizeof(disp));
}

/*
 * Any callback may replace the return address of the traced function, and the
 * ones after it are to see the same as the ones before.
 */
static void emit_keep_parent(struct emitter *e)
{
	EMIT(e, 0x48, 0x89, 0xb4, 0x24);	/* movq %rsi, disp(%rsp) */
	emit_disp(e, FTRACE_PARENT);
}

#define KEEP_PARENT_SIZE	(4 + 4)

static_assert(sizeof(struct __arch_ftrace_regs) <= FTRACE_PARENT);
static_assert(FTRACE_PARENT + sizeof(long) <= FTRACE_REGS_SIZE);

/* The previous call has spoilt the first two arguments, and the last. */
static void emit_reload(struct emitter *e)
{
	EMIT(e, 0x48, 0x8b, 0xbc, 0x24);	/* movq disp(%rsp), %rdi */
	emit_disp(e, FTRACE_SITE_RETURN);
	EMIT(e, 0x48, 0x8b, 0xb4, 0x24);	/* movq disp(%rsp), %rsi */
	emit_disp(e, FTRACE_PARENT);
	EMIT(e, 0x48, 0x83, 0xef, MCOUNT_INSN_SIZE);	/* subq $5, %rdi */
	EMIT(e, 0x48, 0x89, 0xe1);		/* movq %rsp, %rcx */
}

#define RELOAD_SIZE	(8 + 8 + 4 + 3)
#define ARG_SIZE	10
#define CALL_SIZE	(RELOAD_SIZE + ARG_SIZE + CALL_INSN_SIZE)

/* Where to enter a function so that it is accounted for; text_mutex held. */
static const void *entry_of(unsigned long func)
{
	return callthunks_translate_call_dest((void *)func);
}

static void emit_call(struct emitter *e, const struct ftrace_tramp_call *c)
{
	EMIT(e, 0x48, 0xba);			/* movabsq $arg, %rdx */
	emit(e, &c->arg, sizeof(c->arg));
	emit_branch(e, CALL_INSN_OPCODE, entry_of(c->func));
}

/*
 * A callback that sends the function straight to its end also says what it
 * returns, in %rax. If the function is not sent there, nobody reads %rax.
 */
static void emit_follow(struct emitter *e)
{
	EMIT(e, 0x48, 0x8b, 0x44, 0x24, offsetof(struct pt_regs, ax));
						/* movq disp(%rsp), %rax */
	EMIT(e, 0x4c, 0x8b, 0x9c, 0x24);	/* movq disp(%rsp), %r11 */
	emit_disp(e, offsetof(struct pt_regs, ip));
	EMIT(e, 0x4c, 0x89, 0x9c, 0x24);	/* movq %r11, disp(%rsp) */
	emit_disp(e, FTRACE_SITE_RETURN);
}

#define FOLLOW_SIZE	(5 + 8 + 8)

static void emit_leave(struct emitter *e, unsigned long jump)
{
	if (jump) {
		emit_branch(e, JMP32_INSN_OPCODE, (void *)jump);
	} else if (cpu_wants_rethunk()) {
		emit_branch(e, JMP32_INSN_OPCODE, x86_return_thunk);
	} else {
		EMIT(e, RET_INSN_OPCODE);
		if (IS_ENABLED(CONFIG_MITIGATION_SLS))
			EMIT(e, INT3_INSN_OPCODE);
	}
}

/* What is jumped to accounts for the one call that the site has made. */
static void emit_accounting(struct emitter *e, unsigned long jump)
{
	if (!jump)
		x86_call_depth_emit_accounting(&e->at, NULL, (void *)ip_of(e));
}

/* No accounting is longer. */
#define ACCOUNTING_SIZE	32

/**
 * ftrace_tramp_max_size() - room for the code of a trampoline
 * @nr: how many calls it makes
 *
 * Context: any.
 *
 * Return: bytes that are enough.
 */
size_t ftrace_tramp_max_size(unsigned int nr)
{
	const struct template *t = &regs_template;

	return ACCOUNTING_SIZE + (t->call - t->save) +
	       KEEP_PARENT_SIZE + (size_t)nr * CALL_SIZE + FOLLOW_SIZE +
	       (t->end - t->restore) + JMP32_INSN_SIZE;
}

/**
 * ftrace_tramp_emit() - write the code of a trampoline
 * @spec: what it has to do
 * @buf: where to write it, with room for ftrace_tramp_max_size()
 * @ip: the address it will run at
 * @layout: gets where its parts lie
 *
 * Context: process, alternatives applied. Takes text_mutex.
 */
void ftrace_tramp_emit(const struct ftrace_tramp_spec *spec, u8 *buf,
		       unsigned long ip, struct ftrace_tramp_layout *layout)
{
	const struct template *t = template_of(spec->regs);
	struct emitter e = { .at = buf, .bias = ip - (unsigned long)buf };
	unsigned int i;

	guard(mutex)(&text_mutex);
	layout->regs = spec->regs;
	emit_accounting(&e, spec->jump);
	layout->save = e.at - buf;
	emit(&e, t->save, t->call - t->save);
	layout->calls = e.at - buf;
	if (spec->nr > 1)
		emit_keep_parent(&e);
	layout->first = e.at - buf;
	for (i = 0; i < spec->nr; i++) {
		if (i)
			emit_reload(&e);
		emit_call(&e, &spec->call[i]);
	}
	if (spec->follow)
		emit_follow(&e);
	layout->restore = e.at - buf;
	emit(&e, t->restore, t->end - t->restore);
	layout->leave = e.at - buf;
	emit_leave(&e, spec->jump);
	layout->size = e.at - buf;
}

/**
 * ftrace_tramp_template_at() - the static code that a place was generated from
 * @layout: of the trampoline
 * @offset: of an instruction in it, or of a byte of one
 *
 * Context: any, NMI included.
 *
 * Return: an address in the kernel at which the stack is as it is there.
 */
unsigned long ftrace_tramp_template_at(const struct ftrace_tramp_layout *layout,
				       unsigned int offset)
{
	const struct template *t = template_of(layout->regs);
	const u8 *at;

	if (offset < layout->save)
		at = t->start;
	else if (offset < layout->calls)
		at = t->save + (offset - layout->save);
	else if (offset < layout->restore)
		at = t->call;
	else if (offset < layout->leave)
		at = t->restore + (offset - layout->restore);
	else
		at = t->end;
	return (unsigned long)at;
}

/**
 * ftrace_tramp_set() - have a trampoline that is in use lead elsewhere
 * @ip: where the trampoline is
 * @layout: of the trampoline
 * @i: which call; or FTRACE_TRAMP_JUMP, if it was made with a jump
 * @dest: the function to call, or the code to leave for
 *
 * Whoever runs through it meanwhile goes either the old way or the new one.
 *
 * Context: process. Takes cpus_read_lock and text_mutex.
 */
void ftrace_tramp_set(unsigned long ip, const struct ftrace_tramp_layout *layout,
		      unsigned int i, unsigned long dest)
{
	bool jump = i == FTRACE_TRAMP_JUMP;
	u8 insn[CALL_INSN_SIZE];

	ip += jump ? layout->leave : layout->first + i * CALL_SIZE + ARG_SIZE;
	guard(cpus_read_lock)();
	guard(mutex)(&text_mutex);
	__text_gen_insn(insn, jump ? JMP32_INSN_OPCODE : CALL_INSN_OPCODE,
			(void *)ip, jump ? (void *)dest : entry_of(dest),
			sizeof(insn));
	text_poke_bp((void *)ip, insn, sizeof(insn), NULL);
}
