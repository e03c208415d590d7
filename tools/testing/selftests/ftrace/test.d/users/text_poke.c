// SPDX-License-Identifier: GPL-2.0
/*
 * Run a command, and print what perf was told of text that changed meanwhile: a
 * line "ADDRESS OLD-BYTES NEW-BYTES" for each PERF_RECORD_TEXT_POKE.
 *
 * usage: text_poke COMMAND [ARGUMENT...]
 */
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Room for one record for each function there is, on one CPU. */
#define DATA_SIZE	(4UL << 20)

struct text_poke {
	struct perf_event_header	header;
	uint64_t			addr;
	uint16_t			old_len;
	uint16_t			new_len;
	uint8_t				bytes[];
};

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static struct perf_event_mmap_page *listen_on(int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		.text_poke = 1,
	};
	void *map;
	int fd;

	fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, 0);
	if (fd < 0)
		die("perf_event_open");
	map = mmap(NULL, getpagesize() + DATA_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		die("mmap");
	return map;
}

static void print_bytes(const uint8_t *bytes, unsigned int nr)
{
	putchar(' ');
	while (nr--)
		printf("%02x", *bytes++);
}

/* The buffer did not wrap: nothing has been read from it yet. */
static void print_all(const struct perf_event_mmap_page *page)
{
	const char *data = (const char *)page + getpagesize();
	uint64_t at;

	for (at = 0; at < page->data_head;) {
		const struct text_poke *r = (const void *)(data + at);

		if (r->header.type == PERF_RECORD_LOST) {
			fprintf(stderr, "records were lost\n");
			exit(1);
		}
		if (r->header.type == PERF_RECORD_TEXT_POKE) {
			printf("%016llx", (unsigned long long)r->addr);
			print_bytes(r->bytes, r->old_len);
			print_bytes(r->bytes + r->old_len, r->new_len);
			putchar('\n');
		}
		at += r->header.size;
	}
}

int main(int argc, char **argv)
{
	int cpu, cpus = sysconf(_SC_NPROCESSORS_ONLN), status;
	struct perf_event_mmap_page *page[cpus];
	pid_t pid;

	if (argc < 2)
		return 2;
	for (cpu = 0; cpu < cpus; cpu++)
		page[cpu] = listen_on(cpu);
	pid = fork();
	if (!pid) {
		execvp(argv[1], argv + 1);
		_exit(127);
	}
	if (waitpid(pid, &status, 0) != pid || status)
		die(argv[1]);
	for (cpu = 0; cpu < cpus; cpu++)
		print_all(page[cpu]);
	return 0;
}
