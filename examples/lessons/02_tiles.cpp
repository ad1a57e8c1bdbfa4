// SPDX-License-Identifier: Apache-2.0
// Lesson 2: tiles combine by the identity of their dimensions, never by extent or position.
#include "lesson.h"

using namespace lesson;

int main(int argc, char **argv) {
    // [kernel]
    auto tables = tile_kernel([](TensorView<const int, 1> X, TensorView<const int, 1> Y,
                                 TensorView<int, 2> Sum, TensorView<int, 2> Swapped,
                                 TensorView<int, 1> Diagonal) {
        auto i = axis("i", 4), j = axis("j", 4);
        auto x = X[coord(0), shape(i)];
        auto y = Y[coord(0), shape(j)];
        // i and j are two dimensions although both have four elements: this is a 4 x 4 tile.
        Sum(coord(0, 0), shape(i, j)).store(10 * x + y);
        // A store relates dimensions by identity too, so naming them in another order transposes.
        Swapped(coord(0, 0), shape(j, i)).store(10 * x + y);
        // The same numbers along i: now both operands have one dimension, and so has the result.
        Diagonal(coord(0), shape(i)).store(10 * x + with_dims(y, {i}));
    });
    // [end]

    if (emit_tir(argc, argv)) {
        return print_tir({tables.capture(tensor_shape(4), tensor_shape(4), tensor_shape(4, 4),
                                         tensor_shape(4, 4), tensor_shape(4))});
    }
    auto device = Device::create("cpu");
    Stream stream{device};
    auto x = make_tensor<int>(device, 4), y = make_tensor<int>(device, 4),
         diagonal = make_tensor<int>(device, 4);
    auto sum = make_tensor<int>(device, 4, 4), swapped = make_tensor<int>(device, 4, 4);
    for (int n = 0; n < 4; ++n) {
        x.at(n) = y.at(n) = n;
    }
    auto f = device.jit(tables);
    stream << f(x, y, sum, swapped, diagonal).dispatch() << synchronize();

    Check check;
    check.number("sum[3, 1]", sum.at(3, 1), 31);
    check.number("swapped[3, 1]", swapped.at(3, 1), 13);
    check.number("diagonal[3]", diagonal.at(3), 33);

    // [error]
    auto wrong = tile_kernel([](TensorView<const int, 1> X) {
        auto i = dim("i");
        auto x = X[coord(0), shape(axis(i, 4))];
        auto z = X[coord(0), shape(axis(i, 3))];
        auto sum = x + z;// one dimension with two extents
    });
    try {
        static_cast<void>(wrong.capture(tensor_shape(4)));
        check.that("rejected", false);
    } catch (const ShapeError &error) {
        std::printf("%s\n", error.what());
    }
    // [end]
    return check.status();
}
