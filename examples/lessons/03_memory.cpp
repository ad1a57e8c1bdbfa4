// SPDX-License-Identifier: Apache-2.0
// Lesson 3: loads are snapshots, bounds are part of the access, masks are values.
#include "lesson.h"

using namespace lesson;

int main(int argc, char **argv) {
    // [blur]
    // Mean of each element and its neighbours. At the ends, neighbours outside of X read as zero
    // unless the load is given another value.
    auto blur = tile_kernel([](TensorView<const float, 1> X, TensorView<float, 1> Y) {
        auto i = axis("i", 64);
        for (auto &nest : parallel(shape(ceil_div(X.extent(0), 64)))) {
            auto at = nest.index() * 64;
            auto left = X(coord(at - 1), shape(i)).load(100.0f);
            auto middle = X[coord(at), shape(i)];
            auto right = X[coord(at + 1), shape(i)];
            Y(coord(at), shape(i)).store((left + middle + right) / 3.0f);
        }
    });
    // [end]
    // [mask]
    // Replaces negative elements in place and leaves the mean of the others in each block.
    auto clean = tile_kernel([](TensorView<float, 1> X, TensorView<float, 1> Mean) {
        auto i = axis("i", 64);
        for (auto &nest : parallel(shape(Mean.extent(0)))) {
            auto x = X[coord(nest.index() * 64), shape(i)];
            auto inside = iota(i) + nest.index() * 64 < X.extent(0);
            auto keep = x >= 0.0f && inside;
            X(coord(nest.index() * 64), shape(i)).store(ite(keep, x, 0.0f));
            // `x` is what the load saw; the store did not change it.
            auto sum = reduce(x, i, add, {.mask = keep});
            auto count = reduce(cast<float>(keep), i, add);
            Mean(nest.index()).store(sum / count);
        }
    });
    // [end]

    if (emit_tir(argc, argv)) {
        return print_tir({blur.capture(tensor_shape(100), tensor_shape(100)),
                          clean.capture(tensor_shape(100), tensor_shape(2))});
    }
    auto device = Device::create("cpu");
    Stream stream{device};
    auto x = make_tensor<float>(device, 100), y = make_tensor<float>(device, 100),
         mean = make_tensor<float>(device, 2);
    for (int n = 0; n < 100; ++n) {
        x.at(n) = static_cast<float>(n % 2 ? -n : n);
    }
    stream << device.jit(blur)(x, y).dispatch() << device.jit(clean)(x, mean).dispatch()
           << synchronize();
    Check check;
    check.number("y[0]", y.at(0), (100 + 0 - 1) / 3.0);
    check.number("y[2]", y.at(2), (-1 + 2 - 3) / 3.0, 1e-6);
    check.number("y[99]", y.at(99), (98 - 99 + 0) / 3.0, 1e-6);
    check.number("x[98]", x.at(98), 98);
    check.number("x[99]", x.at(99), 0);
    check.number("mean[0]", mean.at(0), 31);
    check.number("mean[1]", mean.at(1), 81);
    return check.status();
}
