#define _GNU_SOURCE
#include "library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static lsm_library libraries[2];
static pthread_once_t once = PTHREAD_ONCE_INIT;
static _Thread_local char message[512];

static const char *const names[2][4] = {
    {"librocksdb.so", "librocksdb.so.7.8", "librocksdb.so.8.9", "librocksdb.dylib"},
    {"libleveldb.so", "libleveldb.so.1d", "libleveldb.so.1", "libleveldb.dylib"},
};

static void find(lsm_library *library, const char *prefix, const char *name, void **function) {
  char symbol[128];
  snprintf(symbol, sizeof symbol, "%s_%s", prefix, name);
  *function = dlsym(library->handle, symbol);
  if (!*function && !library->missing[0])
    snprintf(library->missing, sizeof library->missing, "its library has no %s", symbol);
}

#define FIND(field) find(library, prefix, #field, (void **)&library->field)

static void find_common(lsm_library *library, const char *prefix) {
  FIND(options_create);
  FIND(options_destroy);
  FIND(options_set_create_if_missing);
  FIND(options_set_write_buffer_size);
  FIND(cache_create_lru);
  FIND(cache_destroy);
  FIND(open);
  FIND(close);
  FIND(readoptions_create);
  FIND(readoptions_destroy);
  FIND(writeoptions_create);
  FIND(writeoptions_destroy);
  FIND(writeoptions_set_sync);
  FIND(put);
  FIND(write);
  FIND(writebatch_create);
  FIND(writebatch_destroy);
  FIND(writebatch_clear);
  FIND(writebatch_put);
  FIND(writebatch_delete);
  FIND(create_iterator);
  FIND(iter_seek_to_first);
  FIND(iter_next);
  FIND(iter_valid);
  FIND(iter_key);
  FIND(iter_value);
  FIND(iter_get_error);
  FIND(iter_destroy);
  find(library, prefix, "free", (void **)&library->release);
}

static void find_leveldb(lsm_library *library) {
  const char *prefix = "leveldb";
  FIND(get);
  find(library, prefix, "filterpolicy_create_bloom", (void **)&library->filterpolicy_create_bloom_int);
  FIND(filterpolicy_destroy);
  FIND(options_set_filter_policy);
  FIND(options_set_cache);
  FIND(major_version);
  FIND(minor_version);
}

static void find_rocksdb(lsm_library *library) {
  const char *prefix = "rocksdb";
  FIND(get_pinned);
  FIND(pinnableslice_value);
  FIND(pinnableslice_destroy);
  FIND(filterpolicy_create_bloom_full);
  FIND(block_based_options_create);
  FIND(block_based_options_destroy);
  FIND(block_based_options_set_filter_policy);
  FIND(block_based_options_set_block_cache);
  FIND(options_set_block_based_table_factory);
  FIND(options_increase_parallelism);
  FIND(writebatch_delete_range);
}

static void load(void) {
  for (int kind = 0; kind < 2; kind++) {
    lsm_library *library = &libraries[kind];
    for (int i = 0; i < 4 && !library->handle; i++) library->handle = dlopen(names[kind][i], RTLD_NOW | RTLD_LOCAL);
    if (!library->handle) {
      const char *reason = dlerror();
      snprintf(library->missing, sizeof library->missing, "not installed (%s)", reason ? reason : names[kind][0]);
      continue;
    }
    find_common(library, kind == lsm_rocksdb ? "rocksdb" : "leveldb");
    kind == lsm_rocksdb ? find_rocksdb(library) : find_leveldb(library);
  }
}

const lsm_library *lsm_library_of(lsm_kind kind) {
  pthread_once(&once, load);
  return &libraries[kind];
}

const char *lsm_missing(lsm_kind kind) {
  const lsm_library *library = lsm_library_of(kind);
  return library->missing[0] ? library->missing : NULL;
}

const char *lsm_version(lsm_kind kind) {
  static char text[2][64];
  const lsm_library *library = lsm_library_of(kind);
  if (library->missing[0]) return "";
  if (kind == lsm_leveldb) {
    snprintf(text[kind], sizeof text[kind], "%d.%d", library->major_version(), library->minor_version());
    return text[kind];
  }
  // RocksDB reports its version only to C++. So this code takes the version from the name of the library's file.
  Dl_info info;
  if (dladdr((void *)library->open, &info) && info.dli_fname) {
    const char *number = strstr(info.dli_fname, ".so.");
    if (number) snprintf(text[kind], sizeof text[kind], "%s", number + 4);
  }
  return text[kind];
}

const char *lsm_message(void) { return message; }

int lsm_failed(const lsm_library *library, char *error) {
  if (!error) return 0;
  snprintf(message, sizeof message, "%s", error);
  library->release(error);
  return 1;
}
