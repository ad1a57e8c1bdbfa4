// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace luisa::tile::ir {
class Operation;
}

namespace luisa::tile::emit {

enum class AccessKind : uint8_t { READ, WRITE, ATOMIC };

/// Who runs the threads of a block on a CPU: what code that is generated for a team asks of it. The code of each
/// thread runs on the thread of the system that the team was made current on.
class Team {
public:
    virtual ~Team() = default;
    virtual int64_t thread() noexcept = 0;
    virtual int64_t threads() noexcept = 0;
    virtual int64_t block() noexcept = 0;
    virtual int64_t blocks() noexcept = 0;
    virtual void *shared() noexcept = 0;
    /// `at`: the Machine operation; null unless accesses are observed.
    virtual void barrier(const ir::Operation *at) noexcept = 0;
    /// The bits that another thread of the warp hands over; `mode` is an ir::ExchangeMode.
    virtual uint64_t exchange(uint64_t bits, int32_t by, int32_t mode) noexcept = 0;
    /// Asks for a copy of `bytes`, of which all but the first `count` become zero.
    virtual void copy(void *to, const void *from, int32_t bytes, int64_t count,
                      const ir::Operation *at) noexcept = 0;
    /// What this thread asked for since the last time becomes a group.
    virtual void commit_copies() noexcept = 0;
    /// Does all copies of the thread but those of its `groups` youngest groups, and those of no group.
    virtual void wait_for_copies(int32_t groups) noexcept = 0;
    /// The part of this lane of `count` matrices of eight rows; the rows begin where the lanes say.
    virtual void load_matrix(const void *row, int32_t count, int32_t transposed, void *result,
                             const ir::Operation *at) noexcept = 0;
    /// Adds the product of the matrices that the warp holds, by row `atom` of target::matrix_atoms().
    virtual void multiply_matrix(int32_t atom, const void *a, const void *b,
                                 void *sum) noexcept = 0;
    /// Asks for the product by row `atom` of target::panel_atoms() of matrices that descriptors name, with shared
    /// memory at 0. `across`: bit 0 of a, bit 1 of b. `sums`, n / 2 of them, become what only later calls understand.
    virtual void multiply_panels(int32_t atom, int32_t n, int32_t across, uint64_t a, uint64_t b,
                                 void *sums, const ir::Operation *at) noexcept = 0;
    virtual void fence_panels() noexcept = 0;
    virtual void commit_panels() noexcept = 0;
    /// Does all products but those of the thread's `groups` youngest groups; of `lanes` sums those that are done come
    /// back.
    virtual void wait_for_panels(int32_t groups, int32_t lanes, void *sums,
                                 const ir::Operation *at) noexcept = 0;
    /// What this thread wrote to shared memory may be read by products of panels.
    virtual void show_copies() noexcept = 0;
    /// Stands before each access of code whose accesses are observed. False: it must not be done.
    virtual bool access(const void *address, int64_t bytes, AccessKind kind,
                        const ir::Operation *at) noexcept = 0;
};

/// Makes a team current on this thread of the system while it lives.
class TeamScope {
public:
    explicit TeamScope(Team *team) noexcept;
    ~TeamScope();
    TeamScope(const TeamScope &) = delete;
    TeamScope &operator=(const TeamScope &) = delete;

private:
    Team *_before;
};

/// The functions that generated code calls, by their TeamCall.
inline constexpr const char *team_symbols[] = {
    "luisa_tile_thread",          "luisa_tile_threads",         "luisa_tile_block",
    "luisa_tile_blocks",          "luisa_tile_shared",          "luisa_tile_barrier",
    "luisa_tile_exchange",        "luisa_tile_access",          "luisa_tile_copy",
    "luisa_tile_copy_commit",     "luisa_tile_copy_wait",       "luisa_tile_load_matrix",
    "luisa_tile_multiply_matrix", "luisa_tile_multiply_panels", "luisa_tile_panels_fence",
    "luisa_tile_panels_commit",   "luisa_tile_panels_wait",     "luisa_tile_copies_visible"};
enum class TeamCall : uint8_t {
    THREAD,
    THREADS,
    BLOCK,
    BLOCKS,
    SHARED,
    BARRIER,
    EXCHANGE,
    ACCESS,
    COPY,
    COPY_COMMIT,
    COPY_WAIT,
    LOAD_MATRIX,
    MULTIPLY_MATRIX,
    MULTIPLY_PANELS,
    PANELS_FENCE,
    PANELS_COMMIT,
    PANELS_WAIT,
    COPIES_VISIBLE
};
using TeamFunction = void (*)();
[[nodiscard]] TeamFunction team_function(TeamCall call) noexcept;

}// namespace luisa::tile::emit
