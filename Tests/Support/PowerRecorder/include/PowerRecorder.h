#pragma once

// A library that is only ever preloaded; there is nothing to call. See recorder.c.
