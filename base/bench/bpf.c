// SPDX-License-Identifier: GPL-2.0
/* BPF programs, and the functions that they can be attached to. */
#include <fcntl.h>
#include <linux/btf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bench.h"
#include "bpf.h"

long bpf(int cmd, union bpf_attr *attr)
{
	return syscall(SYS_bpf, cmd, attr, sizeof(*attr));
}

/* A program that does nothing, at the entry of functions. */
int program_of(int type, int where, int btf_id)
{
	static const struct bpf_insn nothing[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K },	/* r0 = 0 */
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr = {
		.prog_type		= type,
		.expected_attach_type	= where,
		.attach_btf_id		= btf_id,
		.insns			= (uintptr_t)nothing,
		.insn_cnt		= 2,
		.license		= (uintptr_t)"GPL",
	};

	return bpf(BPF_PROG_LOAD, &attr);
}

/* How far it is to the next type of BTF. */
static size_t size_of(const struct btf_type *t)
{
	size_t n = BTF_INFO_VLEN(t->info);

	switch (BTF_INFO_KIND(t->info)) {
	case BTF_KIND_INT:
	case BTF_KIND_VAR:
	case BTF_KIND_DECL_TAG:
		return sizeof(*t) + 4;
	case BTF_KIND_ARRAY:
		return sizeof(*t) + sizeof(struct btf_array);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return sizeof(*t) + n * sizeof(struct btf_member);
	case BTF_KIND_ENUM:
		return sizeof(*t) + n * sizeof(struct btf_enum);
	case BTF_KIND_ENUM64:
		return sizeof(*t) + n * sizeof(struct btf_enum64);
	case BTF_KIND_FUNC_PROTO:
		return sizeof(*t) + n * sizeof(struct btf_param);
	case BTF_KIND_DATASEC:
		return sizeof(*t) + n * sizeof(struct btf_var_secinfo);
	default:
		return sizeof(*t);
	}
}

/* Call f(type, name, arg) for the functions in the BTF of the kernel until it returns true. */
int any_function(int (*f)(int id, const char *name, void *arg), void *arg)
{
	const char *path = "/sys/kernel/btf/vmlinux";
	const struct btf_header *h;
	const char *at, *end, *names;
	int id, found = 0, fd = open(path, O_RDONLY);
	struct stat st;
	char *btf;
	off_t len = 0;

	must(fd >= 0 && !fstat(fd, &st), "open", path);
	btf = malloc(st.st_size);
	while (btf && len < st.st_size) {
		ssize_t n = read(fd, btf + len, st.st_size - len);

		must(n > 0, "read", path);
		len += n;
	}
	close(fd);
	must(!!btf, "malloc", path);
	h = (const void *)btf;
	at = btf + h->hdr_len + h->type_off;
	end = at + h->type_len;
	names = btf + h->hdr_len + h->str_off;
	for (id = 1; at < end && !found; id++) {
		const struct btf_type *t = (const void *)at;

		found = BTF_INFO_KIND(t->info) == BTF_KIND_FUNC &&
			f(id, names + t->name_off, arg);
		at += size_of(t);
	}
	free(btf);
	return found;
}

struct named_type {
	const char	*name;
	int		id;
};

static int is_named(int id, const char *name, void *arg)
{
	struct named_type *t = arg;

	t->id = id;
	return !strcmp(name, t->name);
}

/* The number of a function's type in the BTF of the kernel. */
int btf_id_of(const char *function)
{
	struct named_type t = { .name = function };

	must(any_function(is_named, &t), "no BTF of", function);
	return t.id;
}

/*
 * The first functions whose lines in the file of addresses have both texts, and, if the
 * second is empty, no module.
 */
void some_addresses(const char *name, const char *module, uint64_t *addr, int nr)
{
	FILE *f = fopen(path_of("available_filter_functions_addrs"), "r");
	char line[256];
	int i = 0;

	must(!!f, "open", "available_filter_functions_addrs");
	while (i < nr && fgets(line, sizeof(line), f)) {
		if (strstr(line, name) &&
		    (*module ? !!strstr(line, module) : !strchr(line, '[')))
			addr[i++] = strtoull(line, NULL, 16);
	}
	fclose(f);
	must(i == nr, "too few in", "available_filter_functions_addrs");
}
