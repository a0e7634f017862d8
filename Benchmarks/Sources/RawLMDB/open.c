#include "raw.h"

#include <stdlib.h>
#include <sys/stat.h>

// Sets the next place in the queue to the place behind the newest entry.
static int find_sequence(raw_store *store, MDB_txn *txn) {
  MDB_cursor *cursor;
  int result = mdb_cursor_open(txn, store->queue, &cursor);
  if (result) return result;
  MDB_val key, data;
  if (mdb_cursor_get(cursor, &key, &data, MDB_LAST) == 0) store->sequence = bench_get64((uint8_t *)key.mv_data + raw_prefix) + 1;
  mdb_cursor_close(cursor);
  return 0;
}

static int open_databases(raw_store *store) {
  MDB_txn *txn;
  int result = mdb_txn_begin(store->env, NULL, 0, &txn);
  if (result) return result;
  result = mdb_dbi_open(txn, "entries", MDB_CREATE, &store->entries);
  if (!result && store->indexed) result = mdb_dbi_open(txn, "deadlines", MDB_CREATE, &store->deadlines);
  if (!result && store->indexed) result = mdb_dbi_open(txn, "queue", MDB_CREATE, &store->queue);
  if (!result && store->indexed) result = find_sequence(store, txn);
  if (result) {
    mdb_txn_abort(txn);
    return result;
  }
  return mdb_txn_commit(txn);
}

raw_store *raw_open(const char *directory, int indexed, int durable, int writable_map) {
  raw_store *store = calloc(1, sizeof *store);
  store->indexed = indexed;
  mkdir(directory, 0700);
  if (mdb_env_create(&store->env)) {
    free(store);
    return NULL;
  }
  if (mdb_env_set_maxdbs(store->env, 4) || mdb_env_set_mapsize(store->env, (size_t)32 << 30) ||
      mdb_env_open(store->env, directory, MDB_NOTLS | (durable ? 0 : MDB_NOSYNC) | (writable_map ? MDB_WRITEMAP : 0), 0600) || open_databases(store)) {
    raw_close(store);
    return NULL;
  }
  return store;
}

void raw_close(raw_store *store) {
  mdb_env_close(store->env);
  free(store);
}

const char *raw_version(void) { return mdb_version(NULL, NULL, NULL); }

const char *raw_message(int code) { return mdb_strerror(code); }

raw_reader *raw_reader_open(raw_store *store) {
  raw_reader *reader = calloc(1, sizeof *reader);
  reader->store = store;
  if (mdb_txn_begin(store->env, NULL, MDB_RDONLY, &reader->txn)) {
    free(reader);
    return NULL;
  }
  mdb_txn_reset(reader->txn);
  return reader;
}

void raw_reader_close(raw_reader *reader) {
  mdb_txn_abort(reader->txn);
  free(reader);
}
