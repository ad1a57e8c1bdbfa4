// SPDX-License-Identifier: Apache-2.0
// Lesson 5: reductions, and the orders that their policies allow.
#include "lesson.h"

using namespace lesson;

int main(int argc, char **argv) {
    // [policies]
    auto sums = tile_kernel([](TensorView<const float, 1> X, TensorView<float, 1> Sums) {
        auto i = axis("i", X.extent(0));
        auto x = X[coord(0), shape(i)];
        Sums(0).store(reduce(x, i, add));                          // any grouping and order
        Sums(1).store(reduce(x, i, add, reduction::fold_left));    // ((0 + x0) + x1) + …
        Sums(2).store(reduce(x, i, add, reduction::balanced_tree));// halves, on every device
    });
    // [end]
    // [others]
    auto extremes = tile_kernel(
        [](TensorView<const float, 1> X, TensorView<float, 1> Most, TensorView<int64_t, 1> Where) {
            auto i = axis("i", X.extent(0));
            auto x = X[coord(0), shape(i)];
            Most(0).store(reduce(x, i, maximum));
            Most(1).store(reduce(x, i, maximum, {.mask = x < 500.0f}));
            Where(0).store(reduce(x, i, argmax));
            Where(1).store(reduce(x, i, argmin));
        });
    // [end]

    if (emit_tir(argc, argv)) {
        return print_tir({sums.capture(tensor_shape(1000), tensor_shape(3)),
                          extremes.capture(tensor_shape(1000), tensor_shape(2), tensor_shape(2))});
    }
    auto device = Device::create("cpu");
    auto oracle = Device::create("interpreter");
    Stream stream{device}, slow{oracle};
    constexpr int n = 1000;
    auto x = make_tensor<float>(device, n), s = make_tensor<float>(device, 3),
         t = make_tensor<float>(device, 3), most = make_tensor<float>(device, 2);
    auto where = make_tensor<int64_t>(device, 2);
    double exact = 0;
    float ordered = 0;
    for (int i = 0; i < n; ++i) {
        x.at(i) = 0.1f * static_cast<float>((i * 7919) % 10007);
        exact += static_cast<double>(x.at(i));
        ordered += x.at(i);
    }
    stream << device.jit(sums)(x, s).dispatch() << device.jit(extremes)(x, most, where).dispatch()
           << synchronize();
    slow << oracle.jit(sums)(x, t).dispatch() << synchronize();

    Check check;
    // A sum of n numbers rounds n times at most; 2^-24 is half a unit of the last place.
    double bound = n * std::ldexp(1.0, -24) * exact;
    check.that("unordered_tree within its bound", std::fabs(s.at(0) - exact) <= bound);
    check.that("fold_left is the C++ loop, bit for bit", s.at(1) == ordered);
    check.that("balanced_tree is the interpreter's, bit for bit", s.at(2) == t.at(2));
    int largest = 0, smallest = 0;
    for (int i = 0; i < n; ++i) {
        largest = x.at(i) > x.at(largest) ? i : largest;
        smallest = x.at(i) < x.at(smallest) ? i : smallest;
    }
    check.number("argmax", static_cast<double>(where.at(0)), largest);
    check.number("argmin", static_cast<double>(where.at(1)), smallest);
    check.that("maximum", most.at(0) == x.at(largest));
    check.that("masked maximum below 500", most.at(1) < 500 && most.at(1) > 490);
    return check.status();
}
