#pragma once
#include <stddef.h>
#include <stdint.h>

// One environment with one named database, used as plainly as C can.
typedef struct raw_store raw_store;

raw_store *raw_open(const char *directory);
void raw_close(raw_store *store);

// Puts `count` values of `value_size` bytes; keys of `key_size` bytes lie one after the other.
int raw_fill(raw_store *store, const uint8_t *keys, size_t key_size, size_t count, size_t value_size, size_t batch);

// For each of `rounds` keys, chosen by `order`: renew, get, touch a byte of every cache line of the value, reset.
// Returns a sum, so that nothing is left out by the compiler.
uint64_t raw_read(raw_store *store, const uint8_t *keys, size_t key_size, const uint32_t *order, size_t rounds);
