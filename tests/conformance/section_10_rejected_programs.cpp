// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile.h>

#include "support/both.h"

// What a rejected program leaves behind: an error of its own class, and a library that goes on.

using namespace luisa::tile;
using namespace luisa::tile::test;

TEST(RejectedPrograms, a_failed_capture_leaves_nothing_behind) {
    auto def = tile_kernel([](TensorView<const float, 1> X, TensorView<float, 1> Y) {
        auto i = axis("i", 4);
        auto x = X[coord(0), shape(i)];
        for (auto &nest : parallel(shape(3))) {
            Y(coord(nest.index() * 4), shape(i)).store(reshape(x, shape(X.extent(0) - 8)));
        }
    });
    EXPECT_THROW((void)def.capture(tensor_shape(13), tensor_shape(12)), ShapeError);
    EXPECT_THROW((void)def.capture(tensor_shape(3), tensor_shape(12)), ValueError);
    auto other = tile_kernel([](TensorView<const float, 1> X, TensorView<float, 1> Y) {
        for (auto &nest : parallel(shape(12))) {
            Y(nest.index()).store(X(nest.index()).load() + 1.0f);
        }
    });
    auto out = run_both(other.capture(tensor_shape(12), tensor_shape(12)),
                        {integer_view({12}, 3), output_view({12})});
    EXPECT_EQ(element_value(out[1], 11), element_value(out[0], 11) + 1);
}
TEST(RejectedPrograms, what_the_cpu_lacks_is_said_when_compiling_and_names_the_operation) {
    // A balanced tree whose update is no built-in operation: the interpreter has it, by the contract.
    auto def = tile_kernel([](TensorView<const float, 1> X, TensorView<float, 1> Y) {
        auto stats = scalar(WelfordState<float>::identity());
        for (auto &r : reduce(range(0, X.extent(0)), welford, reduction::balanced_tree)) {
            stats = welford_push(stats, X(r.index()).load());
        }
        Y(0).store(stats.mean);
    });
    auto kernel = def.capture(tensor_shape(9), tensor_shape(1));
    std::vector<View> views{integer_view({9}, 3), output_view({1})};
    interpreter::run(*module_of(kernel), arguments_of(*module_of(kernel), views, {}));
    double sum = 0;
    for (size_t i = 0; i < 9; ++i) {
        sum += element_value(views[0], i);
    }
    EXPECT_NEAR(element_value(views[1], 0), sum / 9, 1e-6);
    try {
        (void)compiler::compile_cpu(*module_of(kernel), {emit::host_cpu(), 1, false, {}});
        FAIL();
    } catch (const UnsupportedError &e) {
        EXPECT_NE(e.message().find("reduce"), std::string::npos) << e.what();
        EXPECT_NE(e.message().find("balanced_tree"), std::string::npos) << e.what();
        EXPECT_TRUE(e.location().known()) << e.what();
    }
}
