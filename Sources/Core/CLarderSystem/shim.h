#pragma once

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#ifdef __APPLE__
#include <sys/mount.h>
#include <sys/sysctl.h>
static const clockid_t larder_coarse_realtime = CLOCK_REALTIME;
static const clockid_t larder_coarse_monotonic = CLOCK_MONOTONIC;
#else
#include <sys/prctl.h>
#include <sys/vfs.h>
static const clockid_t larder_coarse_realtime = CLOCK_REALTIME_COARSE;
static const clockid_t larder_coarse_monotonic = CLOCK_MONOTONIC_COARSE;
#endif

// Swift can use neither errno, which is a macro, nor open and fcntl, which are variadic.
static inline int larder_errno(void) { return errno; }
static inline int larder_open(const char *path, int flags, mode_t mode) { return open(path, flags, mode); }
static inline int larder_close_on_exec(int descriptor) { return fcntl(descriptor, F_SETFD, FD_CLOEXEC); }

// Locks or unlocks one byte of a file. If another process has the lock, returns -1, with EAGAIN or EACCES in errno. The system
// unlocks all bytes when the process ends or closes any descriptor of the file. A forked child does not inherit the locks.
static inline int larder_set_lock(int descriptor, off_t byte, bool locked) {
  struct flock lock = {.l_type = locked ? F_WRLCK : F_UNLCK, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};
  return fcntl(descriptor, F_SETLK, &lock);
}

// Whether another process has locked one of the `count` bytes at `start`. If `count` is 0, all bytes at and after `start` are
// tested. The result is 1 for yes, 0 for no, and -1 for an error in errno.
static inline int larder_is_locked(int descriptor, off_t start, off_t count) {
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = start, .l_len = count};
  if (fcntl(descriptor, F_GETLK, &lock) != 0) return -1;
  return lock.l_type != F_UNLCK;
}

static inline int larder_is_open(int descriptor) { return fcntl(descriptor, F_GETFD) != -1; }

// Allocates the file's blocks up to `length`: on a full disk, a write through a map to a missing block raises SIGBUS. Signals
// are blocked meanwhile, because on some file systems a signal makes the call fail with EINTR and undoes its work.
static inline int larder_allocate(int descriptor, off_t length) {
#ifdef __APPLE__
  fstore_t store = {.fst_flags = F_ALLOCATEALL, .fst_posmode = F_PEOFPOSMODE, .fst_length = length};
  if (fcntl(descriptor, F_PREALLOCATE, &store) == -1) return errno;
  return ftruncate(descriptor, length) == 0 ? 0 : errno;
#else
  sigset_t all, former;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &former);
  int result = posix_fallocate(descriptor, 0, length);
  pthread_sigmask(SIG_SETMASK, &former, NULL);
  return result;
#endif
}

// On macOS, only F_FULLFSYNC also flushes the cache inside the disk.
static inline int larder_sync(int descriptor) {
#ifdef __APPLE__
  return fcntl(descriptor, F_FULLFSYNC);
#else
  return fdatasync(descriptor);
#endif
}

// Makes the process ignore SIGXFSZ, if the program does not handle this signal. The signal would end a process that writes
// beyond its limit of file sizes. When the signal is ignored, the write fails with EFBIG instead.
static inline void larder_ignore_file_size_signal(void) {
  struct sigaction action;
  if (sigaction(SIGXFSZ, NULL, &action) == 0 && action.sa_handler == SIG_DFL) signal(SIGXFSZ, SIG_IGN);
}

// The largest size of a file that the process may write (`ulimit -f`).
static inline uint64_t larder_file_size_limit(void) {
  struct rlimit limit;
  return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY ? (uint64_t)limit.rlim_cur : UINT64_MAX;
}

// Swift imports only one of two C declarations with the same name, and `flock` is both a type and a function.
static inline int larder_flock(int descriptor, int operation) { return flock(descriptor, operation); }

// Maps a file for reading, or also for writing. Returns NULL and sets errno on failure: Swift does not import MAP_FAILED.
static inline void *larder_map(int descriptor, size_t length, bool writable) {
  int protection = writable ? PROT_READ | PROT_WRITE : PROT_READ;
  void *start = mmap(NULL, length, protection, MAP_SHARED, descriptor, 0);
  return start == MAP_FAILED ? NULL : start;
}

// 0 if the process can map `length` more bytes of address space, otherwise errno.
static inline int larder_check_address_space(size_t length) {
  int flags = MAP_PRIVATE | MAP_ANON | MAP_NORESERVE;
  void *start = mmap(NULL, length, PROT_NONE, flags, -1, 0);
  if (start == MAP_FAILED) return errno;
  munmap(start, length);
  return 0;
}

// Checks the rights of the effective user, as open does; access(2) would check the rights of the real user.
static inline int larder_access(const char *path, int mode) {
  return faccessat(AT_FDCWD, path, mode, AT_EACCESS);
}

#ifndef __APPLE__
// The C headers declare syncfs only with _GNU_SOURCE, and this macro would change declarations that Swift has already imported.
int syncfs(int descriptor);
#endif

// Flushes the whole file system that holds `within`. Callers use this function for a directory that the process may not open.
static inline int larder_sync_file_system(int within) {
#ifdef __APPLE__
  (void)within;
  sync();
  return 0;
#else
  return syncfs(within);
#endif
}

// Starts loading a cache line. An invalid address causes no error.
static inline void larder_prefetch(const void *address) { __builtin_prefetch(address); }

// Initializes a condition variable whose timeouts ignore changes of the system's clock.
static inline int larder_cond_init(pthread_cond_t *condition) {
#ifdef __APPLE__
  return pthread_cond_init(condition, NULL);
#else
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  int result = pthread_cond_init(condition, &attributes);
  pthread_condattr_destroy(&attributes);
  return result;
#endif
}

// Waits for a signal of the condition, or until the monotonic clock shows `milliseconds`.
static inline int larder_cond_wait_until(pthread_cond_t *condition, pthread_mutex_t *mutex, long long milliseconds) {
#ifdef __APPLE__
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  long long left = milliseconds - (long long)now.tv_sec * 1000 - now.tv_nsec / 1000000;
  if (left <= 0) return ETIMEDOUT;
  struct timespec time = {.tv_sec = left / 1000, .tv_nsec = (left % 1000) * 1000000};
  return pthread_cond_timedwait_relative_np(condition, mutex, &time);
#else
  struct timespec time = {.tv_sec = milliseconds / 1000, .tv_nsec = (milliseconds % 1000) * 1000000};
  return pthread_cond_timedwait(condition, mutex, &time);
#endif
}

// Writes the name of a running thread, or "". The headers declare pthread_getname_np only with _GNU_SOURCE.
#ifndef __APPLE__
extern int pthread_getname_np(pthread_t thread, char *name, size_t size);
#endif
static inline void larder_thread_name(uint64_t identity, char *name, size_t size) {
  if (pthread_getname_np((pthread_t)(uintptr_t)identity, name, size) != 0) name[0] = 0;
}

// Starts a detached thread that receives no signals. The stack is small, so the thread needs little address space.
static inline int larder_start_thread(void *(*run)(void *), void *context) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attributes, 512 * 1024);
  sigset_t all, former;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &former);
  pthread_t thread;
  int result = pthread_create(&thread, &attributes, run, context);
  pthread_sigmask(SIG_SETMASK, &former, NULL);
  pthread_attr_destroy(&attributes);
  return result;
}

// Sets the policy SCHED_BATCH (3; the headers declare the name only with _GNU_SOURCE). With this policy, a thread that wakes up
// does not interrupt a running thread. Under seccomp this function changes nothing: a filter may kill the process for the call.
static inline void larder_schedule_as_batch(void) {
#ifdef __linux__
  struct sched_param parameters;
  int policy;
  if (prctl(PR_GET_SECCOMP) != 0) return;
  if (pthread_getschedparam(pthread_self(), &policy, &parameters) != 0 || policy != SCHED_OTHER) return;
  pthread_setschedparam(pthread_self(), 3, &parameters);
#endif
}
