// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile.h>

#include "support/both.h"
#include "support/compute_types.h"

#include <fmt/format.h>

#include <limits>

// Every elementwise operation on every type it is defined on, over all pairs of special values, and all
// casts: the interpreter's bits are the CPU's.

using namespace luisa::tile;
using namespace luisa::tile::test;

namespace {

template<class T> std::vector<T> specials() {
    if constexpr (std::same_as<T, bool>) {
        return {};
    } else if constexpr (is_floating_element<T>) {
        std::vector<T> list;
        for (double x : {0.0,
                         1.0,
                         1.5,
                         2.5,
                         0.5,
                         3.0,
                         7.25,
                         100.0,
                         1024.0,
                         65504.0,
                         1e-5,
                         88.0,
                         710.0,
                         0.7853981633974483,
                         127.0,
                         128.0,
                         255.5,
                         2049.0,
                         2147483648.0,
                         9.3e18,
                         1.9e19,
                         1e30,
                         3.4028235e38,
                         1e-30,
                         1.2e-38,
                         1e-42,
                         6e-8,
                         3e-8,
                         1e300,
                         1e-310,
                         std::numeric_limits<double>::infinity()}) {
            list.push_back(static_cast<T>(x));
            list.push_back(static_cast<T>(-x));
        }
        list.push_back(static_cast<T>(std::nan("")));
        return list;
    } else {
        using L = std::numeric_limits<T>;
        std::vector<T> list{0,
                            1,
                            2,
                            3,
                            5,
                            7,
                            8,
                            15,
                            16,
                            31,
                            32,
                            33,
                            63,
                            64,
                            100,
                            L::max(),
                            L::min(),
                            static_cast<T>(L::max() - 1),
                            static_cast<T>(L::max() / 2),
                            static_cast<T>(L::max() / 2 + 1),
                            static_cast<T>(L::min() + 1)};
        for (int x : {-1, -2, -3, -5, -8, -32}) {
            list.push_back(static_cast<T>(x));
        }
        // Ties of the conversions to f32, f64, f16 and bf16.
        for (auto x : {(uint64_t{1} << 24) + 1, (uint64_t{1} << 25) + 2, (uint64_t{1} << 53) + 1,
                       (uint64_t{1} << 63) + 1024, uint64_t{257}, uint64_t{2049}, uint64_t{65519},
                       uint64_t{65520}, (uint64_t{1} << 40) + (1 << 16)}) {
            list.push_back(static_cast<T>(x));
        }
        return list;
    }
}

/// `n` values in all combinations: argument k of i is digit k of i.
template<class T> View combinations(int64_t n, int digit) {
    auto v = View{};
    v.type = scalar_type_of<T>;
    v.extents = {n};
    v.strides = {1};
    v.bytes.resize(static_cast<size_t>(n) * sizeof(T) + 64, 0xa5);
    if constexpr (std::same_as<T, bool>) {
        for (int64_t i = 0; i < n; ++i) {
            v.bytes[static_cast<size_t>(i)] = static_cast<uint8_t>(i >> digit & 1);
        }
    } else {
        auto s = specials<T>();
        auto p = static_cast<int64_t>(s.size());
        for (int64_t i = 0; i < n; ++i) {
            auto at = digit == 0 ? i % p : digit == 1 ? i / p % p : (i * 7 + i / p) % p;
            std::memcpy(v.bytes.data() + static_cast<size_t>(i) * sizeof(T),
                        &s[static_cast<size_t>(at)], sizeof(T));
        }
    }
    return v;
}

constexpr int64_t extents[] = {1, 7, 16, 17, 33};

/// The kernel that stores `result` of `arity` tiles of type `t`, tile by tile of `extent` elements. As text, because
/// hundreds of C++ lambdas, one a combination of types, would take long to compile.
Kernel elementwise_kernel(const std::string &operation, int arity, ScalarType t, ScalarType result,
                          int64_t n, int64_t extent) {
    const char *names = "abc";
    auto tile = [&](ScalarType type) {
        return fmt::format("tile<{}, i:{}>", to_string(type), extent);
    };
    std::string parameters, loads, operands;
    for (int k = 0; k < arity; ++k) {
        parameters += fmt::format("%{}: view<const {}, {}>, ", k, to_string(t), n);
        loads += fmt::format("    %{} = load %{}, %at : {}\n", names[k], k, tile(t));
        operands += fmt::format("{}%{}", k ? ", " : "", names[k]);
    }
    return parse_kernel(fmt::format("kernel @each({}%y: view<{}, {}>) {{\n"
                                    "  %tiles = constant {} : i64\n"
                                    "  parallel %tiles {{dims = [#0]}} {{ %tile: i64 ->\n"
                                    "    %extent = constant {} : i64\n"
                                    "    %at = mul %tile, %extent : i64\n{}"
                                    "    %result = {} {} : {}\n"
                                    "    store %y, %result, %at {{box = [i:{}]}}\n"
                                    "    yield\n  }}\n}}\n",
                                    parameters, to_string(result), n, (n + extent - 1) / extent,
                                    extent, loads, operation, operands, tile(result), extent));
}

/// Runs an operation on all combinations of special values of `t`.
void run_operation(const std::string &name, int arity, ScalarType t, ScalarType result) {
    std::vector<View> views;
    with_type(t, [&]<class T>() {
        auto p = static_cast<int64_t>(specials<T>().size());
        auto n = std::same_as<T, bool> ? 37 : arity == 1 ? p : p * p;
        for (int k = 0; k < arity; ++k) {
            views.push_back(combinations<T>(n, k));
        }
    });
    auto n = views[0].extents[0];
    with_type(result, [&]<class R>() {
        views.push_back(std::same_as<R, bool> ? combinations<R>(n, 0) : output_view<R>({n}));
    });
    for (auto extent : extents) {
        run_both(elementwise_kernel(name, arity, t, result, n, extent), views);
    }
}

struct Operation {
    std::string name;
    int arity;
    ScalarType type;
    bool compares;
};

std::vector<Operation> operations() {
    std::vector<Operation> list;
    auto add = [&](std::initializer_list<const char *> names, int arity, auto legal,
                   bool compares = false) {
        for (auto *name : names) {
            for (auto t : computing_types) {
                if (legal(t)) {
                    list.push_back({name, arity, t, compares});
                }
            }
        }
    };
    auto number = [](ScalarType t) { return t != ScalarType::BOOL; };
    auto integer = [](ScalarType t) { return is_integer(t); };
    auto bits = [](ScalarType t) { return !is_float(t); };
    auto real = [](ScalarType t) { return is_float(t); };
    add({"add", "sub", "mul", "div", "minimum", "maximum", "fmin", "fmax"}, 2, number);
    add({"rem", "floor_div", "floor_mod", "ceil_div", "shl", "shr"}, 2, integer);
    add({"and", "or", "xor"}, 2, bits);
    add(
        {"lt", "le", "gt", "ge", "eq", "ne"}, 2, [](ScalarType) { return true; }, true);
    add({"neg", "abs"}, 1, number);
    add({"not"}, 1, bits);
    add({"fma"}, 3, real);
    add({"sqrt", "floor", "ceil", "rint", "trunc", "rsqrt", "exp", "exp2", "log", "tanh", "sigmoid",
         "silu"},
        1, real);
    add({"expm1", "log2", "log10", "log1p", "sin", "cos", "tan", "erf", "erfc", "gelu", "gelu_tanh",
         "softplus", "cbrt"},
        1, real);
    add({"pow"}, 2, real);
    return list;
}

class EveryOperation : public ::testing::TestWithParam<Operation> {};
class EveryCast : public ::testing::TestWithParam<std::pair<ScalarType, ScalarType>> {};

}// namespace

TEST_P(EveryOperation, has_equal_bits) {
    const auto &p = GetParam();
    run_operation(p.name, p.arity, p.type, p.compares ? ScalarType::BOOL : p.type);
}
INSTANTIATE_TEST_SUITE_P(on_all_pairs_of_specials, EveryOperation,
                         ::testing::ValuesIn(operations()), [](const auto &info) {
                             return info.param.name + "_of_" + to_string(info.param.type);
                         });

TEST_P(EveryCast, rounds_and_saturates_alike) {
    run_operation("cast", 1, GetParam().first, GetParam().second);
}
INSTANTIATE_TEST_SUITE_P(between_all_types, EveryCast, ::testing::ValuesIn([] {
                             std::vector<std::pair<ScalarType, ScalarType>> list;
                             for (auto a : computing_types) {
                                 for (auto b : computing_types) {
                                     list.emplace_back(a, b);
                                 }
                             }
                             return list;
                         }()),
                         [](const auto &info) {
                             return std::string{to_string(info.param.first)} + "_to_" +
                                    to_string(info.param.second);
                         });
