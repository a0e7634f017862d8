#include "sql.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { statement_get, statement_put, statement_scan, statement_purge, statement_clear, statement_begin, statement_commit, statement_count };

struct sql_store {
  sqlite3 *database;
  sqlite3_stmt *statements[statement_count];
  int bare;
};

static const char *const entity[statement_count] = {
    "SELECT value FROM entries WHERE namespace = 'entries' AND key = ?1 AND expires > ?2",
    "INSERT INTO entries (namespace, key, value, expires) VALUES ('entries', ?1, ?2, ?3) "
    "ON CONFLICT (namespace, key) DO UPDATE SET value = excluded.value, expires = excluded.expires",
    "SELECT value FROM entries WHERE namespace = 'entries' AND expires > ?2",
    "DELETE FROM entries WHERE expires <= ?2",
    "DELETE FROM entries WHERE namespace = 'entries'",
    "BEGIN IMMEDIATE",
    "COMMIT",
};

static const char *const bare[statement_count] = {
    "SELECT value FROM entries WHERE key = ?1",
    "INSERT INTO entries (key, value) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
    "SELECT value FROM entries",
    "SELECT 1",
    "DELETE FROM entries",
    "BEGIN IMMEDIATE",
    "COMMIT",
};

static int configure(sql_store *store, sql_options options) {
  const char *place = options.small ? " WITHOUT ROWID" : "";
  char text[1024];
  snprintf(text, sizeof text,
           "PRAGMA journal_mode = WAL; PRAGMA synchronous = %s; PRAGMA mmap_size = 34359738368; PRAGMA cache_size = -65536;"
           "CREATE TABLE IF NOT EXISTS entries (%s)%s;%s",
           options.durable ? "FULL" : "NORMAL",
           options.bare ? "key TEXT PRIMARY KEY, value BLOB NOT NULL"
                        : "namespace TEXT NOT NULL, key TEXT NOT NULL, value BLOB NOT NULL, expires INTEGER, "
                          "PRIMARY KEY (namespace, key)",
           place, options.bare ? "" : "CREATE INDEX IF NOT EXISTS entries_expires ON entries (expires);");
  int result = sqlite3_exec(store->database, text, NULL, NULL, NULL);
  const char *const *texts = options.bare ? bare : entity;
  for (int i = 0; i < statement_count && !result; i++)
    result = sqlite3_prepare_v3(store->database, texts[i], -1, SQLITE_PREPARE_PERSISTENT, &store->statements[i], NULL);
  return result;
}

sql_store *sql_open(const char *directory, sql_options options) {
  sql_store *store = calloc(1, sizeof *store);
  char path[4096];
  store->bare = options.bare;
  mkdir(directory, 0700);
  snprintf(path, sizeof path, "%s/cache.sqlite", directory);
  int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
  if (sqlite3_open_v2(path, &store->database, flags, NULL) || sqlite3_busy_timeout(store->database, 60000) ||
      configure(store, options)) {
    sql_close(store);
    return NULL;
  }
  return store;
}

void sql_close(sql_store *store) {
  for (int i = 0; i < statement_count; i++) sqlite3_finalize(store->statements[i]);
  sqlite3_close(store->database);
  free(store);
}

const char *sql_message(int code) { return sqlite3_errstr(code); }

// Runs a statement that returns no rows.
static int run(sqlite3_stmt *statement) {
  int result = sqlite3_step(statement);
  sqlite3_reset(statement);
  return result == SQLITE_DONE || result == SQLITE_ROW ? 0 : result;
}

static int touch_rows(sqlite3_stmt *statement, bench_tally *tally) {
  int result;
  while ((result = sqlite3_step(statement)) == SQLITE_ROW)
    bench_touch(tally, sqlite3_column_blob(statement, 0), (size_t)sqlite3_column_bytes(statement, 0));
  sqlite3_reset(statement);
  return result == SQLITE_DONE ? 0 : result;
}

int sql_read(sql_store *store, const bench_data *data, const uint32_t *order, size_t count, bench_tally *tally) {
  sqlite3_stmt *get = store->statements[statement_get];
  for (size_t i = 0; i < count; i++) {
    int result = sqlite3_bind_text(get, 1, (const char *)bench_key(data, order[i]), (int)data->key_size, SQLITE_STATIC);
    if (!result && !store->bare) result = sqlite3_bind_int64(get, 2, (int64_t)bench_now());
    if (!result) result = touch_rows(get, tally);
    if (result) return result;
  }
  return 0;
}

int sql_scan(sql_store *store, bench_tally *tally) {
  sqlite3_stmt *scan = store->statements[statement_scan];
  int result = store->bare ? 0 : sqlite3_bind_int64(scan, 2, (int64_t)bench_now());
  return result ? result : touch_rows(scan, tally);
}

static int put(sql_store *store, const bench_data *data, uint32_t index, uint64_t deadline) {
  sqlite3_stmt *put = store->statements[statement_put];
  int result = sqlite3_bind_text(put, 1, (const char *)bench_key(data, index), (int)data->key_size, SQLITE_STATIC);
  if (!result) result = sqlite3_bind_blob(put, 2, bench_value(data, index), (int)data->value_size, SQLITE_STATIC);
  if (!result && !store->bare) result = sqlite3_bind_int64(put, 3, (int64_t)deadline);
  return result ? result : run(put);
}

int sql_write(sql_store *store, const bench_data *data, const uint32_t *order, size_t count, uint64_t deadline) {
  if (count == 1) return put(store, data, order[0], deadline);
  int result = run(store->statements[statement_begin]);
  for (size_t i = 0; i < count && !result; i++) result = put(store, data, order[i], deadline);
  if (result) {
    sqlite3_exec(store->database, "ROLLBACK", NULL, NULL, NULL);
    return result;
  }
  return run(store->statements[statement_commit]);
}

int sql_purge(sql_store *store, uint64_t now, uint64_t *removed) {
  sqlite3_stmt *purge = store->statements[statement_purge];
  int result = sqlite3_bind_int64(purge, 2, (int64_t)now);
  if (!result) result = run(purge);
  *removed = (uint64_t)sqlite3_changes(store->database);
  return result;
}

int sql_clear(sql_store *store) { return run(store->statements[statement_clear]); }
