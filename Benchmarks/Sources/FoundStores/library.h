#pragma once
#include <stddef.h>

#include "include/found.h"

typedef struct {
  const char *name;
  void **function;
} found_symbol;

// The first of `names` that can be loaded, with all symbols; NULL, and a reason of at most `size` bytes in `missing`. A name with a
// `*` is a pattern of paths.
void *found_load(const char *const *names, const found_symbol *symbols, size_t count, char *missing, size_t size);

// Notes what went wrong; 1.
int found_fail(const char *text);
