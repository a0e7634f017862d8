// A process with this preloaded library records the calls that change the files of a store. The tests use the records to build
// the files that a power cut could leave (Tests/Core/LarderTests/PowerCut). Linux only.
//
//   LD_PRELOAD=libPowerRecorder.so LARDER_POWER_STORE=<directory> LARDER_POWER_TRACE=<file> program
//
// Each recorded call becomes one record. After the recorded call, one system call appends the record to the trace. So the
// records of several processes are in an order that the locks of these processes allow. A sync becomes two records: one before
// the call, and one after the call. A successful sync covers all changes that were recorded before its first record. Writes to
// the standard output are recorded, too, so a test knows what the process had acknowledged at each point.
//
// With LARDER_POWER_KILL=<n>, the process kills itself right after its n-th recorded write. A kill from outside could happen
// between a write and its record, so the record would be missing.
//
// With LARDER_POWER_FAIL=<n>, the n-th sync of the process fails with EIO. As on Linux, later syncs succeed, although the
// bytes of the failed sync may not be on the disk. A write through a descriptor for synchronous writes counts as a sync. With
// LARDER_POWER_FAIL=<path>, the file <path> contains the name of a file of the store. The next sync of that file fails, and
// the library removes <path>. With LARDER_POWER_REFUSE=<path>, writes to data.mdb fail while the file <path> exists. The file
// contains the number of the error. The files lock.* are not recorded: LMDB writes lock.mdb through a map, and the first process
// that opens the store creates lock.mdb again.
#define _GNU_SOURCE 1
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum kind {
  WRITE = 1, SYNC_BEGIN, SYNC_END, TRUNCATE, CREATE, RENAME, UNLINK, SAY, MAKE_DIRECTORY, SYNC_FAIL
};

struct record {
  uint32_t kind, name_length;
  uint64_t inode, offset, data_length, extra;
};

static char store[PATH_MAX], parent[PATH_MAX];
static int trace = -1;
static _Atomic uint64_t syncs;
static long writes_left = -1;
static int interrupts;
static _Atomic long syncs_left = -1;
static const char *fail_next, *refuse;
// Held during a write and its record, so no other thread acts between the write and the record.
static pthread_mutex_t writing = PTHREAD_MUTEX_INITIALIZER;

#define REAL(result, name, ...) \
  static result (*real)(__VA_ARGS__); \
  if (!real) real = (result (*)(__VA_ARGS__))dlsym(RTLD_NEXT, #name)

__attribute__((constructor)) static void begin(void) {
  const char *directory = getenv("LARDER_POWER_STORE"), *file = getenv("LARDER_POWER_TRACE");
  if (!directory || !file) return;
  if (getenv("LARDER_POWER_KILL")) writes_left = atol(getenv("LARDER_POWER_KILL"));
  interrupts = getenv("LARDER_POWER_INTERRUPT") != NULL;
  refuse = getenv("LARDER_POWER_REFUSE");
  fail_next = getenv("LARDER_POWER_FAIL");
  if (fail_next && *fail_next != '/') syncs_left = atol(fail_next), fail_next = NULL;
  snprintf(store, sizeof store, "%s", directory);
  snprintf(parent, sizeof parent, "%s", directory);
  char *end = strrchr(parent, '/');
  if (end) *end = 0;
  trace = syscall(SYS_openat, AT_FDCWD, file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

static void put(struct record record, const char *name, const struct iovec *data, int count) {
  if (trace < 0) return;
  record.name_length = name ? strlen(name) : 0;
  record.data_length = 0;
  for (int index = 0; index < count; index++) record.data_length += data[index].iov_len;
  size_t total = sizeof record + record.name_length + record.data_length;
  char *bytes = malloc(total), *next = bytes;
  next = mempcpy(next, &record, sizeof record);
  next = mempcpy(next, name, record.name_length);
  for (int index = 0; index < count; index++) next = mempcpy(next, data[index].iov_base, data[index].iov_len);
  if (syscall(SYS_write, trace, bytes, total) != (long)total) abort();
  free(bytes);
}

// The name of a file in the store, "" for the store itself, ".." for its parent; NULL for all other files and for lock.* files.
static const char *within(const char *path) {
  size_t length = strlen(store);
  if (trace < 0 || !length) return NULL;
  if (!strcmp(path, parent)) return "..";
  if (strncmp(path, store, length)) return NULL;
  if (!path[length]) return "";
  if (path[length] != '/') return NULL;
  if (!strcmp(path + length, "/..")) return "..";
  if (!strncmp(path + length, "/lock.", 6)) return NULL;
  return path + length + 1;
}

static const char *name_of(int descriptor, char *buffer) {
  char link[64];
  if (trace < 0) return NULL;
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  ssize_t length = syscall(SYS_readlinkat, AT_FDCWD, link, buffer, PATH_MAX - 1);
  if (length <= 0) return NULL;
  buffer[length] = 0;
  return within(buffer);
}

// Reads the first bytes of a file. Returns 0 if the file does not exist.
static int read_file(const char *path, char *bytes, size_t size) {
  int file = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
  if (file < 0) return 0;
  long length = syscall(SYS_read, file, bytes, size - 1);
  syscall(SYS_close, file);
  bytes[length < 0 ? 0 : length] = 0;
  return 1;
}

// Whether this write must fail. If so, sets errno.
static int refused(int descriptor) {
  char buffer[PATH_MAX], number[16];
  if (!refuse || !read_file(refuse, number, sizeof number)) return 0;
  const char *name = name_of(descriptor, buffer);
  if (!name || strcmp(name, "data.mdb")) return 0;
  errno = atoi(number);
  return 1;
}

// Whether this sync must fail. Each sync makes only one call, because a call changes the state.
static int fails(const char *name) {
  if (fail_next) {
    char wanted[64];
    if (!read_file(fail_next, wanted, sizeof wanted) || strcmp(wanted, name)) return 0;
    return syscall(SYS_unlinkat, AT_FDCWD, fail_next, 0) == 0;
  }
  return syncs_left > 0 && --syncs_left == 0;
}

static uint64_t inode_of(int descriptor) {
  struct stat status;
  return fstat(descriptor, &status) == 0 ? status.st_ino : 0;
}

// Records a write to a file or the standard output. Returns the result of the call, which is -1 for a sync that must fail.
static ssize_t wrote(int descriptor, const struct iovec *data, int count, off_t offset, ssize_t written) {
  char buffer[PATH_MAX];
  struct iovec parts[1024];
  int saved = errno;
  if (written <= 0) return written;
  const char *name = descriptor == 1 ? "" : name_of(descriptor, buffer);
  if (name) {
    size_t left = written;
    int kept = 0;
    for (int index = 0; index < count && index < 1024 && left; index++) {
      parts[kept] = data[index];
      if (parts[kept].iov_len > left) parts[kept].iov_len = left;
      left -= parts[kept++].iov_len;
    }
    int synced = descriptor != 1 && (fcntl(descriptor, F_GETFL) & O_DSYNC) != 0;
    if (synced && fails(name)) synced = 2, written = -1, saved = EIO;
    struct record record = {
      .kind = descriptor == 1 ? SAY : WRITE, .inode = inode_of(descriptor), .offset = offset, .extra = synced};
    put(record, NULL, parts, kept);
    if (descriptor != 1 && writes_left > 0 && --writes_left == 0) kill(getpid(), SIGKILL);
  }
  errno = saved;
  return written;
}

#define RECORDED(call, data, count, offset) \
  pthread_mutex_lock(&writing); \
  ssize_t written = refused(descriptor) ? -1 : wrote(descriptor, data, count, offset, call); \
  pthread_mutex_unlock(&writing); \
  return written

ssize_t write(int descriptor, const void *bytes, size_t count) {
  REAL(ssize_t, write, int, const void *, size_t);
  struct iovec data = {(void *)bytes, count};
  off_t offset = descriptor == 1 ? 0 : lseek(descriptor, 0, SEEK_CUR);
  RECORDED(real(descriptor, bytes, count), &data, 1, offset);
}

ssize_t writev(int descriptor, const struct iovec *data, int count) {
  REAL(ssize_t, writev, int, const struct iovec *, int);
  off_t offset = lseek(descriptor, 0, SEEK_CUR);
  RECORDED(real(descriptor, data, count), data, count, offset);
}

#define PWRITE(name) \
  ssize_t name(int descriptor, const void *bytes, size_t count, off_t offset) { \
    REAL(ssize_t, name, int, const void *, size_t, off_t); \
    struct iovec data = {(void *)bytes, count}; \
    RECORDED(real(descriptor, bytes, count, offset), &data, 1, offset); \
  }
PWRITE(pwrite)
PWRITE(pwrite64)

#define PWRITEV(name) \
  ssize_t name(int descriptor, const struct iovec *data, int count, off_t offset) { \
    REAL(ssize_t, name, int, const struct iovec *, int, off_t); \
    RECORDED(real(descriptor, data, count, offset), data, count, offset); \
  }
PWRITEV(pwritev)
PWRITEV(pwritev64)

#define SYNC(name) \
  int name(int descriptor) { \
    REAL(int, name, int); \
    char buffer[PATH_MAX]; \
    const char *file = name_of(descriptor, buffer); \
    if (!file) return real(descriptor); \
    struct record record = {.kind = SYNC_BEGIN, .inode = inode_of(descriptor), \
      .extra = (uint64_t)getpid() << 32 | ++syncs}; \
    put(record, file, NULL, 0); \
    /* With LARDER_POWER_INTERRUPT, every other sync fails with EINTR, the error after an interruption by a signal. */ \
    int interrupted = interrupts && record.extra % 2, failed = !interrupted && fails(file); \
    int result = interrupted || failed ? -1 : real(descriptor); \
    int saved = interrupted ? EINTR : failed ? EIO : errno; \
    record.kind = failed ? SYNC_FAIL : SYNC_END; \
    if (result == 0 || failed) put(record, file, NULL, 0); \
    errno = saved; \
    return result; \
  }
SYNC(fsync)
SYNC(fdatasync)
SYNC(syncfs)

static void resized(int descriptor, off_t length) {
  char buffer[PATH_MAX];
  int saved = errno;
  if (name_of(descriptor, buffer))
    put((struct record){.kind = TRUNCATE, .inode = inode_of(descriptor), .offset = length}, NULL, NULL, 0);
  errno = saved;
}

#define RESIZE(name) \
  int name(int descriptor, off_t length) { \
    REAL(int, name, int, off_t); \
    int result = real(descriptor, length); \
    if (result == 0) resized(descriptor, length); \
    return result; \
  }
RESIZE(ftruncate)
RESIZE(ftruncate64)

#define ALLOCATE(name) \
  int name(int descriptor, off_t offset, off_t length) { \
    REAL(int, name, int, off_t, off_t); \
    struct stat before, after; \
    fstat(descriptor, &before); \
    int result = real(descriptor, offset, length); \
    if (result == 0 && fstat(descriptor, &after) == 0 && after.st_size != before.st_size) \
      resized(descriptor, after.st_size); \
    return result; \
  }
ALLOCATE(posix_fallocate)
ALLOCATE(posix_fallocate64)

static int opened(int descriptor, const char *path, int flags, int was_there) {
  int saved = errno;
  const char *name = descriptor < 0 ? NULL : within(path);
  if (name && *name && strcmp(name, "..") && (flags & (O_CREAT | O_TRUNC))) {
    if (!was_there) put((struct record){.kind = CREATE, .inode = inode_of(descriptor)}, name, NULL, 0);
    else if (flags & O_TRUNC) resized(descriptor, 0);
  }
  errno = saved;
  return descriptor;
}

#define OPEN(name) \
  int name(const char *path, int flags, ...) { \
    REAL(int, name, const char *, int, ...); \
    va_list arguments; \
    va_start(arguments, flags); \
    mode_t mode = flags & O_CREAT ? va_arg(arguments, mode_t) : 0; \
    va_end(arguments); \
    int was_there = access(path, F_OK) == 0; \
    return opened(real(path, flags, mode), path, flags, was_there); \
  }
OPEN(open)
OPEN(open64)

int rename(const char *old, const char *new) {
  REAL(int, rename, const char *, const char *);
  int result = real(old, new), saved = errno;
  const char *from = within(old), *to = within(new);
  if (result == 0 && from && to) {
    char both[2 * PATH_MAX];
    snprintf(both, sizeof both, "%s/%s", from, to);
    put((struct record){.kind = RENAME}, both, NULL, 0);
  }
  errno = saved;
  return result;
}

int unlink(const char *path) {
  REAL(int, unlink, const char *);
  int result = real(path), saved = errno;
  const char *name = within(path);
  if (result == 0 && name) put((struct record){.kind = UNLINK}, name, NULL, 0);
  errno = saved;
  return result;
}

int mkdir(const char *path, mode_t mode) {
  REAL(int, mkdir, const char *, mode_t);
  int result = real(path, mode), saved = errno;
  const char *name = within(path);
  if (result == 0 && name && !*name) put((struct record){.kind = MAKE_DIRECTORY}, name, NULL, 0);
  errno = saved;
  return result;
}
