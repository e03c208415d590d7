// SPDX-License-Identifier: GPL-2.0
/*
 * A BPF program that counts, at the entry or the exit of a function of the
 * kernel or in its place, for the tests in this folder.
 *
 * usage: bpf_count attach KIND FUNCTION DIR [RET]
 *        bpf_count count DIR
 *        bpf_count call DIR
 *
 * KIND is fentry, fexit or fmod_ret; RET is what a fmod_ret returns. What is
 * attached is kept in DIR, on a BPF file system, and detached by removing its
 * file "link". "call" has the kernel call the functions it has for testing that
 * kind of program, and prints what came of it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

static int die(const char *what)
{
	fprintf(stderr, "bpf_count: %s: %s\n", what, strerror(errno));
	return 1;
}

static char *in_dir(const char *dir, const char *name)
{
	static char path[4096];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static enum bpf_attach_type kind_of(const char *kind)
{
	if (!strcmp(kind, "fentry"))
		return BPF_TRACE_FENTRY;
	return strcmp(kind, "fexit") ? BPF_MODIFY_RETURN : BPF_TRACE_FEXIT;
}

static int load(int map, enum bpf_attach_type kind, const char *func, int ret)
{
	struct bpf_insn insns[] = {
		/* r1 = the address of the count, in two halves */
		{ .code = BPF_LD | BPF_DW | BPF_IMM, .dst_reg = BPF_REG_1,
		  .src_reg = BPF_PSEUDO_MAP_VALUE, .imm = map },
		{},
		/* count, whoever else does */
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_2, .imm = 1 },
		{ .code = BPF_STX | BPF_DW | BPF_ATOMIC, .dst_reg = BPF_REG_1,
		  .src_reg = BPF_REG_2, .imm = BPF_ADD },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = ret },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = kind);
	int id;

	id = libbpf_find_vmlinux_btf_id(func, kind);
	if (id < 0) {
		errno = -id;
		return -1;
	}
	opts.attach_btf_id = id;
	return bpf_prog_load(BPF_PROG_TYPE_TRACING, "ftrace_count", "GPL", insns,
			     ARRAY_SIZE(insns), &opts);
}

static int attach(enum bpf_attach_type kind, const char *func, const char *dir, int ret)
{
	int map, prog, link;

	map = bpf_map_create(BPF_MAP_TYPE_ARRAY, "ftrace_count", sizeof(int),
			     sizeof(long long), 1, NULL);
	if (map < 0)
		return die("no map");
	prog = load(map, kind, func, ret);
	if (prog < 0)
		return die("no program");
	link = bpf_link_create(prog, 0, kind, NULL);
	if (link < 0)
		return die("not attached");
	if (mkdir(dir, 0700) && errno != EEXIST)
		return die(dir);
	if (bpf_obj_pin(map, in_dir(dir, "map")) || bpf_obj_pin(prog, in_dir(dir, "prog")) ||
	    bpf_obj_pin(link, in_dir(dir, "link")))
		return die("not kept");
	return 0;
}

static int count(const char *dir)
{
	long long n;
	int map, zero = 0;

	map = bpf_obj_get(in_dir(dir, "map"));
	if (map < 0 || bpf_map_lookup_elem(map, &zero, &n))
		return die(dir);
	printf("%lld\n", n);
	return 0;
}

static int call(const char *dir)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts);
	int prog;

	prog = bpf_obj_get(in_dir(dir, "prog"));
	if (prog < 0 || bpf_prog_test_run_opts(prog, &opts))
		return die(dir);
	printf("%u\n", opts.retval);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc >= 5 && !strcmp(argv[1], "attach"))
		return attach(kind_of(argv[2]), argv[3], argv[4], argc > 5 ? atoi(argv[5]) : 0);
	if (argc == 3 && !strcmp(argv[1], "count"))
		return count(argv[2]);
	if (argc == 3 && !strcmp(argv[1], "call"))
		return call(argv[2]);
	fprintf(stderr, "bpf_count: see its source\n");
	return 2;
}
