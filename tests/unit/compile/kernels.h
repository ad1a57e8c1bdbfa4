// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compile/cpu.h"
#include "ir/module.h"
#include "realize/cpu/program.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

// Small kernels made with the builder, and a launcher: for tests below the front end.

namespace luisa::tile::test {

using ir::Builder;
using ir::Opcode;

inline const ir::Type *view_type(ir::Module &m, ScalarType t, std::vector<int64_t> extents,
                                 bool read_only, std::vector<int64_t> strides = {}) {
    ir::Type type;
    type.kind = ir::TypeKind::VIEW;
    type.scalar = t;
    type.read_only = read_only;
    for (auto e : extents) {
        type.axes.push_back({e, ""});
    }
    type.strides = std::move(strides);
    return m.intern(type);
}

/// C = A · B in tiles; B is read transposed when `b_transposed`.
inline std::unique_ptr<ir::Module> gemm(int64_t M, int64_t N, int64_t K, int64_t bm, int64_t bn,
                                        int64_t bk, bool b_transposed = false) {
    auto module = std::make_unique<ir::Module>();
    auto &m = *module;
    auto *f = m.add_function("gemm");
    f->parameter_names = {"A", "B", "C"};
    auto f32 = ScalarType::FLOAT32;
    auto *A = m.add_argument(f->body, view_type(m, f32, {M, K}, true));
    auto *B = m.add_argument(f->body, b_transposed ? view_type(m, f32, {K, N}, true, {1, K})
                                                   : view_type(m, f32, {K, N}, true));
    auto *C = m.add_argument(f->body, view_type(m, f32, {M, N}, false));
    Dim dm{100, "m"}, dn{101, "n"}, dk{102, "k"};
    Builder b{m, f->body};
    auto *tm = b.index((M + bm - 1) / bm), *tn = b.index((N + bn - 1) / bn);
    ir::NestPayload grid;
    grid.dims = {Dim::positional(0), Dim::positional(1)};
    auto *par = b.emit(Opcode::PARALLEL, {tm, tn}, {}, grid, 1);
    auto *body = par->body();
    auto *i = m.add_argument(body, m.scalar(ScalarType::INT64));
    auto *j = m.add_argument(body, m.scalar(ScalarType::INT64));
    b.set_region(body);
    auto *m0 = b.elementwise(Opcode::MUL, {i, b.index(bm)});
    auto *n0 = b.elementwise(Opcode::MUL, {j, b.index(bn)});
    auto *acc_type = m.tile(f32, {{dm, bm}, {dn, bn}});
    auto *zero = b.constant_tile(acc_type, 0);
    ir::NestPayload range;
    range.is_range = true;
    auto *loop = b.emit(Opcode::PIPELINE, {b.index(0), b.index(K), b.index(bk), zero}, {acc_type},
                        range, 1);
    auto *inner = loop->body();
    auto *k0 = m.add_argument(inner, m.scalar(ScalarType::INT64));
    auto *acc = m.add_argument(inner, acc_type);
    b.set_region(inner);
    auto *x = b.value(Opcode::LOAD, {A, m0, k0}, m.tile(f32, {{dm, bm}, {dk, bk}}),
                      ir::LoadPayload{});
    auto *y = b.value(Opcode::LOAD, {B, k0, n0}, m.tile(f32, {{dk, bk}, {dn, bn}}),
                      ir::LoadPayload{});
    auto *r = b.value(Opcode::MMA, {x, y, acc}, acc_type, ir::MmaPayload{});
    b.emit(Opcode::YIELD, {r}, {});
    b.set_region(body);
    b.emit(Opcode::STORE, {C, loop->result(), m0, n0}, {},
           ir::StorePayload{Bounds::ZERO, {{dm, bm}, {dn, bn}}});
    return module;
}

/// Row softmax, one row an instance.
inline std::unique_ptr<ir::Module> softmax(int64_t rows, int64_t columns) {
    auto module = std::make_unique<ir::Module>();
    auto &m = *module;
    auto *f = m.add_function("softmax");
    f->parameter_names = {"X", "Y"};
    auto f32 = ScalarType::FLOAT32;
    auto *X = m.add_argument(f->body, view_type(m, f32, {rows, columns}, true));
    auto *Y = m.add_argument(f->body, view_type(m, f32, {rows, columns}, false));
    Dim dc{200, "col"}, dr{201, "row"};
    Builder b{m, f->body};
    ir::NestPayload grid;
    grid.dims = {Dim::positional(0)};
    auto *par = b.emit(Opcode::PARALLEL, {b.index(rows)}, {}, grid, 1);
    auto *r = m.add_argument(par->body(), m.scalar(ScalarType::INT64));
    b.set_region(par->body());
    std::vector<ir::DimExtent> shape{{dr, 1}, {dc, columns}};
    auto *x = b.value(Opcode::LOAD, {X, r, b.index(0)}, m.tile(f32, shape), ir::LoadPayload{});
    auto reduce = [&](ir::Value *v, Reducer op) {
        ir::ReducePayload p;
        p.reducer = op;
        p.dims = {dc};
        return b.value(Opcode::REDUCE_EXPR, {v}, m.tile(f32, {{dr, 1}}), p);
    };
    auto *mx = reduce(x, Reducer::MAXIMUM);
    auto *e = b.elementwise(Opcode::EXP, {b.elementwise(Opcode::SUB, {x, mx})});
    auto *sum = reduce(e, Reducer::ADD);
    auto *y = b.elementwise(Opcode::DIV, {e, sum});
    b.emit(Opcode::STORE, {Y, y, r, b.index(0)}, {}, ir::StorePayload{Bounds::ZERO, shape});
    return module;
}

struct DenseView {
    void *data;
    std::vector<int64_t> extents, strides;
};

inline void launch(const compiler::CpuKernel &kernel, const std::vector<DenseView> &views) {
    std::vector<uint64_t> words;
    for (const auto &v : views) {
        words.push_back(reinterpret_cast<uint64_t>(v.data));
        for (auto e : v.extents) {
            words.push_back(static_cast<uint64_t>(e));
        }
        auto strides = v.strides;
        if (strides.empty()) {
            strides.assign(v.extents.size(), 1);
            for (size_t i = v.extents.size(); i-- > 1;) {
                strides[i - 1] = strides[i] * v.extents[i];
            }
        }
        for (auto s : strides) {
            words.push_back(static_cast<uint64_t>(s));
        }
    }
    // Kept between launches, as the runtime does: fresh pages would be part of every timing.
    static std::vector<uint8_t> memory[2];
    memory[0].resize(std::max(memory[0].size(), kernel.scratch_bytes + 64));
    memory[1].resize(std::max(memory[1].size(), kernel.shared_bytes + 64));
    auto aligned = [](std::vector<uint8_t> &m) -> void * {
        return reinterpret_cast<void *>((reinterpret_cast<uintptr_t>(m.data()) + 63) / 64 * 64);
    };
    auto *scratch = aligned(memory[0]), *shared = aligned(memory[1]);
    for (const auto &phase : kernel.phases) {
        auto count = phase.task_count;
        if (phase.count) {
            phase.count(words.data(), 0, 0, scratch, shared);
            count = *static_cast<int64_t *>(scratch);
        }
        phase.run(words.data(), 0, count, scratch, shared);
    }
}

}// namespace luisa::tile::test
