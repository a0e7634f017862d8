#pragma once
#include "include/lsm.h"

// The functions of a library, found by name. The first group has the same types in both libraries.
typedef struct {
  void *handle;
  char missing[256];

  void *(*options_create)(void);
  void (*options_destroy)(void *);
  void (*options_set_create_if_missing)(void *, unsigned char);
  void (*options_set_write_buffer_size)(void *, size_t);
  void *(*cache_create_lru)(size_t);
  void (*cache_destroy)(void *);
  void *(*open)(const void *, const char *, char **);
  void (*close)(void *);
  void *(*readoptions_create)(void);
  void (*readoptions_destroy)(void *);
  void *(*writeoptions_create)(void);
  void (*writeoptions_destroy)(void *);
  void (*writeoptions_set_sync)(void *, unsigned char);
  void (*put)(void *, const void *, const char *, size_t, const char *, size_t, char **);
  void (*write)(void *, const void *, void *, char **);
  void *(*writebatch_create)(void);
  void (*writebatch_destroy)(void *);
  void (*writebatch_clear)(void *);
  void (*writebatch_put)(void *, const char *, size_t, const char *, size_t);
  void (*writebatch_delete)(void *, const char *, size_t);
  void *(*create_iterator)(void *, const void *);
  void (*iter_seek_to_first)(void *);
  void (*iter_next)(void *);
  unsigned char (*iter_valid)(const void *);
  const char *(*iter_key)(const void *, size_t *);
  const char *(*iter_value)(const void *, size_t *);
  void (*iter_get_error)(const void *, char **);
  void (*iter_destroy)(void *);
  void (*release)(void *);

  // Loaded only from LevelDB.
  char *(*get)(void *, const void *, const char *, size_t, size_t *, char **);
  void *(*filterpolicy_create_bloom_int)(int);
  void (*filterpolicy_destroy)(void *);
  void (*options_set_filter_policy)(void *, void *);
  void (*options_set_cache)(void *, void *);
  int (*major_version)(void);
  int (*minor_version)(void);

  // Loaded only from RocksDB.
  void *(*get_pinned)(void *, const void *, const char *, size_t, char **);
  const char *(*pinnableslice_value)(const void *, size_t *);
  void (*pinnableslice_destroy)(void *);
  void *(*filterpolicy_create_bloom_full)(double);
  void *(*block_based_options_create)(void);
  void (*block_based_options_destroy)(void *);
  void (*block_based_options_set_filter_policy)(void *, void *);
  void (*block_based_options_set_block_cache)(void *, void *);
  void (*options_set_block_based_table_factory)(void *, void *);
  void (*options_increase_parallelism)(void *, int);
  void (*writebatch_delete_range)(void *, const char *, size_t, const char *, size_t);
} lsm_library;

struct lsm_store {
  const lsm_library *library;
  lsm_kind kind;
  void *db, *read, *write, *cache, *filter;
};

// The library; the first call loads both libraries.
const lsm_library *lsm_library_of(lsm_kind kind);

// Returns 0 if `error` is NULL. Otherwise keeps the text for `lsm_message`, frees `error` and returns 1.
int lsm_failed(const lsm_library *library, char *error);
