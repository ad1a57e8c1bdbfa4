// SPDX-License-Identifier: Apache-2.0
// Which variables a region carries.
#include "unit/frontend/support.h"

#include <array>
#include <optional>
#include <utility>

using namespace luisa::tile;
using namespace luisa::tile::test;

namespace {

const std::string scalar_frame = "kernel @k(%0: view<f32, 8 x 8>) {\n";

}// namespace

TEST(States, an_assigned_outer_variable_becomes_a_state) {
    EXPECT_EQ(text_of([](Matrix A) {
                  Scalar<float> x = 1.0f;
                  for ([[maybe_unused]] auto &s : serial(range(0, 3))) {
                      x = x * 2.0f;
                  }
                  A(0, 0).store(x);
              }),
              scalar_frame +
                  "  %1 = constant 0 : i64\n"
                  "  %2 = constant 3 : i64\n"
                  "  %3 = constant 1 : i64\n"
                  "  %4 = constant 1.0 : f32\n"
                  "  %5 = serial %1, %2, %3, %4 {range = true} : f32 { %6: i64, %7: f32 ->\n"
                  "    %8 = constant 2.0 : f32\n"
                  "    %9 = mul %7, %8 : f32\n"
                  "    yield %9\n"
                  "  }\n"
                  "  store %0, %5, %1, %1\n"
                  "}\n");
}

TEST(States, a_variable_that_is_only_read_is_no_state) {
    auto text = text_of([](Matrix A) {
        Scalar<float> x = A(1, 1).load();
        for (auto &s : serial(range(0, 3))) {
            A(s.index(), 0).store(x + 1.0f);
        }
    });
    EXPECT_EQ(count(text, "yield\n"), 1u);
    EXPECT_EQ(count(text, "{range = true} {"), 1u);
}

TEST(States, a_local_of_the_body_is_no_state) {
    auto text = text_of([](Matrix A) {
        for (auto &s : serial(range(0, 3))) {
            Scalar<float> x = 1.0f;
            x = x + 1.0f;
            A(s.index(), 0).store(x);
        }
    });
    EXPECT_EQ(count(text, "yield\n"), 1u);
}

TEST(States, an_assignment_of_the_own_value_is_no_state) {
    auto text = text_of([](Matrix A) {
        Scalar<float> x = 1.0f;
        for (auto &s : serial(range(0, 3))) {
            auto y = x;
            x = y;
            A(s.index(), 0).store(x);
        }
        A(7, 0).store(x);
    });
    EXPECT_EQ(count(text, "yield\n"), 1u);
}

TEST(States, a_write_in_an_inner_nest_is_carried_through_the_outer_ones) {
    auto text = text_of([](Matrix A) {
        Scalar<float> x = 0.0f;
        for (auto &a : serial(range(0, 3))) {
            for (auto &b : a.serial(range(0, 3))) {
                for ([[maybe_unused]] auto &c : b.serial(range(0, 3))) {
                    x += 1.0f;
                }
            }
        }
        A(0, 0).store(x);
    });
    EXPECT_EQ(count(text, ": f32 { "), 3u);
    EXPECT_EQ(count(text, "yield %"), 3u);
}

TEST(States, updates_of_one_iteration_are_simultaneous) {
    auto text = text_of([](Matrix A) {
        Scalar<float> a = A(0, 0).load(), b = A(0, 1).load();
        for ([[maybe_unused]] auto &s : serial(range(0, 3))) {
            std::swap(a, b);
        }
        A(0, 0).store(a - b);
    });
    EXPECT_NE(text.find("{ %8: i64, %9: f32, %10: f32 ->\n    yield %10, %9\n"), std::string::npos)
        << text;
}

TEST(States, tie_assigns_both_from_the_old_values) {
    auto text = text_of([](Matrix A) {
        Scalar<float> a = 0.0f, b = 1.0f;
        for ([[maybe_unused]] auto &s : serial(range(0, 3))) {
            std::tie(a, b) = std::pair(b, a + b);
        }
        A(0, 0).store(a);
    });
    EXPECT_NE(text.find("%11 = add %9, %10 : f32\n    yield %10, %11\n"), std::string::npos)
        << text;
}

TEST(States, a_copy_is_a_snapshot) {
    auto text = text_of([](Matrix A) {
        Scalar<float> x = A(0, 0).load();
        auto before = x;
        x = x + 1.0f;
        A(0, 1).store(before);
        A(0, 2).store(x);
    });
    EXPECT_EQ(count(text, "load"), 1u);
    EXPECT_NE(text.find("store %0, %2, %1, %3"), std::string::npos) << text;
}

TEST(States, a_reference_names_the_same_variable) {
    auto by_name = text_of([](Matrix A) {
        Scalar<float> x = A(0, 0).load();
        x = x + 1.0f;
        A(0, 1).store(x);
    });
    auto by_reference = text_of([](Matrix A) {
        Scalar<float> x = A(0, 0).load();
        auto &alias = x;
        alias += 1.0f;
        A(0, 1).store(x);
    });
    EXPECT_EQ(by_name, by_reference);
}

TEST(States, a_vector_of_tiles_may_grow_inside_a_body) {
    auto text = text_of([](Matrix A) {
        auto n = axis("n", 8);
        std::vector<Tile<float>> rows;
        rows.push_back(A[coord(0, 0), shape(1, n)]);
        rows.push_back(A[coord(1, 0), shape(1, n)]);
        for ([[maybe_unused]] auto &s : serial(range(0, 2))) {
            for (auto &row : rows) {
                row += 1.0f;
            }
            rows.reserve(rows.capacity() + 8);
        }
        A(coord(0, 0), shape(1, n)).store(rows[1]);
    });
    EXPECT_EQ(count(text, "yield %"), 1u);
    EXPECT_EQ(count(text, " = add "), 1u) << "the state of rows[0] is dead\n" << text;
}

TEST(States, a_dead_state_is_pruned_although_it_updates_itself) {
    auto text = text_of([](Matrix A) {
        Scalar<float> dead = 0.0f, live = 0.0f;
        for (auto &s : serial(range(0, 3))) {
            dead = dead + 1.0f;
            live = live + 2.0f;
            A(s.index(), 1).store(0.0f);
        }
        A(0, 0).store(live);
    });
    EXPECT_EQ(count(text, " = add "), 1u) << text;
}

TEST(States, two_dead_states_that_feed_each_other_are_pruned) {
    auto text = text_of([](Matrix A) {
        Scalar<float> a = 0.0f, b = 1.0f;
        for (auto &s : serial(range(0, 3))) {
            std::tie(a, b) = std::pair(b, a + b);
            A(s.index(), 1).store(0.0f);
        }
    });
    EXPECT_EQ(count(text, " = add "), 0u) << text;
}

TEST(States, a_state_read_by_an_effect_lives_though_its_result_is_unused) {
    auto text = text_of([](Matrix A) {
        Scalar<float> x = 0.0f;
        for (auto &s : serial(range(0, 3))) {
            A(s.index(), 1).store(x);
            x += 1.0f;
        }
    });
    EXPECT_EQ(count(text, "yield %"), 1u) << text;
}

TEST(States, a_nest_without_effects_and_results_disappears) {
    EXPECT_EQ(text_of([](Matrix A) {
                  Scalar<float> x = 0.0f;
                  for ([[maybe_unused]] auto &s : serial(range(0, 3))) {
                      x += A(0, 0).load();
                  }
              }),
              scalar_frame + "}\n");
}

TEST(States, a_branch_that_does_not_assign_keeps_the_earlier_value) {
    EXPECT_EQ(text_of([](Matrix A) {
                  Scalar<float> x = 1.0f;
                  if_(A(0, 0).load() > 0.0f, [&] { x = 2.0f; });
                  A(0, 1).store(x);
              }),
              scalar_frame + "  %1 = constant 0 : i64\n"
                             "  %2 = load %0, %1, %1 : f32\n"
                             "  %3 = constant 0.0 : f32\n"
                             "  %4 = gt %2, %3 : bool\n"
                             "  %5 = constant 1.0 : f32\n"
                             "  %6 = if %4 : f32 {\n"
                             "    %7 = constant 2.0 : f32\n"
                             "    yield %7\n"
                             "  } else {\n"
                             "    yield %5\n"
                             "  }\n"
                             "  %8 = constant 1 : i64\n"
                             "  store %0, %6, %1, %8\n"
                             "}\n");
}

TEST(States, both_branches_may_define_a_variable_without_a_value) {
    auto text = text_of([](Matrix A) {
        Scalar<float> x;
        if_(
            A(0, 0).load() > 0.0f, [&] { x = 2.0f; }, [&] { x = 3.0f; });
        A(0, 1).store(x);
    });
    EXPECT_EQ(count(text, "yield %"), 2u);
}

TEST(States, a_branch_inside_a_loop_feeds_the_loop_state) {
    auto text = text_of([](Matrix A) {
        Scalar<float> x = 0.0f;
        for (auto &s : serial(range(0, 3))) {
            if_(A(s.index(), 0).load() > 0.0f, [&] { x += 1.0f; });
        }
        A(0, 1).store(x);
    });
    EXPECT_EQ(count(text, "yield %"), 3u) << text;
}

TEST(States, while_reads_its_states_in_the_condition) {
    auto text = text_of([](Matrix A) {
        Scalar<int64_t> i = 0;
        while_([&] { return i < 5; }, [&] { i += 1; });
        A(i, 0).store(1.0f);
    });
    EXPECT_NE(text.find("while %1 : i64 { %3: i64 ->"), std::string::npos) << text;
    EXPECT_NE(text.find("condition %5"), std::string::npos) << text;
}

TEST(States, containers_and_structs_carry_their_tiles) {
    auto text = text_of([](Matrix A) {
        std::array<Tile<float>, 2> pair;
        pair[0] = zeros<float>(shape(8));
        pair[1] = ones<float>(shape(8));
        for ([[maybe_unused]] auto &s : serial(range(0, 3))) {
            pair = {pair[1], pair[0] + pair[1]};
        }
        A(coord(0, 0), shape(8, 1)).store(pair[0]);
    });
    EXPECT_EQ(count(text, "yield %"), 1u);
    EXPECT_EQ(count(text, "tile<f32, #0:8> ->"), 1u) << text;
}

TEST(States, a_moved_from_variable_may_be_assigned_again) {
    auto text = text_of([](Matrix A) {
        Scalar<float> x = A(0, 0).load();
        auto y = std::move(x);
        x = y + 1.0f;
        A(0, 1).store(x * y);
    });
    EXPECT_EQ(count(text, " = mul "), 1u);
}

TEST(States, a_move_out_and_back_inside_a_body_is_no_state) {
    auto text = text_of([](Matrix A) {
        auto x = A[coord(0, 0), shape(8, 8)];
        for (auto &s : serial(range(0, 3))) {
            auto y = std::move(x);
            A(s.index(), 0).store(reduce(y, {y.axis(0), y.axis(1)}, add));
            x = std::move(y);
        }
        A(coord(0, 0), shape(8, 8)).store(x);
    });
    EXPECT_EQ(count(text, "yield\n"), 1u) << text;
}

TEST(States, a_variable_may_outlive_its_capture) {
    std::optional<Tile<float>> kept;
    auto text = text_of([&](Matrix A) {
        kept.emplace(A[coord(0, 0), shape(8, 8)]);
        A(coord(0, 0), shape(8, 8)).store(*kept);
    });
    EXPECT_FALSE(text.empty());
    kept.reset();
}

TEST(AncestorUpdates, an_insert_is_partial_and_an_independent_value_collective) {
    auto text = text_of([](Matrix A) {
        auto n = axis("n", 8);
        auto y = zeros<float>(shape(n));
        Scalar<float> flag = 0.0f;
        for (auto &child : parallel(shape(n))) {
            y = insert(y, child, cast<float>(child.index()));
            flag += 1.0f;
        }
        A(coord(0, 0), shape(1, n)).store(y * flag);
    });
    EXPECT_NE(text.find("updates = [insert collective]"), std::string::npos) << text;
}

TEST(AncestorUpdates, an_insert_by_an_inner_nest_into_a_local_then_the_ancestor) {
    auto text = text_of([](Matrix A) {
        auto m = axis("m", 8), n = axis("n", 8);
        auto y = A[coord(0, 0), shape(m, n)];
        for (auto &row : parallel(shape(m))) {
            auto own = y.at(row);
            for (auto &cell : row.parallel(shape(n))) {
                own = insert(own, cell, cast<float>(cell.index()));
            }
            y = insert(y, row, own);
        }
        A(coord(0, 0), shape(m, n)).store(y);
    });
    EXPECT_EQ(count(text, "updates = [insert]"), 2u) << text;
}

TEST(AncestorUpdates, an_insert_by_an_inner_nest_is_an_insert_of_both_nests) {
    auto text = text_of([](Matrix A) {
        auto m = axis("m", 8), n = axis("n", 8);
        auto y = A[coord(0, 0), shape(m, n)];
        for (auto &row : parallel(shape(m))) {
            for (auto &cell : row.parallel(shape(n))) {
                y = insert(y, coord(row.index(), cell.index()), 1.0f);
            }
        }
        A(coord(0, 0), shape(m, n)).store(y);
    });
    EXPECT_EQ(count(text, "updates = [insert]"), 2u) << text;
}

TEST(AncestorUpdates, a_flag_set_two_levels_down_is_collective_at_both) {
    auto text = text_of([](Matrix A) {
        Scalar<float> flag = 0.0f;
        for (auto &row : parallel(shape(4))) {
            for ([[maybe_unused]] auto &cell : row.parallel(shape(4))) {
                flag += 1.0f;
            }
        }
        A(0, 0).store(flag);
    });
    EXPECT_EQ(count(text, "updates = [collective]"), 2u) << text;
}

TEST(AncestorUpdates, the_same_insert_by_all_instances_is_collective) {
    auto text = text_of([](Matrix A) {
        auto n = axis("n", 8);
        auto y = zeros<float>(shape(n));
        for ([[maybe_unused]] auto &child : parallel(shape(4))) {
            y = insert(y, coord(2), 7.0f);
        }
        A(coord(0, 0), shape(1, n)).store(y);
    });
    EXPECT_NE(text.find("updates = [collective]"), std::string::npos) << text;
}
