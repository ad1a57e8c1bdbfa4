// SPDX-License-Identifier: Apache-2.0
#include "ir/text.h"

#include <gtest/gtest.h>

#include <string>

// The scan operation: its text form, and the whole message of each rule.

namespace luisa::tile::ir {

namespace {

std::string with(const std::string &line) {
    return "kernel @k() {\n  %x = constant 1.0 : tile<f32, m:4 n:3>\n"
           "  %s = constant 2.0 : tile<f32, m:4>\n  %b = constant true : tile<bool, n:3>\n"
           "  %y = scan " +
           line + " : tile<f32, m:4 n:3>\n}\n";
}

/// The first line of the error, or "accepted".
std::string error_of(const std::string &line) {
    try {
        (void)parse(with(line));
    } catch (const VerifyError &e) {
        return e.message().substr(0, e.message().find('\n'));
    }
    return "accepted";
}

}// namespace

TEST(ScanText, every_field_survives) {
    for (const auto *line :
         {"%0 {op = add, dim = n}", "%0 {op = fmax, dim = m, policy = fold_left, exclusive = true}",
          "%0, %1, %2 {op = multiply, dim = n, policy = balanced_tree, reverse = true, seed = "
          "true, "
          "mask = true}"}) {
        std::string named = line;
        for (auto [number, name] : {std::pair{"%0", "%x"}, {"%1", "%s"}, {"%2", "%b"}}) {
            if (auto at = named.find(number); at != std::string::npos) {
                named.replace(at, 2, name);
            }
        }
        auto once = print(*parse(with(named)));
        EXPECT_NE(once.find(std::string{"scan "} + line + " : tile<f32, m:4 n:3>"),
                  std::string::npos)
            << once;
        EXPECT_EQ(print(*parse(once)), once);
    }
}

TEST(ScanRules, are_checked) {
    EXPECT_EQ(error_of("%x {op = add, dim = k}"),
              "scan: goes along a dimension that the tile lacks");
    EXPECT_EQ(error_of("%x {op = bit_or, dim = m}"), "scan: this reducer does not scan f32");
    EXPECT_EQ(error_of("%x {op = argmin, dim = m}"), "scan: this reducer does not scan f32");
    EXPECT_EQ(error_of("%x {op = add, dim = m, policy = unordered_tree}"),
              "scan: the policy of a scan keeps the order and starts at the first element");
    EXPECT_EQ(error_of("%x, %s {op = add, dim = m, seed = true}"),
              "scan: the seed has the scanned dimension");
    EXPECT_EQ(error_of("%x, %b {op = add, dim = m, seed = true}"), "scan: the seed is no f32");
    EXPECT_EQ(error_of("%x, %s {op = add, dim = m, mask = true}"), "scan: the mask is no bool");
    EXPECT_EQ(error_of("%x, %s {op = add, dim = n}"), "scan: has a wrong number of operands");
    EXPECT_EQ(error_of("%s {op = add, dim = m}"), "scan: the result is not like the tile");
}

}// namespace luisa::tile::ir
