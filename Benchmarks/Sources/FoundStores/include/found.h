#pragma once
#include <bench.h>

// libmdbx and tkrzw's hash store, loaded when the program runs: the program also builds and runs without these libraries.
//
// Functions that can fail return 0, or 1 and leave the reason in `found_message`. `..._missing` returns NULL, or the reason why
// the library cannot be used.
const char *found_message(void);

// libmdbx in the use of a plain LMDB store: a named database from key to value, without deadlines and indexes.
typedef struct mdbx_store mdbx_store;
typedef struct mdbx_reader mdbx_reader;

const char *mdbx_missing(void);
const char *mdbx_version_text(void);
mdbx_store *mdbx_store_open(const char *directory, int durable);
void mdbx_store_close(mdbx_store *store);

// The read transaction of one thread, renewed for each read.
mdbx_reader *mdbx_reader_open(mdbx_store *store);
void mdbx_reader_close(mdbx_reader *reader);
int mdbx_read(mdbx_reader *reader, const bench_data *data, const uint32_t *order, size_t count, bench_tally *tally);
int mdbx_scan(mdbx_reader *reader, bench_tally *tally);
int mdbx_write(mdbx_store *store, const bench_data *data, const uint32_t *order, size_t count);
int mdbx_clear(mdbx_store *store);

// tkrzw's hash store in its default form. An entry is a deadline and the value. Reads copy nothing. Threads share a store.
typedef struct tkrzw_store tkrzw_store;

const char *tkrzw_missing(void);
const char *tkrzw_version_text(void);
tkrzw_store *tkrzw_store_open(const char *directory, int durable);
int tkrzw_store_close(tkrzw_store *store);
int tkrzw_read(tkrzw_store *store, const bench_data *data, const uint32_t *order, size_t count, bench_tally *tally);
int tkrzw_scan(tkrzw_store *store, bench_tally *tally);
int tkrzw_write(tkrzw_store *store, const bench_data *data, const uint32_t *order, size_t count, uint64_t deadline);
int tkrzw_purge(tkrzw_store *store, uint64_t now, uint64_t *removed);
int tkrzw_clear(tkrzw_store *store);
