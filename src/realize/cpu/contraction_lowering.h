// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "plan/panels.h"
#include "realize/cpu/lowering.h"

#include <optional>
#include <set>

namespace luisa::tile::cpu {

/// Realizes one register-blocked contraction: blocks of rows × columns, every step of the
/// contracted loops inside a block, consumers applied to the accumulators.
class ContractionLowering {
public:
    ContractionLowering(Lowering &lowering, const plan::Contraction &contraction);

    void run();
    /// The part of a launch's shared memory that all instances' panels take.
    int64_t shared_bytes(Side side, const ir::Operation &root);
    /// Fills the panels of the instance whose axes are bound.
    void run_pack(Side side);

private:
    using DimExtents = std::vector<ir::DimExtent>;
    using StepBody = std::function<Values(const Values &)>;

    /// Columns that one register block covers.
    struct ColumnBlock {
        ir::Value *column = nullptr;///< the first; null: the contraction has no columns
        int vectors = 1;
        ir::Value *left = nullptr;///< how many exist, when the last vector is masked
        bool rare = false;        ///< only tiles at the end of a view have this block
    };
    /// Rows × columns that stay in registers.
    struct RegisterBlock {
        ir::Value *row = nullptr;
        int height = 1;
        ColumnBlock columns;
    };

    // Blocks (lower_contraction.cpp).
    ir::Value *end_of(const ir::DimExtent &dim);
    [[nodiscard]] DimExtents outer_dims() const;
    void plain_loops(const DimExtents &dims, size_t depth, Point &point,
                     const std::function<void(Point &)> &body);
    void leading_rows(Point &point, const std::function<void(Point &)> &body);
    void column_blocks(Point &point);
    void column_block(Point &point, const ColumnBlock &columns);
    std::vector<int64_t> column_rests(const ir::DimExtent &axis, ir::Value *end, int64_t width);
    [[nodiscard]] std::optional<int64_t> last_extent(const ir::DimExtent &axis) const;
    void row_blocks(Point &point, const ColumnBlock &columns);
    void row_axis_blocks(Point &point, const ColumnBlock &columns);
    void even_rows(Point &point, ir::Value *end, const ColumnBlock &columns,
                   const std::set<int64_t> &heights);
    void row_loop(Point &point, ir::Value *begin, ir::Value *end, int64_t height,
                  const ColumnBlock &columns);

    // One register block (contraction_steps.cpp).
    Point element(const Point &point, ir::Value *row, int vector, const ColumnBlock &columns);
    void register_block(Point &point, const RegisterBlock &block);
    Values nest_steps(size_t depth, Point &point, const RegisterBlock &block,
                      const Values &accumulators);
    Values nest_loop(const ir::Operation &nest, size_t axis, const Values &states,
                     const StepBody &body);
    [[nodiscard]] DimExtents contracted(size_t product) const;
    Values product_steps(size_t product, size_t depth, Point &point, const RegisterBlock &block,
                         const Values &accumulators);
    [[nodiscard]] int64_t unrolled_steps(size_t product, int64_t extent,
                                         const ColumnBlock &columns) const;
    ir::Value *depth_end(size_t product, const ir::DimExtent &dim, Point &point);
    [[nodiscard]] std::optional<Clip> load_clip(size_t product, size_t operand,
                                                const ir::DimExtent &dim) const;
    Values multiply(size_t product, Point &point, const RegisterBlock &block, Values accumulators);
    void finish_block(std::vector<Point> &places, const Values &accumulators);

    // Partial sums of a column block between panels (contraction_sums.cpp).
    void start_sums(Point &point, const ColumnBlock &columns);
    void finish_sums(Point &point, const ColumnBlock &columns);
    void each_panel(const std::function<void()> &body);
    void panel_loop(Point &point, const ColumnBlock &columns);
    void sweep(Point &point);
    void each_sum(Point &point, const ColumnBlock &columns,
                  const std::function<void(Point &, ir::Value *)> &body);
    ir::Value *sum_address(ir::Value *row, int vector);
    [[nodiscard]] ir::MemoryPayload sum_payload() const;
    const ir::Type *sum_type();
    void write_sum(ir::Value *row, int vector, ir::Value *value);
    ir::Value *read_sum(ir::Value *row, int vector);

    // Lanes along the steps (contraction_lanes.cpp).
    void lanes_block(Point &point, const RegisterBlock &block);
    void lanes_columns(Point &point, const ColumnBlock &columns);
    Values lane_steps(size_t product, const ir::DimExtent &dim, Point &point,
                      const RegisterBlock &block, const Values &accumulators);
    Values multiply_lanes(size_t product, const Point &point, const RegisterBlock &block,
                          Values accumulators, ir::Value *mask);
    void prefetch_columns(const Point &point, const RegisterBlock &block);

    // What later steps need (contraction_prefetch.cpp).
    void prefetch(Point &point, const RegisterBlock &block);
    void ask_for(ir::Value *address, const ir::PrefetchPayload &how);
    void prefetch_next_panel(const RegisterBlock &block);
    void prefetch_rows(const Point &point, const RegisterBlock &block);
    void prefetch_results(const Point &point, const RegisterBlock &block);

    // Panels of operands (contraction_panels.cpp).
    void lay_out_panels(Side side);
    void fill_panels(Side side, Point &point);
    [[nodiscard]] ir::DimExtent axis_of(Side side) const;
    void nest_positions(size_t depth, ir::Value *position,
                        const std::function<void(ir::Value *)> &body);
    ir::Value *step_number(const ir::Operation &nest);
    ir::Value *steps_before();
    ir::Value *steps_until(const ir::Operation &nest, ir::Value *index);
    ir::Value *panel_row(size_t product, ir::Value *position, const Point &point);
    ir::Value *panel_base(Side side, size_t product);
    ir::Value *panel_address(size_t product, ir::Value *row, ir::Value *first, int vector);
    ir::Value *element_address(size_t product, ir::Value *step, ir::Value *first, int64_t offset);
    ir::Value *read_panel(size_t product, const Point &point, const ColumnBlock &columns,
                          int vector);
    ir::Value *read_panel_element(size_t product, const Point &point, ir::Value *first, int offset);

    // Filling them (contraction_fill.cpp).
    struct Source {
        Side side;
        size_t product;
    };
    struct TransposedBlock {
        Source source;
        const ir::DimExtent &loaded, &stored;
        ir::Value *first;///< along `stored`
        int64_t count;   ///< places along `stored`; the lanes unless these are the last
    };
    void fill_panel(const Source &source, size_t depth, Point &point, ir::Value *position);
    void fill_vectors(size_t product, Point &point, ir::Value *position);
    void write_columns(size_t product, ir::Value *row, ir::Value *column, ir::Value *value);
    void write_steps(size_t product, ir::Value *step, ir::Value *row, ir::Value *value,
                     int64_t count);
    void fill_transposed(const Source &source, const ir::DimExtent &loaded,
                         const ir::DimExtent &stored, Point &point, ir::Value *position);
    void transpose_block(const TransposedBlock &block, Point &point, ir::Value *position);
    Values transpose(Values rows);

    // Panels of groups of narrow elements (contraction_groups.cpp).
    struct GroupSource {
        Side side;
        const ir::Value *value;
        ir::DimExtent steps;///< the contracted dimension that is grouped
    };
    [[nodiscard]] GroupSource group_source(Side side) const;
    [[nodiscard]] int64_t group_words() const;
    void fill_groups(Side side, Point &point);
    void fill_along_steps(const GroupSource &source, Point &point, ir::Value *first_word);
    void fill_along_axis(const GroupSource &source, Point &point, ir::Value *first_word);
    void write_words(Side side, ir::Value *word, ir::Value *place, ir::Value *words);
    void write_transposed(const GroupSource &source, Values words, ir::Value *first,
                          ir::Value *second, int64_t count);
    ir::Value *interleaved(const GroupSource &source, Point &point, ir::Value *first_step,
                           int64_t steps);
    ir::Value *joined(ir::Value *a, ir::Value *b, int width);
    ir::Value *as_words(Side side, ir::Value *elements);
    void fill_rest(Side side);
    Values no_words();
    void ask_for_steps(const GroupSource &source, const Point &point, ir::Value *first_step,
                       int64_t steps);
    [[nodiscard]] bool offsets_factors() const;

    // Products of groups (contraction_atoms.cpp).
    void dot_block(Point &point, const RegisterBlock &block);
    void each_matrix_block(const ColumnBlock &columns,
                           const std::function<void(const RegisterBlock &, ir::Value *left)> &body);
    void matrix_column_block(Point &point, const ColumnBlock &columns);
    ir::Value *first_sum(const RegisterBlock &block);
    void move_matrix_sums(ir::MatrixAction action, const RegisterBlock &block);
    void matrix_start(Point &point, const RegisterBlock &block, ir::Value *left);
    void matrix_steps(Point &point, const RegisterBlock &block);
    void matrix_step(const Point &point, const RegisterBlock &block, int heights,
                     ir::Value *panel_word, ir::Value *word);
    ir::Value *matrix_row_address(const Point &point, ir::Value *row, ir::Value *word);
    ir::Value *matrix_row_pitch();
    void matrix_sums(Point &point, const RegisterBlock &block, ir::Value *left,
                     const std::function<void(Point &, ir::Value *)> &body);
    void configure_matrices();
    void matrix(ir::MatrixPayload payload, const Values &operands = {});
    ir::Value *sums_as(ScalarType type, ir::Value *value);

    /// Lanes of what is added up in a register.
    [[nodiscard]] int sum_lanes() const { return _c.step_lanes ? _c.step_lanes : _c.lanes; }
    [[nodiscard]] int lanes() const { return _columns.empty() ? 1 : _c.lanes; }
    /// Columns of a whole register block.
    [[nodiscard]] int64_t block_width() const { return int64_t{_c.vectors} * lanes(); }
    [[nodiscard]] int64_t element_bytes() const { return static_cast<int64_t>(size_of(_wide)); }
    [[nodiscard]] const ir::Value *operand(Side side, size_t product) const {
        return _c.products[product]->operand((side == Side::VECTOR) == _c.transposed ? 0 : 1);
    }

    struct Panel {
        int64_t offset = 0;///< bytes before it
        plan::PanelShape shape;
    };
    struct PanelSet {
        std::vector<Panel> of_product;
        int64_t bytes = 0;///< of all panels of one instance
    };
    PanelSet &panels(Side side) { return _panels[static_cast<size_t>(side)]; }
    /// Columns of one block of the vector operand's panels: those of all products are as wide.
    [[nodiscard]] int64_t panel_width() { return panels(Side::VECTOR).of_product[0].shape.width; }

    Lowering &_l;
    MachineBuilder &_b;
    const plan::Contraction &_c;
    DimExtents _columns, _rows;
    ScalarType _type{}, _wide{};
    ir::GroupFactors _factors{};///< of the scalar and the vector operand, when they are grouped
    std::unordered_map<uint32_t, ir::Value *> _ends;
    PanelSet _panels[2];
    ir::Value *_panel_begin = nullptr, *_panel_end = nullptr;///< steps of the current panel
    int64_t _sum_offset = 0, _sum_width = 0;                 ///< partial sums between panels
    ir::Value *_sum_column =
        nullptr;///< the first of the current columns where all columns have sums; null: zero
    enum class Pass : uint8_t { ALL, START, STEPS, FINISH };
    Pass _pass = Pass::ALL;        ///< of a sweep over the columns
    ir::Value *_row_base = nullptr;///< rows before the current ones in the leading row dimensions
};

/// Narrow floating-point types, whose products accumulate in f32.
[[nodiscard]] inline bool is_half(ScalarType t) {
    return t == ScalarType::FLOAT16 || t == ScalarType::BFLOAT16;
}

}// namespace luisa::tile::cpu
