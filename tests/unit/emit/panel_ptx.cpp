// SPDX-License-Identifier: Apache-2.0
#include "ptx.h"
#include "target/warpgroup.h"

#include <gmock/gmock.h>

// What PTX says for products of matrices in shared memory by warpgroups.

namespace luisa::tile::emit::test {

using testing::HasSubstr;
using testing::Not;

namespace {

std::string panel_product(const target::PanelAtom &atom, int n, bool across) {
    auto lanes = std::to_string(n / 2);
    auto yes = across ? std::string{", a_across = true, b_across = true"} : "";
    return R"(machine @f(%args: ptr) {
  %t = participant {kind = thread} : i64
  %p = argument %args {index = 0} : ptr
  %s = shared {offset = 0} : ptr
  %r = shared {offset = 16384} : ptr
  %at = address %p, %t {scale = 512} : ptr
  %c = read %at {align = 16} : <)" +
           lanes + R"( x f32>
  %a = panel_descriptor %s {leading = 16, stride = 1024} : i64
  %b = panel_descriptor %r {leading = 8192, stride = 1024} : i64
  copies_visible
  barrier
  panels_fence
  %d = multiply_panels %a, %b, %c {a = )" +
           to_string(atom.a) + ", b = " + to_string(atom.b) + ", n = " + std::to_string(n) +
           ", k = " + std::to_string(atom.k) + yes + "} : <" + lanes + R"( x f32>
  panels_commit
  %e = panels_wait %d {index = 0} : <)" +
           lanes + R"( x f32>
  write %at, %e {align = 16}
}
)";
}

}// namespace

TEST(PanelPtx, every_product_of_warpgroups_becomes_its_instruction_and_assembles) {
    for (const auto &atom : target::panel_atoms()) {
        for (int n : {8, 96, 256}) {
            for (bool across : {false, true}) {
                if (across && !atom.across) {
                    continue;
                }
                auto code = ptx_of(panel_product(atom, n, across), "sm_90a", 8, 128);
                EXPECT_EQ(count(code.ptx, atom.instruction(n)), 1) << code.ptx;
                EXPECT_THAT(code.ptx, HasSubstr(across ? ", 1, 1, 1, 1;" : ", 1, 1, 0, 0;"));
                EXPECT_EQ(count(code.ptx, "wgmma.fence.sync.aligned"), 1);
                EXPECT_EQ(count(code.ptx, "wgmma.commit_group.sync.aligned"), 1);
                EXPECT_EQ(count(code.ptx, "wgmma.wait_group.sync.aligned 0"), 1);
                EXPECT_EQ(count(code.ptx, "fence.proxy.async.shared::cta"), 1);
                EXPECT_THAT(code.ptx, Not(HasSubstr(".local")));
                if (!assembler().empty()) {
                    auto said = assemble(code.ptx, "sm_90a");
                    EXPECT_THAT(said, HasSubstr("registers"));
                    EXPECT_THAT(said, Not(HasSubstr("serialized")));
                }
            }
        }
    }
}

}// namespace luisa::tile::emit::test
