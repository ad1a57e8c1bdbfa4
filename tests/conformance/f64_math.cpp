// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile.h>

#include "support/both.h"

#include <limits>

// Every math function on f64: the CPU's code has the bits of the interpreter, on special values too.

using namespace luisa::tile;
using namespace luisa::tile::test;

namespace {

View arguments(uint32_t seed) {
    constexpr double inf = std::numeric_limits<double>::infinity();
    std::vector<double> values{0.0,  -0.0, inf,     -inf,    std::nan(""), 0x1p-1074, -0x1p-1074,
                               1.0,  -1.0, 0x1p-54, 1e300,   -1e300,       709.9,     -745.3,
                               0.78, 27.3, -38.5,   0x1p-30, 710.0,        -40.0};
    std::mt19937_64 engine{seed};
    std::uniform_real_distribution<double> unit{-1, 1};
    for (int i = 0; i < 320; ++i) {
        uint64_t bits = engine();
        double any = 0;
        std::memcpy(&any, &bits, sizeof(any));
        values.push_back(i % 4 == 0 ? any
                                    : unit(engine) * (i % 4 == 1   ? 1
                                                      : i % 4 == 2 ? 30
                                                                   : 800));
    }
    return dense<double>({static_cast<int64_t>(values.size())}, values);
}

using Function = Tile<double> (*)(const Tile<double> &);
struct Row {
    const char *name;
    Function apply;
};

#define LUISA_TILE_ROW(name)                                                                       \
    {                                                                                              \
#name, [](const Tile <double> &x) -> Tile < double> { return name(x); }                    \
    }
const Row rows[] = {
    LUISA_TILE_ROW(exp),  LUISA_TILE_ROW(exp2),      LUISA_TILE_ROW(expm1),    LUISA_TILE_ROW(log),
    LUISA_TILE_ROW(log2), LUISA_TILE_ROW(log10),     LUISA_TILE_ROW(log1p),    LUISA_TILE_ROW(sin),
    LUISA_TILE_ROW(cos),  LUISA_TILE_ROW(tan),       LUISA_TILE_ROW(tanh),     LUISA_TILE_ROW(erf),
    LUISA_TILE_ROW(erfc), LUISA_TILE_ROW(rsqrt),     LUISA_TILE_ROW(sigmoid),  LUISA_TILE_ROW(silu),
    LUISA_TILE_ROW(gelu), LUISA_TILE_ROW(gelu_tanh), LUISA_TILE_ROW(softplus), LUISA_TILE_ROW(cbrt),
};
#undef LUISA_TILE_ROW

class F64Math : public ::testing::TestWithParam<Row> {};

}// namespace

TEST_P(F64Math, has_the_bits_of_the_interpreter) {
    auto apply = GetParam().apply;
    auto x = arguments(5);
    auto n = x.count();
    auto def = tile_kernel([=](TensorView<const double, 1> X, TensorView<double, 1> Y) {
        auto i = axis("i", n);
        Y(coord(0), shape(i)).store(apply(X[coord(0), shape(i)]));
    });
    run_both(def.capture(tensor_shape(n), tensor_shape(n)), {x, output_view<double>({n})});
}
INSTANTIATE_TEST_SUITE_P(functions, F64Math, ::testing::ValuesIn(rows),
                         [](const auto &info) { return std::string{info.param.name}; });

TEST(F64Pow, has_the_bits_of_the_interpreter) {
    auto x = arguments(5), y = arguments(6);
    auto n = x.count(), few = int64_t{20};
    auto def = tile_kernel([=](TensorView<const double, 1> X, TensorView<const double, 1> Y,
                               TensorView<double, 1> Z, TensorView<double, 2> W) {
        auto i = axis("i", n), a = axis("a", few), b = axis("b", few);
        Z(coord(0), shape(i)).store(pow(X[coord(0), shape(i)], Y[coord(0), shape(i)]));
        W(coord(0, 0), shape(a, b)).store(pow(X[coord(0), shape(a)], Y[coord(0), shape(b)]));
    });
    run_both(def.capture(tensor_shape(n), tensor_shape(n), tensor_shape(n), tensor_shape(few, few)),
             {x, y, output_view<double>({n}), output_view<double>({few, few})});
}
