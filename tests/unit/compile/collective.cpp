// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile/kernel.h>

#include "compile/cpu.h"
#include "frontend/kernel_access.h"
#include "ir/clone.h"
#include "ir/text.h"
#include "ir/verifier.h"
#include "transform/collective.h"

#include <gtest/gtest.h>

#include <functional>

// Where the work of a collective update runs: square roots stand for it.

namespace luisa::tile::test {

namespace {

using View1 = TensorView<float, 1>;

void visit(const ir::Region &region, const std::function<void(const ir::Operation &)> &f) {
    for (auto *op : region) {
        f(*op);
        for (auto *inner : op->regions()) {
            visit(*inner, f);
        }
    }
}

/// How many loops of the given kind stand around each square root.
std::vector<int> depths(const ir::Module &module, ir::Opcode loop) {
    std::vector<int> list;
    for (const auto &function : module.functions()) {
        visit(*function.body, [&](const ir::Operation &op) {
            if (op.opcode() != ir::Opcode::SQRT) {
                return;
            }
            int depth = 0;
            for (auto *parent = op.parent(); parent; parent = parent->parent()) {
                depth += parent->opcode() == loop;
            }
            list.push_back(depth);
        });
    }
    return list;
}

std::vector<int> machine_depths(const Kernel &kernel) {
    auto text = compiler::forms_cpu(*module_of(kernel), {emit::host_cpu(), 1, false}, false, false);
    return depths(*ir::parse(text.machine, "machine"), ir::Opcode::FOR);
}

std::unique_ptr<ir::Module> hoisted(const Kernel &kernel, bool may_alias = false) {
    auto module = ir::clone(*module_of(kernel));
    transform::hoist_collective_updates(*module, may_alias);
    ir::verify(*module);
    return module;
}

}// namespace

TEST(CollectiveUpdates, run_outside_the_loops_over_instances) {
    auto def = tile_kernel([](View1 X, View1 Y) {
        Scalar<float> a = X[coord(0)];
        for (auto &outer : parallel(shape(7, 9))) {
            for ([[maybe_unused]] auto &inner : outer.parallel(shape(5))) {
                a = sqrt(a + 1.0f);
            }
        }
        Y(0).store(a);
    });
    auto kernel = def.capture(tensor_shape(4), tensor_shape(4));
    EXPECT_EQ(depths(*module_of(kernel), ir::Opcode::PARALLEL), (std::vector<int>{2}));
    EXPECT_EQ(depths(*hoisted(kernel), ir::Opcode::PARALLEL), (std::vector<int>{0}));
    EXPECT_EQ(machine_depths(kernel), (std::vector<int>{0}));
}

TEST(CollectiveUpdates, run_once_for_a_domain_that_only_the_launch_knows) {
    auto def = tile_kernel([](View1 X, View1 Y) {
        auto k = axis("k", 4);
        auto t = X[coord(0), shape(k)];
        for (auto &nest : parallel(shape(X.extent(0)))) {
            t = sqrt(t);
            X(nest.index()).store(1.0f);
        }
        Y(coord(0), shape(k)).store(t);
    });
    auto kernel = def.capture(tensor_shape(dynamic("n")), tensor_shape(4));
    auto module = hoisted(kernel);
    EXPECT_EQ(depths(*module, ir::Opcode::PARALLEL), (std::vector<int>{0}));
    EXPECT_EQ(depths(*module, ir::Opcode::IF), (std::vector<int>{1}));
}

TEST(CollectiveUpdates, leave_the_work_of_each_instance_inside) {
    auto def = tile_kernel([](View1 X, View1 Y) {
        Scalar<float> a = X[coord(0)];
        for (auto &outer : parallel(shape(3))) {
            auto root = sqrt(a);
            a = root + 1.0f;
            Y(outer.index()).store(root);
        }
        Y(3).store(a);
    });
    auto module = hoisted(def.capture(tensor_shape(4), tensor_shape(4)));
    EXPECT_EQ(depths(*module, ir::Opcode::PARALLEL), (std::vector<int>{0, 1}));
}

TEST(CollectiveUpdates, take_one_state_out_of_a_loop_and_leave_the_other) {
    auto def = tile_kernel([](View1 X, View1 Y) {
        Scalar<float> a = X[coord(0)];
        for (auto &outer : parallel(shape(3))) {
            Scalar<float> own = 0.0f;
            for (auto &step : outer.serial(shape(5))) {
                a = sqrt(a);
                own = own + X[coord(outer.index() + step.index())];
                Y(outer.index() * 5 + step.index()).store(own);
            }
        }
        Y(15).store(a);
    });
    auto module = hoisted(def.capture(tensor_shape(8), tensor_shape(16)));
    EXPECT_EQ(depths(*module, ir::Opcode::PARALLEL), (std::vector<int>{0}));
    size_t loops = 0;
    visit(*module->kernel()->body, [&](const ir::Operation &op) {
        if (op.opcode() == ir::Opcode::SERIAL) {
            ++loops;
            EXPECT_EQ(op.result_count(), 1u);
        }
    });
    EXPECT_EQ(loops, 2u);
}

TEST(CollectiveUpdates, stay_inside_only_between_stores_of_what_may_be_one_instance) {
    auto def = tile_kernel([](View1 X, View1 Y, View1 Z) {
        Scalar<float> a = 0.0f;
        for (auto &nest : parallel(shape(Z.extent(0)))) {
            X(nest.index()).store(3.0f);
            a = sqrt(X[coord(0)]);
            Z(nest.index()).store(4.0f);
        }
        Y(0).store(a);
    });
    auto one = def.capture(tensor_shape(4), tensor_shape(4), tensor_shape(dynamic("n")));
    EXPECT_EQ(depths(*hoisted(one), ir::Opcode::PARALLEL), (std::vector<int>{0}));
    EXPECT_EQ(depths(*hoisted(one, true), ir::Opcode::PARALLEL), (std::vector<int>{1}));
    auto several = def.capture(tensor_shape(4), tensor_shape(4), tensor_shape(2));
    EXPECT_EQ(depths(*hoisted(several, true), ir::Opcode::PARALLEL), (std::vector<int>{0}));
}

}// namespace luisa::tile::test
