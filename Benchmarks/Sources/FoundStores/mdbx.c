#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include "library.h"

typedef struct iovec value_t;
typedef uint32_t dbi_t;

// Constants of mdbx.h; the functions below are of mdbx.h, too.
enum {
  option_max_db = 0,
  env_no_sticky_threads = 0x200000,
  env_utterly_nosync = 0x110000,
  txn_readonly = 0x20000,
  db_create = 0x40000,
  put_reserve = 0x10000,
  cursor_next = 8,
  not_found = -30798,
};

static struct {
  int (*env_create)(void **);
  int (*env_set_option)(void *, int, uint64_t);
  int (*env_set_geometry)(void *, intptr_t, intptr_t, intptr_t, intptr_t, intptr_t, intptr_t);
  int (*env_open)(void *, const char *, unsigned, mode_t);
  int (*env_close_ex)(void *, _Bool);
  int (*txn_begin_ex)(void *, void *, unsigned, void **, void *);
  int (*txn_commit_ex)(void *, void *);
  int (*txn_abort)(void *);
  int (*txn_reset)(void *);
  int (*txn_renew)(void *);
  int (*dbi_open)(void *, const char *, unsigned, dbi_t *);
  int (*get)(void *, dbi_t, const value_t *, value_t *);
  int (*put)(void *, dbi_t, const value_t *, value_t *, unsigned);
  int (*drop)(void *, dbi_t, _Bool);
  int (*cursor_open)(void *, dbi_t, void **);
  int (*cursor_get)(void *, value_t *, value_t *, int);
  void (*cursor_close)(void *);
  const char *(*strerror)(int);
  const uint16_t *version;
} mdbx;

static char missing[256], version[32];
static pthread_once_t once = PTHREAD_ONCE_INIT;

#define SYMBOL(field) {"mdbx_" #field, (void **)&mdbx.field}

static void load(void) {
  static const char *const names[] = {
      "libmdbx.so", "libmdbx.dylib",
      // Scripts/bench-packages installs the Python package `libmdbx` in this folder.
      ".build/python/lib/python3*/site-packages/mdbx/lib/libmdbx.*", NULL};
  const found_symbol symbols[] = {
      SYMBOL(env_create), SYMBOL(env_set_option), SYMBOL(env_set_geometry), SYMBOL(env_open), SYMBOL(env_close_ex),
      SYMBOL(txn_begin_ex), SYMBOL(txn_commit_ex), SYMBOL(txn_abort), SYMBOL(txn_reset), SYMBOL(txn_renew),
      SYMBOL(dbi_open), SYMBOL(get), SYMBOL(put), SYMBOL(drop), SYMBOL(cursor_open), SYMBOL(cursor_get),
      SYMBOL(cursor_close), SYMBOL(strerror), SYMBOL(version)};
  if (found_load(names, symbols, sizeof symbols / sizeof *symbols, missing, sizeof missing))
    snprintf(version, sizeof version, "%d.%d.%d", mdbx.version[0], mdbx.version[1], mdbx.version[2]);
}

const char *mdbx_missing(void) {
  pthread_once(&once, load);
  return missing[0] ? missing : NULL;
}

const char *mdbx_version_text(void) { return mdbx_missing() ? "" : version; }

struct mdbx_store {
  void *env;
  dbi_t entries;
};

struct mdbx_reader {
  mdbx_store *store;
  void *txn;
};

static int check(int code) { return code ? found_fail(mdbx.strerror(code)) : 0; }

// Commits the transaction if `code` is 0, and otherwise aborts the transaction.
static int finish(void *txn, int code) {
  if (!code) return check(mdbx.txn_commit_ex(txn, NULL));
  mdbx.txn_abort(txn);
  return check(code);
}

static int configure(mdbx_store *store, const char *directory, int durable) {
  int code = mdbx.env_set_option(store->env, option_max_db, 4);
  if (!code) code = mdbx.env_set_geometry(store->env, -1, -1, (intptr_t)32 << 30, -1, -1, -1);
  unsigned flags = env_no_sticky_threads | (durable ? 0 : env_utterly_nosync);
  if (!code) code = mdbx.env_open(store->env, directory, flags, 0600);
  void *txn;
  if (!code) code = mdbx.txn_begin_ex(store->env, NULL, 0, &txn, NULL);
  if (code) return check(code);
  return finish(txn, mdbx.dbi_open(txn, "entries", db_create, &store->entries));
}

mdbx_store *mdbx_store_open(const char *directory, int durable) {
  mdbx_store *store = calloc(1, sizeof *store);
  mkdir(directory, 0700);
  if (check(mdbx.env_create(&store->env))) {
    free(store);
    return NULL;
  }
  if (!configure(store, directory, durable)) return store;
  mdbx_store_close(store);
  return NULL;
}

void mdbx_store_close(mdbx_store *store) {
  mdbx.env_close_ex(store->env, 0);
  free(store);
}

mdbx_reader *mdbx_reader_open(mdbx_store *store) {
  mdbx_reader *reader = calloc(1, sizeof *reader);
  reader->store = store;
  if (check(mdbx.txn_begin_ex(store->env, NULL, txn_readonly, &reader->txn, NULL))) {
    free(reader);
    return NULL;
  }
  mdbx.txn_reset(reader->txn);
  return reader;
}

void mdbx_reader_close(mdbx_reader *reader) {
  mdbx.txn_abort(reader->txn);
  free(reader);
}

int mdbx_read(mdbx_reader *reader, const bench_data *data, const uint32_t *order, size_t count, bench_tally *tally) {
  for (size_t i = 0; i < count; i++) {
    value_t key = {(void *)bench_key(data, order[i]), data->key_size}, value;
    int code = mdbx.txn_renew(reader->txn);
    if (code) return check(code);
    code = mdbx.get(reader->txn, reader->store->entries, &key, &value);
    if (!code) bench_touch(tally, value.iov_base, value.iov_len);
    mdbx.txn_reset(reader->txn);
    if (code && code != not_found) return check(code);
  }
  return 0;
}

int mdbx_scan(mdbx_reader *reader, bench_tally *tally) {
  int code = mdbx.txn_renew(reader->txn);
  if (code) return check(code);
  void *cursor;
  code = mdbx.cursor_open(reader->txn, reader->store->entries, &cursor);
  if (!code) {
    value_t key, value;
    while ((code = mdbx.cursor_get(cursor, &key, &value, cursor_next)) == 0)
      bench_touch(tally, value.iov_base, value.iov_len);
    mdbx.cursor_close(cursor);
  }
  mdbx.txn_reset(reader->txn);
  return code == not_found ? 0 : check(code);
}

int mdbx_write(mdbx_store *store, const bench_data *data, const uint32_t *order, size_t count) {
  void *txn;
  int code = mdbx.txn_begin_ex(store->env, NULL, 0, &txn, NULL);
  if (code) return check(code);
  for (size_t i = 0; i < count && !code; i++) {
    value_t key = {(void *)bench_key(data, order[i]), data->key_size};
    value_t value = {NULL, data->value_size};
    // Like the other stores, libmdbx must write an equal value again. Libmdbx does so only with put_reserve.
    code = mdbx.put(txn, store->entries, &key, &value, put_reserve);
    if (!code) memcpy(value.iov_base, bench_value(data, order[i]), data->value_size);
  }
  return finish(txn, code);
}

int mdbx_clear(mdbx_store *store) {
  void *txn;
  int code = mdbx.txn_begin_ex(store->env, NULL, 0, &txn, NULL);
  return code ? check(code) : finish(txn, mdbx.drop(txn, store->entries, 0));
}
