// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile/layout_interop.h>

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <sstream>

// What CuTe's own implementation makes of random layouts; tests/tool/check_cute.py writes the cases.

namespace luisa::tile {
namespace {

/// One number a point, the first coordinate fastest, as CuTe counts.
std::vector<int64_t> images_of(const IndexMap &map) {
    const auto &extents = map.domain().extents();
    std::vector<int64_t> images;
    IndexPoint point(extents.size(), 0);
    for (int64_t left = *map.domain().box_size(); left > 0; --left) {
        images.push_back(map(point).at(0));
        for (size_t i = 0; i < point.size() && ++point[i] == extents[i]; ++i) {
            point[i] = 0;
        }
    }
    return images;
}

using Function = std::function<IndexMap(const std::vector<IndexMap> &, int64_t size)>;

const std::pair<const char *, Function> functions[] = {
    {"coalesce", [](const auto &x, int64_t) { return coalesce(x[0]); }},
    {"complement", [](const auto &x, int64_t size) { return complement(x[0], size); }},
    {"composition", [](const auto &x, int64_t) { return layout_compose(x[0], x[1]); }},
    {"logical_divide", [](const auto &x, int64_t) { return logical_divide(x[0], x[1]); }},
    {"zipped_divide",
     [](const auto &x, int64_t) {
         return zipped_divide(x[0], {x.begin() + 1, x.end()});
     }},
    {"logical_product", [](const auto &x, int64_t) { return logical_product(x[0], x[1]); }},
    {"right_inverse", [](const auto &x, int64_t) { return right_inverse(x[0]); }},
};

/// What is wrong with one line: function, size, operands, images; empty if nothing is.
std::string problem_of(const std::string &line) {
    std::istringstream fields{line};
    std::string name, size, texts, numbers;
    std::getline(fields, name, '\t');
    std::getline(fields, size, '\t');
    std::getline(fields, texts, '\t');
    std::getline(fields, numbers, '\t');
    std::vector<IndexMap> operands;
    std::istringstream each{texts};
    for (std::string text; each >> text;) {
        operands.push_back(from_cute(text));
        if (images_of(from_cute(to_cute(operands.back()))) != images_of(operands.back())) {
            return "to_cute: " + to_cute(operands.back());
        }
    }
    std::vector<int64_t> expected;
    std::istringstream list{numbers};
    for (int64_t n = 0; list >> n;) {
        expected.push_back(n);
    }
    for (const auto &[known, function] : functions) {
        if (name == known) {
            auto result = function(operands, std::stoll(size));
            return images_of(result) == expected ? "" : "got " + result.text();
        }
    }
    return "no such function";
}

TEST(CuteOracle, ComputesTheSame) {
    const char *path = std::getenv("LUISA_TILE_CUTE_CASES");
    if (!path) {
        GTEST_SKIP() << "tests/tool/check_cute.py gives the cases";
    }
    std::ifstream file{path};
    size_t count = 0, wrong = 0;
    for (std::string line; std::getline(file, line); ++count) {
        std::string problem;
        try {
            problem = problem_of(line);
        } catch (const Error &e) {
            problem = e.what();
        }
        wrong += !problem.empty();
        if (!problem.empty() && wrong <= 20) {
            ADD_FAILURE() << line << "\n" << problem;
        }
    }
    EXPECT_GT(count, 0u);
    EXPECT_EQ(wrong, 0u) << "of " << count;
}

}// namespace
}// namespace luisa::tile
