// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile.h>

#include "support/views.h"

// Root nests in sequence, nests inside nests, domains of every kind, and what they do to the values
// of ancestors.

using namespace luisa::tile;
using namespace luisa::tile::test;

TEST(RootNests, see_all_that_earlier_ones_stored) {
    // Reversed through a temporary: instance i of the second reads what 12 - i of the first wrote.
    auto def = tile_kernel([](TensorView<const float, 1> X, TensorView<float, 1> T,
                              TensorView<float, 1> Y) {
        for (auto &nest : parallel(shape(13))) {
            T(nest.index()).store(X(nest.index()).load() * 2.0f);
        }
        for (auto &nest : parallel(shape(13))) {
            Y(nest.index()).store(T(12 - nest.index()).load() + 1.0f);
        }
        for (auto &nest : parallel(shape(2))) {
            auto i = axis("i", 6);
            T(coord(nest.index() * 6), shape(i)).store(Y[coord(nest.index() * 6 + 1), shape(i)]);
        }
    });
    auto out = run_both(def.capture(tensor_shape(13), tensor_shape(13), tensor_shape(13)),
                        {counting({13}), output_view({13}), output_view({13})});
    EXPECT_EQ(at(out[2], 0), 27);
    EXPECT_EQ(at(out[2], 12), 3);
    EXPECT_EQ(at(out[1], 0), 25);
    EXPECT_EQ(at(out[1], 11), 3);
    EXPECT_EQ(at(out[1], 12), 26);
}
TEST(RootNests, of_all_four_kinds_follow_one_another) {
    auto def = tile_kernel([](TensorView<const float, 1> X, TensorView<float, 1> Y) {
        auto i = axis("i", 8);
        for (auto &s : serial(range(0, 8))) {
            Y(s.index()).store(X(s.index()).load() + 1.0f);
        }
        for (auto &p : pipeline(range(0, 8))) {
            p.stage("load");
            auto y = Y(p.index()).load();
            p.stage("store");
            Y(p.index()).store(y * 2.0f);
        }
        Scalar<float> sum = 0.0f;
        for (auto &r : reduce(range(0, 8))) {
            sum += Y(r.index()).load();
        }
        for (auto &nest : parallel(shape(8))) {
            Y(nest.index()).store(Y(nest.index()).load() + sum);
        }
        Y(coord(8), shape(i)).store(Y[coord(0), shape(i)] * 10.0f);
    });
    auto out = run_both(def.capture(tensor_shape(8), tensor_shape(16)),
                        {counting({8}), output_view({16})});
    EXPECT_EQ(at(out[1], 7), 18 + 88);
    EXPECT_EQ(at(out[1], 15), 1060);
}
TEST(RootNests, a_serial_around_a_parallel_is_a_sequence_of_launches) {
    auto def = tile_kernel([](TensorView<float, 1> X, TensorView<float, 1> Y, Scalar<int64_t> n) {
        for ([[maybe_unused]] auto &s : serial(range(0, n))) {
            for (auto &nest : s.parallel(shape(11))) {
                Y(nest.index()).store(X((nest.index() + 1) % 11).load());
            }
            for (auto &nest : s.parallel(shape(11))) {
                X(nest.index()).store(Y(nest.index()).load());
            }
        }
    });
    auto kernel = def.capture(tensor_shape(11), tensor_shape(11));
    for (int64_t n : {0, 1, 4, 13}) {
        auto out = run_both(kernel, {counting({11}), output_view({11})}, {bits_of(n)});
        for (int64_t e = 0; e < 11; ++e) {
            EXPECT_EQ(at(out[0], static_cast<size_t>(e)), static_cast<double>((e + n) % 11 + 1));
        }
    }
}

TEST(NestedParallel, member_and_free_forms_are_one_program) {
    auto member = tile_kernel([](TensorView<const float, 2> X, TensorView<float, 2> Y) {
        for (auto &a : parallel(shape(5))) {
            for (auto &b : a.parallel(shape(7))) {
                Y(a.index(), b.index()).store(X(a.index(), b.index()).load() * 3.0f);
            }
        }
    });
    auto free = tile_kernel([](TensorView<const float, 2> X, TensorView<float, 2> Y) {
        for (auto &a : parallel(shape(5))) {
            for (auto &b : parallel(shape(7))) {
                Y(a.index(), b.index()).store(X(a.index(), b.index()).load() * 3.0f);
            }
        }
    });
    auto first = member.capture(tensor_shape(5, 7), tensor_shape(5, 7));
    EXPECT_EQ(first.ir_text(), free.capture(tensor_shape(5, 7), tensor_shape(5, 7)).ir_text());
    auto out = run_both(first, {counting({5, 7}), output_view({5, 7})});
    EXPECT_EQ(at(out[1], 34), 105);
}
TEST(NestedParallel, coordinates_resolve_on_the_handle_that_is_named) {
    auto def = tile_kernel([](TensorView<int64_t, 3> Y) {
        auto i = axis("i", 2), j = axis("j", 3);
        for (auto &a : parallel(shape(i, j))) {
            for (auto &b : a.parallel(shape(4))) {
                // The child's positional dimension does not touch the parent's coordinates.
                auto value = a.index(i) * 100 + a.index(1) * 10 + b.index();
                Y(a.index(0), a.index(j), b.index(0)).store(value);
            }
        }
    });
    auto out = run_both(def.capture(tensor_shape(2, 3, 4)), {dense<int64_t>({2, 3, 4}, {-1})});
    EXPECT_EQ(at(out[0], 23), 123);
    EXPECT_EQ(at(out[0], 13), 101);
}
TEST(NestedParallel, coord_is_the_whole_path) {
    auto def = tile_kernel([](TensorView<const float, 3> X, TensorView<float, 3> Y) {
        for (auto &a : parallel(shape(2))) {
            for (auto &b : a.parallel(shape(3, 5))) {
                auto one = axis("one", 1);
                Y(b.coord(), shape(1, 1, one)).store(X[b.coord()] + 1.0f);
            }
        }
    });
    auto out = run_both(def.capture(tensor_shape(2, 3, 5), tensor_shape(2, 3, 5)),
                        {counting({2, 3, 5}), output_view({2, 3, 5})});
    EXPECT_EQ(at(out[1], 29), 31);
}
TEST(NestedParallel, is_complete_before_the_statement_after_it) {
    auto def = tile_kernel([](TensorView<const float, 2> X, TensorView<float, 2> T,
                              TensorView<float, 2> Y) {
        auto j = axis("j", 6);
        for (auto &row : parallel(shape(3))) {
            for (auto &column : row.parallel(shape(6))) {
                T(row.index(), column.index()).store(X(row.index(), column.index()).load() + 1.0f);
            }
            for (auto &column : row.parallel(shape(6))) {
                auto total = reduce(T[coord(row.index(), 0), shape(1, j)], j, add);
                Y(row.index(), column.index())
                    .store(Scalar<float>(reshape(total, shape())) *
                           T(row.index(), 5 - column.index()).load());
            }
        }
    });
    auto out = run_both(def.capture(tensor_shape(3, 6), tensor_shape(3, 6), tensor_shape(3, 6)),
                        {counting({3, 6}), output_view({3, 6}), output_view({3, 6})});
    EXPECT_EQ(at(out[2], 0), 27 * 7);
    EXPECT_EQ(at(out[2], 17), (14 + 15 + 16 + 17 + 18 + 19) * 14);
}
TEST(NestedParallel, reads_and_updates_tiles_of_two_ancestors) {
    auto def = tile_kernel([](TensorView<const float, 3> X, TensorView<float, 3> Y,
                              TensorView<float, 2> Z) {
        auto i = axis("i", 3), j = axis("j", 5);
        for (auto &top : parallel(shape(2))) {
            auto grid = reshape(X[coord(top.index(), 0, 0), shape(1, i, j)], shape(i, j));
            auto sums = zeros<float>(shape(i));
            for (auto &row : top.parallel(shape(i))) {
                auto line = grid.at(row);
                for (auto &cell : row.parallel(shape(j))) {
                    line = insert(line, cell, line.at(cell) * 10.0f + cast<float>(cell.index()));
                }
                sums = insert(sums, row, reduce(line, j, add));
                grid = insert(grid, row, line);
            }
            Y(coord(top.index(), 0, 0), shape(1, i, j)).store(grid);
            Z(coord(top.index(), 0), shape(1, i)).store(sums);
        }
    });
    auto out = run_both(
        def.capture(tensor_shape(2, 3, 5), tensor_shape(2, 3, 5), tensor_shape(2, 3)),
        {counting({2, 3, 5}), output_view({2, 3, 5}), output_view({2, 3})});
    EXPECT_EQ(at(out[1], 29), 304);
    EXPECT_EQ(at(out[2], 5), (26 + 27 + 28 + 29 + 30) * 10 + 10);
}
TEST(NestedParallel, an_update_of_an_ancestor_leaves_earlier_snapshots) {
    auto def = tile_kernel([](TensorView<const float, 1> X, TensorView<float, 2> Y) {
        auto i = axis("i", 13);
        for ([[maybe_unused]] auto &nest : parallel(shape(1))) {
            auto x = X[coord(0), shape(i)];
            auto first = x;
            for (auto &c : nest.parallel(shape(i))) {
                x = insert(x, c, x.at(c) + 100.0f);
            }
            auto second = x;
            for (auto &c : nest.parallel(range(0, 13, 2))) {
                x = insert(x, coord(c.index()), Scalar<float>(0.0f));
            }
            Y(coord(0, 0), shape(1, i)).store(first);
            Y(coord(1, 0), shape(1, i)).store(second);
            Y(coord(2, 0), shape(1, i)).store(x);
        }
    });
    auto out = run_both(def.capture(tensor_shape(13), tensor_shape(3, 13)),
                        {counting({13}), output_view({3, 13})});
    EXPECT_EQ(at(out[1], 12), 13);
    EXPECT_EQ(at(out[1], 25), 113);
    EXPECT_EQ(at(out[1], 26), 0);
    EXPECT_EQ(at(out[1], 27), 102);
    EXPECT_EQ(at(out[1], 38), 0);
}

struct Extents {
    const char *name;
    int64_t rows, columns;
};
class Domains : public ::testing::TestWithParam<Extents> {};

TEST_P(Domains, of_rank_two_cover_every_coordinate_once) {
    auto [name, rows, columns] = GetParam();
    auto def = tile_kernel([](TensorView<float, 2> Y) {
        for (auto &nest : parallel(shape(Y.extent(0), Y.extent(1)))) {
            auto y = Y(nest.index(0), nest.index(1));
            y.store(y.load() + cast<float>(nest.index(0) * 1000 + nest.index(1)));
        }
    });
    auto fixed = def.capture(tensor_shape(rows, columns));
    auto launched = def.capture(tensor_shape(dynamic("r"), dynamic("c")));
    for (const auto &kernel : {fixed, launched}) {
        auto out = run_both(kernel, {output_view({rows, columns})});
        for (int64_t e = 0; e < rows * columns; ++e) {
            ASSERT_EQ(at(out[0], static_cast<size_t>(e)),
                      static_cast<double>(e / columns * 1000 + e % columns - 77));
        }
    }
}
TEST_P(Domains, of_serial_and_reduce_are_lexicographic) {
    auto [name, rows, columns] = GetParam();
    auto def = tile_kernel([](TensorView<const float, 2> X, TensorView<int64_t, 1> Y) {
        Scalar<int64_t> ordered = 1, folded = 1, sum = 0;
        for (auto &s : serial(shape(X.extent(0), X.extent(1)))) {
            ordered = ordered * 31 + s.index(0) * 7 + s.index(1);
        }
        for (auto &r : reduce(shape(X.extent(0), X.extent(1)), reduction::fold_right)) {
            folded = (r.index(0) * 7 + r.index(1)) + folded * 31;
        }
        for (auto &r : reduce(shape(X.extent(0), X.extent(1)))) {
            sum += cast<int64_t>(X(r.index(0), r.index(1)).load());
        }
        Y(0).store(ordered);
        Y(1).store(folded);
        Y(2).store(sum);
    });
    for (const auto &kernel :
         {def.capture(tensor_shape(rows, columns), tensor_shape(3)),
          def.capture(tensor_shape(dynamic("r"), dynamic("c")), tensor_shape(3))}) {
        auto out = run_both(kernel, {counting({rows, columns}), dense<int64_t>({3}, {-1})});
        uint64_t forward = 1, backward = 1;
        auto n = static_cast<uint64_t>(rows * columns), w = static_cast<uint64_t>(columns);
        for (uint64_t e = 0; e < n; ++e) {
            auto b = n - 1 - e;
            forward = forward * 31 + e / w * 7 + e % w;
            backward = backward * 31 + b / w * 7 + b % w;
        }
        uint64_t got[3];
        std::memcpy(got, out[1].bytes.data(), sizeof(got));
        EXPECT_EQ(got[0], forward);
        EXPECT_EQ(got[1], backward);
        EXPECT_EQ(got[2], n * (n + 1) / 2);
    }
}
TEST_P(Domains, of_tiles_that_overhang_are_masked) {
    auto [name, rows, columns] = GetParam();
    auto def = tile_kernel([](TensorView<const float, 2> X, TensorView<float, 2> Y) {
        auto i = axis("i", 4), j = axis("j", 8);
        for (auto &nest : parallel(shape(ceil_div(X.extent(0), 4)))) {
            for (auto &inner : nest.parallel(shape(ceil_div(X.extent(1), 8)))) {
                auto origin = coord(nest.index() * 4, inner.index() * 8);
                auto x = X[origin, shape(i, j)];
                Y(origin, shape(i, j)).store(x * 2.0f + 1.0f);
            }
        }
    });
    for (const auto &kernel :
         {def.capture(tensor_shape(rows, columns), tensor_shape(rows, columns)),
          def.capture(tensor_shape(dynamic("r"), dynamic("c")),
                      tensor_shape(dynamic("r"), dynamic("c")))}) {
        auto out = run_both(kernel, {counting({rows, columns}), output_view({rows, columns})});
        for (int64_t e = 0; e < rows * columns; ++e) {
            ASSERT_EQ(at(out[1], static_cast<size_t>(e)), static_cast<double>(2 * (e + 1) + 1));
        }
    }
}
INSTANTIATE_TEST_SUITE_P(Shapes, Domains,
                         ::testing::Values(Extents{"one", 1, 1}, Extents{"row", 1, 17},
                                           Extents{"column", 13, 1}, Extents{"primes", 7, 31},
                                           Extents{"even", 4, 8}, Extents{"one_beyond", 5, 9},
                                           Extents{"no_rows", 0, 5}, Extents{"no_columns", 5, 0},
                                           Extents{"nothing", 0, 0}),
                         [](const auto &i) { return std::string(i.param.name); });

TEST(Loops, an_inner_bound_may_depend_on_the_outer_index) {
    auto def = tile_kernel([](TensorView<int64_t, 1> Y, Scalar<int64_t> n) {
        for (auto &nest : parallel(shape(Y.extent(0)))) {
            Scalar<int64_t> pairs = 0, sum = 0;
            for (auto &i : nest.serial(range(0, n))) {
                for (auto &j : nest.serial(range(i.index(), nest.index()))) {
                    pairs += 1;
                    sum += i.index() * j.index();
                }
            }
            Y(nest.index()).store(pairs * 1000 + sum);
        }
    });
    auto kernel = def.capture(tensor_shape(9));
    for (int64_t n : {0, 1, 3, 20}) {
        auto out = run_both(kernel, {dense<int64_t>({9}, {-1})}, {bits_of(n)});
        for (int64_t q = 0; q < 9; ++q) {
            int64_t expected = 0;
            for (int64_t i = 0; i < n; ++i) {
                for (int64_t j = i; j < q; ++j) {
                    expected += 1000 + i * j;
                }
            }
            EXPECT_EQ(at(out[0], static_cast<size_t>(q)), static_cast<double>(expected));
        }
    }
}
TEST(Loops, a_pipeline_reads_what_its_earlier_iterations_wrote) {
    auto def = tile_kernel([](TensorView<float, 2> X) {
        auto i = axis("i", 10);
        for ([[maybe_unused]] auto &nest : parallel(shape(1))) {
            for (auto &p : nest.pipeline(range(1, X.extent(0)), {.max_in_flight = 4})) {
                p.stage("load");
                auto before = X[coord(p.index() - 1, 0), shape(1, i)];
                auto now = X[coord(p.index(), 0), shape(1, i)];
                p.stage("store");
                X(coord(p.index(), 0), shape(1, i)).store(before + now);
            }
        }
    });
    auto out = run_both(def.capture(tensor_shape(7, 10)), {counting({7, 10})});
    EXPECT_EQ(at(out[0], 69), 10 + 20 + 30 + 40 + 50 + 60 + 70);
}
TEST(Loops, stages_without_a_dependence_equal_a_serial_loop) {
    auto run = [](bool staged) {
        auto def = tile_kernel([=](TensorView<const float, 2> X, TensorView<float, 1> Y) {
            auto i = axis("i", 19);
            for ([[maybe_unused]] auto &nest : parallel(shape(1))) {
                auto sum = zeros<float>(shape(i));
                auto body = [&](const Nest &s) {
                    auto x = X[coord(s.index(), 0), shape(1, i)];
                    sum = sum * 0.5f + reshape(x, shape(i));
                };
                if (staged) {
                    for (auto &s : nest.pipeline(range(0, 23), {.initiation_interval = 2})) {
                        body(s);
                    }
                } else {
                    for (auto &s : nest.serial(range(0, 23))) {
                        body(s);
                    }
                }
                Y(coord(0), shape(i)).store(sum);
            }
        });
        return run_both(def.capture(tensor_shape(23, 19), tensor_shape(19)),
                        {random_view({23, 19}, 4), output_view({19})})[1];
    };
    EXPECT_EQ(run(true).bytes, run(false).bytes);
}
