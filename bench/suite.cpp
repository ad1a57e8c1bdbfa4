// SPDX-License-Identifier: Apache-2.0
#include "suite.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string_view>

namespace bench {

namespace {

std::vector<Suite> &registry() {
    static std::vector<Suite> suites;
    return suites;
}

}// namespace

const std::vector<Suite> &all_suites() { return registry(); }

Registered::Registered(Suite suite) {
    auto &suites = registry();
    auto after = [](const Suite &a, const Suite &b) {
        return std::string_view{a.name} < std::string_view{b.name};
    };
    suites.insert(std::upper_bound(suites.begin(), suites.end(), suite, after), suite);
}

void fill(float *data, int64_t count, uint32_t seed) {
    std::mt19937 engine{seed};
    std::uniform_real_distribution<float> uniform{-1, 1};
    std::generate_n(data, count, [&] { return uniform(engine); });
}

void fill_nan(float *data, int64_t count) {
    std::fill_n(data, count, std::numeric_limits<float>::quiet_NaN());
}

double max_error(const float *values, const std::vector<double> &expected) {
    double worst = 0, largest = 0;
    for (size_t i = 0; i < expected.size(); ++i) {
        auto error = std::fabs(static_cast<double>(values[i]) - expected[i]);
        if (std::isnan(error)) {
            return std::numeric_limits<double>::infinity();
        }
        worst = std::max(worst, error);
        largest = std::max(largest, std::fabs(expected[i]));
    }
    return largest > 0 ? worst / largest : worst;
}

}// namespace bench
