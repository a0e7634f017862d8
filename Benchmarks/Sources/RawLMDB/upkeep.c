#include <string.h>

#include "raw.h"

// Removes up to `batch` due entries, each with its records in both indexes.
static int purge_some(raw_store *store, MDB_txn *txn, uint64_t now, size_t batch, size_t *removed) {
  MDB_cursor *cursor;
  int result = mdb_cursor_open(txn, store->deadlines, &cursor);
  if (result) return result;
  for (*removed = 0; *removed < batch && !result; ++*removed) {
    MDB_val due, nothing, old;
    result = mdb_cursor_get(cursor, &due, &nothing, MDB_FIRST);
    if (result || bench_get64(due.mv_data) > now) break;
    MDB_val key = {due.mv_size - 8, (uint8_t *)due.mv_data + 8};
    uint8_t name[raw_longest], place[raw_prefix + 8];
    memcpy(name, key.mv_data, key.mv_size);
    key.mv_data = name;
    if (mdb_get(txn, store->entries, &key, &old)) {
      result = MDB_CORRUPTED;
      break;
    }
    memcpy(place, name, raw_prefix);
    memcpy(place + raw_prefix, (uint8_t *)old.mv_data + 8, 8);
    MDB_val in_queue = {sizeof place, place};
    result = mdb_del(txn, store->entries, &key, NULL);
    if (!result) result = mdb_del(txn, store->queue, &in_queue, NULL);
    if (!result) result = mdb_cursor_del(cursor, 0);
  }
  mdb_cursor_close(cursor);
  return result == MDB_NOTFOUND && *removed < batch ? 0 : result;
}

int raw_purge(raw_store *store, uint64_t now, size_t batch, uint64_t *removed) {
  size_t some = batch;
  while (some == batch) {
    MDB_txn *txn;
    int result = mdb_txn_begin(store->env, NULL, 0, &txn);
    if (result) return result;
    result = purge_some(store, txn, now, batch, &some);
    if (result) {
      mdb_txn_abort(txn);
      return result;
    }
    if ((result = mdb_txn_commit(txn))) return result;
    *removed += some;
  }
  return 0;
}

static int evict_first(raw_store *store, MDB_txn *txn, MDB_cursor *cursor) {
  MDB_val place, whom, old;
  int result = mdb_cursor_get(cursor, &place, &whom, MDB_FIRST);
  if (result) return result;
  uint8_t bytes[8 + raw_longest];
  memcpy(bytes + 8, whom.mv_data, whom.mv_size);
  MDB_val key = {whom.mv_size, bytes + 8}, due = {8 + whom.mv_size, bytes};
  if ((result = mdb_get(txn, store->entries, &key, &old))) return result;
  memcpy(bytes, old.mv_data, 8);
  if ((result = mdb_del(txn, store->entries, &key, NULL))) return result;
  if ((result = mdb_del(txn, store->deadlines, &due, NULL))) return result;
  return mdb_cursor_del(cursor, 0);
}

int raw_evict(raw_store *store, size_t count) {
  MDB_txn *txn;
  int result = mdb_txn_begin(store->env, NULL, 0, &txn);
  if (result) return result;
  MDB_cursor *cursor = NULL;
  result = mdb_cursor_open(txn, store->queue, &cursor);
  for (size_t i = 0; i < count && !result; i++) result = evict_first(store, txn, cursor);
  if (cursor) mdb_cursor_close(cursor);
  if (result) {
    mdb_txn_abort(txn);
    return result;
  }
  return mdb_txn_commit(txn);
}

int raw_clear(raw_store *store) {
  MDB_txn *txn;
  int result = mdb_txn_begin(store->env, NULL, 0, &txn);
  if (result) return result;
  result = mdb_drop(txn, store->entries, 0);
  if (!result && store->indexed) result = mdb_drop(txn, store->deadlines, 0);
  if (!result && store->indexed) result = mdb_drop(txn, store->queue, 0);
  if (result) {
    mdb_txn_abort(txn);
    return result;
  }
  return mdb_txn_commit(txn);
}
