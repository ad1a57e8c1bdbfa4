// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "target/warpgroup.h"

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace luisa::tile::ir {
class Operation;
}

namespace luisa::tile::emulator {

/// A product of matrices in shared memory that a thread of a warpgroup asked for together with the others.
struct PanelProduct {
    int32_t atom = 0, n = 0, across = 0;///< as emit::Team::multiply_panels has them
    uint64_t a = 0, b = 0;
    const ir::Operation *at = nullptr;
    int64_t group = 0;
};

/// What one thread has to do with products of its warpgroup. They are done as late as code lets them be; until
/// then the sums that the thread holds are numbers that say which they stand for, and no sums.
class PanelThread {
public:
    void fence() noexcept { _fenced = true; }
    void commit() noexcept { ++_groups; }
    /// False: sums that were computed are used before a fence, or sums that are under way were touched.
    bool multiply(PanelProduct product, uint32_t *sums);
    /// Puts sums that are done in place of what stands for them.
    void give_back(int32_t lanes, uint32_t *sums);

    struct Chain {
        uint32_t number = 0;
        std::vector<uint32_t> values;
        std::vector<PanelProduct> pending;///< of which the first are the oldest
    };
    [[nodiscard]] std::vector<Chain> &chains() noexcept { return _chains; }
    /// How many products of a chain a wait for all but so many groups does.
    [[nodiscard]] size_t over(const Chain &chain, int32_t groups) const noexcept;

private:
    [[nodiscard]] bool all_done() const noexcept;
    std::vector<Chain> _chains;
    uint32_t _made = 0;
    int64_t _groups = 0;
    bool _fenced = false;
};

/// Where `bytes` at a place of shared memory are, or null when they may not be read; `thread` of the warpgroup asks.
using PanelMemory =
    std::function<const void *(size_t thread, int64_t offset, size_t bytes, const ir::Operation *)>;

/// Does what the 128 threads of a warpgroup wait for. Throws DeviceError when they ask for different things.
void finish_panels(std::span<PanelThread *const> threads, int32_t groups,
                   const PanelMemory &memory);

}// namespace luisa::tile::emulator
