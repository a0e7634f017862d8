# Two commands set everything up on a machine that has only Swift: `make run` and `make test`.

PREFIX ?= /usr/local
STORE ?= .build/lego.larder
TRACES ?= traces
SWIFT ?= swift

.PHONY: all run test proxy traits lint format docs install packages bench bench-smoke traces clean

all: packages
	$(SWIFT) build -c release

# The system libraries, installed only where they are missing.
packages:
	@./.ci/packages

# Fills a store from the Lego entities in the repository and looks into it.
run: all
	@./.ci/tour $(STORE)

test: packages
	$(SWIFT) build --build-tests
	$(SWIFT) test

# The caching proxy, a package of its own because it needs SwiftNIO, and its tests.
proxy: packages
	cd Examples/Proxy && $(SWIFT) build --build-tests && $(SWIFT) test --skip-build

# The library with its optional dependency, which nothing else builds.
traits: packages
	$(SWIFT) build --traits ServiceLifecycle --scratch-path .build/traits --target Larder

# Ratios against LMDB used from C, in one run; about two minutes on a quiet machine.
bench: packages
	cd Benchmarks && $(SWIFT) build -c release && .build/release/LarderBench reads && .build/release/LarderBench memory && .build/release/LarderBench upkeep

bench-smoke: packages
	cd Benchmarks && $(SWIFT) build -c release && \
	  .build/release/LarderBench reads --count 10000 --rounds 5 --operations 100000 && \
	  .build/release/LarderBench upkeep --count 20000 --expired 5000

# Replays the access traces in TRACES through cache policies; about a minute for nine million requests.
traces:
	cd Benchmarks && $(SWIFT) build -c release --product TraceBench
	Benchmarks/.build/release/TraceBench "$(TRACES)" $(if $(JSON),--json "$(JSON)")

lint:
	$(SWIFT) format lint --strict --recursive Package.swift Sources Tests Examples Benchmarks

format:
	$(SWIFT) format --in-place --recursive Package.swift Sources Tests Examples Benchmarks

# The library's reference, in .build/docs; a comment that no longer fits its code is an error.
docs: packages
	@./.ci/docs

install: all
	install -d "$(DESTDIR)$(PREFIX)/bin"
	install -m 755 "$$($(SWIFT) build -c release --show-bin-path)/larder" "$(DESTDIR)$(PREFIX)/bin/larder"
	install -d "$(DESTDIR)$(PREFIX)/share/man/man1" "$(DESTDIR)$(PREFIX)/share/bash-completion/completions" \
	  "$(DESTDIR)$(PREFIX)/share/zsh/site-functions" "$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d"
	"$(DESTDIR)$(PREFIX)/bin/larder" --man > "$(DESTDIR)$(PREFIX)/share/man/man1/larder.1"
	"$(DESTDIR)$(PREFIX)/bin/larder" --completions bash > "$(DESTDIR)$(PREFIX)/share/bash-completion/completions/larder"
	"$(DESTDIR)$(PREFIX)/bin/larder" --completions zsh > "$(DESTDIR)$(PREFIX)/share/zsh/site-functions/_larder"
	"$(DESTDIR)$(PREFIX)/bin/larder" --completions fish > "$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/larder.fish"

clean:
	rm -rf .build Benchmarks/.build
