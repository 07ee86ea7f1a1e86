// Canary requests on fake leaves over loopback.
#include <doctest/doctest.h>
