// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/scalar_type.h>

#include <array>
#include <cstdint>
#include <span>
#include <string>

namespace luisa::tile::target {

/// How data gets from global to shared memory without passing through registers, and what orders it.
struct AsyncMechanisms {
    bool copy_16 = false;      ///< `cp.async` of 4, 8 or 16 bytes a thread, in groups
    bool barriers = false;     ///< `mbarrier`: arrivals are counted in shared memory
    bool transactions = false; ///< … and bytes that arrive, for bulk copies
    bool bulk = false;         ///< bulk and tensor-map copies
    bool clusters = false;     ///< blocks that read each other's shared memory, multicast copies
    bool warpgroups = false;   ///< `wgmma`, `setmaxnreg`: of an architecture-specific target only
    bool tensor_memory = false;///< `tcgen05`: of an architecture-specific target only
};

/// What is known of an NVIDIA architecture. What differs among its cards (multiprocessors, L2) is that of the
/// largest one until a device says otherwise.
struct CudaFacts {
    const char *name = "";///< as LLVM and ptxas call it: "sm_90a"
    int sm = 0;           ///< compute capability: 90
    bool specific = false;///< code runs on exactly this architecture
    int ptx_isa = 0;      ///< oldest version of PTX that has it: 80 is 8.0
    int warp_threads = 32;
    int threads_per_block = 1024, threads_per_multiprocessor = 2048;
    int blocks_per_multiprocessor = 32, blocks_per_cluster = 1;
    int registers_per_thread = 255, registers_per_block = 65536;
    int registers_per_multiprocessor = 65536;
    int64_t shared_per_block = 0;        ///< bytes; more than `shared_by_default` must be asked for
    int64_t shared_by_default = 48 << 10;///< bytes
    int64_t shared_per_multiprocessor = 0;///< bytes
    int64_t shared_reserved = 1024;       ///< bytes a block, taken by the system
    int shared_banks = 32;
    int64_t constant_arguments = 4096;///< bytes of a kernel's arguments
    int64_t l2_bytes = 0;
    int multiprocessors = 0;
    int fma_f32 = 0, fma_f64 = 0;///< a multiprocessor and clock
    int64_t memory_bytes_per_us = 0;
    AsyncMechanisms async;

    /// Blocks that a multiprocessor holds at once when each has so many threads, registers a thread and bytes
    /// of shared memory; 0 for a block that fits none.
    [[nodiscard]] int resident_blocks(int threads, int registers, int64_t shared) const noexcept;
};

/// Every architecture in the catalog, oldest first; an architecture-specific one follows its general one.
[[nodiscard]] std::span<const CudaFacts> cuda_architectures() noexcept;
/// "90", "sm_90", "90a", "sm_90a": the row, or null.
[[nodiscard]] const CudaFacts *find_cuda(const std::string &name) noexcept;
/// What code for a device of this compute capability is generated for: the architecture-specific row of just
/// this one if there is one, else the newest general one that is not newer. Null for devices before sm_80.
[[nodiscard]] const CudaFacts *cuda_for_device(int sm) noexcept;
/// "sm_80, sm_89, …"
[[nodiscard]] std::string cuda_names();
/// The version of PTX that a driver's version (13000 is 13.0, as it says itself) understands: 90 is 9.0. At
/// most what the code generator writes.
[[nodiscard]] int ptx_of_driver(int driver_version) noexcept;
/// The newest PTX that the code generator writes.
inline constexpr int newest_ptx = 90;

/// A shape of `mma.sync`: one warp multiplies m×k by k×n.
struct MatrixAtom {
    ScalarType a, b, sum;
    int m = 0, n = 0, k = 0;
    int since_sm = 0;
    /// Operands are cut to this many explicit fraction bits first (tf32: 10), which a policy must permit; 0: none.
    int fraction_bits = 0;
    const char *types = "";///< of the instruction, in its order d, a, b, c: ".f32.bf16.bf16.f32"

    /// "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", for integers with `.satfinite` left out: sums wrap.
    [[nodiscard]] std::string instruction() const;
};
[[nodiscard]] std::span<const MatrixAtom> matrix_atoms() noexcept;
/// The row of these types and this shape, or null.
[[nodiscard]] const MatrixAtom *find_atom(ScalarType a, ScalarType b, ScalarType sum, int m, int n,
                                          int k) noexcept;

/// The matrices of an atom: a, b, and the sum that is added to and results.
enum class MatrixRole : uint8_t { A, B, SUM };

/// Which elements of a matrix the threads of a warp hold. Every bit of a lane's number, and of the number of an
/// element among those of the lane, adds a row or a column: those whose bit is zero in both add nothing.
struct FragmentLayout {
    struct Place {
        int8_t row = 0, column = 0;
    };
    std::array<Place, 5> lane_bits;
    std::array<Place, 4> element_bits;///< of the bits that numbers of elements have
    int elements = 1;                 ///< a lane; a power of two

    [[nodiscard]] Place at(int lane, int element) const noexcept;
};
[[nodiscard]] FragmentLayout fragment_layout(const MatrixAtom &atom, MatrixRole role) noexcept;

}// namespace luisa::tile::target
