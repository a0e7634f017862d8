#pragma once
#include <bench.h>

// SQLite as a C program would use it: one connection for each thread, statements prepared once, WAL, and the file mapped.
//
// A *bare* store has a table of keys and values. Another store has the columns of a cache of entities: namespace, key, value
// and expiry, with an index by expiry. Functions that can fail return 0 or SQLite's code.
typedef struct sql_store sql_store;

typedef struct {
  int bare;
  // If 1, each commit is on the disk (synchronous = FULL). If 0 (NORMAL), a power failure loses the newest commits.
  int durable;
  // If 1, the table is WITHOUT ROWID: rows lie in the tree of the keys, which suits small values.
  int small;
} sql_options;

// Opens a connection, and creates the table if it is missing; NULL on an error.
sql_store *sql_open(const char *directory, sql_options options);
void sql_close(sql_store *store);
const char *sql_message(int code);

// For each key: bind, step, touch the value, reset.
int sql_read(sql_store *store, const bench_data *data, const uint32_t *order, size_t count, bench_tally *tally);

// Touches every value, or in a store with expiries every fresh value.
int sql_scan(sql_store *store, bench_tally *tally);

// Puts `count` entries in one transaction.
int sql_write(sql_store *store, const bench_data *data, const uint32_t *order, size_t count, uint64_t deadline);

// Removes the expired entries in one transaction. Not for a bare store.
int sql_purge(sql_store *store, uint64_t now, uint64_t *removed);

int sql_clear(sql_store *store);
