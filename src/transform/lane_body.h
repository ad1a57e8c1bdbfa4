// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/clone.h"

#include <functional>
#include <optional>
#include <unordered_map>
#include <unordered_set>

namespace luisa::tile::transform {

/// The contribution that a lane takes: begin + offset + lane * stride.
struct LaneIndex {
    ir::Value *begin = nullptr, *offset = nullptr;
    int64_t stride = 1;
};

/// A region of scalar code, evaluated for all lanes at once: its scalars become tiles over the lanes.
class LaneBody {
public:
    /// Whether that exists for the body of a reduction with `states` scalar states: pure code on scalars that
    /// loads and extracts at coordinates which follow the index.
    [[nodiscard]] static bool admits(ir::Module &module, const ir::Region &body, size_t states);

    LaneBody(ir::Module &module, const ir::Region &body, ir::DimExtent lanes);

    /// Loads at coordinates that follow the index become one load of `count` contributions, made here.
    void hoist_loads(ir::Builder &b, ir::Value *begin, int64_t count);

    /// Emits the region's code at `b`. `given` are its arguments after the index (all arguments, when `index`
    /// is empty). Returns what it yields, as values of `types`.
    [[nodiscard]] std::vector<ir::Value *> emit(ir::Builder &b, const LaneIndex &index,
                                                const std::vector<ir::Value *> &given,
                                                const std::vector<const ir::Type *> &types);

private:
    [[nodiscard]] bool is_lifted(const ir::Value *v) const { return _lifted.count(v) != 0; }
    [[nodiscard]] bool admits(const ir::Operation &op) const;
    [[nodiscard]] std::optional<int64_t> slope(const ir::Value *v) const;
    [[nodiscard]] std::optional<size_t> followed_axis(const ir::Operation &load) const;
    [[nodiscard]] ir::Value *mapped(ir::Value *v) const;
    ir::Value *at_place(ir::Builder &b, ir::Value *v, ir::Value *place);
    ir::Value *emit_load(ir::Builder &b, const ir::Operation &op, ir::Value *first, int64_t count);
    ir::Value *extract_lanes(ir::Builder &b, const ir::Operation &op, const LaneIndex &index);
    ir::Value *extract_block(ir::Builder &b, ir::Value *block, const LaneIndex &index);
    void emit_operation(ir::Builder &b, const ir::Operation &op, const LaneIndex &index);

    ir::Module &_module;
    const ir::Region &_body;
    ir::DimExtent _lanes;
    const ir::Value *_index = nullptr;
    std::unordered_set<const ir::Value *> _lifted; ///< differ from lane to lane
    std::unordered_set<const ir::Value *> _indexed;///< of those, what follows from the index alone
    std::unordered_map<const ir::Value *, ir::Value *> _map, _blocks;
};

}// namespace luisa::tile::transform
