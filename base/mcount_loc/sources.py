# SPDX-License-Identifier: GPL-2.0
"""What the tests compile, and how."""

PG = ["-O2", "-pg", "-mfentry", "-fno-PIE", "-mcmodel=kernel"]
NO_UNWIND = ["-fno-asynchronous-unwind-tables", "-fno-exceptions"]
KERNEL = PG + NO_UNWIND + [
    "-fcf-protection=branch", "-fpatchable-function-entry=16,16",
    "-falign-functions=16", "-mfunction-return=thunk-extern"]

FUNCTIONS = """
int x;
static int __attribute__((noinline)) hidden(int a) { asm volatile(""); return a * x; }
int __attribute__((weak)) weak(int a) { return a + x; }
int __attribute__((weak)) twin_of_weak(int a);
int normal(int a) { return hidden(a) + weak(a); }
int __attribute__((no_instrument_function)) untraced(int a) { return a; }
extern int alias(int) __attribute__((alias("normal")));
extern int weak_alias(int) __attribute__((weak, alias("normal")));
int __attribute__((section(".init.text"))) init(int a) { return a + 1; }
int __attribute__((section(".exit.text"))) leave(int a) { return a + 2; }
int __attribute__((section(".text.mine"))) mine(int a) { return a + 3; }
int __attribute__((section(".noinstr.text"), no_instrument_function)) quiet(int a) { return a; }
int __attribute__((cold)) cold(int a) { return a + 4; }
int switches(int a)
{
	switch (a) {
	case 1: return normal(2);
	case 2: return init(3);
	case 3: return cold(4);
	case 4: return leave(5);
	case 5: return mine(6);
	}
	return untraced(7);
}
int (*table[])(int) = { normal, weak, untraced };
"""
WEAK_ONLY = """
int __attribute__((weak)) one(int a) { return a; }
int __attribute__((weak, section(".init.text"))) two(int a) { return a + 1; }
int three(int a);
int __attribute__((weak)) four(int a) { return three(a) + one(a) + two(a); }
"""
TEMPLATES = """
inline int __attribute__((noinline)) shared(int a) { asm volatile(""); return a; }
template<class T> T __attribute__((noinline)) same(T a) { asm volatile(""); return a; }
int user(int a) { return shared(a) + same(a) + (int)same(2.5); }
"""
