// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile/contract_scan.h>
#include <luisa/tile/contracts.h>
#include <luisa/tile/scan.h>

#include "ir/text.h"
#include "support/both.h"

// Scans take work in proportion to the length of the axis: counted in the Machine form, where every loop of these
// kernels has a known number of steps.

using namespace luisa::tile;
using namespace luisa::tile::test;

namespace {

/// Operations that the region runs once, loops as often as they turn.
double executed(const ir::Region &region) {
    double total = 0;
    auto constant = [](const ir::Value *v, double otherwise) {
        auto *op = v->definition();
        return op && op->opcode() == ir::Opcode::CONSTANT
                   ? static_cast<double>(static_cast<int64_t>(op->get<ir::ConstantPayload>().bits))
                   : otherwise;
    };
    for (auto *op : region) {
        EXPECT_NE(op->opcode(), ir::Opcode::WHILE) << "turns that nobody can count";
        double inner = 1;
        for (auto *body : op->regions()) {
            inner += executed(*body);
        }
        if (op->opcode() == ir::Opcode::FOR) {
            // The loop over tasks is the one whose bounds are arguments: there is one task.
            auto begin = constant(op->operand(0), 0), end = constant(op->operand(1), 1);
            auto step = constant(op->operand(2), 1);
            inner = 1 + std::max(std::ceil((end - begin) / step), 0.0) * inner;
        }
        total += inner;
    }
    return total;
}

template<class F> double work_of(int64_t rows, int64_t n, bool inner, const F &f) {
    auto def = tile_kernel([=](TensorView<const float, 2> X, TensorView<float, 2> Y) {
        for ([[maybe_unused]] auto &root : parallel(shape(1))) {
            auto row = axis("row", rows), item = axis("item", n);
            auto space = inner ? shape(row, item) : shape(item, row);
            Y(coord(0, 0), space).store(f(Tile<float>{X[coord(0, 0), space]}, item));
        }
    });
    auto shape = inner ? tensor_shape(rows, n) : tensor_shape(n, rows);
    auto kernel = def.capture(shape, shape);
    auto forms = compiler::forms_cpu(*module_of(kernel), {emit::host_cpu(), 1, false, {}}, false,
                                     false);
    double work = 0;
    auto machine = ir::parse(forms.machine);
    for (const auto &function : machine->functions()) {
        work += executed(*function.body);
    }
    return work;
}

/// Eight times the elements take at most `most` times the work.
template<class F> void expect_linear(const char *what, const F &f, double most = 8.5) {
    for (int64_t rows : {1, 3, 40}) {
        for (bool inner : {true, false}) {
            auto small = work_of(rows, 1024, inner, f), large = work_of(rows, 8192, inner, f);
            EXPECT_GT(large, 7 * small / 2) << what << ": the count sees the loops";
            EXPECT_LT(large, most * small)
                << what << ", " << rows << " lines, " << (inner ? "neighbours" : "columns");
        }
    }
}

}// namespace

TEST(ScanWork, is_linear_in_the_axis) {
    for (auto policy : {reduction::fold_left, reduction::ordered_tree}) {
        expect_linear("scan", [=](const Tile<float> &x, const Axis &i) {
            return scan(x, i, add, {.policy = policy});
        });
    }
    // Each prefix is a tree of its own, which joins as many complete trees as its length has ones.
    expect_linear(
        "scan by balanced trees",
        [](const Tile<float> &x, const Axis &i) {
            return scan(x, i, add, {.policy = reduction::balanced_tree});
        },
        8 * 1.45);
    for (auto policy : {reduction::fold_left, reduction::ordered_tree}) {
        expect_linear("scan by a contract", [=](const Tile<float> &x, const Axis &i) {
            ContractScanOptions<AffineState<float>> options;
            options.policy = policy;
            return scan(AffineState<float>{x, x}, i, affine_composition, options).offset;
        });
    }
    expect_linear("segmented sums", [](const Tile<float> &x, const Axis &i) {
        return segmented_scan(x, x > 0.5f, i, add);
    });
    expect_linear("segmented maxima", [](const Tile<float> &x, const Axis &i) {
        return segmented_scan(x, x > 0.5f, i, maximum, {.reverse = true});
    });
}
