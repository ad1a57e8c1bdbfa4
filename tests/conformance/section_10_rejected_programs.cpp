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
    // A level of execution that a CPU does not have: the interpreter runs the program.
    auto def = tile_kernel([](TensorView<const float, 1> X, TensorView<float, 1> Y) {
        for (auto &nest : parallel(shape(6), exec::cluster)) {
            Y(nest.index()).store(X(nest.index()).load() * 3.0f);
        }
    });
    auto kernel = def.capture(tensor_shape(6), tensor_shape(6));
    std::vector<View> views{dense<float>({6}, {1, 2, 3, 4, 5, 6}), output_view({6})};
    interpreter::run(*module_of(kernel), arguments_of(*module_of(kernel), views, {}));
    EXPECT_EQ(element_value(views[1], 1), 6);
    try {
        (void)compiler::compile_cpu(*module_of(kernel), {emit::host_cpu(), 1, false, {}});
        FAIL();
    } catch (const UnsupportedError &e) {
        EXPECT_NE(e.message().find("exec::cluster"), std::string::npos) << e.what();
        EXPECT_TRUE(e.location().known()) << e.what();
    }
}
