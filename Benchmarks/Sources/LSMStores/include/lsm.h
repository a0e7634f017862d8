#pragma once
#include <bench.h>

// RocksDB and LevelDB through their C interfaces, which differ by little more than the prefix of their names.
//
// The program loads both libraries when it runs, and also runs without them. An entry is a deadline and the value. There is no
// index by deadline, because users of such stores rarely write such an index, so a purge reads every entry.
// Functions that can fail return 0, or 1 and leave the reason in `lsm_message`.
typedef struct lsm_store lsm_store;

typedef enum { lsm_rocksdb, lsm_leveldb } lsm_kind;

// NULL, or the reason why the library cannot be used.
const char *lsm_missing(lsm_kind kind);

// The version; empty if the library does not report a version.
const char *lsm_version(lsm_kind kind);

// A store with a Bloom filter of 10 bits for each key and a block cache of `cache` bytes. A durable store syncs its log.
lsm_store *lsm_open(lsm_kind kind, const char *directory, size_t cache, int durable);
void lsm_close(lsm_store *store);

// The message of the last error on this thread.
const char *lsm_message(void);

// Any number of threads may call these functions at the same time.
int lsm_read(lsm_store *store, const bench_data *data, const uint32_t *order, size_t count, bench_tally *tally);
int lsm_write(lsm_store *store, const bench_data *data, const uint32_t *order, size_t count, uint64_t deadline);
int lsm_scan(lsm_store *store, bench_tally *tally);
int lsm_purge(lsm_store *store, uint64_t now, size_t batch, uint64_t *removed);
int lsm_clear(lsm_store *store);
