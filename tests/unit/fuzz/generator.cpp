// SPDX-License-Identifier: Apache-2.0
#include "fuzz/generator.h"
#include "fuzz/execute.h"
#include "ir/verifier.h"

#include <gtest/gtest.h>

#include <algorithm>

// Random programs: valid, the same from the same seed, and saved whole.

namespace luisa::tile::fuzz {
namespace {

TEST(Generator, ProgramsAreValid) {
    for (uint64_t i = 0; i < 100; ++i) {
        auto c = generate(Random{7, i});
        auto violations = ir::check(*c.module);
        EXPECT_TRUE(violations.empty()) << "case " << i << ": " << violations.front().message;
        EXPECT_EQ(c.inputs.size(), c.module->kernel()->body->arguments().size());
    }
}

TEST(Generator, TheSameSeedGivesTheSameProgram) {
    for (uint64_t i = 0; i < 20; ++i) {
        EXPECT_EQ(to_text(generate(Random{7, i})), to_text(generate(Random{7, i})));
    }
    EXPECT_NE(to_text(generate(Random{7, 0})), to_text(generate(Random{7, 1})));
}

TEST(Generator, SavedProgramsHaveTheirInputsAndSettings) {
    size_t aliases = 0;
    for (uint64_t i = 0; i < 40; ++i) {
        auto c = generate(Random{8, i});
        auto read = from_text(to_text(c), "saved");
        EXPECT_EQ(read.settings, c.settings);
        ASSERT_EQ(read.inputs.size(), c.inputs.size());
        for (size_t k = 0; k < c.inputs.size(); ++k) {
            EXPECT_EQ(read.inputs[k].bytes, c.inputs[k].bytes);
            EXPECT_EQ(read.inputs[k].alias, c.inputs[k].alias);
            aliases += c.inputs[k].alias >= 0;
        }
    }
    EXPECT_GT(aliases, 0u);
}

TEST(Generator, ACaseWithAViewOfNoBytesIsRefused) {
    auto text = "// argument f32 view 1 4 1 2 =0\nkernel @k(%0: view<f32, 4>) {\n}\n";
    EXPECT_THROW((void)from_text(text, "saved"), ValueError);
}

TEST(Generator, VariantsHaveEachTargetNumberOfThreadsAndPlan) {
    auto all = variants({});
    for (int threads : {1, 2, 7}) {
        EXPECT_TRUE(std::any_of(all.begin(), all.end(),
                                [&](const Settings &s) { return s.threads == threads; }));
    }
    for (const char *cpu : {"", "x86-64", "x86-64-v3", "x86-64-v4"}) {
        EXPECT_TRUE(
            std::any_of(all.begin(), all.end(), [&](const Settings &s) { return s.cpu == cpu; }));
    }
    EXPECT_TRUE(std::any_of(all.begin(), all.end(),
                            [](const Settings &s) { return s.vector_bytes == 16; }));
    EXPECT_TRUE(
        std::any_of(all.begin(), all.end(), [](const Settings &s) { return s.small_caches; }));
    for (size_t i = 0; i < all.size(); ++i) {
        EXPECT_EQ(std::count(all.begin(), all.end(), all[i]), 1);
    }
}

TEST(Generator, TwoPlacesOfOneMappedStoreAreARace) {
    auto text = R"(// argument f32 view 1 4 1 0 00000000000000000000000000000000
kernel @k(%0: view<f32, 4>) {
  %1 = constant 1.0 : f32
  %2 = constant 0 : tile<i64, a:2>
  store %0, %1, %2 {box = [a:2], mapped = true}
}
)";
    auto outcome = execute(from_text(text, "saved"));
    EXPECT_EQ(outcome.kind, OutcomeKind::RACE);
    EXPECT_NE(outcome.message.find("store: two elements of the tile are mapped to element (0) of "
                                   "parameter 0; give each a place of its own, or use scatter with "
                                   "a reducer"),
              std::string::npos)
        << outcome.message;
}

}// namespace
}// namespace luisa::tile::fuzz
