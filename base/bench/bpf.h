/* SPDX-License-Identifier: GPL-2.0 */
/* BPF programs, and the functions that they can be attached to. */
#ifndef BENCH_BPF_H
#define BENCH_BPF_H

#include <linux/bpf.h>
#include <stdint.h>

long bpf(int cmd, union bpf_attr *attr);
int program_of(int type, int where, int btf_id);
int any_function(int (*f)(int id, const char *name, void *arg), void *arg);
int btf_id_of(const char *function);
void some_addresses(const char *name, const char *module, uint64_t *addr, int nr);

#endif
