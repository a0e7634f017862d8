#include <string.h>

#include "raw.h"

static int put_plain(raw_store *store, MDB_txn *txn, const bench_data *data, uint32_t index) {
  MDB_val key = {data->key_size, (void *)bench_key(data, index)};
  MDB_val value = {data->value_size, (void *)bench_value(data, index)};
  return mdb_put(txn, store->entries, &key, &value, 0);
}

static int index_deadline(raw_store *store, MDB_txn *txn, uint64_t deadline, const MDB_val *entry, int add) {
  uint8_t bytes[8 + raw_longest];
  bench_put64(bytes, deadline);
  memcpy(bytes + 8, entry->mv_data, entry->mv_size);
  MDB_val key = {8 + entry->mv_size, bytes}, nothing = {0, NULL};
  return add ? mdb_put(txn, store->deadlines, &key, &nothing, 0) : mdb_del(txn, store->deadlines, &key, NULL);
}

static void queue_key(uint8_t *to, uint64_t sequence) {
  memcpy(to, "\0\0\0\1", raw_prefix);
  bench_put64(to + raw_prefix, sequence);
}

static int put_indexed(raw_store *store, MDB_txn *txn, const bench_data *data, uint32_t index, uint64_t deadline) {
  uint8_t name[raw_longest];
  memcpy(name, "\0\0\0\1", raw_prefix);
  memcpy(name + raw_prefix, bench_key(data, index), data->key_size);
  MDB_val key = {raw_prefix + data->key_size, name}, old, value;
  int found = mdb_get(txn, store->entries, &key, &old), result = 0;
  if (found && found != MDB_NOTFOUND) return found;
  uint64_t previous = found ? 0 : bench_get64(old.mv_data);
  uint64_t sequence = found ? store->sequence++ : bench_get64((uint8_t *)old.mv_data + 8);

  if (!found && previous != deadline) result = index_deadline(store, txn, previous, &key, 0);
  if (!result && (found || previous != deadline)) result = index_deadline(store, txn, deadline, &key, 1);
  if (!result && found) {
    uint8_t place[raw_prefix + 8];
    queue_key(place, sequence);
    MDB_val in_queue = {sizeof place, place}, whom = key;
    result = mdb_put(txn, store->queue, &in_queue, &whom, 0);
  }
  if (result) return result;
  value.mv_size = raw_header + data->value_size;
  result = mdb_put(txn, store->entries, &key, &value, MDB_RESERVE);
  if (result) return result;
  bench_put64(value.mv_data, deadline);
  bench_put64((uint8_t *)value.mv_data + 8, sequence);
  memcpy((uint8_t *)value.mv_data + raw_header, bench_value(data, index), data->value_size);
  return 0;
}

int raw_write(raw_store *store, const bench_data *data, const uint32_t *order, size_t count, uint64_t deadline) {
  MDB_txn *txn;
  int result = mdb_txn_begin(store->env, NULL, 0, &txn);
  if (result) return result;
  for (size_t i = 0; i < count && !result; i++)
    result = store->indexed ? put_indexed(store, txn, data, order[i], deadline) : put_plain(store, txn, data, order[i]);
  if (result) {
    mdb_txn_abort(txn);
    return result;
  }
  return mdb_txn_commit(txn);
}
