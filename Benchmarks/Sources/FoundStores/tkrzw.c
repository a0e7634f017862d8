#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "library.h"

enum { header_size = 8 };

// Types of tkrzw_langc.h; the functions below are of tkrzw_langc.h, too.
typedef const char *(*processor)(void *, const char *, int32_t, const char *, int32_t, int32_t *);
typedef struct {
  const char *key;
  int32_t key_size;
  processor process;
  void *argument;
} pair_t;

static struct {
  void *(*open)(const char *, bool, const char *);
  bool (*close)(void *);
  bool (*process)(void *, const char *, int32_t, processor, void *, bool);
  bool (*process_multi)(void *, pair_t *, int32_t, bool);
  bool (*process_each)(void *, processor, void *, bool);
  bool (*set)(void *, const char *, int32_t, const char *, int32_t, bool);
  bool (*synchronize)(void *, bool, void *, void *, const char *);
  bool (*clear)(void *);
  const char *(*message)(void);
  const char *const *noop;
  const char *const *remove;
  const char *const *version;
} tkrzw;

static char missing[256];
static pthread_once_t once = PTHREAD_ONCE_INIT;

#define SYMBOL(field) {"tkrzw_dbm_" #field, (void **)&tkrzw.field}

static void load(void) {
  static const char *const names[] = {"libtkrzw.so", "libtkrzw.so.1", "libtkrzw.dylib", NULL};
  const found_symbol symbols[] = {
      SYMBOL(open), SYMBOL(close), SYMBOL(process), SYMBOL(process_multi), SYMBOL(process_each), SYMBOL(set),
      SYMBOL(synchronize), SYMBOL(clear), {"tkrzw_get_last_status_message", (void **)&tkrzw.message},
      {"TKRZW_REC_PROC_NOOP", (void **)&tkrzw.noop}, {"TKRZW_REC_PROC_REMOVE", (void **)&tkrzw.remove},
      {"TKRZW_PACKAGE_VERSION", (void **)&tkrzw.version}};
  found_load(names, symbols, sizeof symbols / sizeof *symbols, missing, sizeof missing);
}

const char *tkrzw_missing(void) {
  pthread_once(&once, load);
  return missing[0] ? missing : NULL;
}

const char *tkrzw_version_text(void) { return tkrzw_missing() ? "" : *tkrzw.version; }

struct tkrzw_store {
  void *db;
  int durable;
};

static int check(bool succeeded) { return succeeded ? 0 : found_fail(tkrzw.message()); }

static int settle(tkrzw_store *store) {
  return store->durable ? check(tkrzw.synchronize(store->db, true, NULL, NULL, "")) : 0;
}

tkrzw_store *tkrzw_store_open(const char *directory, int durable) {
  char path[4096];
  mkdir(directory, 0700);
  // The file extension .tkh selects the hash store.
  snprintf(path, sizeof path, "%s/store.tkh", directory);
  void *db = tkrzw.open(path, true, "");
  if (check(db != NULL)) return NULL;
  tkrzw_store *store = calloc(1, sizeof *store);
  store->db = db;
  store->durable = durable;
  return store;
}

int tkrzw_store_close(tkrzw_store *store) {
  int result = check(tkrzw.close(store->db));
  free(store);
  return result;
}

typedef struct {
  bench_tally *tally;
  uint64_t now;
} reading;

static const char *touch(void *argument, const char *key, int32_t key_size, const char *value, int32_t size, int32_t *new_size) {
  (void)key, (void)key_size, (void)new_size;
  const reading *reading = argument;
  const uint8_t *bytes = (const uint8_t *)value;
  if (bytes && size >= header_size && bench_get64(bytes) > reading->now)
    bench_touch(reading->tally, bytes + header_size, (size_t)(size - header_size));
  return *tkrzw.noop;
}

int tkrzw_read(tkrzw_store *store, const bench_data *data, const uint32_t *order, size_t count, bench_tally *tally) {
  for (size_t i = 0; i < count; i++) {
    reading reading = {tally, bench_now()};
    const char *key = (const char *)bench_key(data, order[i]);
    if (check(tkrzw.process(store->db, key, (int32_t)data->key_size, touch, &reading, false))) return 1;
  }
  return 0;
}

int tkrzw_scan(tkrzw_store *store, bench_tally *tally) {
  reading reading = {tally, bench_now()};
  return check(tkrzw.process_each(store->db, touch, &reading, false));
}

typedef struct {
  const char *value;
  int32_t size;
} writing;

static const char *put(void *argument, const char *key, int32_t key_size, const char *value, int32_t size, int32_t *new_size) {
  (void)key, (void)key_size, (void)value, (void)size;
  const writing *writing = argument;
  *new_size = writing->size;
  return writing->value;
}

int tkrzw_write(tkrzw_store *store, const bench_data *data, const uint32_t *order, size_t count, uint64_t deadline) {
  size_t size = header_size + data->value_size;
  char *values = malloc(count * size);
  pair_t *pairs = malloc(count * sizeof *pairs);
  writing *writings = malloc(count * sizeof *writings);
  for (size_t i = 0; i < count; i++) {
    char *value = values + i * size;
    bench_put64((uint8_t *)value, deadline);
    memcpy(value + header_size, bench_value(data, order[i]), data->value_size);
    writings[i] = (writing){value, (int32_t)size};
    pairs[i] = (pair_t){(const char *)bench_key(data, order[i]), (int32_t)data->key_size, put, &writings[i]};
  }
  int failed = count == 1
                   ? check(tkrzw.set(store->db, pairs[0].key, pairs[0].key_size, values, (int32_t)size, true))
                   : check(tkrzw.process_multi(store->db, pairs, (int32_t)count, true));
  free(writings);
  free(pairs);
  free(values);
  return failed || settle(store);
}

typedef struct {
  uint64_t now;
  uint64_t *removed;
} purging;

static const char *purge(void *argument, const char *key, int32_t key_size, const char *value, int32_t size, int32_t *new_size) {
  (void)key, (void)key_size, (void)new_size;
  const purging *purging = argument;
  if (!value || size < header_size || bench_get64((const uint8_t *)value) > purging->now) return *tkrzw.noop;
  ++*purging->removed;
  return *tkrzw.remove;
}

int tkrzw_purge(tkrzw_store *store, uint64_t now, uint64_t *removed) {
  purging purging = {now, removed};
  return check(tkrzw.process_each(store->db, purge, &purging, true)) || settle(store);
}

int tkrzw_clear(tkrzw_store *store) { return check(tkrzw.clear(store->db)) || settle(store); }
