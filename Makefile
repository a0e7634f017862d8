# Two commands set everything up on a machine that has only Swift: `make run` and `make test`.

PREFIX ?= /usr/local
STORE ?= .build/lego.larder
TRACES ?= traces
SWIFT ?= swift
# SwiftPM names the traits to the compiler in the order of a set. If the order is another one, everything is compiled again.
BUILD = SWIFT_DETERMINISTIC_HASHING=1 $(SWIFT) build

.PHONY: all run test examples trials sanitize proxy proxy-bench hummingbird shared valkey fleet hello transports lint format docs install uninstall dist packages bench bench-build bench-smoke traces clean

# SwiftPM compiles all modules once more when it builds for the second time, so make itself decides whether to build.
PROGRAM = .build/release/larder
all: $(PROGRAM)
$(PROGRAM): Package.swift $(shell find Sources -type f) | packages
	$(BUILD) -c release --product larder
	@touch $@

# The system libraries, installed only where they are missing.
packages:
	@./Scripts/packages

# Fills a store from the Lego entities in the repository and looks into it.
run: packages
	@echo 'Building larder in release mode, which takes some minutes the first time ...'
	$(BUILD) -c release --product larder
	@./Scripts/tour $(STORE)

# The tests of LMDB run in a process of their own: they open many files and start many processes. Then the library and the
# shell, then the examples, two tests at a time: their programs talk to servers inside the test process, which need a free
# thread. At the end each example program runs once.
#
# TESTED are the traits that the tests use beside HTTP; they need no package that takes long to build. Without them their tests
# are left out.
#
# WIDTH bounds the tests that run at a time. Without it thousands of descriptors are open at once, and with more than some
# 1,300 Foundation's Process reads behind the end of its list of them and can crash.
TESTED = --traits Curl,HTTPTesting
LMDB_TESTS = ^LMDBTests\.
ADAPTER_TESTS = ^(Lego|Departures|Articles|Catalog|Support)Tests\.
WIDTH = SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH
test: packages
	$(BUILD) --build-tests $(TESTED)
	$(WIDTH)=16 ./Scripts/repeat-failures $(SWIFT) test --skip-build $(TESTED) --filter '$(LMDB_TESTS)'
	$(WIDTH)=16 ./Scripts/repeat-failures $(SWIFT) test --skip-build $(TESTED) --skip '$(LMDB_TESTS)'
	cd Examples && $(BUILD) --build-tests
	cd Examples && $(WIDTH)=16 ../Scripts/repeat-failures $(SWIFT) test --skip-build --skip '$(ADAPTER_TESTS)'
	cd Examples && $(WIDTH)=2 ../Scripts/repeat-failures $(SWIFT) test --skip-build --filter '$(ADAPTER_TESTS)'
	./Scripts/examples

# Builds each adapter of the examples and runs it once, without a network.
examples: packages
	cd Examples && $(BUILD)
	./Scripts/examples

# Each workload of the benchmarks once, and the long forms of the random tests: kills, power failures, damage, models, fuzzers. Some
# hours with the usual factor.
trials: packages bench-smoke
	./Scripts/trials $(TRIALS)

# The tests of LMDB, Larder and the shell under ThreadSanitizer, then under AddressSanitizer; SANITIZE=thread or =address runs one.
SANITIZE ?=
sanitize: packages
	./Scripts/sanitize $(SANITIZE)

# The caching proxy, a package of its own because it needs SwiftNIO, and its tests.
proxy: packages
	cd Examples/Proxy && $(BUILD) --build-tests && $(SWIFT) test --skip-build

# Processor time per hit, throughput and memory of the proxy beside nginx and Varnish, which `apt-get install nginx-light varnish
# wrk` installs. Takes two minutes after the build.
proxy-bench: packages
	cd Examples/Proxy && $(BUILD) -c release --product larder-proxy
	python3 Examples/Proxy/Bench/bench.py Examples/Proxy/.build/release/larder-proxy

# LarderHummingbird in a server of Hummingbird, a package of its own because that takes minutes to build.
hummingbird: packages
	cd Examples/Server && $(BUILD) --build-tests && $(SWIFT) test --skip-build

# The shared tier against real Redis servers, in a package of its own because it needs SwiftNIO and its TLS.
shared:
	@./Scripts/shared

# LarderValkey in the same way. It needs valkey-swift, which no other target fetches.
valkey:
	@./Scripts/shared --valkey

# Five machines over one Redis, with changes and faults, as a table: half a minute after the build.
fleet:
	@./Scripts/shared --fleet

# The smallest program with a cache: what it fetches, and its size and start, as one static file too. Takes some minutes.
hello: packages
	@./Scripts/hello

# The transports of LarderHTTP, AsyncHTTPClient's among them: what that needs is fetched and built first, for some minutes.
transports: packages
	cd Examples/Proxy && $(BUILD) --build-tests --traits AsyncHTTPClient --scratch-path .build/transports && \
	  $(SWIFT) test --skip-build --traits AsyncHTTPClient --scratch-path .build/transports --filter TransportTests

# Larder beside everything that could be used in its place, in one run: a table, and the same as JSON and as a chart.
# Takes some ten minutes on a quiet machine, and 5 GB of disk. BENCH_OPTIONS narrows it: see `LarderBench peers --help`.
BENCH_OPTIONS ?=
bench: bench-build
	cd Benchmarks && .build/release/LarderBench peers --json .build/bench.json --svg .build/bench.svg $(BENCH_OPTIONS)
	@echo 'Benchmarks/.build/bench.json and bench.svg hold the same.'

# Every workload once, with small stores and a debug build; the figures mean nothing.
bench-smoke: packages
	@./Scripts/bench-smoke

bench-build: packages
	@./Scripts/bench-packages
	cd Benchmarks && $(BUILD) -c release

# Replays the access traces in TRACES through cache policies and, at some capacities, through the store; some minutes for nine
# million requests on two cores. TRACE_OPTIONS narrows it: see `TraceBench --help`.
TRACE_OPTIONS ?= --store --store-percent 1 --store-percent 10 --store-percent 30
traces:
	cd Benchmarks && $(BUILD) -c release --product TraceBench
	Benchmarks/.build/release/TraceBench "$(TRACES)" $(if $(JSON),--json "$(JSON)") $(TRACE_OPTIONS)

lint:
	./Scripts/names
	./Scripts/identifiers
	./Scripts/platforms
	./Scripts/readability
	$(SWIFT) format lint --strict --recursive Package.swift Sources Tests Examples Benchmarks

format:
	$(SWIFT) format --in-place --recursive Package.swift Sources Tests Examples Benchmarks

# The reference of every library, a site in .build/docs; a comment that no longer fits its code is an error.
docs: packages
	@./Scripts/docs

# `make && sudo make install` installs what `make` built: root compiles nothing.
install: $(if $(SUDO_USER),,all)
	@./Scripts/install '$(DESTDIR)$(PREFIX)'

uninstall:
	@./Scripts/install --remove '$(DESTDIR)$(PREFIX)'

# An archive with a `larder` that needs neither Swift nor liblmdb nor libedit, and a Debian package, in .build/dist.
dist: packages
	@SWIFT='$(SWIFT)' ./Scripts/dist

clean:
	rm -rf .build .build-tsan .build-asan Examples/.build Examples/Proxy/.build Examples/Server/.build Examples/Fleet/.build Benchmarks/.build
