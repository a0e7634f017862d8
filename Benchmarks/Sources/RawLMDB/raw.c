#include "raw.h"

#include <lmdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct raw_store {
  MDB_env *env;
  MDB_dbi dbi;
  MDB_txn *reader;
};

raw_store *raw_open(const char *directory) {
  raw_store *store = calloc(1, sizeof *store);
  mkdir(directory, 0700);
  if (mdb_env_create(&store->env) || mdb_env_set_maxdbs(store->env, 4) ||
      mdb_env_set_mapsize(store->env, (size_t)16 << 30) ||
      mdb_env_open(store->env, directory, MDB_NOTLS | MDB_NOSYNC, 0600)) {
    free(store);
    return NULL;
  }
  MDB_txn *txn;
  mdb_txn_begin(store->env, NULL, 0, &txn);
  mdb_dbi_open(txn, "entries", MDB_CREATE, &store->dbi);
  mdb_txn_commit(txn);
  mdb_txn_begin(store->env, NULL, MDB_RDONLY, &store->reader);
  mdb_txn_reset(store->reader);
  return store;
}

void raw_close(raw_store *store) {
  mdb_txn_abort(store->reader);
  mdb_env_close(store->env);
  free(store);
}

int raw_fill(raw_store *store, const uint8_t *keys, size_t key_size, size_t count, size_t value_size, size_t batch) {
  uint8_t *value = malloc(value_size);
  memset(value, 'v', value_size);
  int result = 0;
  for (size_t i = 0; i < count && !result;) {
    MDB_txn *txn;
    result = mdb_txn_begin(store->env, NULL, 0, &txn);
    for (size_t end = i + batch < count ? i + batch : count; i < end && !result; i++) {
      MDB_val key = {key_size, (void *)(keys + i * key_size)}, data = {value_size, value};
      result = mdb_put(txn, store->dbi, &key, &data, 0);
    }
    if (!result) result = mdb_txn_commit(txn);
  }
  free(value);
  return result;
}

uint64_t raw_read(raw_store *store, const uint8_t *keys, size_t key_size, const uint32_t *order, size_t rounds) {
  uint64_t sum = 0;
  for (size_t i = 0; i < rounds; i++) {
    MDB_val key = {key_size, (void *)(keys + order[i] * key_size)}, data;
    if (mdb_txn_renew(store->reader)) return 0;
    if (mdb_get(store->reader, store->dbi, &key, &data) == 0) {
      const uint8_t *bytes = data.mv_data;
      for (size_t at = 0; at < data.mv_size; at += 64) sum += bytes[at];
    }
    mdb_txn_reset(store->reader);
  }
  return sum;
}
