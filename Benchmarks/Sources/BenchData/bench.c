#include "bench.h"

#include <string.h>

uint64_t bench_now(void) {
  struct timespec time;
#ifdef CLOCK_REALTIME_COARSE
  clock_gettime(CLOCK_REALTIME_COARSE, &time);
#else
  clock_gettime(CLOCK_REALTIME, &time);
#endif
  return (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000;
}

static const uint64_t first = 0xA0761D6478BD642F, second = 0xE7037ED1A0B428DB, third = 0x8EBC6AF09C88C6E3;

static inline uint64_t mix(uint64_t a, uint64_t b) {
  __uint128_t product = (__uint128_t)a * b;
  return (uint64_t)(product >> 64) ^ (uint64_t)product;
}

static inline uint64_t word(const uint8_t *at) {
  uint64_t number;
  memcpy(&number, at, 8);
  return number;
}

static inline uint32_t half(const uint8_t *at) {
  uint32_t number;
  memcpy(&number, at, 4);
  return number;
}

uint64_t bench_checksum(const uint8_t *bytes, size_t count, uint64_t seed) {
  uint64_t state = seed ^ first;
  size_t offset = 0;
  if (count >= 48) {
    uint64_t left = state, right = state;
    for (; offset + 48 <= count; offset += 48) {
      const uint8_t *block = bytes + offset;
      state = mix(word(block) ^ first, word(block + 8) ^ state);
      left = mix(word(block + 16) ^ second, word(block + 24) ^ left);
      right = mix(word(block + 32) ^ third, word(block + 40) ^ right);
    }
    state ^= left ^ right;
  }
  for (; offset + 16 <= count; offset += 16)
    state = mix(word(bytes + offset) ^ second, word(bytes + offset + 8) ^ state);
  const uint8_t *rest = bytes + offset;
  size_t left_over = count - offset;
  uint64_t low = 0, high = 0;
  if (left_over >= 8) {
    low = word(rest);
    high = word(rest + left_over - 8);
  } else if (left_over >= 4) {
    low = half(rest);
    high = half(rest + left_over - 4);
  } else if (left_over > 0) {
    low = (uint64_t)rest[0] << 16 | (uint64_t)rest[left_over >> 1] << 8 | rest[left_over - 1];
  }
  return mix(second ^ (uint64_t)count, mix(low ^ second, high ^ state));
}
