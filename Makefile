# Thin on purpose: each target is one thing that can be typed by hand.

CARGO ?= cargo
BPF = crates/probe/src/bpf
HOST = $$(rustc -vV | sed -n 's/^host: //p')
TARGET = target/$(HOST)
WHIT = $(TARGET)/release/whit
MODULES = web/node_modules/.package-lock.json
# Builds select the whole workspace, and a test: with another selection cargo gives dependencies other features, and builds them twice.
BINARIES = $(CARGO) build --quiet --workspace --bins --test record_layout
XTASK = $(BINARIES) && $(TARGET)/debug/xtask

.PHONY: run fleet program build small size test test-build test-live test-beside test-alone test-page fleet-test deps lint attack fuzz targets targets-all freebsd freebsd-link bpf bench instructions docs install uninstall deb rpm tarball image release test-packages stage-debug python test-python bench-python kernels page generated check check-deep

run: build
	$(WHIT) agent

# The names of sources in messages of panics begin with the package, not with where this machine keeps it: they are shorter, and the same
# everywhere.
SOURCES = $$(for path in "$(CURDIR)/" "$${CARGO_HOME:-$$HOME/.cargo}"/registry/src/*/; do echo "--remap-path-prefix=$$path="; done)

# The program. For another machine: its name as rustc has it.
TARGET_TRIPLE = $(HOST)
program:
	$(CARGO) fetch --locked --target $(TARGET_TRIPLE)
	$(CARGO) build --release --package whit --target $(TARGET_TRIPLE) --config "target.$(TARGET_TRIPLE).rustflags='$$(echo $(SOURCES))'"

# The program, and beside it all that is installed with it. RUNS is a program that runs here, if that one is for another machine.
RUNS =
export STAGE = target/stage$(if $(RUNS),-$(TARGET_TRIPLE))
build: program
	deploy/stage target/$(TARGET_TRIPLE)/release/whit $(STAGE) $(RUNS)

# Without the heavy parts, and with the C library of the system instead of one of its own.
small:
	$(CARGO) fetch --locked --target $(HOST)
	RUSTFLAGS="-D warnings -C relocation-model=static -C link-arg=-Wl,--no-eh-frame-hdr,-T,$(CURDIR)/crates/whit/unwind.ld $(SOURCES)" $(CARGO) build --profile small --package whit --no-default-features

# More than one machine on this one, until Ctrl-C: docs/FLEET.md. What is built is built without root.
AS_ROOT = $(if $(filter-out 0,$(shell id -u)),sudo)
fleet: build
	$(AS_ROOT) .ci/install-peers iproute2 stress util-linux victoria-metrics
	$(AS_ROOT) deploy/fleet/try $(WHIT)

# What must hold before a change lands; the same at length, for the end of a larger change (docs/TESTING.md).
check:
	@.ci/run

check-deep:
	@.ci/deep

# Everything that tests run, so that the first of them does not compile for all.
test-build:
	$(CARGO) test --workspace --no-run
	$(CARGO) test --workspace --no-run --test live

# Ten minutes in which everything goes wrong between three agents and a store. With THANOS=PROGRAM the store is a replicated one of that
# program, whose parts are killed in turn.
fleet-test: deps
	$(if $(THANOS),WHIT_THANOS=$(THANOS)) WHIT_FLEET_SECONDS=600 $(CARGO) test --workspace --test live -- a_fleet_has_each_sample_once

# All tests that need neither root nor packages. Changes nothing outside the tree. With TIMES=1 the seconds of each are printed, which
# the harness of a stable compiler does only if it takes itself for a nightly one.
TIMES =
times = $(if $(TIMES),-- -Z unstable-options --report-time)
RUNNER = CARGO_TARGET_$(shell echo $(HOST) | tr a-z- A-Z_)_RUNNER
test:
	mkdir -p target/tmp
	env TMPDIR="$$PWD/target/tmp" $(if $(TIMES),$(RUNNER)='env RUSTC_BOOTSTRAP=1') $(CARGO) test --workspace --tests $(times)

# Tests on the running kernel and against other programs, as root. A test that lacks a privilege or a program says so and is counted as
# ignored. Those that assert facts run beside others, those that compare with a clock run alone.
test-live: deps
	$(CARGO) test --workspace --test live

test-beside: deps
	WHIT_TRIALS=beside $(CARGO) test --workspace --test live

test-alone: deps
	WHIT_TRIALS=alone $(CARGO) test --workspace --test live

# The page in a browser, with an agent that records a machine under load. A test that lacks something says so and is left out. At
# the end there is a line for each that failed.
REPORTERS = $(foreach reporter,spec ./tests/failures.mjs,--test-reporter=$(reporter) --test-reporter-destination=stdout)
test-page: deps $(MODULES)
	$(BINARIES)
	cd web && WHIT=../$(TARGET)/debug/whit node --test $(REPORTERS) --test-force-exit --test-concurrency=1 tests/

# Installs the programs that tests need, if run as root on Debian.
deps:
	@.ci/install-peers bash chromium clang-14 conky-cli curl e2fsprogs fonts-dejavu-core g++ gcc findutils i3-wm i3status iproute2 libc6-dev libcap2-bin llvm-14 make monitoring-plugins-basic mount nagios4-core newsboat openssl procps prometheus python3 python3-venv strace stress sysstat systemd systemd-container tmux util-linux valgrind victoria-metrics x11-utils xdotool xvfb

# What is generated and committed, made anew: the tree must not differ. Files that stay the same are not touched, so that a build may
# run meanwhile.
generated: bpf page
	git diff --exit-code --stat -- '*.bpf.o' web/dist

# There are no examples: their selection gives dependencies the features that clippy has given them.
lint:
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --test live -- -D warnings
	RUSTDOCFLAGS='-D warnings' $(CARGO) doc --workspace --no-deps --document-private-items --lib --bins --examples

# A neighbour on the same machine against `age`; random keys, sizes and signals against `top`; what any user may send to the agent.
attack: deps
	$(XTASK) attack age 15
	$(XTASK) attack top 10
	$(XTASK) attack agent 1

# Every fuzz target for some seconds; needs a nightly compiler. `.ci/fuzz seeds` packs the inputs anew with which the next runs begin.
fuzz: deps
	@.ci/fuzz

# The tests of the pure crates for a 32-bit target; targets-all has aarch64, armv7 and riscv64 as well.
targets:
	@.ci/targets

targets-all:
	@.ci/targets all

# Type-checks for FreeBSD and holds the layouts against its headers; freebsd-link links as well. Runs nothing there.
freebsd:
	@.ci/freebsd

freebsd-link:
	@.ci/freebsd link

# The web page from its sources; what is in the tree must be what this makes (CI holds them together).
page: $(MODULES)
	cd web && npm run --silent check && npm run --silent build

$(MODULES): web/package-lock.json
	cd web && npm ci --ignore-scripts --silent
	touch $@

# The task iterator's object from its source; what is in the tree must be what this makes (CI holds them together).
bpf: deps
	mkdir -p target
	cd $(BPF) && clang-14 -target bpf -mcpu=v2 -O2 -g -fdebug-compilation-dir=. -Wall -Werror -c tasks.bpf.c -o $(CURDIR)/target/tasks.bpf.o
	llvm-strip-14 -g target/tasks.bpf.o
	cmp -s target/tasks.bpf.o $(BPF)/tasks.bpf.o || cp target/tasks.bpf.o $(BPF)/tasks.bpf.o

bench:
	@.ci/install-peers bsdutils conky-cli fd-find findutils gcc htop i3blocks i3status libc6-dev nginx procps py3status python3 util-linux wrk
	$(CARGO) run --quiet --release --package xtask -- bench

# The programs whose cost is bounded.
PROFILES = small release
instructions: deps
	$(XTASK) instructions $(PROFILES)

# They are built, and no larger than they may be.
size:
	@.ci/size $(PROFILES)

docs:
	$(XTASK) docs

# Below PREFIX, /usr/local if it is not given, and below DESTDIR (docs/INSTALL.md). Nothing is built: make build comes before, without root.
export PREFIX DESTDIR SYSCONFDIR UNITDIR
install:
	@deploy/install

# Leaves the configuration, and what was recorded.
uninstall:
	@deploy/install remove

# Packages, in target/packages.
deb rpm tarball image: build
	@deploy/packages $@

# Kernels of distributions are booted in qemu with the program: docs/KERNELS.md.
kernels: build
	@.ci/kernels

# All packages of a version, for both machines, with checksums.
release:
	@deploy/release $(VERSION)

# The package for Python, target/wheels. It is built with other flags than the program: a library is neither static nor in a fixed place.
PYTHON = target/python-tools
PYTHON_PROFILE = python
$(PYTHON)/installed: bindings/python/requirements.txt
	python3 -m venv $(PYTHON)
	$(PYTHON)/bin/pip install --quiet --no-compile --requirement bindings/python/requirements.txt
	touch $@

python: $(PYTHON)/installed
	rm -rf target/wheels
	cd bindings/python && RUSTFLAGS="-D warnings -C relocation-model=pic $(SOURCES)" CARGO_TARGET_DIR="$(CURDIR)/target/python" \
		"$(CURDIR)/$(PYTHON)/bin/maturin" build --quiet --locked --profile $(PYTHON_PROFILE) --out "$(CURDIR)/target/wheels"

INSTALL_WHEEL = $(PYTHON)/bin/pip install --quiet --force-reinstall --no-deps target/wheels/whit-*.whl

# Installed into an empty environment beside psutil and numpy, and tried with an agent that it starts.
test-python: deps
	$(MAKE) python PYTHON_PROFILE=dev
	$(INSTALL_WHEEL)
	$(BINARIES)
	cd bindings/python && WHIT="$(CURDIR)/$(TARGET)/debug/whit" "$(CURDIR)/$(PYTHON)/bin/pytest" --quiet -p no:cacheprovider
	cd bindings/python && "$(CURDIR)/$(PYTHON)/bin/mypy" --strict --cache-dir=/dev/null python/whit examples
	cd bindings/python && "$(CURDIR)/$(PYTHON)/bin/stubtest" --ignore-missing-stub whit

bench-python: python
	$(INSTALL_WHEEL)
	$(PYTHON)/bin/python bindings/python/bench.py

# The packages are installed in a fresh Debian, updated, removed and purged.
# With PACKED=quickly it is the program of the tests that is packed.
test-packages: $(if $(PACKED),stage-debug,build)
	@.ci/packages

stage-debug:
	$(BINARIES)
	strip -o target/whit-debug $(TARGET)/debug/whit
	deploy/stage target/whit-debug $(STAGE)
