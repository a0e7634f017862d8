#include <stdlib.h>
#include <string.h>

#include "library.h"

enum { prefix_size = 4, header_size = 8, longest_key = 64 };
static const char first_key[prefix_size] = {0, 0, 0, 1}, behind_last[prefix_size] = {0, 0, 0, 2};

// Both stores collect 64 MB of writes before they sort these writes into a file. RocksDB's default is 64 MB, LevelDB's 4 MB.
static const size_t write_buffer = (size_t)64 << 20;

static void configure(lsm_store *store, void *options, size_t cache) {
  const lsm_library *library = store->library;
  library->options_set_create_if_missing(options, 1);
  library->options_set_write_buffer_size(options, write_buffer);
  store->cache = library->cache_create_lru(cache);
  if (store->kind == lsm_leveldb) {
    store->filter = library->filterpolicy_create_bloom_int(10);
    library->options_set_filter_policy(options, store->filter);
    library->options_set_cache(options, store->cache);
    return;
  }
  library->options_increase_parallelism(options, 2);
  void *table = library->block_based_options_create();
  // After this call the table owns the filter, so no code here frees the filter.
  library->block_based_options_set_filter_policy(table, library->filterpolicy_create_bloom_full(10));
  library->block_based_options_set_block_cache(table, store->cache);
  library->options_set_block_based_table_factory(options, table);
  library->block_based_options_destroy(table);
}

lsm_store *lsm_open(lsm_kind kind, const char *directory, size_t cache, int durable) {
  lsm_store *store = calloc(1, sizeof *store);
  const lsm_library *library = store->library = lsm_library_of(kind);
  store->kind = kind;
  void *options = library->options_create();
  configure(store, options, cache);
  char *error = NULL;
  store->db = library->open(options, directory, &error);
  library->options_destroy(options);
  store->read = library->readoptions_create();
  store->write = library->writeoptions_create();
  library->writeoptions_set_sync(store->write, durable ? 1 : 0);
  if (lsm_failed(library, error)) {
    lsm_close(store);
    return NULL;
  }
  return store;
}

void lsm_close(lsm_store *store) {
  const lsm_library *library = store->library;
  if (store->db) library->close(store->db);
  library->readoptions_destroy(store->read);
  library->writeoptions_destroy(store->write);
  library->cache_destroy(store->cache);
  if (store->filter) library->filterpolicy_destroy(store->filter);
  free(store);
}

static size_t name(char *to, const bench_data *data, uint32_t index) {
  memcpy(to, first_key, prefix_size);
  memcpy(to + prefix_size, bench_key(data, index), data->key_size);
  return prefix_size + data->key_size;
}

static void touch_fresh(bench_tally *tally, const char *bytes, size_t size, uint64_t now) {
  if (bench_get64((const uint8_t *)bytes) > now)
    bench_touch(tally, (const uint8_t *)bytes + header_size, size - header_size);
}

int lsm_read(lsm_store *store, const bench_data *data, const uint32_t *order, size_t count, bench_tally *tally) {
  const lsm_library *library = store->library;
  for (size_t i = 0; i < count; i++) {
    char key[longest_key], *error = NULL;
    size_t key_size = name(key, data, order[i]), size;
    if (store->kind == lsm_rocksdb) {
      void *pinned = library->get_pinned(store->db, store->read, key, key_size, &error);
      if (lsm_failed(library, error)) return 1;
      if (!pinned) continue;
      const char *bytes = library->pinnableslice_value(pinned, &size);
      if (bytes) touch_fresh(tally, bytes, size, bench_now());
      library->pinnableslice_destroy(pinned);
    } else {
      char *bytes = library->get(store->db, store->read, key, key_size, &size, &error);
      if (lsm_failed(library, error)) return 1;
      if (!bytes) continue;
      touch_fresh(tally, bytes, size, bench_now());
      library->release(bytes);
    }
  }
  return 0;
}

int lsm_write(lsm_store *store, const bench_data *data, const uint32_t *order, size_t count, uint64_t deadline) {
  const lsm_library *library = store->library;
  void *batch = library->writebatch_create();
  size_t size = header_size + data->value_size;
  char *value = malloc(size), key[longest_key], *error = NULL;
  bench_put64((uint8_t *)value, deadline);
  for (size_t i = 0; i < count; i++) {
    memcpy(value + header_size, bench_value(data, order[i]), data->value_size);
    size_t key_size = name(key, data, order[i]);
    if (count == 1)
      library->put(store->db, store->write, key, key_size, value, size, &error);
    else
      library->writebatch_put(batch, key, key_size, value, size);
  }
  if (count > 1) library->write(store->db, store->write, batch, &error);
  library->writebatch_destroy(batch);
  free(value);
  return lsm_failed(library, error);
}

int lsm_scan(lsm_store *store, bench_tally *tally) {
  const lsm_library *library = store->library;
  void *iterator = library->create_iterator(store->db, store->read);
  uint64_t now = bench_now();
  char *error = NULL;
  for (library->iter_seek_to_first(iterator); library->iter_valid(iterator); library->iter_next(iterator)) {
    size_t size;
    const char *bytes = library->iter_value(iterator, &size);
    touch_fresh(tally, bytes, size, now);
  }
  library->iter_get_error(iterator, &error);
  library->iter_destroy(iterator);
  return lsm_failed(library, error);
}

// Deletes the entries with a deadline up to `now` (all entries for UINT64_MAX), `batch` entries in each write.
static int delete_due(lsm_store *store, uint64_t now, size_t batch, uint64_t *removed) {
  const lsm_library *library = store->library;
  void *iterator = library->create_iterator(store->db, store->read);
  void *writes = library->writebatch_create();
  char *error = NULL;
  size_t pending = 0;
  library->iter_seek_to_first(iterator);
  while (!error) {
    int more = library->iter_valid(iterator);
    if (pending && (!more || pending == batch)) {
      library->write(store->db, store->write, writes, &error);
      library->writebatch_clear(writes);
      *removed += pending;
      pending = 0;
    }
    if (!more) break;
    size_t key_size, size;
    const char *key = library->iter_key(iterator, &key_size), *bytes = library->iter_value(iterator, &size);
    if (bench_get64((const uint8_t *)bytes) <= now) {
      library->writebatch_delete(writes, key, key_size);
      pending++;
    }
    library->iter_next(iterator);
  }
  if (!error) library->iter_get_error(iterator, &error);
  library->writebatch_destroy(writes);
  library->iter_destroy(iterator);
  return lsm_failed(library, error);
}

int lsm_purge(lsm_store *store, uint64_t now, size_t batch, uint64_t *removed) {
  return delete_due(store, now, batch, removed);
}

int lsm_clear(lsm_store *store) {
  const lsm_library *library = store->library;
  if (store->kind == lsm_leveldb) {
    uint64_t removed = 0;
    return delete_due(store, UINT64_MAX, 10000, &removed);
  }
  void *batch = library->writebatch_create();
  char *error = NULL;
  library->writebatch_delete_range(batch, first_key, prefix_size, behind_last, prefix_size);
  library->write(store->db, store->write, batch, &error);
  library->writebatch_destroy(batch);
  return lsm_failed(library, error);
}
