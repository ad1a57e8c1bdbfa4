// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile/fuzz.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

// Programs of tests/conformance/saved/, as `luisa-tile fuzz` writes them, on which the back ends once
// disagreed.

namespace {

std::vector<std::string> saved_programs() {
    std::vector<std::string> names;
    for (const auto &file :
         std::filesystem::directory_iterator{LUISA_TILE_TESTS_DIR "/conformance/saved"}) {
        names.push_back(file.path().stem().string());
    }
    std::sort(names.begin(), names.end());
    return names;
}

class Regressions : public ::testing::TestWithParam<std::string> {};

TEST_P(Regressions, BackEndsAgree) {
    auto path = std::string{LUISA_TILE_TESTS_DIR "/conformance/saved/"} + GetParam() + ".tir";
    std::ifstream file{path};
    std::ostringstream text;
    text << file.rdbuf();
    EXPECT_EQ(luisa::tile::fuzz_replay(text.str(), path), "");
}

INSTANTIATE_TEST_SUITE_P(Saved, Regressions, ::testing::ValuesIn(saved_programs()),
                         [](const auto &p) { return p.param; });

}// namespace
