// SPDX-License-Identifier: Apache-2.0
// Mistakes that a capture reports: one each, with the whole message.
#include "unit/frontend/support.h"

#include <optional>
#include <thread>

using namespace luisa::tile;
using namespace luisa::tile::test;

TEST(CaptureErrors, a_nest_left_by_break) {
    EXPECT_EQ(
        error_of([](Matrix A) {
            for ([[maybe_unused]] auto &s : serial(range(0, 4))) {
                break;
            }
            A(0, 0).store(1.0f);
        }),
        "CaptureError: the body of this `serial` was left by break, return or goto; the body is "
        "captured once and must run to its end");
}

TEST(CaptureErrors, a_handle_used_after_its_body) {
    EXPECT_EQ(error_of([](Matrix A) {
                  Nest *escaped = nullptr;
                  for (auto &s : serial(range(0, 4))) {
                      escaped = &s;
                  }
                  A(escaped->index(), 0).store(1.0f);
              }),
              "ScopeError: this `serial` handle is used after its body");
}

TEST(CaptureErrors, a_value_used_after_its_nest) {
    EXPECT_EQ(error_of([](Matrix A) {
                  std::optional<Tile<float>> t;
                  for (auto &s : serial(range(0, 4))) {
                      t.emplace(A[coord(s.index(), 0), shape(1, 8)]);
                  }
                  A(coord(0, 0), shape(1, 8)).store(*t);
              }),
              "ScopeError: this value was declared inside a `serial` body and is used after it; "
              "assign it "
              "to a variable declared before the nest");
}

TEST(CaptureErrors, a_coordinate_used_after_its_nest) {
    EXPECT_EQ(error_of([](Matrix A) {
                  std::optional<Coord> place;
                  for (auto &s : serial(range(0, 4))) {
                      place.emplace(coord(s.index(), 0));
                  }
                  A(*place).store(1.0f);
              }),
              "ScopeError: this value was made inside a nest and is used after it; assign it to a "
              "variable "
              "declared before the nest");
}

TEST(CaptureErrors, a_variable_read_before_it_has_a_value) {
    EXPECT_EQ(error_of([](Matrix A) {
                  Scalar<float> x;
                  A(0, 0).store(x);
              }),
              "ScopeError: this variable is read before it has a value");
}

TEST(CaptureErrors, a_variable_defined_on_one_path_only) {
    EXPECT_EQ(error_of([](Matrix A) {
                  Scalar<float> x;
                  if_(A(0, 0).load() > 0.0f, [&] { x = 1.0f; });
                  A(0, 0).store(x);
              }),
              "ScopeError: this variable is read before it has a value");
}

TEST(CaptureErrors, a_variable_defined_only_in_a_nest) {
    EXPECT_EQ(
        error_of([](Matrix A) {
            Scalar<float> x;
            for (auto &s : serial(range(0, 4))) {
                x = cast<float>(s.index());
            }
            A(0, 0).store(x);
        }),
        "ScopeError: a variable assigned in this `serial` has no value before it; give it one (the "
        "nest may run zero times)");
}

TEST(CaptureErrors, a_moved_from_variable) {
    EXPECT_EQ(error_of([](Matrix A) {
                  auto x = zeros<float>(shape(8, 8));
                  auto y = std::move(x);
                  A(coord(0, 0), shape(8, 8)).store(x);
              }),
              "ScopeError: this variable was moved from; assign it before reading it");
}

TEST(CaptureErrors, a_variable_moved_away_in_a_repeated_body) {
    EXPECT_EQ(
        error_of([](Matrix A) {
            auto x = zeros<float>(shape(8, 8));
            for (auto &s : serial(range(0, 4))) {
                auto y = std::move(x);
                A(coord(s.index(), 0), shape(8, 8)).store(y);
            }
        }),
        "ScopeError: a variable declared outside this nest is moved from at the end of its body, "
        "which may run many times; copy it instead");
}

TEST(CaptureErrors, an_ancestor_that_depends_on_the_child) {
    EXPECT_EQ(
        error_of([](Matrix A) {
            auto n = axis("n", 8);
            auto x = zeros<float>(shape(n));
            for (auto &c : parallel(shape(n))) {
                x = x + cast<float>(c.index());
            }
            A(coord(0, 0), shape(1, n)).store(x);
        }),
        "ScopeError: an outer value assigned inside `parallel` depends on the child's coordinates; "
        "write y = insert(y, child, v), or use reduce or serial");
}

TEST(CaptureErrors, a_stage_cut_in_a_nested_region) {
    EXPECT_EQ(error_of([](Matrix A) {
                  for (auto &p : pipeline(range(0, 4))) {
                      for (auto &q : p.parallel(shape(4))) {
                          p.stage("x");
                          A(q.index(), 0).store(0.0f);
                      }
                  }
              }),
              "ScopeError: a stage cut stands at the body level of its pipeline, not inside a "
              "nested region");
}

TEST(CaptureErrors, the_first_error_comes_back_although_it_was_swallowed) {
    EXPECT_EQ(error_of([](Matrix A) {
                  try {
                      A(coord(0), shape(8)).store(zeros<float>(shape(8)));
                  } catch (const Error &) {}
                  A(0, 0).store(1.0f);
              }),
              "ShapeError: the view has rank 2, the shape has rank 1; give one axis or extent a "
              "dimension "
              "(1 for a single row)");
}

TEST(CaptureErrors, an_operation_outside_a_capture) {
    try {
        (void)zeros<float>(shape(4));
        FAIL();
    } catch (const CaptureError &e) {
        EXPECT_EQ(e.message(),
                  "no kernel is being captured on this thread; tile operations run inside a "
                  "tile_kernel lambda, on the thread that captures it");
    }
}

TEST(CaptureErrors, a_value_or_view_of_another_capture) {
    std::optional<Tile<float>> value;
    std::optional<Matrix> view;
    std::optional<Coord> place;
    (void)text_of([&](Matrix A) {
        value.emplace(A[coord(0, 0), shape(8, 8)]);
        view.emplace(A);
        Scalar<int64_t> one = 1;
        place.emplace(coord(one, one));
    });
    auto expected =
        "OwnershipError: this value belongs to another capture; pass data between kernels "
        "through views";
    EXPECT_EQ(error_of([&](Matrix A) { A(coord(0, 0), shape(8, 8)).store(*value); }), expected);
    EXPECT_EQ(error_of([&](Matrix A) { A(*place).store(1.0f); }), expected);
    EXPECT_EQ(error_of([&](Matrix) { (*view)(0, 0).store(1.0f); }),
              "OwnershipError: this view belongs to another capture");
}

TEST(CaptureErrors, a_runtime_extent_used_as_a_host_integer) {
    auto definition = tile_kernel([](Matrix A) {
        int64_t n = A.extent(0);
        A(n, 0).store(1.0f);
    });
    try {
        (void)definition.capture(tensor_shape(dynamic("s"), 4));
        FAIL();
    } catch (const ConstraintError &e) {
        EXPECT_EQ(e.message(),
                  "this extent is known at launch only, and is used as a host integer; keep it "
                  "staged, or bind it statically in tensor_shape");
    }
}

TEST(CaptureErrors, two_tiles_that_do_not_join) {
    EXPECT_EQ(error_of([](Matrix A) {
                  auto m = axis("m", 8);
                  auto x = A[coord(0, 0), shape(m, 8)] + zeros<float>(shape(axis(m.dim, 3)));
                  A(coord(0, 0), shape(m, 8)).store(x);
              }),
              "ShapeError: add: [8, 8] and [3] do not join: dimension 'm' is 8 in one and 3 in the "
              "other; "
              "give one of them its own axis, or reshape");
}

TEST(CaptureErrors, literals_that_do_not_fit) {
    EXPECT_EQ(error_of([](Matrix A) {
                  auto x = zeros<int8_t>(shape(8)) + 300;
                  A(0, 0).store(cast<float>(x.at(coord(0))));
              }).substr(0, 10),
              "ValueError");
    EXPECT_EQ(error_of([](Matrix A) {
                  auto x = zeros<bf16>(shape(8)) + 1e39;
                  A(0, 0).store(cast<float>(x.at(coord(0))));
              }).substr(0, 10),
              "ValueError");
}

TEST(CaptureErrors, wrong_extents_axes_and_coordinates) {
    EXPECT_EQ(error_of([](Matrix) { (void)axis("m", -1); }),
              "ValueError: axis 'm': extent must be >= 0, got -1");
    EXPECT_EQ(error_of([](Matrix) { (void)shape(-1); }), "ValueError: extent must be >= 0, got -1");
    EXPECT_EQ(error_of([](Matrix) { (void)range(0, 4, 0); }),
              "ValueError: range: a step of zero never ends; give a positive or negative step");
    EXPECT_EQ(error_of([](Matrix) { (void)zeros<float>(shape(8, 8)).axis(3); }),
              "IndexError: axis 3 of a tile of rank 2");
    EXPECT_EQ(error_of([](Matrix) { (void)zeros<float>(shape(8)).at(coord(9)); }),
              "IndexError: at: coordinate 9 of dimension 0 is outside its extent 8");
    EXPECT_EQ(error_of([](Matrix) { (void)reshape(zeros<float>(shape(8)), shape(3)); }),
              "ShapeError: reshape: [8] has 8 elements, [3] has 3");
    EXPECT_EQ(error_of([](Matrix) {
                  auto m = axis("m", 8);
                  (void)reduce(zeros<float>(shape(m)), {m, m}, add);
              }),
              "ValueError: reduce: an axis is given twice");
}
