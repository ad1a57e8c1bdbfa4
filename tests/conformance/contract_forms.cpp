// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile.h>

#include "support/views.h"

// Contracts over every form of state, under every policy and in every kind of parent. The contracts are not
// commutative and their states integers: every tree has the bits of the left fold.

using namespace luisa::tile;
using namespace luisa::tile::test;

namespace {

/// The first number that is not zero: a state that is one value.
struct FirstNumber {
    Tile<int32_t> identity() const { return Scalar<int32_t>{0}; }
    Tile<int32_t> merge(const Tile<int32_t> &a, const Tile<int32_t> &b) const {
        return ite(a != 0, a, b);
    }
};
/// How often neighbours differ: fields that only merge together.
struct Changes {
    Tile<int32_t> count, first, last, changes;
    LUISA_TILE_STATE(Changes, count, first, last, changes)
};
struct CountChanges {
    Changes identity() const {
        return {Scalar<int32_t>{0}, Scalar<int32_t>{0}, Scalar<int32_t>{0}, Scalar<int32_t>{0}};
    }
    Changes merge(const Changes &a, const Changes &b) const {
        auto none = a.count == 0, nothing = b.count == 0;
        auto between = cast<int32_t>(!none && !nothing && a.last != b.first);
        return {a.count + b.count, ite(none, b.first, a.first), ite(nothing, a.last, b.last),
                a.changes + b.changes + between};
    }
};

enum class Form { VALUE, TILE, STRUCT, STRUCT_OF_TILES, INDEPENDENT, JOINT };
enum class Parent { PARALLEL, SERIAL, PIPELINE, REDUCE, ANCESTOR };
constexpr int64_t rows = 3, fields = 4;
using Results = std::array<Tile<int32_t>, fields>;
using Numbers = TensorView<const int32_t, 2>;

/// What `nest` folds of X: over all rows where states are tiles, else over row p.
Results folded(const Nest &nest, const Numbers &X, const Scalar<int64_t> &p, Form form, Axis row,
               ReductionPolicy policy) {
    auto n = X.extent(1);
    auto nothing = zeros<int32_t>(shape(row));
    auto column = [&](const Nest &i) {
        return reshape(X[coord(0, i.index()), shape(row, 1)], shape(row)) + cast<int32_t>(p);
    };
    auto element = [&](const Nest &i) { return X[coord(p, i.index())]; };
    Results all{nothing, nothing, nothing, nothing};
    switch (form) {
        case Form::VALUE: {
            Scalar<int32_t> first = 0;
            for (auto &i : nest.reduce(shape(n), FirstNumber{}, policy)) {
                first = ite(first != 0, first, element(i));
            }
            all[0] = nothing + first;
            break;
        }
        case Form::TILE: {
            auto first = nothing;
            for (auto &i : nest.reduce(shape(n), FirstNumber{}, policy)) {
                first = ite(first != 0, first, column(i));
            }
            all[0] = first;
            break;
        }
        case Form::STRUCT: {
            auto map = scalar(AffineState<int32_t>{Scalar<int32_t>{3}, Scalar<int32_t>{-5}});
            for (auto &i : nest.reduce(shape(n), affine_composition, policy)) {
                auto x = element(i);
                map = AffineState<int32_t>{2 * x + 1, x}.then(map);
            }
            all[0] = nothing + map.scale, all[1] = nothing + map.offset;
            break;
        }
        case Form::STRUCT_OF_TILES: {
            auto map = full<AffineState<int32_t>>(
                shape(row), AffineState<int32_t>{Scalar<int32_t>{3}, Scalar<int32_t>{-5}});
            for (auto &i : nest.reduce(shape(n), affine_composition, policy)) {
                auto x = column(i);
                map = AffineState<int32_t>{2 * x + 1, x}.then(map);
            }
            all[0] = map.scale, all[1] = map.offset;
            break;
        }
        case Form::INDEPENDENT: {
            auto one = scalar(AffineState<int32_t>{Scalar<int32_t>{3}, Scalar<int32_t>{-5}});
            auto other = full<AffineState<int32_t>>(shape(row), AffineState<int32_t>::identity());
            for (auto &i : nest.reduce(shape(n), affine_composition, policy)) {
                auto x = element(i);
                auto y = column(i);
                one = AffineState<int32_t>{2 * x + 1, x}.then(one);
                other = AffineState<int32_t>{2 * y - 1, y}.then(other);
            }
            all = {nothing + one.scale, nothing + one.offset, other.scale, other.offset};
            break;
        }
        case Form::JOINT: {
            auto state = scalar(CountChanges{}.identity());
            for (auto &i : nest.reduce(shape(n), CountChanges{}, policy)) {
                Tile<int32_t> x = element(i), one = Scalar<int32_t>{1}, none = Scalar<int32_t>{0};
                state = CountChanges{}.merge(state, {one, x, x, none});
            }
            all = {nothing + state.count, nothing + state.first, nothing + state.last,
                   nothing + state.changes};
            break;
        }
    }
    return all;
}

/// Y[p, field, row] of what each of three steps of the parent folds.
Kernel captured(Form form, Parent parent, ReductionPolicy policy, int64_t n) {
    return tile_kernel([=](Numbers X, TensorView<int32_t, 3> Y) {
               auto row = axis("row", rows), step = axis("step", rows), f = axis("f", fields);
               auto put = [&](const Scalar<int64_t> &p, const Results &results) {
                   for (int64_t q = 0; q < fields; ++q) {
                       Y(coord(p, q, 0), shape(1, 1, row)).store(results[static_cast<size_t>(q)]);
                   }
               };
               for (auto &root : parallel(shape(1))) {
                   auto fold = [&](const Nest &nest) {
                       return folded(nest, X, nest.index(), form, row, policy);
                   };
                   if (parent == Parent::PARALLEL) {
                       for (auto &nest : root.parallel(shape(step))) {
                           put(nest.index(), fold(nest));
                       }
                   } else if (parent == Parent::SERIAL) {
                       for (auto &nest : root.serial(shape(step))) {
                           put(nest.index(), fold(nest));
                       }
                   } else if (parent == Parent::PIPELINE) {
                       for (auto &nest : root.pipeline(shape(step))) {
                           nest.stage("fold");
                           auto results = fold(nest);
                           nest.stage("store");
                           put(nest.index(), results);
                       }
                   } else if (parent == Parent::REDUCE) {
                       for (auto &nest : root.reduce(shape(step))) {
                           put(nest.index(), fold(nest));
                       }
                   } else {
                       auto all = zeros<int32_t>(shape(step, f, row));
                       for (auto &nest : root.parallel(shape(step))) {
                           auto results = fold(nest);
                           for (int64_t q = 0; q < fields; ++q) {
                               all = insert(all, coord(nest.index(), q),
                                            results[static_cast<size_t>(q)]);
                           }
                       }
                       Y(coord(0, 0, 0), shape(step, f, row)).store(all);
                   }
               }
           })
        .capture(tensor_shape(rows, n), tensor_shape(rows, fields, rows));
}

/// The same on the host: contributions one after the other.
std::array<int32_t, fields> expected(const View &x, Form form, bool backward, int64_t n, int64_t p,
                                     int64_t r) {
    struct Map {
        uint32_t scale, offset;
        void after(uint32_t a, uint32_t b) { offset += scale * b, scale *= a; }
    };
    Map one{3, static_cast<uint32_t>(-5)}, other{1, 0};
    int32_t first = 0, first_of_column = 0, begin = 0, last = 0, changes = 0;
    for (int64_t s = 0; s < n; ++s) {
        auto i = backward ? n - 1 - s : s;
        auto e = element<int32_t>(x, p * n + i);
        auto c = element<int32_t>(x, r * n + i) + static_cast<int32_t>(p);
        auto own = static_cast<uint32_t>(form == Form::STRUCT_OF_TILES ? c : e);
        first = first != 0 ? first : e;
        first_of_column = first_of_column != 0 ? first_of_column : c;
        one.after(2 * own + 1, own);
        other.after(2 * static_cast<uint32_t>(c) - 1, static_cast<uint32_t>(c));
        changes += s > 0 && e != last ? 1 : 0;
        begin = s == 0 ? e : begin;
        last = e;
    }
    auto scale = static_cast<int32_t>(one.scale), offset = static_cast<int32_t>(one.offset);
    switch (form) {
        case Form::VALUE: return {first, 0, 0, 0};
        case Form::TILE: return {first_of_column, 0, 0, 0};
        case Form::INDEPENDENT:
            return {scale, offset, static_cast<int32_t>(other.scale),
                    static_cast<int32_t>(other.offset)};
        case Form::JOINT: return {static_cast<int32_t>(n), begin, last, changes};
        default: return {scale, offset, 0, 0};
    }
}

void check(Form form, Parent parent, ReductionPolicy policy, int64_t n) {
    auto x = integer_view<int32_t>({rows, n}, 17, 2);
    auto out = run_both(captured(form, parent, policy, n),
                        {x, output_of<int32_t>({rows, fields, rows})});
    for (int64_t p = 0; p < rows; ++p) {
        for (int64_t r = 0; r < rows; ++r) {
            auto right = expected(x, form, policy == reduction::fold_right, n, p, r);
            for (int64_t q = 0; q < fields; ++q) {
                EXPECT_EQ(element<int32_t>(out[1], (p * fields + q) * rows + r),
                          right[static_cast<size_t>(q)])
                    << "policy " << static_cast<int>(policy) << ", step " << p << ", field " << q;
            }
        }
    }
}

constexpr ReductionPolicy policies[] = {reduction::unordered_tree, reduction::ordered_tree,
                                        reduction::balanced_tree, reduction::fold_left,
                                        reduction::fold_right};
class ContractForms : public ::testing::TestWithParam<std::pair<Form, Parent>> {};

}// namespace

TEST_P(ContractForms, have_the_bits_of_the_fold_under_every_policy) {
    auto [form, parent] = GetParam();
    for (auto policy : policies) {
        check(form, parent, policy, 33);
        if (parent == Parent::PARALLEL) {
            check(form, parent, policy, 0);
            check(form, parent, policy, 1);
        }
    }
}
INSTANTIATE_TEST_SUITE_P(States, ContractForms, ::testing::ValuesIn([] {
                             std::vector<std::pair<Form, Parent>> all;
                             for (auto form :
                                  {Form::VALUE, Form::TILE, Form::STRUCT, Form::STRUCT_OF_TILES,
                                   Form::INDEPENDENT, Form::JOINT}) {
                                 for (auto parent :
                                      {Parent::PARALLEL, Parent::SERIAL, Parent::PIPELINE,
                                       Parent::REDUCE, Parent::ANCESTOR}) {
                                     all.emplace_back(form, parent);
                                 }
                             }
                             return all;
                         }()));
