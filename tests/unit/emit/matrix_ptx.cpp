// SPDX-License-Identifier: Apache-2.0
#include "ptx.h"

#include <gmock/gmock.h>

// What PTX says for copies past the registers and for matrices that a warp holds.

namespace luisa::tile::emit::test {

using testing::HasSubstr;
using testing::Not;

namespace {

std::string vector_text(ScalarType type, int lanes) {
    auto name = std::string{to_string(type)};
    return lanes == 1 ? name : "<" + std::to_string(lanes) + " x " + name + ">";
}

/// One product by an atom, of parts that are read from and written to global memory.
std::string product_text(const target::MatrixAtom &atom) {
    std::string text = "machine @f(%args: ptr) {\n"
                       "  %t = participant {kind = thread} : i64\n"
                       "  %p = argument %args {index = 0} : ptr\n"
                       "  %at = address %p, %t {scale = 128} : ptr\n"
                       "  %next = address %p, %t {scale = 128, offset = 65536} : ptr\n"
                       "  %last = address %p, %t {scale = 128, offset = 131072} : ptr\n";
    auto read = [&](const char *name, const char *from, ScalarType type, int count) {
        auto lanes = count / 32;
        auto bytes = std::min<size_t>(static_cast<size_t>(lanes) * size_of(type), 16);
        text += std::string{"  %"} + name + " = read %" + from +
                " {align = " + std::to_string(bytes) + "} : " + vector_text(type, lanes) + "\n";
    };
    read("a", "at", atom.a, atom.m * atom.k);
    read("b", "next", atom.b, atom.k * atom.n);
    read("c", "last", atom.sum, atom.m * atom.n);
    auto number = [](int x) { return std::to_string(x); };
    return text + "  %d = multiply_matrix %a, %b, %c {m = " + number(atom.m) +
           ", n = " + number(atom.n) + ", k = " + number(atom.k) +
           "} : " + vector_text(atom.sum, atom.m * atom.n / 32) +
           "\n  write %last, %d {align = 8}\n}\n";
}

}// namespace

TEST(MatrixPtx, every_atom_becomes_its_instruction_and_assembles) {
    for (const auto &atom : target::matrix_atoms()) {
        auto architecture = "sm_" + std::to_string(atom.since_sm);
        auto code = ptx_of(product_text(atom), architecture, 8, 128, size_of(atom.a) == 1 ? 84 : 0);
        EXPECT_EQ(count(code.ptx, atom.instruction()), 1) << code.ptx;
        EXPECT_EQ(count(code.ptx, "cvt.rna.tf32.f32") > 0, atom.fraction_bits > 0) << code.ptx;
        if (!assembler().empty()) {
            EXPECT_THAT(assemble(code.ptx, architecture), HasSubstr("registers"));
        }
    }
}

TEST(MatrixPtx, copies_and_loads_of_matrices_name_shared_memory) {
    auto code = ptx_of(R"(machine @f(%args: ptr) {
  %t = participant {kind = thread} : i64
  %p = argument %args {index = 0} : ptr
  %s = shared {offset = 0} : ptr
  %to = address %s, %t {scale = 16} : ptr
  %from = address %p, %t {scale = 16} : ptr
  %eight = constant 8 : i64
  copy_async %to, %from {bytes = 16}
  copy_async %to, %from, %eight {bytes = 16}
  copy_async %to, %from {bytes = 4}
  copy_commit
  copy_wait {index = 1}
  barrier
  %m = load_matrix %to {count = 4} : <8 x bf16>
  %n = load_matrix %to {count = 2, transposed = true} : <4 x bf16>
  write %from, %m {align = 16}
  write %from, %n {align = 8}
}
)",
                       "sm_80");
    EXPECT_EQ(count(code.ptx, "cp.async.cg.shared.global"), 2) << code.ptx;
    EXPECT_EQ(count(code.ptx, "cp.async.ca.shared.global"), 1) << code.ptx;
    EXPECT_THAT(code.ptx, HasSubstr("cp.async.commit_group"));
    EXPECT_THAT(code.ptx, testing::ContainsRegex("cp.async.wait_group[ \t]+1;"));
    EXPECT_THAT(code.ptx, HasSubstr("ldmatrix.sync.aligned.m8n8.x4.shared.b16"));
    EXPECT_THAT(code.ptx, HasSubstr("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16"));
    EXPECT_THAT(code.ptx, Not(HasSubstr(".local")));
    if (!assembler().empty()) {
        EXPECT_THAT(assemble(code.ptx, "sm_80"), HasSubstr("registers"));
    }
}

}// namespace luisa::tile::emit::test
