// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "realize/simt/panel_copy.h"

namespace luisa::tile::simt {

/// A product whose operands go through shared memory. Derived classes hold the result: in blocks of threads or in
/// fragments of warps.
class StagedContraction {
public:
    StagedContraction(BlockLowering &lowering, const plan::Contraction &contraction);
    virtual ~StagedContraction() = default;
    void run();

protected:
    /// The panels of one product in shared memory: of the operand with the rows, and of that with the columns.
    struct Panels {
        ir::Value *rows, *columns;
    };
    /// An element of the result that a thread holds.
    struct Element {
        ir::Value *row, *column;    ///< numbers in the flattened dimensions
        ir::Value *exists = nullptr;///< null: always
    };
    [[nodiscard]] virtual std::vector<Element> elements() = 0;
    /// The sums after all steps of a panel, of which `steps` exist (a constant where that is known).
    virtual Values multiply(size_t product, const Panels &panels, ir::Value *steps,
                            const Values &sums) = 0;
    /// Stands before the barrier behind which all threads see a panel.
    virtual void before_panel() {}
    /// The sums of products of which the last panel's, or those of all, go on while the next panel is copied.
    virtual Values after_panel(const Values &sums) { return sums; }
    virtual Values after_panels(const Values &sums) { return sums; }

    [[nodiscard]] ir::Value *thread() const { return _l._thread; }
    [[nodiscard]] int64_t threads() const { return _l._threads; }
    ir::Value *convert(ir::Value *value, ScalarType to) { return _l.convert(value, to); }
    [[nodiscard]] const plan::StagedOperand &operand(size_t product, int side) const {
        return _s.operands[product][static_cast<size_t>(side)];
    }

    BlockLowering &_l;
    MachineBuilder &_b;
    const plan::Contraction &_c;
    const plan::StagePlan &_s;
    ScalarType _type{}, _wide{};
    std::vector<ir::DimExtent> _batch, _rows, _columns;
    int64_t _height = 1, _width = 1;///< rows and columns

private:
    /// The iterations of one axis of a nest.
    struct Axis {
        const ir::Operation *nest;
        size_t argument;
        ir::Value *count;
        bool is_range;
        std::optional<int64_t> growth;///< of the index, where it is known and not negative
    };
    void result(const Point &batch);
    void count_panels();
    void bind_panel(ir::Value *panel);
    void copy_panel(ir::Value *panel, const Point &point, bool fast);
    PanelCopy copy_of(size_t product, int side);
    [[nodiscard]] std::optional<int64_t> growth(const ir::Value *value) const;
    [[nodiscard]] bool copies_steadily();
    ir::Value *fast_everywhere(const Point &point);
    ir::Value *slot_of(ir::Value *panel);
    Values all_panels(const Point &point, const Values &sums);
    Values panels_in_turn(const Point &point, const Values &sums, bool fast);
    Values panel(ir::Value *number, Values sums);
    Point place_of(const Element &element, const Point &batch);
    ir::Value *initial(const Element &element, const Point &batch, bool anywhere);
    void limit(std::vector<Element> &owned, const Point &batch);
    void finish(const Element &element, ir::Value *sum, const Point &batch);

    std::vector<std::vector<ir::DimExtent>> _steps;///< contracted dimensions of each product
    std::vector<Axis> _axes;
    ir::Value *_chunks = nullptr, *_panels = nullptr;///< panels of an iteration, and in all
    ir::Value *_first = nullptr;                     ///< step of the panel that is bound
    ir::Value *_start = nullptr;                     ///< of the room in shared memory
    BlockLowering::Ends _ends;
};

/// Each thread holds a block of the result in registers; the order of the steps is kept.
void lower_by_threads(BlockLowering &lowering, const plan::Contraction &contraction);
/// Warps hold matrices of the result that the atom of the plan multiplies.
void lower_by_warps(BlockLowering &lowering, const plan::Contraction &contraction);
/// Warpgroups hold matrices of the result, and read panels while the next ones are copied.
void lower_by_groups(BlockLowering &lowering, const plan::Contraction &contraction);

}// namespace luisa::tile::simt
