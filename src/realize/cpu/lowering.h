// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "analysis/intervals.h"
#include "ir/report.h"
#include "plan/plan.h"
#include "realize/cpu/machine_builder.h"
#include "realize/cpu/program.h"

#include <memory>
#include <unordered_map>
#include <unordered_set>

namespace luisa::tile::cpu {

/// A coordinate: a uniform i64 plus a constant step a lane, or one i64 a lane.
struct Coordinate {
    ir::Value *base = nullptr;
    int64_t slope = 0;
    ir::Value *per_lane = nullptr;

    [[nodiscard]] bool is_uniform() const noexcept { return !per_lane && slope == 0; }
};

/// The best element so far of an argmin or argmax and its position, -1 for none.
struct Candidate {
    ir::Value *value = nullptr, *index = nullptr;
};
using Candidates = std::vector<Candidate>;

/// Local coordinates below `extent - origin` only: what a clipped loop guarantees.
struct Clip {
    const ir::Value *origin = nullptr;
    int64_t extent = 0;             ///< static extent of the view axis, or runtime_value
    const ir::Value *view = nullptr;///< whose axis it is, for runtime extents
    size_t axis = 0;
};

/// Where an inline expression is evaluated: a coordinate for each dimension in scope.
struct Point {
    std::unordered_map<uint32_t, Coordinate> at;
    std::unordered_map<uint32_t, Clip> clips;
    int lanes = 1;
    ir::Value *mask = nullptr; ///< lanes that exist; null: all
    ir::Value *guard = nullptr;///< lanes whose coordinates are in range; null: all
    std::unordered_map<const ir::Value *, ir::Value *> known;///< already evaluated here
    ir::Value *active =
        nullptr;///< lanes that contribute to folds, where that is not `mask`; null: all

    /// The same place without what was evaluated there.
    [[nodiscard]] Point derived() const { return {at, clips, lanes, mask, guard, {}, active}; }
};

/// The operands of a contraction: one is read in vectors along the columns, of the other one element is
/// multiplied with a whole vector.
enum class Side : uint8_t { VECTOR, SCALAR };

/// How the panels of one operand are laid out and filled; null when it is read where it is.
[[nodiscard]] inline const plan::PanelPlan *panel_plan(const plan::Contraction &c, Side side) {
    const auto &panel = side == Side::VECTOR ? c.vector_panel : c.scalar_panel;
    return panel ? &*panel : nullptr;
}

/// State of the realization of one kernel. Split over several files by concern: evaluation
/// (evaluate.cpp, access.cpp), loop groups, contractions, nests. What is virtual is done otherwise where the
/// threads of a block run a task together (realize/simt).
class Lowering {
public:
    class IndexWriter;
    struct TreeState;///< one state of a balanced `reduce` nest

    Lowering(const plan::Plan &plan, ir::Module &machine);
    virtual ~Lowering() = default;

    void lower_phase(const plan::Phase &phase, const std::string &name, Phase &out);
    /// The phase that fills the shared panels of one operand of `contraction` for the instances of `root`.
    void lower_pack(const plan::Contraction &contraction, Side side, const ir::Operation &root,
                    const std::string &name, Phase &out);
    [[nodiscard]] int64_t scratch_bytes() const noexcept { return _scratch_peak; }
    /// What the `report` operations refer to, in the order of their sites.
    [[nodiscard]] std::vector<ir::Report> take_reports() noexcept { return std::move(_reports); }
    [[nodiscard]] int64_t shared_bytes() const noexcept { return _shared_used; }
    /// See `realize`. The numbers must outlive this.
    void trace(const std::unordered_map<const plan::Step *, uint32_t> *steps) { _steps = steps; }
    [[nodiscard]] std::vector<Room> take_rooms() noexcept { return std::move(_rooms); }

protected:
    void begin_function(const std::string &name);
    Values domain_extents(const ir::Operation &nest);
    void bind_task(const ir::Operation &nest, const Values &extents, ir::Value *task);

    // Evaluation of inline expressions.
    ir::Value *evaluate(const ir::Value *value, Point &point);
    ir::Value *evaluate_operation(const ir::Operation &op, Point &point);
    ir::Value *evaluate_extract(const ir::Operation &op, Point &point);
    ir::Value *exchanged_lanes(const ir::Value *source, const Point &place);
    ir::Value *evaluate_insert(const ir::Operation &op, Point &point);
    ir::Value *evaluate_map(const ir::Operation &op, Point &point);
    /// The condition that coordinates lie in their dimensions; null when that is known.
    ir::Value *in_range(ir::Value *coordinate, int64_t extent);
    ir::Value *coordinate_value(const Coordinate &coordinate, int lanes);
    /// Of an integer scalar, or of the element of an integer tile at the point.
    Coordinate coordinate_of(const ir::Value *value, Point &point);
    Coordinate coordinate_of_map(const ir::Operation &map, Point &point);
    /// The sum, or with a negative sign the difference, of two coordinates.
    Coordinate sum(const Coordinate &a, const Coordinate &b, int sign);
    /// The coordinate of a dimension; zero where the extent is one.
    Coordinate local_coordinate(const ir::DimExtent &dim, const Point &point);
    ir::Value *scalar_value(const ir::Value *value);
    /// A scalar that control depends on, read where all threads of a team stand.
    ir::Value *control_value(const ir::Value *value) {
        before_reading(value);
        return scalar_value(value);
    }
    virtual void before_reading(const ir::Value *) {}
    /// What `value` was at `point` when it was evaluated there before, if that is still in a register.
    virtual ir::Value *held(const ir::Value *, const Point &) { return nullptr; }
    /// Learns that `value` is `result` at `point`.
    virtual void hold(const ir::Value *, const Point &, ir::Value *) {}

    // Element operations in the types that compute.
    ir::Value *arithmetic(ir::Opcode op, Values operands, const ir::Operation *origin);
    ir::Value *scale_down(ir::Value *a, ir::Value *n);
    /// x ÷ d, rounded once; `d` does not change in the innermost loop.
    ir::Value *divide_by_invariant(ir::Value *x, ir::Value *d);
    ir::Value *convert(ir::Value *value, ScalarType to);
    ir::Value *expand_math(ir::Opcode op, const Values &operands, const ir::Operation *origin);
    ir::Value *select(ir::Value *condition, ir::Value *yes, ir::Value *no);
    ir::Value *reduce_step(Reducer reducer, ir::Value *accumulator, ir::Value *element);

    // Memory.
    ir::Value *load(const ir::Operation &op, Point &point);
    void store(const ir::Operation &op, ir::Value *value, Point &point);
    struct Access {
        ir::Value *address = nullptr;///< of lane 0, or the base for indexed accesses
        ir::Value *indices = nullptr;///< element offsets a lane, when the lanes are not adjacent
        ir::Value *mask = nullptr;
        bool uniform = false;
        bool always_valid = false;///< in bounds whatever loops surround it
        int64_t align = 0;///< bytes that the address is a multiple of; 0: those of an element
    };
    /// An axis of a view, where a box begins on it and, without what differs from lane to lane, the place.
    struct ViewAxis {
        const ir::Value *view;
        size_t axis;
        const ir::Value *origin;
        ir::Value *base;
    };
    /// Whether a box of `range` places is known to lie in the view, other than by what its origin is.
    virtual bool lies_inside(const ir::Value *, size_t, const ir::Value *, int64_t) {
        return false;
    }
    /// The first `count` of the lanes.
    virtual ir::Value *lanes_below(ir::Value *count, int lanes);
    /// Bytes that base + bytes · (sum of the terms) is known to be a multiple of; 0: those of an element.
    virtual int64_t alignment_of(ir::Value *, const Values &, int64_t) { return 0; }
    void check_bounds(Access &access, const ViewAxis &at, const std::vector<ir::DimExtent> &box,
                      const Coordinate &local, const Point &point);
    Access load_access(const ir::Operation &op, Bounds bounds, Point &point);
    Access store_access(const ir::Operation &op, Bounds bounds, Point &point);
    Access view_access(const ir::Value *view, const std::vector<const ir::Value *> &origins,
                       const std::vector<ir::DimExtent> &box, Bounds bounds, bool mapped,
                       Point &point);
    ir::Value *read_access(const Access &access, ScalarType type, ir::Value *other, int lanes,
                           bool stable);
    void write_access(const Access &access, ir::Value *value, int lanes);
    static std::vector<int64_t> storage_extents(const plan::Storage &storage);
    Access storage_access(const ir::Value *home, const Point &point);
    Access layout_access(const plan::MemoryLayout &layout, const ir::Value *home,
                         const Point &point);
    /// The one number that a map gives at coordinates, in closed form where it is linear in the lane.
    Coordinate index_map(const IndexMap &map, const std::vector<Coordinate> &at, int lanes);
    ir::Value *read_storage(const ir::Value *home, Point &point);
    void write_storage(const ir::Value *home, ir::Value *value, Point &point);
    ir::Value *view_word(const ir::Value *view, size_t word, ScalarType type, bool pointer = false);
    ir::Value *view_extent(const ir::Value *view, size_t axis);
    ir::Value *view_stride(const ir::Value *view, size_t axis);
    void allocate(const ir::Value *home);
    /// Makes room; the result names it to `place`.
    virtual int64_t allocate_bytes(int64_t bytes);
    struct Place {
        ir::Value *base;
        int64_t offset;
    };
    virtual Place place(int64_t room);
    ir::Value *start_of(int64_t room);
    /// Room that each thread has for itself.
    virtual int64_t allocate_private(int64_t bytes) { return allocate_bytes(bytes); }
    virtual ir::Value *private_start(int64_t room, int64_t) { return start_of(room); }

    // Where a team of threads runs the task: what one of them does, and where they wait for each other.
    /// Emits what one thread does for all.
    virtual void by_owner(const std::function<void()> &body) { body(); }
    /// What all threads wrote is seen by all from here on.
    virtual void synchronize() {}
    /// Stands where another iteration of `nest` may follow.
    virtual void end_iteration(const ir::Operation &) {}
    /// Elements [begin, end) by steps, each by one thread that depends on its number alone.
    virtual void element_loop(int64_t begin, int64_t end, int64_t step,
                              const std::function<void(ir::Value *)> &body);

    // Steps.
    virtual void lower_block(const plan::Block &block);
    /// The part of the block of a `while` that is run before its condition.
    virtual void lower_before_condition(const plan::Block &part) { lower_block(part); }
    virtual void lower_step(const plan::Step &step);
    virtual void lower_group(const plan::LoopGroup &group);
    void begin_group(const plan::LoopGroup &group);
    void end_group();
    void lower_loops(const plan::LoopGroup &group, size_t depth, Point &point,
                     const std::unordered_map<uint32_t, ir::Value *> &ends);
    void lower_columns(const plan::LoopGroup &group, size_t depth, Point &point,
                       const std::unordered_map<uint32_t, ir::Value *> &ends);
    /// Folds at `point` and, with more than one column, at the vectors that follow it.
    void lower_fold(const plan::LoopGroup &group, size_t depth, Point &point, int columns = 1);
    void lower_balanced(const plan::LoopGroup &group, const plan::Root &root);
    void lower_balanced_at(const plan::LoopGroup &group, size_t depth, const plan::Root &root,
                           int64_t offset, Point &point);
    void lower_arg_reduction(const plan::LoopGroup &group, size_t depth, Point &point);
    /// A masked fold over floats must tell "nothing contributed" from a value: it carries a flag.
    static bool carries_flag(const plan::Root &root);
    /// Partial results of nothing.
    Values fold_identity(const plan::LoopGroup &group, int lanes, int parts);
    Values arg_identity(const plan::LoopGroup &group, int lanes, int parts);
    Values arg_elements(const plan::LoopGroup &group, int part, Point &point, Values states);
    ir::Value *position_in(const ir::Operation &op, Point &point);
    /// The one of two that the reduction prefers.
    Candidate merge_candidates(const ir::ReducePayload &payload, const Candidate &best,
                               const Candidate &x);
    ir::Value *merge_positions(const ir::ReducePayload &payload, Candidates parts,
                               bool across_lanes);
    /// What one place contributes to the partial results of number `part`.
    using Contribute = std::function<Values(int part, Point &, Values states)>;
    Values fold_loops(const plan::LoopGroup &group, size_t depth, Point &point, Values states,
                      const Contribute &contribute);
    Values fold_elements(const plan::LoopGroup &group, int part, int parts, Point &point,
                         Values states);
    /// Merges partial results pairwise, then across lanes by halves.
    ir::Value *merge_parts(Reducer reducer, Values parts, bool across_lanes);
    virtual void write_result(const plan::Root &root, ir::Value *value, Point &point);
    void finish_fold(const plan::LoopGroup &group, const Values &states, int columns, Point &point);
    void emit_roots(const plan::LoopGroup &group, Point &point);
    void emit_root(const plan::Root &root, Point &point);
    /// Asks for the lines that the plan lets the group fetch while it is at `point`.
    void ask_ahead(const plan::LoopGroup &group, const Point &point);
    std::unordered_map<uint32_t, ir::Value *> clip_loops(const std::vector<plan::Root> &roots,
                                                         const std::vector<ir::DimExtent> &loops,
                                                         Point &point);
    /// Runs `body` over [0, end) of the vector axis: whole vectors `step_vectors` at a time, then one
    /// at a time, then a masked rest.
    Values vector_loop(Dim axis, ir::Value *end, int64_t extent, int lanes, int step_vectors,
                       Point &point, const Values &states,
                       const std::function<Values(Point &, int part, const Values &)> &body);

    virtual void lower_contraction(const plan::Contraction &contraction);
    friend class ContractionLowering;
    friend class ScanLowering;

    virtual void lower_sequential(const ir::Operation &op);
    virtual void lower_atomic(const ir::Operation &op);
    Values atomic_values(const ir::Operation &op);
    ir::Value *update_by_exchange(ir::Value *address, AtomicOp op, ir::Value *value);
    virtual ir::ReportPayload report_at(int64_t site, bool checks) const;
    void lower_report(const ir::Operation &op);
    void lower_nest(const ir::Operation &op);
    void lower_balanced_nest(const ir::Operation &op);
    std::vector<TreeState> tree_states(const ir::Operation &op);
    int64_t tree_levels(const ir::Operation &nest);
    virtual void lower_if(const ir::Operation &op);
    void lower_while(const ir::Operation &op);
    virtual Values lower_body(const ir::Region &region);
    /// A range as an ascending loop, and how its indices follow from the loop's.
    struct Range {
        ir::Value *begin, *end, *step;///< of the loop that is emitted; the step is positive
        ir::Value *first = nullptr;   ///< null: the loop's index is the range's
        ir::Value *stride = nullptr;  ///< index = first + stride · iv; null: first - iv

        [[nodiscard]] ir::Value *index(MachineBuilder &b, ir::Value *iv) const {
            return !first ? iv : !stride ? b.sub(first, iv) : b.add(first, b.mul(iv, stride));
        }
    };
    Range range_of(const ir::Operation &nest);
    /// Emits the loops of a nest around `body`, which finds the indices bound; from the last
    /// iteration to the first when `reversed`.
    Values nest_loops(const ir::Operation &nest, bool reversed, const Values &states,
                      const std::function<Values(const Values &)> &body);
    /// Results of `op` that are scalars, which live in registers; storage is made for the others.
    std::vector<size_t> scalar_states(const ir::Operation &op);

    const plan::Plan *_plan;
    MachineBuilder _b;
    ir::Value *_args = nullptr, *_begin = nullptr, *_end = nullptr, *_scratch = nullptr,
              *_shared = nullptr;
    std::unordered_map<const ir::Value *, size_t> _argument_words;
    std::unordered_map<const ir::Value *, ir::Value *> _scalars;
    std::unordered_map<const ir::Value *, int64_t> _offsets;
    std::unordered_map<const ir::Value *, Coordinate> _map_arguments;
    int64_t _scratch_used = 0, _scratch_peak = 0, _shared_used = 0;
    const std::unordered_map<const plan::Step *, uint32_t> *_steps = nullptr;///< null: not traced
    std::vector<Room> _rooms;
    std::string _function;                 ///< under way
    const ir::Value *_room_owner = nullptr;///< of the next room
    const ir::Operation *_root = nullptr;  ///< the `parallel` whose instances are tasks
    ir::Value *_task = nullptr;            ///< number of the instance under way
    Values _task_extents;                  ///< of its domain
    int64_t _band = 0;                     ///< see plan::Phase
    std::unordered_map<const plan::PanelPlan *, int64_t> _shared_offsets;
    std::unordered_set<const ir::Value *> _written;///< storage that the current step writes
    std::vector<ir::Report> _reports;
    bool _stores_in_step = false;///< the current step stores to views
    bool _reads_past_ends = true;///< lanes that do not exist may read what follows a kept value
    int _aligned_lanes = 1;///< vectors of so many lanes are known to lie at multiples of their size
};

}// namespace luisa::tile::cpu
