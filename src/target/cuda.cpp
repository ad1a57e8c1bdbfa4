// SPDX-License-Identifier: Apache-2.0
#include "target/cuda.h"

#include <algorithm>
#include <array>

namespace luisa::tile::target {

namespace {

constexpr int64_t kib = 1024, mib = 1024 * kib;

constexpr AsyncMechanisms ampere{true, true, false, false, false, false, false};
constexpr AsyncMechanisms hopper{true, true, true, true, true, false, false};
constexpr AsyncMechanisms hopper_only{true, true, true, true, true, true, false};
constexpr AsyncMechanisms blackwell_only{true, true, true, true, true, false, true};

// One function a generation, since what is not said of it is what the generation before has.

constexpr CudaFacts sm_80() {
    CudaFacts f;
    f.name = "sm_80";
    f.sm = 80;
    f.ptx_isa = 70;
    f.shared_per_block = 163 * kib;
    f.shared_per_multiprocessor = 164 * kib;
    f.l2_bytes = 40 * mib;
    f.multiprocessors = 108;
    f.fma_f32 = 64;
    f.fma_f64 = 32;
    f.memory_bytes_per_us = 2'039'000;
    f.async = ampere;
    return f;
}

constexpr CudaFacts sm_89() {
    auto f = sm_80();
    f.name = "sm_89";
    f.sm = 89;
    f.ptx_isa = 78;
    f.threads_per_multiprocessor = 1536;
    f.blocks_per_multiprocessor = 24;
    f.shared_per_block = 99 * kib;
    f.shared_per_multiprocessor = 100 * kib;
    f.l2_bytes = 96 * mib;
    f.multiprocessors = 142;
    f.fma_f32 = 128;
    f.fma_f64 = 2;
    f.memory_bytes_per_us = 864'000;
    return f;
}

constexpr CudaFacts sm_90() {
    auto f = sm_80();
    f.name = "sm_90";
    f.sm = 90;
    f.ptx_isa = 78;
    f.blocks_per_cluster = 8;
    f.shared_per_block = 227 * kib;
    f.shared_per_multiprocessor = 228 * kib;
    f.l2_bytes = 50 * mib;
    f.multiprocessors = 132;
    f.fma_f32 = 128;
    f.fma_f64 = 64;
    f.memory_bytes_per_us = 4'800'000;
    f.async = hopper;
    return f;
}

constexpr CudaFacts sm_100() {
    auto f = sm_90();
    f.name = "sm_100";
    f.sm = 100;
    f.ptx_isa = 86;
    f.l2_bytes = 126 * mib;
    f.multiprocessors = 148;
    f.memory_bytes_per_us = 8'000'000;
    return f;
}

constexpr CudaFacts specific(CudaFacts f, const char *name, int ptx_isa, AsyncMechanisms async) {
    f.name = name;
    f.specific = true;
    f.ptx_isa = ptx_isa;
    f.async = async;
    return f;
}

constexpr std::array architectures{sm_80(),  sm_89(),
                                   sm_90(),  specific(sm_90(), "sm_90a", 80, hopper_only),
                                   sm_100(), specific(sm_100(), "sm_100a", 86, blackwell_only)};

using enum ScalarType;

constexpr MatrixAtom atoms[] = {
    {FLOAT16, FLOAT16, FLOAT32, 16, 8, 8, 80, 0, ".f32.f16.f16.f32"},
    {FLOAT16, FLOAT16, FLOAT32, 16, 8, 16, 80, 0, ".f32.f16.f16.f32"},
    {FLOAT16, FLOAT16, FLOAT16, 16, 8, 8, 80, 0, ".f16.f16.f16.f16"},
    {FLOAT16, FLOAT16, FLOAT16, 16, 8, 16, 80, 0, ".f16.f16.f16.f16"},
    {BFLOAT16, BFLOAT16, FLOAT32, 16, 8, 8, 80, 0, ".f32.bf16.bf16.f32"},
    {BFLOAT16, BFLOAT16, FLOAT32, 16, 8, 16, 80, 0, ".f32.bf16.bf16.f32"},
    {FLOAT32, FLOAT32, FLOAT32, 16, 8, 4, 80, 10, ".f32.tf32.tf32.f32"},
    {FLOAT32, FLOAT32, FLOAT32, 16, 8, 8, 80, 10, ".f32.tf32.tf32.f32"},
    {FLOAT64, FLOAT64, FLOAT64, 8, 8, 4, 80, 0, ".f64.f64.f64.f64"},
    {FLOAT64, FLOAT64, FLOAT64, 16, 8, 4, 90, 0, ".f64.f64.f64.f64"},
    {FLOAT64, FLOAT64, FLOAT64, 16, 8, 8, 90, 0, ".f64.f64.f64.f64"},
    {FLOAT64, FLOAT64, FLOAT64, 16, 8, 16, 90, 0, ".f64.f64.f64.f64"},
    {INT8, INT8, INT32, 16, 8, 16, 80, 0, ".s32.s8.s8.s32"},
    {INT8, INT8, INT32, 16, 8, 32, 80, 0, ".s32.s8.s8.s32"},
    {UINT8, INT8, INT32, 16, 8, 16, 80, 0, ".s32.u8.s8.s32"},
    {UINT8, INT8, INT32, 16, 8, 32, 80, 0, ".s32.u8.s8.s32"},
    {INT8, UINT8, INT32, 16, 8, 16, 80, 0, ".s32.s8.u8.s32"},
    {INT8, UINT8, INT32, 16, 8, 32, 80, 0, ".s32.s8.u8.s32"},
    {UINT8, UINT8, INT32, 16, 8, 16, 80, 0, ".s32.u8.u8.s32"},
    {UINT8, UINT8, INT32, 16, 8, 32, 80, 0, ".s32.u8.u8.s32"},
    {FLOAT8_E4M3FN, FLOAT8_E4M3FN, FLOAT32, 16, 8, 32, 89, 0, ".f32.e4m3.e4m3.f32"},
    {FLOAT8_E4M3FN, FLOAT8_E5M2, FLOAT32, 16, 8, 32, 89, 0, ".f32.e4m3.e5m2.f32"},
    {FLOAT8_E5M2, FLOAT8_E4M3FN, FLOAT32, 16, 8, 32, 89, 0, ".f32.e5m2.e4m3.f32"},
    {FLOAT8_E5M2, FLOAT8_E5M2, FLOAT32, 16, 8, 32, 89, 0, ".f32.e5m2.e5m2.f32"},
};

}// namespace

int CudaFacts::resident_blocks(int threads, int registers, int64_t shared) const noexcept {
    if (threads < 1 || threads > threads_per_block || registers > registers_per_thread ||
        shared > shared_per_block) {
        return 0;
    }
    // Registers are given to warps, 256 at a time.
    auto warps = (threads + warp_threads - 1) / warp_threads;
    auto per_warp = (std::max(registers, 1) * warp_threads + 255) / 256 * 256;
    auto by_registers = registers_per_multiprocessor / (warps * per_warp);
    auto by_threads = threads_per_multiprocessor / (warps * warp_threads);
    auto by_shared = static_cast<int>(shared_per_multiprocessor / (shared + shared_reserved));
    return std::min({by_registers, by_threads, by_shared, blocks_per_multiprocessor});
}

std::span<const CudaFacts> cuda_architectures() noexcept { return architectures; }

const CudaFacts *find_cuda(const std::string &name) noexcept {
    auto full = name.starts_with("sm_") ? name : "sm_" + name;
    auto found = std::find_if(architectures.begin(), architectures.end(),
                              [&](const auto &row) { return full == row.name; });
    return found == architectures.end() ? nullptr : &*found;
}

const CudaFacts *cuda_for_device(int sm) noexcept {
    const CudaFacts *best = nullptr;
    for (const auto &row : architectures) {
        if (row.specific ? row.sm == sm : row.sm <= sm) {
            best = &row;
        }
    }
    return best;
}

std::string cuda_names() {
    std::string text;
    for (const auto &row : architectures) {
        text += text.empty() ? "" : ", ";
        text += row.name;
    }
    return text;
}

int ptx_of_driver(int driver_version) noexcept {
    struct Row {
        int driver, ptx;
    };
    // A driver newer than these understands at least what the newest of them does.
    static constexpr Row rows[] = {{13000, 90}, {12090, 88}, {12080, 87}, {12070, 86}, {12050, 85},
                                   {12040, 84}, {12030, 83}, {12020, 82}, {12010, 81}, {12000, 80},
                                   {11080, 78}, {11070, 77}, {11060, 76}, {11050, 75}, {11040, 74},
                                   {11030, 73}, {11020, 72}, {11010, 71}, {11000, 70}};
    for (const auto &row : rows) {
        if (driver_version >= row.driver) {
            return std::min(row.ptx, newest_ptx);
        }
    }
    return 0;
}

std::string MatrixAtom::instruction() const {
    return "mma.sync.aligned.m" + std::to_string(m) + "n" + std::to_string(n) + "k" +
           std::to_string(k) + ".row.col" + types;
}

std::span<const MatrixAtom> matrix_atoms() noexcept { return atoms; }

const MatrixAtom *find_atom(ScalarType a, ScalarType b, ScalarType sum, int m, int n,
                            int k) noexcept {
    auto found = std::find_if(std::begin(atoms), std::end(atoms), [&](const auto &row) {
        return row.a == a && row.b == b && row.sum == sum && row.m == m && row.n == n && row.k == k;
    });
    return found == std::end(atoms) ? nullptr : &*found;
}

FragmentLayout::Place FragmentLayout::at(int lane, int element) const noexcept {
    Place place;
    auto add = [&](const Place &part) {
        place.row = static_cast<int8_t>(place.row + part.row);
        place.column = static_cast<int8_t>(place.column + part.column);
    };
    for (size_t bit = 0; bit < lane_bits.size(); ++bit) {
        if (lane >> bit & 1) {
            add(lane_bits[bit]);
        }
    }
    for (size_t bit = 0; bit < element_bits.size(); ++bit) {
        if (element >> bit & 1) {
            add(element_bits[bit]);
        }
    }
    return place;
}

/// Four lanes share a row of a, a column of b or a row of the sum. Of a and b each has as many neighbours along k
/// as fill a 32-bit register (one of wider elements); of a sum, two. Then come rows 8 below, then the next
/// registers along k.
FragmentLayout fragment_layout(const MatrixAtom &atom, MatrixRole role) noexcept {
    FragmentLayout layout;
    bool sum = role == MatrixRole::SUM;
    auto type = role == MatrixRole::A ? atom.a : role == MatrixRole::B ? atom.b : atom.sum;
    auto bytes = static_cast<int>(size_of(type));
    int neighbours = sum ? 2 : std::max(4 / bytes, 1);
    int length = sum ? atom.n : atom.k;
    int lines = role == MatrixRole::B ? atom.n : atom.m;
    auto place = [&](int line, int along) {
        auto l = static_cast<int8_t>(line), a = static_cast<int8_t>(along);
        return role == MatrixRole::B ? FragmentLayout::Place{a, l} : FragmentLayout::Place{l, a};
    };
    layout.lane_bits = {place(0, neighbours), place(0, 2 * neighbours), place(1, 0), place(2, 0),
                        place(4, 0)};
    size_t bit = 0;
    auto next = [&](FragmentLayout::Place value) {
        layout.element_bits[bit++] = value;
        layout.elements *= 2;
    };
    for (int along = 1; along < neighbours; along *= 2) {
        next(place(0, along));
    }
    if (lines > 8) {
        next(place(8, 0));
    }
    for (int along = 4 * neighbours; along < length; along *= 2) {
        next(place(0, along));
    }
    return layout;
}

}// namespace luisa::tile::target
