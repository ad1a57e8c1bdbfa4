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
        for (const auto &kernel : c.kernels) {
            auto violations = ir::check(*kernel);
            EXPECT_TRUE(violations.empty()) << "case " << i << ": " << violations.front().message;
            EXPECT_EQ(c.inputs.size(), kernel->kernel()->body->arguments().size());
        }
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

TEST(Generator, ProgramsOfSeveralKernelsAreSavedWhole) {
    size_t several = 0, rewritten = 0;
    for (uint64_t i = 0; i < 60; ++i) {
        auto c = generate(Random{9, i});
        auto text = to_text(c);
        auto read = from_text(text, "saved");
        ASSERT_EQ(read.kernels.size(), c.kernels.size());
        EXPECT_EQ(to_text(read), text);
        several += c.kernels.size() > 1;
        // What the first kernel may write and a later one only reads.
        auto first = c.kernels[0]->kernel()->body->arguments();
        auto last = c.kernels.back()->kernel()->body->arguments();
        for (size_t k = 0; k < first.size(); ++k) {
            rewritten += !first[k]->type()->read_only && last[k]->type()->read_only;
        }
    }
    EXPECT_GT(several, 4u);
    EXPECT_GT(rewritten, 4u);
}

TEST(Generator, ErrorsInALaterKernelNameTheLineOfTheFile) {
    try {
        (void)from_text("kernel @a() {\n}\n// then\nkernel @b() {\n  nonsense\n}\n", "saved");
        FAIL() << "no error";
    } catch (const ParseError &e) {
        EXPECT_NE(std::string{e.what()}.find("saved:5:"), std::string::npos) << e.what();
    }
}

TEST(Generator, KernelsRunOneAfterAnother) {
    auto text = R"(// argument f32 view 1 2 1 0 0000000000000000
kernel @a(%0: view<f32, 2>) {
  %1 = constant 1.0 : f32
  %2 = constant 0 : i64
  store %0, %1, %2
}
// then
kernel @b(%0: view<f32, 2>) {
  %1 = constant 0 : i64
  %2 = constant 1 : i64
  %3 = load %0, %1 : f32
  %4 = add %3, %3 : f32
  store %0, %4, %2
}
// then
kernel @c(%0: view<const f32, 2>) {
  %1 = constant 1 : i64
  %2 = load %0, %1 : f32
  %3 = constant 2.0 : f32
  %4 = eq %2, %3 : bool
  assert %4 {message = "the sum"}
}
)";
    auto outcome = execute(from_text(text, "saved"));
    EXPECT_EQ(outcome.kind, OutcomeKind::SAME) << outcome.message;
    std::string wrong = text;
    wrong.replace(wrong.find("constant 2.0"), 12, "constant 3.0");
    EXPECT_EQ(execute(from_text(wrong, "saved")).kind, OutcomeKind::ERROR);
}

TEST(Generator, OrdersOfInstancesAreOneToOne) {
    size_t orders = 0;
    for (uint64_t i = 0; i < 60; ++i) {
        auto c = generate(Random{10, i});
        orders += to_text(c).find("layout = \"", to_text(c).find("parallel")) != std::string::npos;
        for (const auto &kernel : c.kernels) {
            EXPECT_TRUE(ir::check(*kernel).empty());
        }
    }
    EXPECT_GT(orders, 4u);
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
