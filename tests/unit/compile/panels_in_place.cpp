// SPDX-License-Identifier: Apache-2.0
// Operands that lie in memory as panels do are read where they are; others of that size are copied.
#include <luisa/tile.h>

#include <gtest/gtest.h>

#include <string>

namespace luisa::tile::test {

namespace panels_in_place {

constexpr int64_t inputs = 1024, outputs = 1024, panel = 64;

/// x · weights; the weights are row-major, or cut into panels of `panel` columns, one after the other.
static Kernel product(bool in_panels) {
    auto definition = tile_kernel([=](TensorView<const float, 2> x,
                                      TensorView<const float, 2> weights,
                                      TensorView<float, 2> out) {
        auto m = axis("m", 48), n = axis("n", panel), k = axis("k", 32);
        for (auto &nest : parallel(shape(ceil_div(x.extent(0), 48), outputs / panel))) {
            auto m0 = nest.index(0) * 48, n0 = nest.index(1) * panel;
            auto acc = zeros<float>(shape(m, n));
            for (auto &step : nest.pipeline(range(0, inputs, 32))) {
                auto k0 = step.index();
                auto row = in_panels ? nest.index(1) * inputs + k0 : k0 + 0;
                auto column = in_panels ? nest.index(1) * 0 : n0 + 0;
                acc = mma(x[coord(m0, k0), shape(m, k)], weights[coord(row, column), shape(k, n)],
                          acc);
            }
            out(coord(m0, n0), shape(m, n)).store(acc);
        }
    });
    auto rows = dynamic("rows");
    auto weights = in_panels ? tensor_shape(outputs / panel * inputs, panel)
                             : tensor_shape(inputs, outputs);
    return definition.capture(tensor_shape(rows, inputs), weights, tensor_shape(rows, outputs));
}

static float weight(int64_t k, int64_t n) { return static_cast<float>((k * 7 + n * 3) % 5 - 2); }

static Tensor<float, 2> multiply(const Device &device, bool in_panels, int64_t rows) {
    auto x = make_tensor<float>(device, rows, inputs),
         out = make_tensor<float>(device, rows, outputs);
    for (int64_t i = 0; i < x.size(); ++i) {
        x.data()[i] = static_cast<float>(i % 3 - 1);
    }
    auto weights = in_panels ? make_tensor<float>(device, outputs / panel * inputs, panel)
                             : make_tensor<float>(device, inputs, outputs);
    for (int64_t k = 0; k < inputs; ++k) {
        for (int64_t n = 0; n < outputs; ++n) {
            (in_panels ? weights.at(n / panel * inputs + k, n % panel)
                       : weights.at(k, n)) = weight(k, n);
        }
    }
    Stream stream{device};
    stream << device.compile(product(in_panels))(x, weights, out).dispatch() << synchronize();
    return out;
}

TEST(PanelsInPlace, operands_that_lie_as_panels_are_not_copied) {
    auto device = Device::create("cpu", {.cache = false});
    auto plan = [&](bool in_panels) { return device.compile(product(in_panels)).metadata().plan; };
    EXPECT_EQ(plan(true).find("packed"), std::string::npos) << plan(true);
    EXPECT_NE(plan(false).find("vector operand packed"), std::string::npos) << plan(false);
}

TEST(PanelsInPlace, gives_the_same_as_a_copy) {
    auto device = Device::create("cpu", {.cache = false});
    for (int64_t rows : {0, 1, 27, 48, 100}) {
        auto copied = multiply(device, false, rows), read = multiply(device, true, rows);
        for (int64_t i = 0; i < copied.size(); ++i) {
            // Sums of small integers are exact.
            ASSERT_EQ(copied.data()[i], read.data()[i]) << rows << " rows, element " << i;
        }
    }
}

}// namespace panels_in_place

}// namespace luisa::tile::test
