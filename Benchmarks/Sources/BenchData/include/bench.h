#pragma once
#include <stddef.h>
#include <stdint.h>
#include <time.h>

// The data and the routines of all stores in C: every store reads and writes the same bytes in the same kind of loop.

// `keys` has the keys one after the other. `noise` has `span` values one after the other; entry `i` has value `i % span`.
typedef struct {
  const uint8_t *keys;
  size_t key_size;
  const uint8_t *noise;
  size_t span;
  size_t value_size;
} bench_data;

// The result of reads: the number of values found, and the sum of the touched bytes.
typedef struct {
  uint64_t found;
  uint64_t sum;
} bench_tally;

static inline const uint8_t *bench_key(const bench_data *data, uint32_t index) {
  return data->keys + (size_t)index * data->key_size;
}

static inline const uint8_t *bench_value(const bench_data *data, uint32_t index) {
  return data->noise + index % data->span * data->value_size;
}

// Counts a value and touches one byte of each of its cache lines.
static inline void bench_touch(bench_tally *tally, const uint8_t *bytes, size_t size) {
  uint64_t sum = 0;
  for (size_t at = 0; at < size; at += 64) sum += bytes[at];
  tally->found++;
  tally->sum += sum;
}

static inline void bench_put64(uint8_t *to, uint64_t number) {
  number = __builtin_bswap64(number);
  __builtin_memcpy(to, &number, 8);
}

static inline uint64_t bench_get64(const uint8_t *from) {
  uint64_t number;
  __builtin_memcpy(&number, from, 8);
  return __builtin_bswap64(number);
}

// Milliseconds since 1970, which the stores compare with deadlines; from the system's coarse clock if there is one.
uint64_t bench_now(void);

// The checksum of Larder's entries, written in C.
uint64_t bench_checksum(const uint8_t *bytes, size_t count, uint64_t seed);
