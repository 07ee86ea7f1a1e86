// Canary requests with real processes.
#include <doctest/doctest.h>
