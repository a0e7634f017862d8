#pragma once
#include <bench.h>

// LMDB as a C program would use it, in named databases.
//
// A *plain* store has one database, key to value. An *indexed* store has the same records as Larder: entries with their
// deadline and their place in the queue, an index by deadline, and a queue in the order of insertion.
// Functions that can fail return 0 or LMDB's code.
typedef struct raw_store raw_store;

// The read transaction of one thread, renewed for each read.
typedef struct raw_reader raw_reader;

raw_store *raw_open(const char *directory, int indexed, int durable, int writable_map);
void raw_close(raw_store *store);
const char *raw_version(void);
const char *raw_message(int code);

raw_reader *raw_reader_open(raw_store *store);
void raw_reader_close(raw_reader *reader);

// For each key: renew, get, compare the deadline if there is one, touch the value, reset.
int raw_read(raw_reader *reader, const bench_data *data, const uint32_t *order, size_t count, bench_tally *tally);

// Reads like `raw_read` from a plain store, and computes a checksum of each value before it touches the value.
int raw_read_checked(raw_reader *reader, const bench_data *data, const uint32_t *order, size_t count, bench_tally *tally);

// Touches every value, or in an indexed store every fresh value, in the order of the keys.
int raw_scan(raw_reader *reader, bench_tally *tally);

// Puts `count` entries in one transaction. Replaces older entries of the keys, in an indexed store with their index records.
int raw_write(raw_store *store, const bench_data *data, const uint32_t *order, size_t count, uint64_t deadline);

// Removes the due entries, `batch` entries in each transaction. Indexed stores only.
int raw_purge(raw_store *store, uint64_t now, size_t batch, uint64_t *removed);

// Removes the `count` oldest entries of the queue, in one transaction. Indexed stores only.
int raw_evict(raw_store *store, size_t count);

int raw_clear(raw_store *store);
