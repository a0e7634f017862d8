#include <zdict.h>
#include <zstd.h>
