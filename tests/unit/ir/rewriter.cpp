// SPDX-License-Identifier: Apache-2.0
#include "ir/rewriter.h"
#include "ir/text.h"
#include "ir/verifier.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace luisa::tile::ir {

namespace {

const char *const rewritten = R"(kernel @k(%A: view<f32, 4>, %n: i64, %b: bool) {
  %one = constant 1.0 : f32
  %two = add %one, %one : f32
  if %b {
    %x = mul %two, %one : f32
    store %A, %x, %n
    yield
  } else {
    yield
  }
}
)";

Operation *find(const Region &region, Opcode op) {
    for (auto *inner : region) {
        if (inner->opcode() == op) {
            return inner;
        }
        for (auto *body : inner->regions()) {
            if (auto *found = find(*body, op)) {
                return found;
            }
        }
    }
    return nullptr;
}

size_t use_count(const Value *value) {
    size_t count = 0;
    for (auto *use = value->first_use(); use; use = use->next()) {
        count += use->value() == value && use->user()->region() != nullptr;
    }
    return count;
}

struct Log : RewriteListener {
    void inserted(Operation *op) override { text += std::string{"+"} + op->name() + " "; }
    void moved(Operation *op) override { text += std::string{">"} + op->name() + " "; }
    void changed(Operation *op) override { text += std::string{"~"} + op->name() + " "; }
    void erased(Operation *op) override { text += std::string{"-"} + op->name() + " "; }
    std::string text;
};

struct RewriterTest : ::testing::Test {
    std::unique_ptr<Module> module = parse(rewritten);
    Region &body = *module->kernel()->body;
    Rewriter rewriter{*module};
    Log log;
    void SetUp() override { rewriter.add_listener(&log); }
    void TearDown() override { EXPECT_TRUE(check(*module).empty()) << print(*module); }
};

}// namespace

TEST_F(RewriterTest, inserted_operations_are_announced_in_order) {
    auto *mul = find(body, Opcode::MUL);
    auto *value = rewriter.insert(InsertPoint::at(mul), mul->loc, [&](Builder &b) {
        auto *half = b.constant(ScalarType::FLOAT32, 0x3f000000);
        return b.elementwise(Opcode::ADD, {mul->operand(0), half});
    });
    EXPECT_EQ(value->definition()->next(), mul);
    EXPECT_EQ(log.text, "+constant +add ");
}

TEST_F(RewriterTest, replacing_moves_all_uses_and_erases) {
    auto *one = find(body, Opcode::CONSTANT)->result();
    EXPECT_EQ(use_count(one), 3u);
    rewriter.replace(find(body, Opcode::ADD), {one});
    EXPECT_EQ(use_count(one), 2u);
    EXPECT_EQ(find(body, Opcode::ADD), nullptr);
    EXPECT_EQ(log.text, "~mul -add ");
}

TEST_F(RewriterTest, erasing_a_region_frees_the_uses_inside) {
    rewriter.erase(find(body, Opcode::IF));
    EXPECT_EQ(use_count(find(body, Opcode::ADD)->result()), 0u);
    EXPECT_EQ(use_count(body.argument(0)), 0u);
    EXPECT_EQ(log.text, "-mul -store -yield -yield -if ");
}

TEST_F(RewriterTest, uses_within_one_operation_are_replaced_alone) {
    auto *one = find(body, Opcode::CONSTANT)->result();
    auto *two = find(body, Opcode::ADD)->result();
    rewriter.replace_uses_within(find(body, Opcode::IF), one, two);
    EXPECT_EQ(use_count(one), 2u);
    EXPECT_EQ(use_count(two), 2u);
}

TEST_F(RewriterTest, a_region_is_inlined_before_its_owner) {
    auto *owner = find(body, Opcode::IF);
    EXPECT_TRUE(rewriter.inline_region(owner->body(0), InsertPoint::at(owner), {}).empty());
    EXPECT_EQ(find(body, Opcode::STORE)->region(), &body);
    EXPECT_EQ(log.text, "-yield >mul >store ");
    rewriter.erase(owner);
}

TEST_F(RewriterTest, a_copy_uses_mapped_values) {
    auto *owner = find(body, Opcode::IF);
    auto *one = find(body, Opcode::CONSTANT)->result();
    Cloner cloner{*module};
    cloner.map(find(body, Opcode::ADD)->result(), one);
    auto *copy = rewriter.clone(*owner, InsertPoint::after(owner), cloner);
    EXPECT_EQ(find(*copy->body(0), Opcode::MUL)->operand(0), one);
    EXPECT_EQ(use_count(one), 5u);
}

TEST_F(RewriterTest, misuse_is_an_internal_error) {
    auto *owner = find(body, Opcode::IF);
    EXPECT_THROW(rewriter.move(owner, InsertPoint::end(owner->body(0))), InternalError);
    EXPECT_THROW(rewriter.erase(find(body, Opcode::ADD)), InternalError);
    EXPECT_THROW(rewriter.set_operand(owner, 0, body.argument(1)), InternalError);
    EXPECT_THROW(rewriter.replace_uses(body.argument(1), body.argument(1)), InternalError);
}

TEST_F(RewriterTest, a_module_copy_is_equal_and_independent) {
    auto copy = clone(*module);
    auto text = print(*module);
    EXPECT_EQ(print(*copy), text);
    EXPECT_TRUE(check(*copy).empty());
    Rewriter{*copy}.erase(find(*copy->kernel()->body, Opcode::IF));
    EXPECT_EQ(print(*module), text);
}

}// namespace luisa::tile::ir
