// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "realize/simt/block_lowering.h"

#include <functional>
#include <optional>

namespace luisa::tile::simt {

/// Coordinates of the element number `index` of a space, the last dimension fastest.
void place_in(cpu::MachineBuilder &b, const std::vector<ir::DimExtent> &dims, ir::Value *index,
              Point &point);

/// How the threads of a block copy panels of one operand of a staged product into shared memory.
class PanelCopy {
public:
    PanelCopy(BlockLowering &lowering, const ir::Value *operand, const plan::StagedOperand &how,
              std::vector<ir::DimExtent> free, std::vector<ir::DimExtent> steps, int64_t depth);

    /// Copies the panel whose first step is `first` to `to`, where it `exists`. Indices of nests are bound; `point`
    /// has the coordinates of batch dimensions.
    /// `fast`: what `fast_everywhere` gave is known to hold.
    void emit(ir::Value *to, ir::Value *first, ir::Value *exists, const Point &point,
              bool fast = false);

    /// How much a scalar grows with each iteration, of any loop around: a number that divides all growth, 0 for one that
    /// stays; nothing where it is not known, or may shrink.
    using Growth = std::function<std::optional<int64_t>(const ir::Value *)>;
    /// Whether units of all panels can be copied by one access each if those of the last panel can.
    [[nodiscard]] bool grows_steadily(const Growth &growth) const;
    /// That condition, where the indices of the last panel are bound; null: always.
    ir::Value *fast_everywhere(const Point &point);

private:
    struct Unit {
        ir::Value *line, *start;    ///< the first element of it in the line
        ir::Value *exists = nullptr;///< null: always
        ir::Value *filled = nullptr;///< whether there are such steps; null: always
    };
    [[nodiscard]] int64_t units() const { return _units_per_line * _how.lines; }
    Unit unit(ir::Value *number);
    Unit unit_of_thread(int64_t i, ir::Value *first);
    ir::Value *place(ir::Value *to, const Unit &unit);
    /// The point of the element `offset` places into a unit.
    Point point_at(const Unit &unit, int64_t offset, ir::Value *first, const Point &point);
    ir::Value *fast_condition(Point &point);
    ir::Value *inside(const ir::Operation &load, Point &point);
    ir::Value *aligned(const ir::Operation &load, const ir::DimExtent &along);
    Point vector_at(const Unit &unit, ir::Value *first, const Point &point);
    Values sources(const std::vector<Unit> &owned, ir::Value *first, const Point &point);
    ir::Value *has_step(ir::Value *number, ir::Value *first);
    Values where(ir::Value *condition, const std::function<Values()> &body,
                 const std::function<Values()> &other);
    void write(ir::Value *to, ir::Value *value);
    void copy_vectors(const Values &targets, const std::vector<Unit> &owned, const Values &from,
                      ir::Value *first, const Point &point);
    void copy_elements(ir::Value *to, ir::Value *first, const Point &point);
    ir::Value *element(const Unit &unit, int64_t offset, ir::Value *first, const Point &point);

    BlockLowering &_l;
    MachineBuilder &_b;
    const ir::Value *_operand;
    const plan::StagedOperand &_how;
    std::vector<ir::DimExtent> _free, _steps;
    int64_t _depth, _bytes, _per_unit, _units_per_line;
    int64_t _step_count = 1, _elements = 1;///< of all panels; of a line, without what fills it up
    const ir::DimExtent *_along = nullptr; ///< the dimension of neighbours
};

}// namespace luisa::tile::simt
