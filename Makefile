# SPDX-License-Identifier: Apache-2.0
# A thin front of Meson and the scripts: `make build` leaves the program at build/pinfold.

BUILD ?= build
RELEASE ?= build-release
PREFIX ?= /usr/local
SECONDS_PER_TARGET ?= 60

.PHONY: all build release run test test-all test-kernels bench fuzz compare docs install uninstall format lint clean

all: build

# Needs no network and nothing but what is installed: it also works inside the pen.
build: $(BUILD)/build.ninja
	ninja -C $(BUILD)

$(BUILD)/build.ninja:
	meson setup $(BUILD) --prefix=$(PREFIX) -Dstatic=true

# The program as it is given away: static with musl, which starts a millisecond sooner than glibc (docs/speed.md).
release:
	tools/release $(RELEASE)

# Installs what is missing (asks first), builds, and confines a real job.
run:
	tools/setup run
	$(MAKE) build
	tools/demo

test:
	tools/setup test
	tests/run quick

# Everything: the whole live tests under the sanitizers as well, and the unit tests under valgrind.
test-all:
	tools/setup test-all
	tests/run all

# Other kernels, booted by qemu; asked for by nobody but you, since it fetches three kernels.
test-kernels: build
	tools/setup kernels
	tools/kernels build-kernels
	tools/release $(RELEASE)
	PROGRAM=$(RELEASE)/pinfold tests/kernels/run

bench: build
	$(CC) -O2 -D_GNU_SOURCE -o $(BUILD)/bench-spawn bench/spawn.c
	bench/run --write

# Other sandboxes by the same measure, into docs/comparison.md. Fetches them with npm, into build/compare alone; everything else
# stays on this machine.
compare: build
	compare/install build/compare
	compare/run --write

fuzz:
	tools/setup test
	tests/run fuzz --seconds $(SECONDS_PER_TARGET)

# The manual as web pages, below $(BUILD)/docs; and, as the last run of the tests saw them, the README's table of real jobs
# and the page of the escapes.
docs:
	tools/jobs-table
	tools/escapes
	tools/hosts
	mkdir -p $(BUILD)/docs
	for page in man/*.[1-8]; do mandoc -T html -O man=%N.%S.html "$$page" >"$(BUILD)/docs/$${page##*/}.html" || exit 1; done

# A build folder remembers the prefix that it was made with; another one given here is the one that is meant.
install: build
	@grep -qx 'prefix = $(PREFIX)' $(BUILD)/meson-private/cmd_line.txt || \
		{ meson configure $(BUILD) --prefix=$(PREFIX) && ninja -C $(BUILD); }
	meson install -C $(BUILD) --no-rebuild
	@[ -n "$(DESTDIR)" ] || tools/apparmor-profile install $(PREFIX)/bin/pinfold

uninstall:
	ninja -C $(BUILD) uninstall
	@tools/apparmor-profile remove

format:
	git ls-files -z '*.c' '*.h' | xargs -0 clang-format -i

lint:
	tools/lint
	tools/catalogue
	tools/escapes --check none
	tools/hosts --check

clean:
	rm -rf $(BUILD) $(RELEASE) build-asan build-fuzz build-kernels build-aarch64
