// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile.h>

#include "support/both.h"
#include "support/compute_types.h"

#include <limits>

// Every reducer, policy and element type over one to three dimensions, ragged, prime and empty, masked or
// not. Integers, ordered policies, minimum and maximum: equal bits. Float data are small integers, whose
// sums are exact in any order.

using namespace luisa::tile;
using namespace luisa::tile::test;

namespace {

template<class T> View data(std::vector<int64_t> extents, uint32_t seed, bool specials = false) {
    auto v = View{};
    v.type = scalar_type_of<T>;
    v.strides = dense_strides(extents);
    v.extents = std::move(extents);
    auto n = static_cast<size_t>(v.count());
    v.bytes.resize(n * sizeof(T) + 64, 0xa5);
    std::mt19937 engine{seed};
    for (size_t i = 0; i < n; ++i) {
        auto r = static_cast<int>(engine() % 1024);
        T x{};
        if constexpr (std::same_as<T, bool>) {
            x = r % 3 != 0;
        } else if constexpr (is_floating_element<T>) {
            auto inf = std::numeric_limits<double>::infinity();
            const double odd[] = {std::nan(""), inf, -inf, -0.0, 0.0, 1e-42, -1e-42, 5};
            x = specials && r % 5 == 0 ? static_cast<T>(odd[r / 5 % 8])
                                       : static_cast<T>(static_cast<double>(r % 5 - 2));
        } else {
            x = static_cast<T>(r % 5 == 0   ? std::numeric_limits<T>::max()
                               : r % 7 == 0 ? std::numeric_limits<T>::min()
                                            : static_cast<T>(r - 500));
        }
        std::memcpy(v.bytes.data() + i * sizeof(T), &x, sizeof(T));
    }
    return v;
}

struct Case {
    std::string name;
    Reducer reducer;
    ReductionPolicy policy;
    ScalarType type;
    bool masked, specials;
    NanPolicy nan = NanPolicy::PROPAGATE;
};

/// Folds one, two and three dimensions of box-shaped tiles; some of them leave a dimension in place.
template<class T, class R> void run_case(const Case &c) {
    struct Box {
        int64_t a, b, c;
        int fold;///< bits: which of the three
    };
    auto position = c.reducer == Reducer::ARGMIN || c.reducer == Reducer::ARGMAX;
    for (auto box : {Box{1, 1, 1, 7},
                     {1, 1, 17, 4},
                     {1, 1, 33, 7},
                     {3, 1, 47, 4},
                     {13, 5, 1, 1},
                     {2, 7, 5, 2},
                     {3, 5, 7, 5},
                     {2, 3, 17, 6},
                     {4, 0, 3, 2},
                     {0, 3, 5, 4},
                     {5, 3, 2, 3},
                     {3, 5, 16, 7}}) {
        if (position && box.b == 0) {
            continue;// argmax of nothing: an error at capture
        }
        auto def = tile_kernel(
            [=](TensorView<const T, 3> X, TensorView<const bool, 3> M, TensorView<R, 3> Y) {
                auto loc = SourceLoc::current();
                auto i = axis("i", box.a), j = axis("j", box.b), k = axis("k", box.c);
                std::vector<Dim> folded;
                for (int d = 0; d < 3; ++d) {
                    if (box.fold >> d & 1) {
                        folded.push_back(d == 0 ? i.dim : d == 1 ? j.dim : k.dim);
                    }
                }
                auto x = X[coord(0, 0, 0), shape(i, j, k)];
                auto mask = M[coord(0, 0, 0), shape(i, j, k)];
                auto *y = core::reduce(c.reducer, x.value(loc), folded, c.policy,
                                       c.masked ? mask.value(loc) : nullptr, c.nan, loc);
                Y(coord(0, 0, 0), shape(i, j, k)).store(Tile<R>(y, loc));
            });
        auto kernel = def.capture(tensor_shape(box.a, box.b, box.c),
                                  tensor_shape(box.a, box.b, box.c),
                                  tensor_shape(box.a, box.b, box.c));
        std::vector<int64_t> e{box.a, box.b, box.c};
        run_both(kernel, {data<T>(e, 5, c.specials), data<bool>(e, 7), data<R>(e, 9)});
    }
}

std::vector<Case> cases() {
    std::vector<Case> list;
    const std::pair<const char *, ReductionPolicy> policies[] = {
        {"unordered", reduction::unordered_tree},
        {"ordered", reduction::ordered_tree},
        {"fold_left", reduction::fold_left},
        {"fold_right", reduction::fold_right},
        {"balanced", reduction::balanced_tree}};
    auto put = [&](const char *name, Reducer r, auto legal, bool specials, bool position = false) {
        for (auto t : computing_types) {
            if (!legal(t)) {
                continue;
            }
            for (auto [policy_name, policy] : policies) {
                if (position && policy != reduction::unordered_tree) {
                    continue;
                }
                for (bool masked : {false, true}) {
                    list.push_back({std::string{name} + "_of_" + to_string(t) + "_" + policy_name +
                                        (masked ? "_masked" : ""),
                                    r, policy, t, masked, specials});
                }
            }
        }
    };
    auto number = [](ScalarType t) { return t != ScalarType::BOOL; };
    auto integer = [](ScalarType t) { return is_integer(t); };
    auto truth = [](ScalarType t) { return t == ScalarType::BOOL; };
    put("add", Reducer::ADD, number, false);
    put("multiply", Reducer::MULTIPLY, integer, false);
    put("minimum", Reducer::MINIMUM, number, true);
    put("maximum", Reducer::MAXIMUM, number, true);
    put("fmin", Reducer::FMIN, number, true);
    put("fmax", Reducer::FMAX, number, true);
    put("logical_and", Reducer::LOGICAL_AND, truth, false);
    put("logical_or", Reducer::LOGICAL_OR, truth, false);
    put("bit_and", Reducer::BIT_AND, integer, false);
    put("bit_or", Reducer::BIT_OR, integer, false);
    put("bit_xor", Reducer::BIT_XOR, integer, false);
    put("argmin", Reducer::ARGMIN, number, true, true);
    put("argmax", Reducer::ARGMAX, number, true, true);
    for (size_t i = 0, n = list.size(); i < n; ++i) {
        auto c = list[i];
        if ((c.reducer == Reducer::ARGMIN || c.reducer == Reducer::ARGMAX) && is_float(c.type)) {
            c.nan = NanPolicy::IGNORE;
            c.name += "_ignoring_nan";
            list.push_back(c);
        }
    }
    return list;
}

class EveryReduction : public ::testing::TestWithParam<Case> {};

}// namespace

TEST_P(EveryReduction, has_equal_bits) {
    auto c = GetParam();
    with_type(c.type, [&]<class T>() {
        c.reducer == Reducer::ARGMIN || c.reducer == Reducer::ARGMAX ? run_case<T, int64_t>(c)
                                                                     : run_case<T, T>(c);
    });
}
INSTANTIATE_TEST_SUITE_P(over_one_to_three_dimensions, EveryReduction, ::testing::ValuesIn(cases()),
                         [](const auto &info) { return info.param.name; });
