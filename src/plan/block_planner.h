// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "analysis/expressions.h"
#include "plan/liveness.h"
#include "plan/plan.h"

#include <functional>
#include <optional>
#include <unordered_set>

namespace luisa::tile::plan {

/// Plans the operations of one region after another into steps: what is kept in storage, which
/// operations share a loop group, which products become register-blocked contractions.
class BlockPlanner {
public:
    explicit BlockPlanner(Plan &plan)
        : _plan{&plan}, _cost{[this](const ir::Value *v) { return is_kept(v); }} {}

    /// Plans a region and what is nested in it, into `plan.blocks`.
    void plan_region(const ir::Region &region);
    /// Lets the contractions of a root `parallel` fill panels that its tasks share, once a launch.
    void share_panels(const ir::Operation &nest);
    /// See `Phase::band`.
    [[nodiscard]] int64_t band_of(const ir::Operation &nest) const;
    /// Lets the groups of a root `parallel` ask for what later groups and instances use.
    void plan_ahead(const ir::Operation &nest);
    /// See `predict_us` in predict.h.
    [[nodiscard]] std::optional<double> predict_us(const Block &block);
    /// Plans the operations from `first` up to `end` (null: all that follow).
    void plan_operations(const ir::Region &region, const ir::Operation *first,
                         const ir::Operation *end, Block &block);

    /// One of `count` ways that are all right: the preferred one, unless something else decides.
    [[nodiscard]] size_t choose(size_t count, size_t preferred) const {
        return _plan->choices ? _plan->choices->choose(count, preferred) : preferred;
    }
    /// Whether what the planner would do is done.
    [[nodiscard]] bool takes_preferred() const { return choose(2, 1) == 1; }

private:
    /// Lives in storage (or in a scalar register) rather than being evaluated where it is used.
    [[nodiscard]] bool is_kept(const ir::Value *value) const;
    void decide_kept(const ir::Region &region, const ir::Operation *first,
                     const ir::Operation *end);
    /// Why the result is kept in storage; null when it is computed where it is used.
    [[nodiscard]] const char *reason_to_keep(const ir::Operation &op);
    /// The same after something else had its say.
    [[nodiscard]] const char *reconsidered(const ir::Operation &op, const char *reason);
    [[nodiscard]] bool reads_pointwise(const ir::Value *value, const ir::Operation &load) const;
    [[nodiscard]] bool load_is_overwritten(const ir::Operation &load);
    [[nodiscard]] bool keeps_for_product(const ir::Operation &op,
                                         const std::vector<const ir::Operation *> &sites);

    void plan_operation(const ir::Operation &op, Block &block);
    void plan_nest(const ir::Operation &nest, Block &block);
    void plan_branch(const ir::Operation &op, Block &block);
    void plan_states(const ir::Operation &nest, Block &block);
    void plan_scalar_yields(const ir::Region &region, const std::vector<const ir::Value *> &targets,
                            Block &block);
    void plan_yields(const ir::Region &region, const std::vector<const ir::Value *> &targets,
                     Block &block);
    void share_nested_inserts(const ir::Operation &nest);
    /// Lets the values that a state of `parallel` goes through on its way to `yielded`, nests and
    /// branches included, live in the storage of `target`: inserts then write their part there at
    /// once. Throws UnsupportedError where one of them is read.
    void share_insert_chain(const ir::Value *yielded, const ir::Value *incoming,
                            const ir::Value *target);
    /// The insert by which a loop's body changes its state `yielded` in part, if the part can be written
    /// where the state is kept, at the end of the body; else null.
    [[nodiscard]] const ir::Operation *insert_in_place(const ir::Region &region,
                                                       const ir::Value *state,
                                                       const ir::Value *yielded) const;
    /// Whether `value` is a tile as it came into a `parallel`, on its way to be `target`, the collected one, into
    /// which this path inserted nothing: copying it would undo what other instances did.
    [[nodiscard]] bool inserts_nothing(const ir::Value *value, const ir::Value *target) const;
    /// Whether the result of a product can be accumulated in the storage of the state it updates.
    [[nodiscard]] bool updates_in_place(const ir::Value *result, const ir::Value *state);

    // What was not chosen (alternatives.cpp). Nothing is recorded unless the plan asks for it.
    struct AxisChoice {
        ir::DimExtent axis;
        bool allowed;///< lanes may go along it
        double score;
    };
    void record(const ir::Operation *op, std::string what, std::string alternative,
                std::string reason) const;
    void record(const Root &root, const char *what, const char *alternative,
                const char *reason) const;
    void record_axes(const LoopGroup &group, const std::vector<AxisChoice> &choices, int best,
                     double best_score) const;
    void record_shape(const LoopGroup &group) const;
    void record_kept(const ir::Operation &op, const char *reason);
    void record_contraction(const Contraction &contraction) const;
    void record_panel(const Contraction &contraction, bool vector) const;

    bool match_contraction(const ir::Operation &op, Contraction &out);
    /// Whether no step of a chain of products stands in the way; else `why` says what does.
    bool match_steps(const ir::Operation &op, Contraction &out, const char *&why);
    bool match_products(Contraction &out, const char *&why);
    void shape_contraction(Contraction &contraction);
    static void shape_thread_block(Contraction &contraction);
    void stage_contraction(Contraction &contraction) const;
    [[nodiscard]] StagedOperand staged_operand(const ir::Value *operand, ScalarType type,
                                               const std::vector<ir::DimExtent> &free,
                                               const std::vector<ir::DimExtent> &steps,
                                               int64_t depth, int64_t multiple, bool permuted,
                                               const StagedOperand *like) const;
    [[nodiscard]] const target::PanelAtom *panel_atom_of(const Contraction &c,
                                                         ScalarType wide) const;
    bool stage_by_groups(Contraction &c, StagePlan &stage, ScalarType wide) const;
    [[nodiscard]] const target::MatrixAtom *atom_of(const Contraction &c, ScalarType wide) const;
    bool size_panels(Contraction &c, StagePlan &stage) const;
    [[nodiscard]] int resident_blocks(const StagePlan &stage, int64_t held, bool even) const;
    [[nodiscard]] bool copies_evenly(const Contraction &c, const StagePlan &stage) const;
    /// Chooses an instruction for groups of narrow elements where the types, the policy and the processor let it.
    void choose_atom(Contraction &contraction) const;
    [[nodiscard]] bool may_group(const Contraction &contraction) const;
    void cut_matrices(Contraction &contraction, ir::GroupFactors factors) const;
    [[nodiscard]] bool reads_rows_in_place(const Contraction &contraction) const;
    [[nodiscard]] bool rows_lie_as_matrices(const Contraction &contraction,
                                            const ir::Value *operand) const;
    void shape_groups(Contraction &contraction, ir::GroupFactors factors) const;
    [[nodiscard]] static bool has_room_for_panels(const Contraction &contraction);
    /// Lets something else decide what the planner decided.
    void reconsider(Contraction &contraction) const;
    [[nodiscard]] analysis::Slope operand_slope(const ir::Value *operand, Dim axis) const;
    [[nodiscard]] double column_score(const Contraction &contraction,
                                      const std::vector<ir::DimExtent> &free, size_t operand) const;
    void plan_vector_panel(Contraction &contraction);
    void plan_scalar_panel(Contraction &contraction) const;
    void cut_panels(Contraction &contraction) const;
    // Products of few rows (thin_products.cpp).
    [[nodiscard]] bool order_of_sums_is_free(const Contraction &contraction) const;
    [[nodiscard]] bool along_steps_pays(const Contraction &contraction, int lanes) const;
    [[nodiscard]] bool put_lanes_along_steps(Contraction &contraction);
    void sweep_columns(Contraction &contraction) const;
    [[nodiscard]] bool is_read_once(const Contraction &contraction, const ir::Value *operand) const;
    void plan_row_prefetch(Contraction &contraction) const;
    void plan_result_prefetch(Contraction &contraction) const;
    void share_panel(const Contraction &contraction, PanelPlan &panel, size_t position,
                     const ir::Operation &nest,
                     const std::unordered_set<const ir::Value *> &stored) const;
    [[nodiscard]] bool streams_from_memory(const ir::Value *operand) const;
    [[nodiscard]] bool lies_as_panel(const Contraction &c, const ir::Value *operand) const;
    [[nodiscard]] bool exceeds_near_caches(const ir::Type &view) const;
    [[nodiscard]] bool comes_from_afar(const ir::Operation &access,
                                       const ir::Operation &nest) const;
    /// Accesses stand beside the number of the first group that makes them.
    void place_ahead(const std::vector<LoopGroup *> &groups, const std::vector<double> &costs,
                     const std::vector<std::pair<const ir::Operation *, size_t>> &accesses) const;
    void plan_sorted(const ir::Operation &op, Block &block);
    void finish_contraction(Contraction contraction, Block &block);
    void fuse_epilogues(Block &block);
    /// Whether consumers write a view that later register blocks still read.
    [[nodiscard]] bool stores_into_operands(const Contraction &contraction,
                                            const LoopGroup &group) const;

    void add_root(const Root &root, Block &block);
    /// Whether `root` can be done element by element along the scan that begins the group.
    [[nodiscard]] bool may_follow_scan(const LoopGroup &group, const Root &root) const;
    /// Why `root` cannot be evaluated in the loops of the group; null when it can.
    [[nodiscard]] const char *join_obstacle(const LoopGroup &group, const Root &root) const;
    void visit_reads(const Root &root, const analysis::Slopes &slopes,
                     const std::function<void(const analysis::Leaf &)> &visit) const;
    [[nodiscard]] bool may_store_after(const LoopGroup &group, const Root &root) const;
    [[nodiscard]] bool may_overwrite(const LoopGroup &group, const Root &root) const;
    void finish_group(LoopGroup &group);
    void choose_axis(const LoopGroup &group, const std::vector<AxisChoice> &choices,
                     int &best) const;
    /// How many neighbouring vectors one traversal of the folds carries.
    [[nodiscard]] int columns_of(const LoopGroup &group);
    void store_targets(const LoopGroup &group);
    /// Whether only roots of the group itself read what its scan computes.
    [[nodiscard]] bool stays_in_registers(const LoopGroup &group) const;
    [[nodiscard]] double axis_score(const LoopGroup &group, Dim axis) const;
    void ensure_storage(const ir::Value *value, const std::vector<ir::DimExtent> &order);
    const ir::Value *temporary_like(const ir::Value *value);

    Plan *_plan;
    CostModel _cost;
    std::unordered_set<const ir::Value *> _kept;
    /// Inserts that write into the storage of a value where they stand.
    std::unordered_map<const ir::Operation *, const ir::Value *> _insert_targets;
    std::unordered_map<const ir::Value *, const ir::Value *> _insert_incoming;
};

/// Whether a loop does nothing but update memory atomically, and the order of its iterations does not show.
[[nodiscard]] bool updates_in_any_order(const ir::Operation &nest, bool may_alias);
/// The step count of a nest that is one range with constants, else 0.
[[nodiscard]] int64_t constant_trips(const ir::Operation &nest);
/// The dimensions that a root iterates over; those of extent one are left out.
[[nodiscard]] std::vector<ir::DimExtent> root_space(const Root &root);
/// The value that a root evaluates.
[[nodiscard]] const ir::Value *root_source(const Root &root);
/// Whether partial results of the reduction may be formed along the folded axis and merged.
[[nodiscard]] bool regroups(const ir::Operation &reduction);
/// Whether the bits of a reduction by `reducer` depend on neither grouping nor order.
[[nodiscard]] bool order_free(Reducer reducer, ScalarType type);

/// The order in which a scan combines: its policy, or `ordered_tree` where no order shows.
[[nodiscard]] ReductionPolicy scan_policy(const ir::Operation &scan);
/// Whether vectors of `lanes` neighbours along the scanned axis give the bits that the scan asks for.
[[nodiscard]] bool scans_in_lanes(const ir::Operation &scan, int lanes);
/// Whether the trees of a scan differ in shape between lines: its steps then have no vectors.
[[nodiscard]] bool scans_unevenly(const ir::Operation &scan);

}// namespace luisa::tile::plan
