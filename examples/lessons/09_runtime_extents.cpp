// SPDX-License-Identifier: Apache-2.0
// Lesson 9: one compiled kernel for every length.
#include "lesson.h"

using namespace lesson;

int main(int argc, char **argv) {
    // [kernel]
    auto norms = tile_kernel([](TensorView<const float, 2> X, TensorView<float, 1> Norm) {
        auto c = axis("column", 64);
        for (auto &nest : parallel(shape(X.extent(0)))) {
            auto sum = zeros<float>(shape(c));
            for (auto &step : nest.serial(range(0, X.extent(1), 64))) {
                auto x = X[coord(nest.index(), step.index()), shape(1, c)];
                sum += reshape(x * x, shape(c));
            }
            Norm(nest.index()).store(sqrt(reduce(sum, c, add)));
        }
    });
    // [end]
    // [capture]
    auto rows = dynamic("rows"), columns = dynamic("columns");
    auto kernel = norms.capture(tensor_shape(rows, columns), tensor_shape(rows));
    auto device = Device::create("cpu");
    auto shader = device.compile(kernel);
    // [end]
    if (emit_tir(argc, argv)) {
        return print_tir({kernel});
    }

    Stream stream{device};
    Check check;
    // [run]
    for (auto [r, c] : {std::array{1, 9}, {5, 100}, {33, 1000}, {0, 4}}) {
        auto x = make_tensor<float>(device, r, c);
        auto norm = make_tensor<float>(device, r);
        for (int64_t i = 0; i < x.size(); ++i) {
            x.data()[i] = 2;
        }
        stream << shader(x, norm).dispatch() << synchronize();
        // [end]
        for (int i = 0; i < r; ++i) {
            if (std::fabs(norm.at(i) - 2 * std::sqrt(static_cast<float>(c))) > 1e-4f) {
                check.number("wrong norm", norm.at(i), 2 * std::sqrt(static_cast<double>(c)));
            }
        }
        std::printf("%d x %d: %d norms\n", r, c, r);
    }
    // [mismatch]
    try {
        stream
            << shader(make_tensor<float>(device, 5, 8), make_tensor<float>(device, 6)).dispatch();
        check.that("rejected", false);
    } catch (const CallError &error) {
        std::printf("%s\n", error.what());
    }
    // [end]
    return check.status();
}
