# SPDX-License-Identifier: GPL-2.0
# The front door: see "make help".

MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := help

# The base: a 6.12.y tree or tarball; empty means Debian's linux-source-6.12.
LINUX ?=
export LINUX

qemu := base/qemu

.PHONY: help
help:
	@sed -n 's/^#: \{0,1\}//p' Makefile

#: A dynamic ftrace core for Linux 6.12, x86-64.
#:
#:   make run         build the kernel, boot it in QEMU, show what it does
#:   make test        the tests of this kernel; last line: N passed, N failed, N skipped
#:   make test-quick  those of them that take a minute or two
#:   make stress      those with NMIs, faults, everything at once, in full
#:   make soak        the stress suite at double scale, all kinds of users without
#:                    trampolines, and the dynamic suite ROUNDS times; two hours
#:   make debug-test  our tests on a kernel with KASAN, lockdep, kmemleak, UBSAN
#:   make kcsan-test  our tests on a kernel with KCSAN
#:   make table-test  our tests on a kernel with a table of call sites
#:   make matrix      a small kernel for each way to configure ours, built and tested
#:   make mutants     proof that the tests can fail: the core broken in one place after
#:                    another, and the tests that have to notice
#:   make ibt-test    all kinds of users on a CPU that enforces indirect branch
#:                    tracking, which Bochs emulates
#:   make model       models of the stop, the trampolines, the note table and the
#:                    barriers; spin searches all their states
#:   make ftracetest  the base's whole ftracetest, as a table beside that of stock
#:   make stock-test  the same on the unmodified base (for the table; half an hour)
#:   make lists-test  the same on a kernel of this source with the core of the base
#:   make callers     what those who hook functions bring to test themselves with: the
#:                    base's BPF, perf and user events tests, samples, error injection,
#:                    tests of start-up; as a table beside that of stock
#:   make callers-stock  the same on the unmodified base (for the table)
#:   make deb         Debian packages of the kernel, its headers and perf, on the
#:                    configuration of Debian's own package, in build/packages
#:   make deb-stock   the same of the unmodified base
#:   make deb-test    a Debian 12 system with either, tried in QEMU: tools, suspend,
#:                    kexec and so on; figures of both (as root; 25 G, two hours)
#:   make shell       a prompt in a guest on the kernel of make run; KERNEL=recorder:
#:                    on that of the tests; CMD='...': run that command and end
#:   make report-test check the report of make run in Chromium, and save a
#:                    screenshot of it
#:   make bench       instruction counts: the stock core against this one
#:   make bench-smp   the same by the clock, on 2, 4 and 8 CPUs, idle and busy
#:   make bench-profile  where the instructions of a traced call go, by function
#:   make bench-many  the same with up to 200,000 functions, 50,000 names, 10,000 words
#:   make bench-plot  pictures of what these measured (base/bench/figures.json, which
#:                    takes in the last results), in Documentation/trace
#:   make bench-mcount-loc  what mcount_loc and recordmcount need for a kernel
#:   make lint        sparse, W=1, checkpatch, kernel-doc, shellcheck and Sphinx on
#:                    our files; also that none uses another that is above it,
#:                    that assertions of shell tests can fail, that mutants apply, that
#:                    the pictures are those of the figures and that no file names a
#:                    host
#:   make ways        that no operation comes back to a file that it has left more than
#:                    half as often as before there were rooms; which functions it goes
#:                    through, in order, is in build/small-ways/ways
#:   make fixes-test  what each patch of base/fixes mends: the stock kernel shows it,
#:                    a kernel of this source with the stock core does not
#:   make events-test  that the function tracers write the same, option by option, as
#:                    on the unmodified base
#:   make others      that x86-64 without this core and seven other architectures get
#:                    the same instructions as before; make setup-others installs
#:                    compilers for them
#:   make others-boot  that kernels for 32-bit x86 and arm64 find the same as before when
#:                    they test their tracers
#:   make randconfigs   N random configurations of tracing, of this core and the
#:                    other; two of twenty are booted
#:   make kernel      build the kernel of the tests only (build/recorder), make demo that
#:                    of make run; others made of the
#:                    same source: make debug, make kcsan, make startup,
#:                    make table, make table-mcount-loc, make table-objtool; make
#:                    lists: with the core of the base
#:   make stock       build the unmodified base (build/stock); make stock-startup: with
#:                    its tests of start-up
#:   make prepare     make the source tree only (build/linux)
#:   make quilt       the same, with the patches of base/fixes and base/connections pushed
#:                    by quilt, which writes there when it refreshes (build/quilt);
#:                    make setup-quilt installs quilt
#:   make series      the same as patches for "git am" (build/series)
#:   make series-check  checkpatch on each; apply all, and build where Kconfig or a
#:                    Makefile changes (STEPS=all: after each patch)
#:   make clean       remove build/
#:
#: Settings, as in "make run LINUX=/path":
#:
#:   LINUX=PATH       a 6.12.y source tree or tarball
#:                    (default: Debian's package linux-source-6.12)
#:   JOBS=N           compile jobs at a time (default: number of CPUs)
#:   CPUS=N           CPUs of a guest whose list does not say (make run, make shell,
#:                    make ftracetest; default: 2)
#:   STRESS=N         scale of the stress tests (default: of make stress 1, of
#:                    make test 1/3, of make soak 2, of debug-test and
#:                    kcsan-test 1/5)
#:   ROUNDS=N         how often make soak runs the dynamic suite (default: 2)
#:   TABLE=KERNEL     for make table-test: table (default), table-mcount-loc or
#:                    table-objtool
#:   N=N              how many configurations make randconfigs tries (default: 20)
#:   SEED=N           the first of them (default: 1)
#:   LOCALMODCONFIG=LIST  for make deb and make deb-stock: build only the modules in this
#:                    list, as base/deb/guest.list has those of a guest
#:   STEPS=all        have make series-check build each step, not only those that
#:                    change what can be built
#:   ACCEL=NAME       kvm or tcg (default: kvm if a short boot proves it works)
#:
#: make run and make test install with apt what they need (Debian 12), and so does
#: what says so in its name:
#:
#:   make setup           what building a kernel and booting it needs
#:   make setup-tests     that, and what the tests need (make test, stress, soak, mutants,
#:                        ftracetest and so on)
#:   make setup-callers   that, and what make callers needs
#:   make setup-matrix    that of the tests, and what make matrix needs
#:   make setup-NAME      lint, bench (make bench-mcount-loc), model, ibt, quilt, report
#:                        (make report-test), others, others-boot, deb or deb-test
#:
#: All others say what is missing, and which of these installs it.
#:
#: Kernels: build/demo/arch/x86/boot/bzImage (of make run),
#:          build/recorder/arch/x86/boot/bzImage (of the tests),
#:          build/stock/arch/x86/boot/bzImage; modules: build/*/modules.

# setup-SET installs, need-SET only looks.
sets := build run tests callers matrix lint bench model ibt quilt report deb deb-test
sets += others others-boot
asked := "make $(MAKECMDGOALS)"

.PHONY: setup $(sets:%=setup-%) $(sets:%=need-%)
setup: setup-run

$(sets:%=setup-%): setup-%:
	@base/setup.sh $* $(asked)

$(sets:%=need-%): need-%:
	@base/setup.sh --check $* $(asked)

.PHONY: prepare kernel stock debug kcsan startup stock-startup
.PHONY: demo lists table table-mcount-loc table-objtool no-tracer
prepare: need-build
	@base/prepare.sh

kernel: prepare
	@base/build.sh recorder

stock: need-build
	@base/prepare.sh --base-only
	@base/build.sh stock

debug demo kcsan lists table table-mcount-loc table-objtool no-tracer: prepare
	@base/build.sh $@

startup: kernel
	@base/build.sh startup

stock-startup: stock
	@base/build.sh stock-startup

.PHONY: run shell test test-quick stress soak debug-test kcsan-test table-test
.PHONY: matrix bench bench-smp bench-profile bench-many bench-plot bench-mcount-loc lint
# First what is missing, then what looks whether it is there. QEMU is fetched while the
# kernels are built; not by a line that names $(MAKE), which "make -n" runs, too.
submake := $(MAKE)

run:
	@base/setup.sh --packages run $(asked)
	@base/while-fetching.sh $(submake) demo
	@$(qemu)/demo-run.sh

# What is asked for by KERNEL=NAME, as recorder, instead of what make run builds.
KERNEL ?= demo
# As it was typed: a "$" in it is the shell's. A make that is started from here must not
# be told of it, or would take it for its own.
shell: override export CMD := $(value CMD)
# What the command prints is all that is printed.
shell: need-run
	@MAKEFLAGS= $(MAKE) --no-print-directory prepare >&2
	@MAKEFLAGS= base/build.sh $(KERNEL) >&2
	@$(qemu)/shell.sh $(KERNEL)

test:
	@base/setup.sh --packages tests $(asked)
	@base/while-fetching.sh $(submake) kernel startup
	@$(qemu)/test.sh

stress: need-tests kernel
	@STRESS=$(or $(STRESS),1) $(qemu)/test.sh stress

test-quick: need-run kernel
	@$(qemu)/test.sh --quick

ROUNDS ?= 2
soak: need-tests kernel
	@STRESS=$(or $(STRESS),2) $(qemu)/test.sh \
		stress fallback $(patsubst %,dynamic,$(shell seq $(ROUNDS)))

debug-test kcsan-test: %-test: need-tests %
	@$(qemu)/test.sh --kernel $*

# What makes the table: TABLE=table-mcount-loc or table-objtool, or gcc.
TABLE ?= table
table-test: need-tests $(TABLE)
	@$(qemu)/test.sh --kernel $(TABLE)

matrix: need-matrix prepare
	@$(qemu)/test.sh matrix

.PHONY: deb deb-sets deb-stock deb-test
export LOCALMODCONFIG
deb: deb-sets
deb-sets deb-stock: need-deb prepare
	@base/deb/packages.sh $(@:deb-%=%)

deb-test: need-deb-test prepare
	@$(qemu)/test.sh deb

.PHONY: report-test
report-test: need-report
	@$(qemu)/report-browser.sh

.PHONY: mutants
mutants: need-tests prepare
	@base/mutants.sh

.PHONY: ibt-test
ibt-test: need-ibt prepare
	@base/build.sh small
	@base/bochs/ibt.py small

.PHONY: model
model: need-model
	@base/model/model.sh

.PHONY: ftracetest stock-test lists-test
ftracetest: need-tests kernel
	@$(qemu)/ftracetest.py

stock-test: need-tests stock
	@$(qemu)/ftracetest.py --kernel stock

lists-test: need-tests lists
	@$(qemu)/ftracetest.py --kernel lists

.PHONY: callers callers-stock
callers: need-callers kernel startup
	@base/callers.sh recorder
	@$(qemu)/callers.py

callers-stock: need-callers stock stock-startup
	@base/callers.sh stock
	@$(qemu)/callers.py --kernel stock

bench: need-run kernel lists table no-tracer
	@base/bench/bench.py

bench-smp: need-run kernel lists
	@base/bench/smp.py

bench-profile: need-run kernel
	@base/bench/profile.py

bench-many: need-run kernel lists
	@base/bench/many.py

bench-plot:
	@base/bench/plot.py

bench-mcount-loc: need-bench kernel stock
	@base/mcount_loc/bench.py

lint: need-lint prepare
	@base/lint.sh

.PHONY: ways
ways: need-run prepare
	@base/build.sh small-ways
	@base/ways.py small-ways >build/small-ways/ways
	@base/ways.py --compare base/ways.list build/small-ways/ways

.PHONY: fixes-test events-test others others-boot randconfigs
fixes-test: need-tests stock lists
	@base/fixes-test.sh

events-test: need-tests kernel stock
	@base/events-test.sh

others: need-others prepare
	@base/others.sh

others-boot: need-others-boot prepare
	@base/others-boot.sh

N ?= 20
randconfigs: need-tests prepare
	@base/randconfigs.sh $(or $(SEED),1) $(N)

.PHONY: quilt series series-check
quilt: need-quilt prepare
	@base/quilt.sh

series: prepare
	@base/series.sh

series-check: series
	@base/series-check.sh

.PHONY: clean
clean:
	rm -rf build
