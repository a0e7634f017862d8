#pragma once

#include <lmdb.h>

#if MDB_VERSION_MAJOR != 0
#error "Larder needs LMDB 0.9, and this is another version: its files and its functions differ. Docs/Operate/Platforms.md says how to install LMDB 0.9."
#endif

#include <pthread.h>
#include <stdlib.h>

// The size of each of LMDB's two locks in lock.mdb (`mdb.c`: MNAME_LEN).
static inline long clmdb_lock_size(void) {
#ifdef __APPLE__
  return 32;
#else
  return sizeof(pthread_mutex_t);
#endif
}

// Passes each line of LMDB's reader table to `line` together with `context`.
static inline int clmdb_reader_list(MDB_env *env, int (*line)(const char *text, void *context), void *context) {
  return mdb_reader_list(env, line, context);
}

// A reading process and the transaction number of its snapshot.
struct clmdb_reader {
  long process;
  unsigned long long transaction;
};

// A line of LMDB's reader table is "pid thread transaction", with the thread in hexadecimal. The heading line does not begin
// with a number, and a slot without a snapshot has "-" as its transaction; both lines are ignored.
static inline int clmdb_note_reader(const char *line, void *context) {
  struct clmdb_reader *oldest = context;
  char *rest, *end;
  long process = strtol(line, &rest, 10);
  if (rest == line) return 0;
  strtoull(rest, &rest, 16);
  unsigned long long transaction = strtoull(rest, &end, 10);
  if (end != rest && transaction < oldest->transaction) *oldest = (struct clmdb_reader){process, transaction};
  return 0;
}

// The oldest snapshot of all processes, as LMDB's mdb_find_oldest finds it. Slots of dead processes count until these slots are
// cleared. If there is no reader, the transaction is the largest possible number.
static inline struct clmdb_reader clmdb_oldest_reader(MDB_env *env) {
  struct clmdb_reader oldest = {0, ~0ULL};
  mdb_reader_list(env, clmdb_note_reader, &oldest);
  return oldest;
}
