// SPDX-License-Identifier: Apache-2.0
#include "ir/pass_manager.h"
#include "ir/text.h"

#include <gtest/gtest.h>

namespace luisa::tile::ir {

namespace {

const char *const program = "kernel @k(%A: view<f32, 4>, %n: i64, %f: f32) {\n"
                            "  %x = add %f, %f : f32\n  store %A, %x, %n\n}\n";

void erase_store(Module &module) { module.erase(module.kernel()->body->last()); }
void nothing(Module &) {}

}// namespace

TEST(PassManager, passes_run_in_order_and_are_timed) {
    auto module = parse(program);
    std::string order;
    PassManager manager;
    manager.add("a", [&](Module &) { order += "a"; }).add("b", [&](Module &) { order += "b"; });
    manager.run(*module);
    EXPECT_EQ(order, "ab");
    ASSERT_EQ(manager.reports().size(), 2u);
    EXPECT_EQ(manager.reports()[1].name, "b");
    EXPECT_GE(manager.reports()[1].time.count(), 0);
}

TEST(PassManager, dumps_show_what_the_named_passes_changed) {
    auto module = parse(program);
    PassOptions options;
    options.dump = "idle,erase";
    std::string dumps;
    options.sink = [&](std::string_view text) { dumps += text; };
    PassManager manager{options};
    manager.add("silent", nothing).add("idle", nothing).add("erase", erase_store);
    manager.run(*module);
    EXPECT_EQ(dumps.find("silent"), std::string::npos);
    EXPECT_NE(dumps.find("// after idle ("), std::string::npos);
    EXPECT_NE(dumps.find(", unchanged)\n// after erase ("), std::string::npos);
    EXPECT_NE(dumps.find("add"), std::string::npos);
    EXPECT_EQ(dumps.find("store"), std::string::npos);
}

TEST(PassManager, a_broken_module_is_an_internal_error_that_names_the_pass) {
    auto module = parse(program);
    PassOptions options;
    options.verify = true;
    PassManager manager{options};
    manager.add("swap", [](Module &m) {
        m.move(m.kernel()->body->last(), m.kernel()->body, m.kernel()->body->first());
    });
    try {
        manager.run(*module);
        FAIL() << "accepted";
    } catch (const InternalError &e) {
        EXPECT_NE(e.message().find("after pass swap: store: operand 1"), std::string::npos)
            << e.message();
    }
}

}// namespace luisa::tile::ir
