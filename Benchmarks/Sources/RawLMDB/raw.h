#pragma once
#include "include/raw.h"

#include <lmdb.h>
#include <stdatomic.h>

struct raw_store {
  MDB_env *env;
  int indexed;
  MDB_dbi entries, deadlines, queue;
  // The next place in the queue. Only writers use it, and LMDB runs one writer at a time.
  uint64_t sequence;
};

struct raw_reader {
  raw_store *store;
  MDB_txn *txn;
};

// An indexed entry: deadline, place in the queue, value.
enum { raw_header = 16, raw_prefix = 4, raw_longest = 64 };
