// SPDX-License-Identifier: Apache-2.0
// Lesson 7: softmax over rows, and a mask for rows of different lengths.
#include "lesson.h"

using namespace lesson;

int main(int argc, char **argv) {
    // [kernel]
    auto softmax = tile_kernel([](TensorView<const float, 2> X, TensorView<const int64_t, 1> Length,
                                  TensorView<float, 2> Y) {
        auto r = axis("row", 4), c = axis("column", X.extent(1));
        for (auto &nest : parallel(shape(ceil_div(X.extent(0), 4)))) {
            auto first = nest.index() * 4;
            auto x = X[coord(first, 0), shape(r, c)];
            auto length = Length[coord(first), shape(r)];
            auto valid = iota(c) < length;
            auto top = reduce(x, c, maximum, {.mask = valid});
            auto e = ite(valid, exp(x - top), 0.0f);
            Y(coord(first, 0), shape(r, c)).store(e / reduce(e, c, add));
        }
    });
    // [end]

    if (emit_tir(argc, argv)) {
        return print_tir(
            {softmax.capture(tensor_shape(10, 300), tensor_shape(10), tensor_shape(10, 300))});
    }
    auto device = Device::create("cpu");
    Stream stream{device};
    constexpr int rows = 10, columns = 300;
    auto x = make_tensor<float>(device, rows, columns),
         y = make_tensor<float>(device, rows, columns);
    auto length = make_tensor<int64_t>(device, rows);
    for (int i = 0; i < rows; ++i) {
        length.at(i) = columns - 25 * i;
        for (int j = 0; j < columns; ++j) {
            // Large enough that exp(x) itself would overflow.
            x.at(i, j) = 200.0f + 0.01f * static_cast<float>((i * 31 + j * 17) % 101);
        }
    }
    stream << device.jit(softmax)(x, length, y).dispatch() << synchronize();

    double worst = 0, outside = 0;
    for (int i = 0; i < rows; ++i) {
        double sum = 0;
        for (int j = 0; j < length.at(i); ++j) {
            sum += std::exp(static_cast<double>(x.at(i, j)) - 200);
        }
        for (int j = 0; j < columns; ++j) {
            double expected = std::exp(static_cast<double>(x.at(i, j)) - 200) / sum;
            if (j < length.at(i)) {
                worst = std::fmax(worst, std::fabs(y.at(i, j) / expected - 1));
            } else {
                outside += static_cast<double>(y.at(i, j));
            }
        }
    }
    Check check;
    check.that("every element within one part in a million", worst < 1e-6);
    check.number("sum behind the ends of the rows", outside, 0);
    return check.status();
}
