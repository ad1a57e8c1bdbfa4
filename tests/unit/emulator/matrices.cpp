// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulator/matrix.h"
#include "types/convert.h"
#include "unit/emulator/machine.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

// Products of matrices that a warp holds, and loads of their parts.

namespace luisa::tile::test {

namespace {

using target::MatrixRole;

/// Every atom with numbers of this many bits, whose products are exact.
void expect_product(const target::MatrixAtom &atom) {
    int sizes[3][2] = {{atom.m, atom.k}, {atom.k, atom.n}, {atom.m, atom.n}};
    ScalarType types[3] = {atom.a, atom.b, atom.sum};
    std::vector<double> values[3];
    for (int which = 0; which < 3; ++which) {
        auto count = static_cast<size_t>(sizes[which][0] * sizes[which][1]);
        for (size_t i = 0; i < count; ++i) {
            values[which].push_back(static_cast<double>((i * 7 + static_cast<size_t>(which)) % 8));
        }
    }
    std::vector<char> memory[3];
    std::vector<emulator::LaneMatrices> lanes(32);
    for (int which = 0; which < 3; ++which) {
        auto layout = target::fragment_layout(atom, static_cast<MatrixRole>(which));
        auto bytes = size_of(types[which]);
        auto own = static_cast<size_t>(layout.elements) * bytes;
        memory[which].resize(32 * own);
        for (int lane = 0; lane < 32; ++lane) {
            auto *start = memory[which].data() + static_cast<size_t>(lane) * own;
            for (int e = 0; e < layout.elements; ++e) {
                auto place = layout.at(lane, e);
                auto x =
                    values[which][static_cast<size_t>(place.row * sizes[which][1] + place.column)];
                auto bits = is_float(types[which]) && bytes == 1
                                ? arith::quantize(types[which], x, true)
                                : arith::from_double(types[which], x);
                std::memcpy(start + static_cast<size_t>(e) * bytes, &bits, bytes);
            }
            auto &l = lanes[static_cast<size_t>(lane)];
            if (which == 2) {
                l.sum = start;
            } else {
                (which == 0 ? l.a : l.b) = start;
            }
        }
    }
    emulator::multiply(atom, lanes);
    auto layout = target::fragment_layout(atom, MatrixRole::SUM);
    auto bytes = size_of(atom.sum);
    for (int lane = 0; lane < 32; ++lane) {
        for (int e = 0; e < layout.elements; ++e) {
            auto place = layout.at(lane, e);
            double wanted = values[2][static_cast<size_t>(place.row * atom.n + place.column)];
            for (int k = 0; k < atom.k; ++k) {
                wanted += values[0][static_cast<size_t>(place.row * atom.k + k)] *
                          values[1][static_cast<size_t>(k * atom.n + place.column)];
            }
            uint64_t bits = 0;
            std::memcpy(&bits,
                        static_cast<char *>(lanes[static_cast<size_t>(lane)].sum) +
                            static_cast<size_t>(e) * bytes,
                        bytes);
            ASSERT_EQ(arith::to_double(atom.sum, bits), wanted) << atom.instruction();
        }
    }
}

}// namespace

TEST(EmulatorMatrices, products_of_small_integers_are_exact) {
    for (const auto &atom : target::matrix_atoms()) {
        expect_product(atom);
    }
}

TEST(EmulatorMatrices, a_sum_is_rounded_once) {
    // 2^24 + 1 + 2^-24 in f32: the first sum alone would be a tie to even.
    const auto &atom = *target::find_atom(ScalarType::BFLOAT16, ScalarType::BFLOAT16,
                                          ScalarType::FLOAT32, 16, 8, 16);
    std::vector<uint16_t> a(32 * 8, 0), b(32 * 4, 0);
    std::vector<float> sums(32 * 4, 16777216.f);
    for (int lane = 0; lane < 32; ++lane) {
        auto left = target::fragment_layout(atom, MatrixRole::A);
        for (int e = 0; e < left.elements; ++e) {
            auto k = left.at(lane, e).column;
            auto x = k == 0 ? 1.0 : k == 1 ? std::ldexp(1.0, -12) : 0.0;
            a[static_cast<size_t>(lane * 8 + e)] = arith::bfloat16_from_double(x);
        }
        auto right = target::fragment_layout(atom, MatrixRole::B);
        for (int e = 0; e < right.elements; ++e) {
            auto k = right.at(lane, e).row;
            auto x = k == 0 ? 1.0 : k == 1 ? std::ldexp(1.0, -12) : 0.0;
            b[static_cast<size_t>(lane * 4 + e)] = arith::bfloat16_from_double(x);
        }
    }
    std::vector<emulator::LaneMatrices> lanes;
    for (size_t lane = 0; lane < 32; ++lane) {
        lanes.push_back({&a[lane * 8], &b[lane * 4], &sums[lane * 4]});
    }
    emulator::multiply(atom, lanes);
    for (float x : sums) {
        EXPECT_EQ(x, 16777218.f);
    }
}

TEST(EmulatorMatrices, lanes_get_their_parts_of_rows_and_of_columns) {
    for (bool transposed : {false, true}) {
        TeamProgram p{std::string{R"(
  %t = participant {kind = thread} : i64
  %s = shared {offset = 0} : ptr
  %A = argument %args {index = 0} : ptr
  %own = address %s, %t {scale = 16} : ptr
  %from = address %A, %t {scale = 16} : ptr
  %x = read %from {align = 16} : <4 x u32>
  write %own, %x {align = 16}
  barrier
  %m = load_matrix %own {count = 4)"} +
                          (transposed ? ", transposed = true" : "") + R"(} : <8 x f16>
  %w = bitcast %m : <8 x u16>
  write %from, %w {align = 16})",
                      128, true};
        // Element c of row r of matrix i is 64 i + 8 r + c.
        for (size_t i = 0; i < 128; ++i) {
            p.memory[i] = static_cast<uint32_t>(2 * i | (2 * i + 1) << 16);
        }
        p.run();
        for (uint32_t lane = 0; lane < 32; ++lane) {
            for (uint32_t e = 0; e < 8; ++e) {
                auto matrix = e / 2, line = lane / 4, along = 2 * (lane % 4) + e % 2;
                auto wanted = 64 * matrix + (transposed ? 8 * along + line : 8 * line + along);
                auto word = p.memory[lane * 4 + e / 2];
                EXPECT_EQ(word >> 16 * (e % 2) & 0xffff, wanted) << lane << ' ' << e;
            }
        }
    }
}

}// namespace luisa::tile::test
