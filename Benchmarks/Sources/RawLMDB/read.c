#include <string.h>

#include "raw.h"

// Writes the key of an indexed store: a namespace in front of the key, as in Larder.
static void prefixed(uint8_t *to, const bench_data *data, uint32_t index) {
  memcpy(to, "\0\0\0\1", raw_prefix);
  memcpy(to + raw_prefix, bench_key(data, index), data->key_size);
}

static int read_plain(raw_reader *reader, const bench_data *data, const uint32_t *order, size_t count, bench_tally *tally) {
  for (size_t i = 0; i < count; i++) {
    MDB_val key = {data->key_size, (void *)bench_key(data, order[i])}, value;
    int result = mdb_txn_renew(reader->txn);
    if (result) return result;
    result = mdb_get(reader->txn, reader->store->entries, &key, &value);
    if (!result) bench_touch(tally, value.mv_data, value.mv_size);
    mdb_txn_reset(reader->txn);
    if (result && result != MDB_NOTFOUND) return result;
  }
  return 0;
}

static int read_indexed(raw_reader *reader, const bench_data *data, const uint32_t *order, size_t count, bench_tally *tally) {
  uint8_t bytes[raw_longest];
  for (size_t i = 0; i < count; i++) {
    prefixed(bytes, data, order[i]);
    MDB_val key = {raw_prefix + data->key_size, bytes}, value;
    int result = mdb_txn_renew(reader->txn);
    if (result) return result;
    result = mdb_get(reader->txn, reader->store->entries, &key, &value);
    if (!result && bench_get64(value.mv_data) > bench_now())
      bench_touch(tally, (uint8_t *)value.mv_data + raw_header, value.mv_size - raw_header);
    mdb_txn_reset(reader->txn);
    if (result && result != MDB_NOTFOUND) return result;
  }
  return 0;
}

int raw_read(raw_reader *reader, const bench_data *data, const uint32_t *order, size_t count, bench_tally *tally) {
  return reader->store->indexed ? read_indexed(reader, data, order, count, tally)
                                : read_plain(reader, data, order, count, tally);
}

int raw_read_checked(raw_reader *reader, const bench_data *data, const uint32_t *order, size_t count, bench_tally *tally) {
  for (size_t i = 0; i < count; i++) {
    MDB_val key = {data->key_size, (void *)bench_key(data, order[i])}, value;
    int result = mdb_txn_renew(reader->txn);
    if (result) return result;
    result = mdb_get(reader->txn, reader->store->entries, &key, &value);
    if (!result) {
      // Without this comparison, the compiler could omit the checksum.
      if (bench_checksum(value.mv_data, value.mv_size, order[i]) == 0) result = MDB_CORRUPTED;
      bench_touch(tally, value.mv_data, value.mv_size);
    }
    mdb_txn_reset(reader->txn);
    if (result && result != MDB_NOTFOUND) return result;
  }
  return 0;
}

int raw_scan(raw_reader *reader, bench_tally *tally) {
  int result = mdb_txn_renew(reader->txn);
  if (result) return result;
  size_t header = reader->store->indexed ? raw_header : 0;
  uint64_t now = bench_now();
  MDB_cursor *cursor;
  result = mdb_cursor_open(reader->txn, reader->store->entries, &cursor);
  if (!result) {
    MDB_val key, value;
    while ((result = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)) == 0) {
      const uint8_t *bytes = value.mv_data;
      if (!header || bench_get64(bytes) > now) bench_touch(tally, bytes + header, value.mv_size - header);
    }
    mdb_cursor_close(cursor);
  }
  mdb_txn_reset(reader->txn);
  return result == MDB_NOTFOUND ? 0 : result;
}
