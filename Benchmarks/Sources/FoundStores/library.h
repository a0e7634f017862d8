#pragma once
#include <stddef.h>

#include "include/found.h"

typedef struct {
  const char *name;
  void **function;
} found_symbol;

// Loads the first of `names` that can be loaded, and sets `symbols`. Returns NULL if no name can be loaded or a symbol is
// missing, with a reason of at most `size` bytes in `missing`. A name with a `*` is a pattern of paths.
void *found_load(const char *const *names, const found_symbol *symbols, size_t count, char *missing, size_t size);

// Keeps `text` for `found_message` and returns 1.
int found_fail(const char *text);
