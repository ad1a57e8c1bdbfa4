// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "realize/cpu/lowering.h"

namespace luisa::tile::cpu {

/// A loop group that begins with a scan: the running value is carried along the axis, one element or one
/// vector of neighbours at a time, and the other roots take each element from its register.
class ScanLowering {
public:
    ScanLowering(Lowering &lowering, const plan::LoopGroup &group);
    void run();
    /// The elements of the line at `point`.
    void line(Point &point);

private:
    void kept_loops(size_t depth, Point &point);
    void vectors(Point &point, Values states);
    Values element(Point &point, const Values &states);
    Values vector(Point &point, const Values &states);
    void emit(Point &point, ir::Value *value);

    /// `value`, or what a scan shows before anything has come.
    ir::Value *shown(ir::Value *value, ir::Value *flag);
    ir::Value *step(ir::Value *left, ir::Value *right);
    ir::Value *merge_with_stack(ir::Value *leaf, ir::Value *count);
    ir::Value *prefix(ir::Value *value,
                      const std::function<ir::Value *(ir::Value *, ir::Value *)> &merge);
    ir::Value *moved_up(ir::Value *value, ir::Value *first);
    ir::Value *last(ir::Value *value);
    /// The lane of the i-th element in the direction of the scan.
    [[nodiscard]] int lane_of(int i) const { return _payload.reverse ? _lanes - 1 - i : i; }
    [[nodiscard]] int64_t tree_levels() const;

    Lowering &_l;
    MachineBuilder &_b;
    const plan::LoopGroup &_group;
    const ir::Operation &_op;
    const ir::ScanPayload &_payload;
    ScalarType _type;
    bool _balanced, _in_lanes;
    int _lanes;
    bool _flagged = false;///< tells whether anything came so far, where no value can
    ir::DimExtent _axis{{}, 1};
    int64_t _levels = 0, _stack_offset = 0;
    ir::Value *_seed = nullptr;
};

}// namespace luisa::tile::cpu
