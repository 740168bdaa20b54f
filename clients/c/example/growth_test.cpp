// Sorting grows like n log n, by GoogleTest. Catch2 takes the same call: REQUIRE(knee_at_most(…) != KNEE_FAILS).
#include "knee.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <vector>

static void sort(void *argument, size_t n) {
    const auto &items = *static_cast<const std::vector<unsigned> *>(argument);
    std::vector<unsigned> copy(items.begin(), items.begin() + n);
    std::sort(copy.begin(), copy.end());
}

TEST(Growth, Sort) {
    std::vector<unsigned> items(100000);
    for (size_t at = 0; at < items.size(); at++) items[at] = static_cast<unsigned>(at * 2654435761u);
    const size_t points[] = {1000, 3000, 10000, 30000, 100000};
    switch (knee_at_most("linearithmic", "sort", sort, &items, points, 5)) {
        case KNEE_HOLDS: break;
        case KNEE_OPEN: GTEST_SKIP() << "open";
        default: FAIL();
    }
}
