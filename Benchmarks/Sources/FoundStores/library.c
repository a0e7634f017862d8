#define _GNU_SOURCE
#include "library.h"

#include <dlfcn.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>

static _Thread_local char message[512];

const char *found_message(void) { return message; }

int found_fail(const char *text) {
  snprintf(message, sizeof message, "%s", text ? text : "unknown");
  return 1;
}

static void *load(const char *name) {
  if (!strchr(name, '*')) return dlopen(name, RTLD_NOW | RTLD_LOCAL);
  glob_t paths;
  void *handle = NULL;
  if (glob(name, 0, NULL, &paths)) return NULL;
  for (size_t i = 0; i < paths.gl_pathc && !handle; i++) handle = dlopen(paths.gl_pathv[i], RTLD_NOW | RTLD_LOCAL);
  globfree(&paths);
  return handle;
}

void *found_load(const char *const *names, const found_symbol *symbols, size_t count, char *missing, size_t size) {
  void *handle = load(*names);
  const char *reason = handle ? NULL : dlerror();
  // Only the error for the first name is reported, because most systems use this name.
  snprintf(missing, size, "not installed%s%s", reason ? ": " : "", reason ? reason : "");
  while (!handle && *++names) handle = load(*names);
  if (!handle) return NULL;
  missing[0] = 0;
  for (size_t i = 0; i < count; i++) {
    *symbols[i].function = dlsym(handle, symbols[i].name);
    if (*symbols[i].function) continue;
    snprintf(missing, size, "its library has no %s", symbols[i].name);
    dlclose(handle);
    return NULL;
  }
  return handle;
}
