// SPDX-License-Identifier: Apache-2.0
#include "ir/text.h"

#include <gtest/gtest.h>

#include <string>

// Well-formed texts of programs that are not valid, with what the verifier says.

namespace luisa::tile::ir {

namespace {

struct Case {
    const char *body, *message;
    bool machine = false;
};

const Case cases[] = {
    {"broadcast %n", "has 0 results"},
    {"%x = store %A, %f, %n : f32", "has 1 results, expected 0"},
    {"%x = add %n, %f : i64", "operands are i64 and f32"},
    {"%x = sqrt %n : i64", "is not defined on i64"},
    {"%x = add %n, %n : view<i64, 4>", "a result is no tile"},
    {"%x = load %A, %f : f32", "operand 1 is no i64 scalar"},
    {"%x = load %A : f32", "coordinate"},
    {"yield\n  yield", "yield stands before the end"},
    {"condition %b", "stands outside a while"},
    {"stage {name = \"s\"}", "outside the body of a pipeline"},
    {"%x = while %n : i64 { %i: i64 ->\n yield %i\n }", "has 0 conditions"},
    {"if %b {\n } else {\n yield\n }", "does not end in yield"},
    {"%x = lanes : <4 x i32>", "belongs to Machine form"},
    {"%x = extent %A {index = 1} : i64", "extent that the view lacks"},
    {"%x = mma %n, %n, %n : i64", "contracts no dimension"},
    {"%i = iota : tile<i64, m:4>\n %x = load %A, %i, %i {mapped = true} : tile<f32, m:4>",
     "not one coordinate"},
    {"%i = iota : tile<i64, m:4>\n %x = load %A, %i {mapped = true} : tile<f32, n:4>",
     "no i64 tile over the dimensions"},
    {"%x = load %A, %n {mapped = true} : f32", "a mapped access has no dimensions"},
    {"%i = iota : tile<i64, m:4>\n store %A, %n, %i {box = [m:4], mapped = true}",
     "another type than the view"},
    {"%i = iota : tile<f32, m:4>\n %x = extract %i, %n {dims = [m], box = []} : tile<f32, k:2>",
     "not the tile's other dimensions"},
    {"%i = iota : tile<f32, m:4>\n %x = extract %i, %n {dims = [m], box = [k:2 l:2]} : tile<f32, "
     "k:2>",
     "without one entry a coordinate"},
    {"%i = iota : tile<f32, m:4>\n %x = insert %i, %i, %n {dims = [m], box = [m:3]} : tile<f32, "
     "m:4>",
     "not the tile's other dimensions"},
    {"%x = memory.alloc : f32", "has no dimensions"},
    {"%x = memory.alloc {layout = \"rows\"} : tile<f32, m:4>", "a layout that is none"},
    {"%x = memory.alloc {layout = \"affine{(8):(1); 0} [8] -> [8]\"} : tile<f32, m:4>",
     "a layout of other elements"},
    {"%x = memory.alloc {layout = \"affine{(4):(<1, 0>); <0, 0>} [4] -> [4, 1]\"} : tile<f32, m:4>",
     "places are no numbers"},
    {"%x = memory.alloc {layout = \"affine{(4):(-1); 0} [4] -> [4]\"} : tile<f32, m:4>",
     "bounds disproven by (3)"},
    {"parallel %n {dims = [#0], layout = \"affine{(4):(1); 0} [4] -> [4]\"} { %i: i64 ->\n }",
     "a domain that is known at launch only"},
    {"%z = constant 4 : i64\n serial %z {dims = [#0], layout = \"affine{(4):(1); 0} [4] -> "
     "[4]\"} { %i: i64 ->\n }",
     "only parallel over a shape has a layout"},
    {"%z = constant 4 : i64\n parallel %z {dims = [#0], layout = \"affine{(5):(1); 0} [5] -> "
     "[5]\"} { %i: i64 ->\n }",
     "a layout of other elements"},
    {"%z = constant 4 : i64\n parallel %z {dims = [#0], layout = \"affine{(4):(2); 0} [4] -> "
     "[7]\"} { %i: i64 ->\n }",
     "other places than its instances"},
    {"%x = memory.alloc : tile<f32, m:4>\n %z = constant 0 : i64\n store %A, %x, %z {box = [m:4]}",
     "reads memory that nothing was stored to"},
    {"%x = per %n, %f : i64", "operand 1 is no i64 scalar"},
    {"%x = per %f, %n : i64", "not like the value"},
    {"%x = lanes : <4 x f32>", "no integer vector", true},
    {"%x = lanes : <4 x i32>\n %y = extract_lane %x {index = 4} : i32",
     "lane that the vector lacks", true},
    {"%x = lanes : <4 x i32>\n %y = shuffle %x, %x {lanes = [0 8]} : <2 x i32>", "no lane", true},
    {"%x = read %p {align = 3} : f32", "no power of two", true},
    {"%x = read %p {masked = true} : f32", "wrong number of operands", true},
    {"%x = read %n : f32", "addresses no pointer", true},
    {"prefetch %n", "addresses no pointer", true},
    {"prefetch %p {level = 3}", "names no cache that it can fill", true},
    {"%x = iota : tile<i32, m:4>", "belongs to Candidate form", true},
    {"%x = atomic %A, %f {op = add} : f32", "one coordinate a dimension"},
    {"%x = atomic %A, %f, %n : f32", "no kind of update"},
    {"%x = atomic %A, %f, %n {op = xor} : f32", "does not update elements of f32"},
    {"%x = atomic %A, %n, %n {op = add} : f32", "no scalars of the view's type"},
    {"assert %n {message = \"m\"}", "no bool scalar"},
    {"assert %b {message = \"m\", box = [i:4]}", "which element fails"},
    {"print %n {format = \"{} {}\"}", "one value for each {}"},
    {"%x = atomic_update %p, %n {op = compare_exchange} : i64", "values of its kind", true},
    {"report %n {site = 0, checks = true}", "no bool scalar", true},
    {"report %n", "names no entry", true},
    {"%x = participant : i64", "does not say of what", true},
    {"%x = participants {kind = block} : i32", "no i64 scalar", true},
    {"%x = shared : ptr", "offset that is not negative", true},
    {"%i = constant 1 : i32\n %x = exchange_lanes %n, %i : i64", "does not say which lane", true},
    {"%x = exchange_lanes %n, %n {mode = up} : i64", "no i32 scalar", true},
    {"%i = constant 1 : i32\n %x = exchange_lanes %n, %i {mode = xor} : i32",
     "no scalars of one type", true},
};

}// namespace

TEST(InvalidIr, each_broken_rule_is_named_with_a_caret) {
    for (const auto &c : cases) {
        std::string head = c.machine
                               ? "machine @k(%p: ptr, %n: i64) {\n"
                               : "kernel @k(%A: view<f32, 4>, %n: i64, %f: f32, %b: bool) {\n";
        try {
            (void)parse(head + c.body + "\n}\n");
            ADD_FAILURE() << "accepted: " << c.body;
        } catch (const VerifyError &e) {
            EXPECT_NE(e.message().find(c.message), std::string::npos) << c.body << "\n"
                                                                      << e.message();
            EXPECT_EQ(e.message().back(), '^') << e.message();
        }
    }
}

}// namespace luisa::tile::ir
