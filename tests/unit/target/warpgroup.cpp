// SPDX-License-Identifier: Apache-2.0
#include "target/warpgroup.h"

#include <gtest/gtest.h>

#include <set>

// Which sums the threads of a warpgroup hold, and where descriptors say that elements lie.

namespace luisa::tile::target {

TEST(Warpgroups, threads_hold_the_sums_that_the_instruction_gives_them) {
    // PTX ISA, "Register Fragments for wgmma.mma_async.m64nNk16", matrix D: row and column of element i.
    for (int n : {8, 24, 64, 128, 256}) {
        std::set<std::pair<int, int>> seen;
        for (int thread = 0; thread < PanelAtom::threads; ++thread) {
            for (int i = 0; i < n / 2; ++i) {
                int row = thread / 32 * 16 + thread % 32 / 4 + (i / 2 % 2) * 8;
                int column = i / 4 * 8 + thread % 4 * 2 + i % 2;
                auto place = panel_sum_at(thread, i);
                ASSERT_EQ(place.row, row) << thread << ' ' << i;
                ASSERT_EQ(place.column, column) << thread << ' ' << i;
                seen.insert({row, column});
            }
        }
        EXPECT_EQ(seen.size(), static_cast<size_t>(64 * n));
    }
}

TEST(Warpgroups, descriptors_say_what_they_were_made_of) {
    PanelDescriptor made{0x2c00, 8192, 1024};
    EXPECT_EQ(made.bits(), uint64_t{1} << 62 | uint64_t{64} << 32 | uint64_t{512} << 16 | 0x2c0);
    auto found = PanelDescriptor::of(made.bits());
    EXPECT_EQ(found.start, made.start);
    EXPECT_EQ(found.leading, made.leading);
    EXPECT_EQ(found.stride, made.stride);
    // A step of sixteen elements of two bytes further.
    EXPECT_EQ(PanelDescriptor::of(made.bits() + 2).start, made.start + 32);
}

TEST(Warpgroups, units_of_eight_lines_change_places) {
    // Lines along the steps: row 9, step 17 of two bytes is in unit 2 of line 1 of the second atom.
    PanelDescriptor along{1024, 16, 1024};
    EXPECT_EQ(along.along(9, 17, 2), 1024 + 1024 + 128 + (2 ^ 1) * 16 + 2);
    // From a step on that a descriptor was moved to.
    PanelDescriptor moved{1024 + 32, 16, 1024};
    EXPECT_EQ(moved.along(9, 1, 2), along.along(9, 17, 2));
    // Lines across them: row 70 of step 11 is in the second 64 rows, unit 0 of line 3 of the second eight steps.
    PanelDescriptor across{2048, 8192, 1024};
    EXPECT_EQ(across.across(70, 11, 2), 2048 + 8192 + 1024 + 3 * 128 + (0 ^ 3) * 16 + 12);
}

TEST(Warpgroups, all_elements_of_a_matrix_have_places_of_their_own) {
    for (bool across : {false, true}) {
        PanelDescriptor matrix{0, 64 * 128, 1024};
        std::set<int64_t> places;
        for (int row = 0; row < 128; ++row) {
            for (int step = 0; step < 64; ++step) {
                places.insert(across ? matrix.across(row, step, 2) : matrix.along(row, step, 2));
            }
        }
        EXPECT_EQ(places.size(), 128u * 64);
        EXPECT_EQ(*places.rbegin(), 128 * 64 * 2 - 2);
    }
}

TEST(Warpgroups, the_table_names_instructions) {
    const auto *atom = find_panel_atom(ScalarType::BFLOAT16, ScalarType::BFLOAT16,
                                       ScalarType::FLOAT32);
    ASSERT_NE(atom, nullptr);
    EXPECT_EQ(atom->instruction(96), "wgmma.mma_async.sync.aligned.m64n96k16.f32.bf16.bf16");
    EXPECT_EQ(find_panel_atom(ScalarType::FLOAT64, ScalarType::FLOAT64, ScalarType::FLOAT64),
              nullptr);
}

}// namespace luisa::tile::target
