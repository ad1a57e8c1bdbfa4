// SPDX-License-Identifier: Apache-2.0
#include "target/cpu.h"

#include <gtest/gtest.h>

#include <string>

namespace luisa::tile::target {

TEST(CpuLevels, names_are_found_exactly) {
    for (const auto &level : cpu_levels()) {
        EXPECT_EQ(find_cpu_level(level.name), &level);
    }
    EXPECT_EQ(find_cpu_level(""), nullptr);
    EXPECT_EQ(find_cpu_level("x86-64-v"), nullptr);
    EXPECT_EQ(find_cpu_level("x86-64-v33"), nullptr);
}

#if defined(__x86_64__)
TEST(CpuLevels, each_level_has_the_vectors_of_its_name) {
    struct Row {
        const char *name;
        int vector_bytes, registers;
    };
    for (const auto &row : {Row{"x86-64", 16, 16}, {"x86-64-v3", 32, 16}, {"x86-64-v4", 64, 32}}) {
        const auto *level = find_cpu_level(row.name);
        ASSERT_NE(level, nullptr) << row.name;
        auto facts = cpu_facts(level->features, 3);
        EXPECT_EQ(facts.vector_bytes, row.vector_bytes) << row.name;
        EXPECT_EQ(facts.vector_registers, row.registers) << row.name;
        EXPECT_EQ(facts.threads, 3);
    }
}

TEST(CpuFacts, products_of_narrow_elements_need_their_features) {
    const std::string vectors = "+avx2,+avx512f,+avx512vl,+avx512bw";
    auto plain = cpu_facts(vectors, 1);
    EXPECT_FALSE(plain.dot_bf16 || plain.dot_int8 || plain.matrix_bf16 || plain.matrix_int8);
    auto dots = cpu_facts(vectors + ",+avx512bf16,+avx512vnni,-amx-tile,-amx-bf16", 1);
    EXPECT_TRUE(dots.dot_bf16 && dots.dot_int8 && !dots.matrix_bf16 && !dots.matrix_int8);
    auto all = cpu_facts(vectors + ",+avx512bf16,+avx512vnni,+amx-tile,+amx-bf16,+amx-int8", 1);
    EXPECT_TRUE(all.matrix_bf16 && all.matrix_int8);
    // An AVX2 processor has dot products of bytes only.
    auto client = cpu_facts("+avx2,+avxvnni", 1);
    EXPECT_TRUE(client.dot_int8 && !client.dot_bf16);
}

TEST(CpuLevels, a_higher_level_runs_only_where_the_lower_ones_do) {
    bool below = true;
    for (const auto &level : cpu_levels()) {
        EXPECT_TRUE(below || !level.runs_here()) << level.name;
        below = level.runs_here();
    }
}

TEST(CpuLevels, messages_list_this_machine_first) {
    EXPECT_EQ(cpu_names("some-cpu", false),
              "\"some-cpu\" (this machine), \"x86-64\", \"x86-64-v3\", \"x86-64-v4\"");
    auto runnable = cpu_names("some-cpu", true);
    EXPECT_EQ(runnable.find("\"some-cpu\" (this machine), \"x86-64\""), 0u) << runnable;
    for (const auto &level : cpu_levels()) {
        EXPECT_EQ(runnable.find(std::string{"\""} + level.name + "\"") != std::string::npos,
                  level.runs_here())
            << level.name;
    }
}
#endif

}// namespace luisa::tile::target
