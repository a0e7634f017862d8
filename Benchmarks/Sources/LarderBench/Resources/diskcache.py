"""Runs the commands of the benchmark on diskcache, one a line, and answers: nanoseconds, entries, sum of touched bytes."""

import os
import sys
import time

# Leaves out the folder of this file, which has the name of the package.
sys.path = [place for place in sys.path if os.path.abspath(place or ".") != os.path.dirname(os.path.abspath(__file__))]
from diskcache import Cache

SPAN = 1024
DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"

directory, size, synchronous = sys.argv[1], int(sys.argv[2]), sys.argv[3]
cache = Cache(
    os.path.join(directory, "cache"), eviction_policy="none", size_limit=2**40, disk_min_file_size=2**15,
    sqlite_synchronous=2 if synchronous == "FULL" else 1, timeout=60)
with open(os.path.join(directory, "values.bin"), "rb") as file:
    noise = file.read()
values = [noise[i * size:(i + 1) * size] for i in range(SPAN)]


def key(index):
    number, text = index * 0x9E3779B97F4A7C15 % 2**64, ""
    while number or not text:
        number, digit = divmod(number, 36)
        text = DIGITS[digit] + text
    return text.rjust(13, "0")


def read(order):
    found = total = 0
    for name, _ in order:
        value = cache.get(name)
        if value is not None:
            found += 1
            total += sum(value[::64])
    return found, total


def write(order):
    if len(order) == 1:
        cache.set(order[0][0], order[0][1], expire=86400)
    else:
        with cache.transact():
            for name, value in order:
                cache.set(name, value, expire=86400)
    return len(order), 0


def scan(_):
    found = total = 0
    for name in cache:
        value = cache.get(name)
        if value is not None:
            found += 1
            total += sum(value[::64])
    return found, total


def limit(_):
    cache.reset("eviction_policy", "least-recently-stored")
    cache.reset("size_limit", cache.volume())
    return 0, 0


commands = {
    "read": read,
    "write": write,
    "scan": scan,
    "clear": lambda _: (cache.clear(), 0),
    "limit": limit,
}

print("ready", flush=True)
for line in sys.stdin:
    command, _, numbers = line.strip().partition(" ")
    order = [(key(int(n)), values[int(n) % SPAN]) for n in numbers.split(",") if n]
    start = time.perf_counter_ns()
    count, total = commands[command](order)
    print(time.perf_counter_ns() - start, count, total, flush=True)
cache.close()
