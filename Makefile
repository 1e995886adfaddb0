# Thin on purpose: each target is one thing that can be typed by hand.

CARGO ?= cargo
BPF = crates/probe/src/bpf
HOST = $$(rustc -vV | sed -n 's/^host: //p')
TARGET = target/$(HOST)
WHIT = $(TARGET)/release/whit

.PHONY: run build small test test-live test-page deps lint licences attack fuzz targets freebsd bpf bench instructions docs install page

run: build
	$(WHIT) agent

build:
	$(CARGO) build --release --package whit

# Without the heavy parts, and with the C library of the system instead of one of its own. The names of sources in messages of panics begin
# with the package, not with where this machine keeps it: they are shorter, and the same everywhere.
SOURCES = $$(for path in "$${CARGO_HOME:-$$HOME/.cargo}"/registry/src/*/; do echo "--remap-path-prefix=$$path="; done)

small:
	$(CARGO) fetch --locked --target $(HOST)
	RUSTFLAGS="-C relocation-model=static -C link-arg=-Wl,--no-eh-frame-hdr,-T,$(CURDIR)/crates/whit/small.ld $(SOURCES)" $(CARGO) build --profile small --package whit --no-default-features

# All tests that need neither root nor packages. Changes nothing outside the tree.
test:
	mkdir -p target/tmp
	TMPDIR="$$PWD/target/tmp" $(CARGO) test --workspace

# Tests on the running kernel and against other programs, as root. A test that lacks a privilege or a program says so and is counted as
# ignored.
test-live: deps
	$(CARGO) test --package whit --test live

# The page in a browser, with an agent that records a machine under load. A test that lacks something says so and is left out.
test-page:
	@.ci/install-peers chromium curl stress
	cd web && npm ci --ignore-scripts --silent
	$(CARGO) build --package whit
	cd web && WHIT=../$(TARGET)/debug/whit node --test --test-concurrency=1 tests/

# Installs the programs that live tests need, if run as root on Debian.
deps:
	@.ci/install-peers bash curl e2fsprogs fonts-dejavu-core gcc findutils i3-wm i3status iproute2 libc6-dev libcap2-bin make monitoring-plugins-basic mount nagios4-core newsboat openssl procps prometheus python3 strace stress sysstat systemd tmux util-linux x11-utils xdotool xvfb

lint:
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets -- -D warnings
	$(CARGO) clippy --package whit --no-default-features -- -D warnings
	RUSTDOCFLAGS='-D warnings' $(CARGO) doc --workspace --no-deps --document-private-items

# Licences, sources and bans of what whit depends on.
licences:
	command -v cargo-deny >/dev/null || $(CARGO) install --quiet --locked cargo-deny
	$(CARGO) deny check bans licenses sources

# A neighbour on the same machine against `age`; random keys, sizes and signals against `top`.
attack: deps
	$(CARGO) xtask attack age 60
	$(CARGO) xtask attack top 30

# Every fuzz target for some seconds; needs a nightly compiler.
fuzz:
	@.ci/fuzz

# The tests of the pure crates for a 32-bit target and for aarch64.
targets:
	@.ci/targets

# Type-checks and links for FreeBSD and holds the layouts against its headers; runs nothing there.
freebsd:
	@.ci/freebsd

# The web page from its sources; what is in the tree must be what this makes (CI holds them together).
page:
	cd web && npm ci --ignore-scripts --silent && npm run --silent check && npm run --silent build

# The task iterator's object from its source; what is in the tree must be what this makes (CI holds them together).
bpf:
	@.ci/install-peers clang-14 llvm-14
	cd $(BPF) && clang-14 -target bpf -mcpu=v2 -O2 -g -fdebug-compilation-dir=. -Wall -Werror -c tasks.bpf.c -o tasks.bpf.o
	llvm-strip-14 -g $(BPF)/tasks.bpf.o

bench:
	@.ci/install-peers bsdutils conky-cli fd-find findutils gcc htop i3blocks i3status libc6-dev nginx procps py3status python3 util-linux wrk
	$(CARGO) run --quiet --release --package xtask -- bench

instructions:
	@.ci/install-peers valgrind
	$(CARGO) xtask instructions

docs:
	$(CARGO) xtask docs

install: build
	install -D $(WHIT) $(DESTDIR)/usr/local/bin/whit
	$(WHIT) man $(DESTDIR)/usr/local/share/man/man1
