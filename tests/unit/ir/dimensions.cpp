// SPDX-License-Identifier: Apache-2.0
#include "ir/module.h"
#include "ir/text.h"

#include <gtest/gtest.h>

#include <set>

namespace luisa::tile::ir {

namespace {

constexpr const char *text = R"(kernel @k(%A: view<f32, 4 x 4> "A") {
  %zero = constant 0.0 : tile<f32, m:4 n:4>
  %i = constant 0 : i64
  store %A, %zero, %i, %i {box = [m:4 n:4]}
  yield
}
)";

void note_dims(const Module &module, std::set<uint32_t> &ids, size_t &count) {
    for (auto *op : *module.kernel()->body) {
        for (auto *result : op->results()) {
            for (const auto &d : result->type()->dims) {
                ids.insert(d.dim.id);
                ++count;
            }
        }
    }
}

}// namespace

TEST(Dimensions, of_two_texts_and_of_the_host_are_never_one) {
    std::set<uint32_t> ids{dim("host").id};
    size_t count = 1;
    auto one = parse(text);
    ids.insert(dim("m").id);
    ++count;
    auto two = parse(text);
    note_dims(*one, ids, count);
    note_dims(*two, ids, count);
    EXPECT_EQ(count, 6u);
    EXPECT_EQ(ids.size(), count);
    EXPECT_EQ(print(*one), print(*two));
}

}// namespace luisa::tile::ir
