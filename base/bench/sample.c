// SPDX-License-Identifier: GPL-2.0
/* What something takes in instructions, without what it waits for. */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>
#include <x86intrin.h>

#include "bench.h"

uint64_t now(void)
{
	return __rdtsc();
}

/*
 * Time goes on while nobody works (a grace period is waited for, say), and that
 * is no instruction of the kernel's. So the first CPU never idles: when there is
 * nothing else to do, a process there counts in turns of SPIN instructions. It
 * is stopped between samples, where time is to pass quickly.
 *
 * While it counts, the ticks of the timer go on. They are nobody's work either:
 * what they take is known from a long wait for nothing.
 */
#define SPIN		2

static uint64_t *turns;
static double ticks;		/* instructions beside each one that was waited */
static pid_t spinner;

static void pin(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(0, &set);
	must(!sched_setaffinity(0, sizeof(set), &set), "sched_setaffinity", "");
}

static void start_spinner(void)
{
	struct sched_param param = { .sched_priority = 0 };

	turns = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE,
		     -1, 0);
	must(turns != MAP_FAILED, "mmap", "spinner");
	spinner = fork();
	must(spinner >= 0, "fork", "spinner");
	if (!spinner) {
		must(!sched_setscheduler(0, SCHED_IDLE, &param), "sched_setscheduler", "");
		asm volatile("1:	incq (%0)\n"
			     "	jmp 1b" : : "r" (turns) : "memory");
	}
	kill(spinner, SIGSTOP);
}

/* What f(a, b) takes, in instructions, and how many of them were waited. */
static uint64_t measure(void (*f)(const char *, const char *), const char *a, const char *b,
			uint64_t *waited)
{
	uint64_t turn, begin, took;

	kill(spinner, SIGCONT);
	usleep(1000);
	turn = __atomic_load_n(turns, __ATOMIC_RELAXED);
	begin = now();
	f(a, b);
	took = now() - begin;
	*waited = (__atomic_load_n(turns, __ATOMIC_RELAXED) - turn) * SPIN;
	kill(spinner, SIGSTOP);
	return took;
}

static void say_sample(const char *row, uint64_t took, uint64_t waited)
{
	waited += waited * ticks;
	say("%s %llu %llu\n", row, (unsigned long long)(took - waited),
	    (unsigned long long)waited);
}

/* One sample of a row, without what was waited. */
void sample(const char *row, int keep, void (*f)(const char *, const char *),
	    const char *a, const char *b)
{
	uint64_t waited, took = measure(f, a, b, &waited);

	if (keep)
		say_sample(row, took, waited);
}

static void wait_for_nothing(const char *unused, const char *neither)
{
	(void)unused;
	(void)neither;
	sleep(1);
}

static void measure_ticks(void)
{
	uint64_t waited, took = measure(wait_for_nothing, NULL, NULL, &waited);

	ticks = (double)(took - waited) / waited;
}

/* To be called before the first sample. */
void samples_begin(void)
{
	pin();
	start_spinner();
}

/* Samples that were taken before anybody knew what ticks take. */
static struct {
	const char	*row;
	uint64_t	took;
	uint64_t	waited;
} early[4];

static unsigned int nr_early;

/* One sample of a row before the machine is at rest. */
void sample_early(const char *row, void (*f)(const char *, const char *), const char *a,
		  const char *b)
{
	must(nr_early < sizeof(early) / sizeof(*early), "too many", "early samples");
	early[nr_early].row = row;
	early[nr_early].took = measure(f, a, b, &early[nr_early].waited);
	nr_early++;
}

/* To be called before the first sample that is not early. */
void samples_settle(void)
{
	unsigned int i;

	settle();
	measure_ticks();
	for (i = 0; i < nr_early; i++)
		say_sample(early[i].row, early[i].took, early[i].waited);
}
