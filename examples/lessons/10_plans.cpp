// SPDX-License-Identifier: Apache-2.0
// Lesson 10: reading what the compiler did.
#include "lesson.h"

#include <luisa/tile/inspect.h>

using namespace lesson;

int main(int argc, char **argv) {
    Check check;
    // [kernel]
    auto standardize = tile_kernel([](TensorView<const float, 2> X, TensorView<float, 2> Y) {
        auto c = axis("column", X.extent(1));
        for (auto &nest : parallel(shape(X.extent(0)))) {
            auto x = X[coord(nest.index(), 0), shape(1, c)];
            auto centred = x - reduce(x, c, add) / 100.0f;
            auto spread = sqrt(reduce(centred * centred, c, add) / 100.0f);
            Y(coord(nest.index(), 0), shape(1, c)).store(centred / spread);
        }
    });
    auto kernel = standardize.capture(tensor_shape(64, 100), tensor_shape(64, 100));
    // [end]
    if (emit_tir(argc, argv)) {
        return print_tir({kernel});
    }
    // [plan]
    std::printf("%s\n", kernel.ir_text().c_str());
    std::printf("%s", forms(kernel, "x86-64-v3").plan.c_str());
    // [end]

    // [profile]
    auto device = Device::create("cpu");
    Stream stream{device};
    Profiler profiler{stream};
    auto x = make_tensor<float>(device, 64, 100), y = make_tensor<float>(device, 64, 100);
    stream << device.jit(standardize)(x, y).dispatch() << synchronize();
    for (const auto &run : profiler.records()) {
        std::printf("%s: %d launch, %.0f bytes, %.0f operations\n", run.kernel.c_str(),
                    run.launches, run.bytes, run.flops.value_or(0));
    }
    // [end]
    check.that("a line in the table of the profiler", profiler.table().find("kernel ") == 0);

    // [rejected]
    auto wrong = tile_kernel([](TensorView<float, 1> X) {
        auto i = axis("i", 8);
        auto x = X[coord(0), shape(i)];
        for (auto &nest : parallel(shape(i))) {
            x = x + cast<float>(nest.index());
        }
        X(coord(0), shape(i)).store(x);
    });
    try {
        static_cast<void>(wrong.capture(tensor_shape(8)));
        check.that("rejected", false);
    } catch (const Error &error) {
        std::printf("%s\n", error.what());
    }
    // [end]
    return check.status();
}
