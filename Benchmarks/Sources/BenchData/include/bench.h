#pragma once
#include <stddef.h>
#include <stdint.h>
#include <time.h>

// What every store written in C is given, so that all of them work on the same bytes in a loop of the same kind.

// Keys lie one after the other. The value of entry `i` is number `i % span` of those that lie one after the other in `noise`.
typedef struct {
  const uint8_t *keys;
  size_t key_size;
  const uint8_t *noise;
  size_t span;
  size_t value_size;
} bench_data;

// What a read met: how many values, and the sum of the bytes that were touched.
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

// One byte of each cache line.
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

// Milliseconds since 1970, from the coarse clock where there is one: what a cache compares deadlines with.
uint64_t bench_now(void);

// The routine Larder checks its entries with, spelled in C.
uint64_t bench_checksum(const uint8_t *bytes, size_t count, uint64_t seed);
