# Two commands set everything up on a machine that has only Swift: `make run` and `make test`.

PREFIX ?= /usr/local
STORE ?= .build/lego.larder
TRACES ?= traces
SWIFT ?= swift
# SwiftPM passes the traits to the compiler in the order of a set, which differs from run to run. After another order, SwiftPM
# compiles everything again. So this variable makes the order the same in all runs.
BUILD = SWIFT_DETERMINISTIC_HASHING=1 $(SWIFT) build

.PHONY: all run test examples trials sanitize proxy proxy-bench hummingbird shared valkey fleet hello transports lint format docs install uninstall dist packages bench bench-build bench-smoke traces clean

# A second build by SwiftPM compiles all modules again, so make itself decides whether a build is needed.
PROGRAM = .build/release/larder
all: $(PROGRAM)
$(PROGRAM): Package.swift $(shell find Sources -type f) | packages
	$(BUILD) -c release --product larder
	@touch $@

# Installs the system libraries that are missing.
packages:
	@./Scripts/packages

# Fills a store with the Lego entities of the repository and runs shell commands on that store.
run: packages
	@echo 'Building larder in release mode, which takes some minutes the first time ...'
	$(BUILD) -c release --product larder
	@./Scripts/tour $(STORE)

# The tests of LMDB run in their own process, because they open many files and start many processes. The tests of the library,
# the shell and the examples follow. Of the adapters' tests, only two run at a time: the adapters' programs talk to servers in
# the test process, and each server needs a free thread. At the end, each example program runs once.
#
# TESTED has the traits that the tests need besides HTTP. Some traits need packages that take long to build. TESTED has none of
# these traits, so `make test` omits their tests.
#
# WIDTH bounds the number of tests that run at the same time. Without a bound, thousands of descriptors would be open. With more
# than some 1,300 descriptors, Foundation's Process reads beyond the end of its list of descriptors and can crash.
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

# Runs the workloads of the benchmarks once, except `shell`, and the long forms of the random tests: kills, power failures,
# damage, models, fuzzers, faults put into the write buffer. Takes an hour or more; a small LARDER_TRIALS takes less time.
trials: packages bench-smoke
	./Scripts/trials $(TRIALS)

# Runs the tests of LMDB, Larder and the shell under both sanitizers. SANITIZE=thread and SANITIZE=address choose one sanitizer.
SANITIZE ?=
sanitize: packages
	./Scripts/sanitize $(SANITIZE)

# Builds and tests the caching proxy. The proxy is a separate package because the proxy needs SwiftNIO.
proxy: packages
	cd Examples/Proxy && $(BUILD) --build-tests && $(SWIFT) test --skip-build

# Compares processor time per hit, throughput and memory of the proxy with nginx and Varnish. Needs `apt-get install nginx-light
# varnish wrk`. Takes two minutes after the build.
proxy-bench: packages
	cd Examples/Proxy && $(BUILD) -c release --product larder-proxy
	python3 Examples/Proxy/Bench/bench.py Examples/Proxy/.build/release/larder-proxy

# Tests LarderHummingbird in a server of Hummingbird. The server is a separate package because Hummingbird takes minutes to build.
hummingbird: packages
	cd Examples/Server && $(BUILD) --build-tests && $(SWIFT) test --skip-build

# Tests the shared tier against real Redis servers. These tests are a separate package because they need SwiftNIO and its TLS.
shared:
	@./Scripts/shared

# Tests LarderValkey against real Redis servers. LarderValkey needs valkey-swift, which no other target fetches.
valkey:
	@./Scripts/shared --valkey

# Runs five machines over one Redis, with changes and faults, and prints a table. Takes half a minute after the build.
fleet:
	@./Scripts/shared --fleet

# Builds the smallest program with a cache, also as one static file. Prints fetched packages, sizes and times. Takes minutes.
hello: packages
	@./Scripts/hello

# Tests the transports of LarderHTTP. First fetches and builds the packages that AsyncHTTPClient needs, which takes minutes.
transports: packages
	cd Examples/Proxy && $(BUILD) --build-tests --traits AsyncHTTPClient --scratch-path .build/transports && \
	  $(SWIFT) test --skip-build --traits AsyncHTTPClient --scratch-path .build/transports --filter TransportTests

# Compares Larder in one run with the products that could replace it. Prints a table, and writes the figures as JSON and as a
# chart. Takes over half an hour on a quiet machine, and 5 GB of disk. BENCH_OPTIONS narrows the run; `LarderBench peers --help`
# lists these options.
BENCH_OPTIONS ?=
bench: bench-build
	cd Benchmarks && .build/release/LarderBench peers --json .build/bench.json --svg .build/bench.svg $(BENCH_OPTIONS)
	@echo 'Benchmarks/.build/bench.json and bench.svg hold the same.'

# Runs every workload except `shell` once, with small stores and a debug build. The figures mean nothing.
bench-smoke: packages
	@./Scripts/bench-smoke

bench-build: packages
	@./Scripts/bench-packages
	cd Benchmarks && $(BUILD) -c release

# Replays the access traces in TRACES through cache policies and, at some capacities, through the store. Takes some minutes for
# nine million requests on two cores. TRACE_OPTIONS narrows the run: see `TraceBench --help`.
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

# Builds the site .build/docs, the reference of every library. A comment that does not fit its code is an error.
docs: packages
	@./Scripts/docs

# `make && sudo make install` installs the program that `make` has built, so root compiles nothing.
install: $(if $(SUDO_USER),,all)
	@./Scripts/install '$(DESTDIR)$(PREFIX)'

uninstall:
	@./Scripts/install --remove '$(DESTDIR)$(PREFIX)'

# Builds an archive and a Debian package in .build/dist. On Linux their `larder` needs neither Swift nor liblmdb nor libedit.
dist: packages
	@SWIFT='$(SWIFT)' ./Scripts/dist

clean:
	rm -rf .build .build-tsan .build-asan Examples/.build Examples/Proxy/.build Examples/Server/.build Examples/Fleet/.build Benchmarks/.build
