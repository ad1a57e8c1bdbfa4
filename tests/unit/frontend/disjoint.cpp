// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile/kernel.h>

#include "frontend/kernel_access.h"
#include "ir/disjoint.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <random>

// Whether instances of a parallel store to elements of their own: proofs beside an enumeration of all writes.

namespace luisa::tile {

namespace {

struct StoreCase {
    int64_t rows, columns, steps, box, extent;
    int64_t by_row, by_column, by_step, origin;
};

Kernel capture_store(const StoreCase &c) {
    return tile_kernel([=](TensorView<float, 1> Y) {
               auto i = axis("i", c.box);
               for (auto &nest : parallel(shape(c.rows, c.columns))) {
                   for (auto &step : nest.serial(shape(c.steps))) {
                       auto at = nest.index(0) * c.by_row + nest.index(1) * c.by_column +
                                 step.index() * c.by_step + c.origin;
                       Y(coord(at), shape(i)).store(full<float>(shape(i), 1.0f));
                   }
               }
           })
        .capture(tensor_shape(c.extent));
}

bool collides(const StoreCase &c) {
    std::map<int64_t, int64_t> writer;
    for (int64_t instance = 0; instance < c.rows * c.columns; ++instance) {
        for (int64_t step = 0; step < c.steps; ++step) {
            for (int64_t q = 0; q < c.box; ++q) {
                auto at = instance / c.columns * c.by_row + instance % c.columns * c.by_column +
                          step * c.by_step + c.origin + q;
                if (at >= 0 && at < c.extent &&
                    writer.emplace(at, instance).first->second != instance) {
                    return true;
                }
            }
        }
    }
    return false;
}

const ir::Operation *first_of(const ir::Region &region, ir::Opcode opcode) {
    for (auto *op : region) {
        if (op->opcode() == opcode) {
            return op;
        }
        for (auto *inner : op->regions()) {
            if (const auto *found = first_of(*inner, opcode)) {
                return found;
            }
        }
    }
    return nullptr;
}

Proof proof_of(const Kernel &kernel) {
    const auto &body = *module_of(kernel)->kernel()->body;
    return ir::prove_disjoint(*first_of(body, ir::Opcode::STORE),
                              *first_of(body, ir::Opcode::PARALLEL))
        .proof;
}

}// namespace

TEST(Disjoint, agrees_with_all_writes) {
    std::mt19937 engine{7};
    auto any = [&](int64_t low, int64_t high) {
        return low + static_cast<int64_t>(engine() % static_cast<uint32_t>(high - low + 1));
    };
    int proven = 0, disproven = 0, unknown = 0;
    for (int i = 0; i < 600; ++i) {
        StoreCase c{any(1, 4),  any(1, 4),  any(1, 3),  any(1, 4), any(1, 40),
                    any(-3, 9), any(-3, 5), any(-2, 3), any(-4, 8)};
        SCOPED_TRACE(i);
        try {
            auto kernel = capture_store(c);
            auto proof = proof_of(kernel);
            proven += proof == Proof::PROVEN;
            unknown += proof == Proof::UNKNOWN;
            ASSERT_NE(proof, Proof::DISPROVEN);
            ASSERT_FALSE(proof == Proof::PROVEN && collides(c));
        } catch (const RaceError &) {
            ++disproven;
            ASSERT_TRUE(collides(c));
        }
    }
    EXPECT_GT(proven, 60);
    EXPECT_GT(disproven, 150);
    EXPECT_LT(unknown, 250);// collisions that lie outside of the view, or near its ends only
}

TEST(Disjoint, is_proven_for_extents_that_a_launch_sets) {
    auto blocks = tile_kernel([](TensorView<float, 2> Y) {
        auto m = axis("m", 128), n = axis("n", 64);
        for (auto &nest : parallel(shape(ceil_div(Y.extent(0), 128), ceil_div(Y.extent(1), 64)))) {
            for (auto &step : nest.serial(range(0, 4))) {
                Y(coord(nest.index(0) * 128, nest.index(1) * 64), shape(m, n))
                    .store(full<float>(shape(m, n), cast<float>(step.index())));
            }
        }
    });
    EXPECT_EQ(proof_of(blocks.capture(tensor_shape(dynamic("a"), dynamic("b")))), Proof::PROVEN);
}

TEST(Disjoint, is_unknown_where_data_or_a_launch_decides) {
    auto by_data = tile_kernel([](TensorView<const int64_t, 1> P, TensorView<float, 1> Y) {
        for (auto &nest : parallel(shape(8))) {
            Y(P(nest.index()).load()).store(1.0f);
        }
    });
    EXPECT_EQ(proof_of(by_data.capture(tensor_shape(8), tensor_shape(8))), Proof::UNKNOWN);
    auto by_branch = tile_kernel([](TensorView<float, 1> Y) {
        for (auto &nest : parallel(shape(8))) {
            if_(nest.index() == 3, [&] { Y(0).store(1.0f); });
        }
    });
    EXPECT_EQ(proof_of(by_branch.capture(tensor_shape(8))), Proof::UNKNOWN);
    auto by_launch = tile_kernel([](TensorView<const float, 1> X, TensorView<float, 1> Y) {
        for (auto &nest : parallel(shape(X.extent(0)))) {
            Y(nest.index() * 0).store(1.0f);
        }
    });
    EXPECT_EQ(proof_of(by_launch.capture(tensor_shape(dynamic("n")), tensor_shape(8))),
              Proof::UNKNOWN);
    auto by_begin = tile_kernel([](TensorView<float, 1> Y) {
        for (auto &nest : parallel(shape(4))) {
            for (auto &step : nest.serial(range(0 - nest.index() * nest.index(), 1, 1))) {
                Y(nest.index() + step.index()).store(1.0f);
            }
        }
    });
    EXPECT_EQ(proof_of(by_begin.capture(tensor_shape(8))), Proof::UNKNOWN);
}

}// namespace luisa::tile
