#pragma once

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <lmdb.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#ifdef __APPLE__
#include <sys/mount.h>
#include <sys/sysctl.h>
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

// On macOS only F_FULLFSYNC empties the disk's own cache.
static inline int clmdb_sync(int descriptor) {
#ifdef __APPLE__
  return fcntl(descriptor, F_FULLFSYNC);
#else
  return fdatasync(descriptor);
#endif
}

// `flock` is a type and a function in C; Swift sees only one of them.
static inline int clmdb_flock(int descriptor, int operation) { return flock(descriptor, operation); }

// Each line of LMDB's reader table goes to `line` with `context`.
static inline int clmdb_reader_list(MDB_env *env, int (*line)(const char *text, void *context), void *context) {
  return mdb_reader_list(env, line, context);
}

// A process that reads, and the commit that its snapshot shows.
struct clmdb_reader {
  long process;
  unsigned long long transaction;
};

// Each line of LMDB's reader table is "pid thread transaction", the thread in hexadecimal; the heading has no number, and
// a slot without a snapshot has "-" for the transaction.
static inline int clmdb_note_reader(const char *line, void *context) {
  struct clmdb_reader *oldest = context;
  char *rest, *end;
  long process = strtol(line, &rest, 10);
  if (rest == line) return 0;
  strtoull(rest, &rest, 16);
  unsigned long long transaction = strtoull(rest, &end, 10);
  if (end != rest && transaction < oldest->transaction) *oldest = (struct clmdb_reader){process, transaction};
  return 0;
}

// The oldest snapshot of any process, dead ones that are not cleared yet included, as mdb_find_oldest sees it; the
// highest number there is if there is none.
static inline struct clmdb_reader clmdb_oldest_reader(MDB_env *env) {
  struct clmdb_reader oldest = {0, ~0ULL};
  mdb_reader_list(env, clmdb_note_reader, &oldest);
  return oldest;
}

// MAP_FAILED is a cast, which Swift does not import. NULL and errno on failure.
static inline void *clmdb_map(int descriptor, size_t length) {
  void *start = mmap(NULL, length, PROT_READ, MAP_SHARED, descriptor, 0);
  return start == MAP_FAILED ? NULL : start;
}

// The same for reading and writing.
static inline void *clmdb_map_shared(int descriptor, size_t length) {
  void *start = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  return start == MAP_FAILED ? NULL : start;
}

// Whether the process may have `length` bytes of address space more; 0 or errno.
static inline int clmdb_check_room(size_t length) {
  int flags = MAP_PRIVATE | MAP_ANON | MAP_NORESERVE;
  void *start = mmap(NULL, length, PROT_NONE, flags, -1, 0);
  if (start == MAP_FAILED) return errno;
  munmap(start, length);
  return 0;
}

// Asks for the rights of the effective user, as open does; access asks for those of the real one.
static inline int clmdb_may(const char *path, int mode) {
  return faccessat(AT_FDCWD, path, mode, AT_EACCESS);
}

#ifndef __APPLE__
// Declared only for _GNU_SOURCE, which would make the headers here differ from those that Swift knows.
int syncfs(int descriptor);
#endif

// Puts on the disk what a directory lists; where that may not be opened, all of the file system that `within` is on.
static inline int clmdb_sync_around(int within) {
#ifdef __APPLE__
  (void)within;
  sync();
  return 0;
#else
  return syncfs(within);
#endif
}

// Begins to fetch what will be needed soon; never faults.
static inline void clmdb_prefetch(const void *address) { __builtin_prefetch(address); }

// Seconds since 1970 by the cheapest clock there is.
static inline time_t clmdb_coarse_seconds(void) {
#ifdef __APPLE__
  return time(NULL);
#else
  struct timespec now;
  clock_gettime(CLOCK_REALTIME_COARSE, &now);
  return now.tv_sec;
#endif
}
