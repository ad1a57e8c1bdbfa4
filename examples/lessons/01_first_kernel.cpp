// SPDX-License-Identifier: Apache-2.0
// Lesson 1: a kernel that adds two vectors, and what happens at their ends.
#include "lesson.h"

using namespace lesson;

int main(int argc, char **argv) {
    // [kernel]
    auto add_vectors = tile_kernel(
        [](TensorView<const float, 1> A, TensorView<const float, 1> B, TensorView<float, 1> C) {
            auto i = axis("i", 256);
            for (auto &nest : parallel(shape(ceil_div(C.extent(0), 256)))) {
                auto first = coord(nest.index() * 256);
                auto a = A[first, shape(i)];
                auto b = B[first, shape(i)];
                C(first, shape(i)).store(a + b);
            }
        });
    // [end]

    if (emit_tir(argc, argv)) {
        return print_tir(
            {add_vectors.capture(tensor_shape(1000), tensor_shape(1000), tensor_shape(1000))});
    }
    // [run]
    auto device = Device::create("cpu");
    Stream stream{device};
    auto a = make_tensor<float>(device, 1000), b = make_tensor<float>(device, 1000),
         c = make_tensor<float>(device, 1000);
    for (int n = 0; n < 1000; ++n) {
        a.at(n) = static_cast<float>(n);
        b.at(n) = 0.5f;
    }
    auto f = device.jit(add_vectors);
    stream << f(a, b, c).dispatch() << synchronize();
    // [end]

    Check check;
    check.number("c[0]", c.at(0), 0.5);
    check.number("c[999]", c.at(999), 999.5);
    int wrong = 0;
    for (int n = 0; n < 1000; ++n) {
        wrong += c.at(n) != static_cast<float>(n) + 0.5f;
    }
    check.number("wrong elements", wrong, 0);

    // [bounds]
    // The last four elements of a longer vector stay as they were: the kernel's last tile writes
    // inside the view only.
    auto memory = make_tensor<float>(device, 1004);
    for (int n = 0; n < 1004; ++n) {
        memory.at(n) = -1;
    }
    stream << f(a, b, memory.slice(0, 0, 1000)).dispatch() << synchronize();
    // [end]
    check.number("memory[999]", memory.at(999), 999.5);
    check.number("memory[1000]", memory.at(1000), -1);
    return check.status();
}
