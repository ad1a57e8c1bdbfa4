// SPDX-License-Identifier: Apache-2.0
#include "fuzz/execute.h"

#include <gtest/gtest.h>

// Programs that no realization was found for once: they run, and give what the interpreter gives.

namespace luisa::tile::fuzz {
namespace {

/// Four instances insert rows into a tile of the kernel as `update` says, which yields %u and has %seen, what the
/// instance reads again; both are stored.
std::string program(const std::string &update) {
    return R"(// argument i32 view 2 4 3 3 1 0 010000000200000003000000040000000500000006000000070000000800000009000000100000001100000012000000
// argument i32 view 2 4 3 3 1 0 000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000
kernel @k(%x: view<i32, 4 x 3>, %y: view<i32, 4 x 3>) {
  %zero = constant 0 : i64
  %four = constant 4 : i64
  %t = load %x, %zero, %zero : tile<i32, a:4 b:3>
  %r = parallel %four, %t {dims = [i], updates = [insert]} : tile<i32, a:4 b:3> { %i: i64, %s: tile<i32, a:4 b:3> ->
    %seven = constant 7 : tile<i32, b:3>
    %one = constant 1 : i64
    %two = constant 2 : i64
    %go = lt %i, %two : bool
)" + update +
           R"(
    %row = extract %seen, %i {dims = [a]} : tile<i32, b:3>
    store %y, %row, %i, %zero {box = [one:1 b:3]}
    yield %u
  }
  store %x, %r, %zero, %zero {box = [a:4 b:3]}
}
)";
}

void expect_same(const std::string &update) {
    auto outcome = execute(from_text(program(update), "saved"));
    EXPECT_EQ(outcome.kind, OutcomeKind::SAME)
        << to_string(outcome.kind) << ": " << outcome.message;
}

TEST(ObservedInserts, UnderABranch) {
    expect_same(R"(    %u = if %go : tile<i32, a:4 b:3> {
      %v = insert %s, %seven, %i {dims = [a]} : tile<i32, a:4 b:3>
      yield %v
    } else {
      yield %s
    }
    %seen = add %u, %u : tile<i32, a:4 b:3>)");
}

TEST(ObservedInserts, InALoop) {
    expect_same(
        R"(    %u = serial %two, %s {dims = [j]} : tile<i32, a:4 b:3> { %j: i64, %c: tile<i32, a:4 b:3> ->
      %old = extract %c, %i {dims = [a]} : tile<i32, b:3>
      %new = add %old, %seven : tile<i32, b:3>
      %v = insert %c, %new, %i {dims = [a]} : tile<i32, a:4 b:3>
      yield %v
    }
    %seen = add %u, %u : tile<i32, a:4 b:3>)");
}

TEST(ObservedInserts, AfterAnInsertThatTheBranchGoesOnFrom) {
    expect_same(R"(    %w = insert %s, %seven, %i {dims = [a]} : tile<i32, a:4 b:3>
    %sum = add %w, %w : tile<i32, a:4 b:3>
    %u = if %go : tile<i32, a:4 b:3> {
      %part = extract %sum, %i {dims = [a]} : tile<i32, b:3>
      %v = insert %w, %part, %i {dims = [a]} : tile<i32, a:4 b:3>
      yield %v
    } else {
      yield %w
    }
    %seen = add %u, %w : tile<i32, a:4 b:3>)");
}

}// namespace
}// namespace luisa::tile::fuzz
