// SPDX-License-Identifier: Apache-2.0
#include "ir/text.h"

#include <gtest/gtest.h>

#include <string>

// The contract of a reduce: its text form, and the whole message of each rule.

namespace luisa::tile::ir {

namespace {

const std::string identity = "    %i = constant 0.0 : f32\n    yield %i, %i\n";
const std::string merge = "%a: f32, %b: f32, %c: f32, %d: f32 ->\n    %e = add %a, %c : f32\n"
                          "    %f = mul %b, %d : f32\n    yield %e, %f\n";

/// A reduce with two f32 states and one i32 state.
std::string with(const std::string &fields, const std::string &first, const std::string &second) {
    return "kernel @k() {\n  %n = constant 8 : i64\n  %x = constant 1.0 : tile<f32, m:4>\n"
           "  %y = constant 1.0 : f32\n  %z = constant 1 : i32\n"
           "  %p, %q, %r, %s = reduce %n, %x, %x, %z, %y {dims = [#0]" +
           fields +
           "} : tile<f32, m:4>, tile<f32, m:4>, i32, f32 { %j: i64, %k: tile<f32, m:4>, %l: "
           "tile<f32, "
           "m:4>, %t: i32, %u: f32 ->\n    yield %l, %k, %t, %u\n  }" +
           (first.empty() ? "" : " identity {\n" + first + "  }") +
           (second.empty() ? "" : " merge { " + second + "  }") + "\n}\n";
}

/// The first line of the error, or "accepted".
std::string error_of(const std::string &text) {
    try {
        (void)parse(text);
    } catch (const Error &e) {
        return e.message().substr(0, e.message().find('\n'));
    }
    return "accepted";
}

}// namespace

TEST(ContractText, every_field_survives) {
    auto once = print(
        *parse(with(", policy = ordered_tree, contract = [1 0], associative = declared, "
                    "identity = builtin, update = derived, commutative = declared",
                    identity, merge)));
    EXPECT_NE(
        once.find("{dims = [#0], policy = ordered_tree, contract = [1 0], associative = declared, "
                  "identity = builtin, update = derived, commutative = declared}"),
        std::string::npos)
        << once;
    EXPECT_NE(once.find("} identity {\n"), std::string::npos) << once;
    EXPECT_NE(once.find("} merge { %"), std::string::npos) << once;
    EXPECT_EQ(print(*parse(once)), once);
}

TEST(ContractRules, are_checked) {
    EXPECT_EQ(error_of(with("", "", "")), "accepted");
    EXPECT_EQ(error_of(with(", contract = [0 1]", identity, merge)), "accepted");
    EXPECT_EQ(error_of(with(", contract = [0 1]", "", "")),
              "reduce: states of a contract without its identity and merge regions");
    EXPECT_EQ(error_of(with(", associative = declared", "", "")),
              "reduce: states of a contract without its identity and merge regions");
    const std::string counts =
        "reduce: the regions of the contract and its groups of states disagree "
        "about the number of fields";
    EXPECT_EQ(error_of(with("", identity, merge)), counts);
    EXPECT_EQ(error_of(with(", contract = [0 1 2]", identity, merge)), counts);
    EXPECT_EQ(error_of(with(", contract = [0 0]", identity, merge)),
              "reduce: a contract names a state twice or one that is not there");
    EXPECT_EQ(error_of(with(", contract = [0 7]", identity, merge)),
              "reduce: a contract names a state twice or one that is not there");
    EXPECT_EQ(error_of(with(", contract = [0 3]", identity, merge)),
              "reduce: the states of one group of a contract differ in shape");
    EXPECT_EQ(error_of(with(", contract = [3 2]", identity, merge)),
              "reduce: field 1 of the contract is no scalar of its states' type");
    EXPECT_EQ(error_of(with(", contract = [0 1]", "    yield %x, %x\n", merge)),
              "reduce: field 0 of the contract is no scalar of its states' type");
    EXPECT_EQ(
        error_of(with(", contract = [0 1]", identity,
                      "%a: f32, %b: f32, %c: f32, %d: f32 ->\n    %e = extract %x, %n {dims = "
                      "[m]} : f32\n    %f = reduce.expr %x {op = add, dims = [m]} : f32\n"
                      "    yield %e, %f\n")),
        "accepted");
    EXPECT_EQ(
        error_of(with(", contract = [0 1]", identity,
                      "%a: f32, %b: f32, %c: f32, %d: f32 ->\n    %e = add %x, %a : tile<f32, "
                      "m:4>\n    yield %a, %b\n")),
        "reduce: a contract's region is no pure scalar code");
    EXPECT_EQ(error_of(with(", contract = [0 1]", identity, "")),
              "<text>:6:20: reduce has 1 regions, and those of a contract if it has one");
}

}// namespace luisa::tile::ir
