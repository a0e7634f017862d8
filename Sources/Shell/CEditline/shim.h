#pragma once
// Swift cannot call libedit's variadic setters, and Swift 6 refuses C's mutable global streams.
// So each setter that the shell needs has a function here with a fixed number of parameters.
#include <histedit.h>
#include <langinfo.h>
#include <locale.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef char *(*cel_prompt_function)(EditLine *);
typedef unsigned char (*cel_function)(EditLine *, int);

static inline EditLine *cel_init(const char *program) {
  return el_init(program, stdin, stdout, stderr);
}

static inline int cel_set_client_data(EditLine *el, void *data) {
  return el_set(el, EL_CLIENTDATA, data);
}

static inline void *cel_client_data(EditLine *el) {
  void *data = NULL;
  return el_get(el, EL_CLIENTDATA, &data) == 0 ? data : NULL;
}

// The prompt has `mark` before and after each escape sequence, so that libedit counts no cells for it.
static inline int cel_set_prompt(EditLine *el, cel_prompt_function function, char mark) {
  return el_set(el, EL_PROMPT_ESC, function, mark);
}

static inline int cel_set_reader(EditLine *el, el_rfunc_t function) {
  return el_set(el, EL_GETCFN, function);
}

static inline int cel_set_editor(EditLine *el, const char *name) {
  return el_set(el, EL_EDITOR, name);
}

static inline const char *cel_editor(EditLine *el) {
  const char *name = NULL;
  return el_get(el, EL_EDITOR, &name) == 0 ? name : NULL;
}

static inline int cel_add_function(EditLine *el, const char *name, const char *help, cel_function function) {
  return el_set(el, EL_ADDFN, name, help, function);
}

static inline int cel_bind(EditLine *el, const char *key, const char *function) {
  return el_set(el, EL_BIND, key, function, NULL);
}

static inline int cel_set_capability(EditLine *el, const char *name, const char *value) {
  return el_set(el, EL_SETTC, name, value, NULL);
}

static inline int cel_prepare_terminal(EditLine *el, int raw) {
  return el_set(el, EL_PREP_TERM, raw);
}

static inline int cel_refresh(EditLine *el) {
  return el_set(el, EL_REFRESH);
}

static inline int cel_use_history(EditLine *el, History *h) {
  return el_set(el, EL_HIST, history, h);
}

static inline int cel_history_set_size(History *h, int size) {
  HistEvent event;
  return history(h, &event, H_SETSIZE, size);
}

static inline int cel_history_enter(History *h, const char *line) {
  HistEvent event;
  return history(h, &event, H_ENTER, line);
}

// Removes the newest entry that is equal to `line`, if any. The option H_SETUNIQUE would compare `line` only with the last entry.
static inline void cel_history_forget(History *h, const char *line) {
  HistEvent event;
  for (int more = history(h, &event, H_FIRST); more != -1; more = history(h, &event, H_NEXT)) {
    if (strcmp(event.str, line) != 0) continue;
    if (history(h, &event, H_DEL, event.num) != -1) free((void *)event.str);  // H_DEL returns a copy
    return;
  }
}

static inline int cel_codeset_is_utf8(void) {
  return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

// Declared here because glibc hides `wcwidth` from programs that do not ask for X/Open.
int wcwidth(wchar_t character);
static inline int cel_width(wchar_t character) { return wcwidth(character); }

// Starts `command` with `/bin/sh`. Returns 0 or an error number. `input` is the standard input of the command; -1 changes nothing.
// The code is in C because Swift makes a value of posix_spawn_file_actions_t in different ways on Linux and macOS.
static inline int cel_start(const char *command, int input, char *const *environment, pid_t *process) {
  char *const words[] = {"sh", "-c", (char *)command, NULL};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (input != -1) posix_spawn_file_actions_adddup2(&actions, input, 0);
  int code = posix_spawn(process, "/bin/sh", &actions, NULL, words, environment);
  posix_spawn_file_actions_destroy(&actions);
  return code;
}
