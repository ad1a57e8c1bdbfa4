// SPDX-License-Identifier: Apache-2.0
#include "target/cuda.h"

#include <gtest/gtest.h>

#include <set>
#include <utility>

// The tables of fragments against the definition of the instructions.

namespace luisa::tile::target {

namespace {

using enum MatrixRole;

struct Held {
    int row, column;
};

/// PTX ISA, "Matrix fragments for mma.m16n8k16 with floating point type" and its kin, by what an element is called
/// there: lane = 4 · group + in_group.
Held defined_16_bit(MatrixRole role, int k, int lane, int i) {
    int group = lane / 4, in_group = lane % 4;
    switch (role) {
        case A: {
            bool upper = k == 16 ? (i < 2) || (i >= 4 && i < 6) : i < 2;
            return {upper ? group : group + 8, in_group * 2 + (i & 1) + (i >= 4 ? 8 : 0)};
        }
        case B: return {in_group * 2 + (i & 1) + (i >= 2 ? 8 : 0), group};
        default: return {i < 2 ? group : group + 8, in_group * 2 + (i & 1)};
    }
}

Held defined_8_bit(MatrixRole role, int lane, int i) {
    int group = lane / 4, in_group = lane % 4;
    switch (role) {
        case A: {
            bool upper = i < 4 || (i >= 8 && i < 12);
            return {upper ? group : group + 8, in_group * 4 + (i & 3) + (i >= 8 ? 16 : 0)};
        }
        case B: return {in_group * 4 + (i & 3) + (i >= 4 ? 16 : 0), group};
        default: return {i < 2 ? group : group + 8, in_group * 2 + (i & 1)};
    }
}

Held defined_tf32(MatrixRole role, int lane, int i) {
    int group = lane / 4, in_group = lane % 4;
    switch (role) {
        case A: return {i == 0 || i == 2 ? group : group + 8, i < 2 ? in_group : in_group + 4};
        case B: return {i == 0 ? in_group : in_group + 4, group};
        default: return {i < 2 ? group : group + 8, in_group * 2 + (i & 1)};
    }
}

Held defined_f64(MatrixRole role, int lane, int i) {
    int group = lane / 4, in_group = lane % 4;
    switch (role) {
        case A: return {group, in_group};
        case B: return {in_group, group};
        default: return {group, in_group * 2 + (i & 1)};
    }
}

template<class F> void expect_layout(const MatrixAtom &atom, const F &defined) {
    for (auto role : {A, B, SUM}) {
        auto layout = fragment_layout(atom, role);
        for (int lane = 0; lane < 32; ++lane) {
            for (int i = 0; i < layout.elements; ++i) {
                auto place = layout.at(lane, i);
                auto wanted = defined(role, lane, i);
                ASSERT_EQ(place.row, wanted.row)
                    << atom.instruction() << " lane " << lane << ' ' << i;
                ASSERT_EQ(place.column, wanted.column)
                    << atom.instruction() << " lane " << lane << ' ' << i;
            }
        }
    }
}

}// namespace

TEST(Fragments, every_element_is_held_once) {
    for (const auto &atom : matrix_atoms()) {
        for (auto role : {A, B, SUM}) {
            auto layout = fragment_layout(atom, role);
            int rows = role == B ? atom.k : atom.m, columns = role == A ? atom.k : atom.n;
            EXPECT_EQ(layout.elements * 32, rows * columns) << atom.instruction();
            std::set<std::pair<int, int>> held;
            for (int lane = 0; lane < 32; ++lane) {
                for (int i = 0; i < layout.elements; ++i) {
                    auto place = layout.at(lane, i);
                    EXPECT_TRUE(place.row >= 0 && place.row < rows && place.column >= 0 &&
                                place.column < columns)
                        << atom.instruction();
                    EXPECT_TRUE(held.insert({place.row, place.column}).second)
                        << atom.instruction();
                }
            }
        }
    }
}

TEST(Fragments, lie_as_the_instructions_define) {
    for (const auto &atom : matrix_atoms()) {
        auto bytes = size_of(atom.a);
        if (bytes == 2 && size_of(atom.sum) == 4) {
            expect_layout(atom, [&](auto role, int lane, int i) {
                return defined_16_bit(role, atom.k, lane, i);
            });
        } else if (bytes == 1 && atom.k == 32) {
            expect_layout(atom, defined_8_bit);
        } else if (atom.fraction_bits == 10 && atom.k == 8) {
            expect_layout(atom, defined_tf32);
        } else if (bytes == 8 && atom.m == 8) {
            expect_layout(atom, defined_f64);
        }
    }
}

TEST(Fragments, atoms_are_found_by_types_and_shape) {
    for (const auto &atom : matrix_atoms()) {
        EXPECT_EQ(find_atom(atom.a, atom.b, atom.sum, atom.m, atom.n, atom.k), &atom);
    }
    EXPECT_EQ(find_atom(ScalarType::FLOAT32, ScalarType::FLOAT32, ScalarType::FLOAT32, 16, 8, 16),
              nullptr);
}

}// namespace luisa::tile::target
