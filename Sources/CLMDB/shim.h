#pragma once

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <lmdb.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#ifdef __APPLE__
#include <sys/mount.h>
#else
#include <sys/vfs.h>
#endif

// errno is a macro, open and fcntl are variadic: none of the three can be used from Swift as they are.
static inline int clmdb_errno(void) { return errno; }
static inline int clmdb_open(const char *path, int flags, mode_t mode) { return open(path, flags, mode); }
static inline int clmdb_close_on_exec(int descriptor) { return fcntl(descriptor, F_SETFD, FD_CLOEXEC); }

// Whether a process holds LMDB's own lock on the first byte of a lock file: 1 yes, 0 no, -1 errno.
static inline int clmdb_is_locked(int descriptor) {
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 1};
  if (fcntl(descriptor, F_GETLK, &lock) != 0) return -1;
  return lock.l_type != F_UNLCK;
}

// Gives the file real blocks up to `length`, so that writing it through a map cannot raise SIGBUS on a full disk.
static inline int clmdb_allocate(int descriptor, off_t length) {
#ifdef __APPLE__
  fstore_t store = {.fst_flags = F_ALLOCATEALL, .fst_posmode = F_PEOFPOSMODE, .fst_length = length};
  if (fcntl(descriptor, F_PREALLOCATE, &store) == -1) return errno;
  return ftruncate(descriptor, length) == 0 ? 0 : errno;
#else
  return posix_fallocate(descriptor, 0, length);
#endif
}

// `flock` is a type and a function in C; Swift sees only one of them.
static inline int clmdb_flock(int descriptor, int operation) { return flock(descriptor, operation); }

// Each line of LMDB's reader table goes to `line` with `context`.
static inline int clmdb_reader_list(MDB_env *env, int (*line)(const char *text, void *context), void *context) {
  return mdb_reader_list(env, line, context);
}
