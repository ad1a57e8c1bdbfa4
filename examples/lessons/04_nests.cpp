// SPDX-License-Identifier: Apache-2.0
// Lesson 4: the four nests, each on the problem that it is for.
#include "lesson.h"

using namespace lesson;

int main(int argc, char **argv) {
    // [parallel]
    // Rows are independent of each other: any order, any number at once.
    auto kernel = tile_kernel([](TensorView<const float, 2> X, TensorView<float, 2> Prefix,
                                 TensorView<float, 1> Total, TensorView<float, 1> Longest) {
        auto rows = X.extent(0), columns = X.extent(1);
        auto c = axis("c", 16);
        for (auto &row : parallel(shape(rows))) {
            auto r = row.index();
            // [end]
            // [serial]
            // Step n needs what step n - 1 left: total order. A variable from outside that the
            // body assigns is carried from step to step.
            Scalar<float> running = 0.0f;
            for (auto &step : row.serial(shape(columns))) {
                running += X[coord(r, step.index())];
                Prefix(r, step.index()).store(running);
            }
            // [end]
            // [pipeline]
            // The same kind of recurrence, over tiles; loads of later steps may begin early.
            auto sum = zeros<float>(shape(1, c));
            for (auto &step : row.pipeline(range(0, columns, 16))) {
                step.stage("load");
                auto x = X[coord(r, step.index()), shape(1, c)];
                step.stage("add");
                sum += x;
            }
            Total(r).store(reduce(reshape(sum, shape(c)), c, add));
            // [end]
            // [reduce]
            // Contributions that are combined; the policy says which orders are allowed.
            Scalar<float> longest = 0.0f;
            for (auto &each : row.reduce(shape(columns))) {
                longest = maximum(longest, abs(X[coord(r, each.index())]));
            }
            Longest(r).store(longest);
            // [end]
        }
    });

    if (emit_tir(argc, argv)) {
        return print_tir({kernel.capture(tensor_shape(3, 40), tensor_shape(3, 40), tensor_shape(3),
                                         tensor_shape(3))});
    }
    auto device = Device::create("cpu");
    Stream stream{device};
    auto x = make_tensor<float>(device, 3, 40), prefix = make_tensor<float>(device, 3, 40);
    auto total = make_tensor<float>(device, 3), longest = make_tensor<float>(device, 3);
    for (int r = 0; r < 3; ++r) {
        for (int n = 0; n < 40; ++n) {
            x.at(r, n) = static_cast<float>(n == 7 ? -50 - r : r + 1);
        }
    }
    stream << device.jit(kernel)(x, prefix, total, longest).dispatch() << synchronize();
    Check check;
    check.number("prefix[2, 6]", prefix.at(2, 6), 21);
    check.number("prefix[2, 39]", prefix.at(2, 39), 39 * 3 - 52);
    check.number("total[2]", total.at(2), 39 * 3 - 52);
    check.number("longest[1]", longest.at(1), 51);
    return check.status();
}
