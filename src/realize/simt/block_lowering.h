// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "realize/cpu/lowering.h"
#include "realize/simt/program.h"
#include "realize/simt/share.h"
#include "realize/simt/touched.h"

namespace luisa::tile::simt {

using cpu::MachineBuilder;
using cpu::Point;
using cpu::Values;

/// Threads that exchange values without a barrier.
inline constexpr int64_t warp = 32;

/// Realizes a kernel for blocks of threads. The elements of a loop group are dealt out to the threads, the last
/// loop fastest; control and scalars are the same in all threads. Between steps that touch the same
/// memory stands a barrier.
class BlockLowering : public cpu::Lowering {
public:
    BlockLowering(const plan::Plan &plan, ir::Module &machine) : cpu::Lowering{plan, machine} {
        _reads_past_ends = false;
    }
    void lower_phase(const plan::Phase &phase, const std::string &name, Phase &out);

protected:
    int64_t allocate_bytes(int64_t bytes) override;
    Place place(int64_t room) override;
    int64_t allocate_private(int64_t bytes) override;
    ir::Value *private_start(int64_t room, int64_t bytes) override;
    void by_owner(const std::function<void()> &body) override;
    void synchronize() override;
    void end_iteration(const ir::Operation &nest) override;
    void element_loop(int64_t begin, int64_t end, int64_t step,
                      const std::function<void(ir::Value *)> &body) override;
    void before_reading(const ir::Value *value) override;
    ir::Value *held(const ir::Value *value, const Point &point) override;
    void hold(const ir::Value *value, const Point &point, ir::Value *result) override;
    bool lies_inside(const ir::Value *view, size_t axis, const ir::Value *origin,
                     int64_t range) override;
    ir::Value *lanes_below(ir::Value *count, int lanes) override;
    int64_t alignment_of(ir::Value *base, const Values &terms, int64_t bytes) override;
    void lower_block(const plan::Block &block) override;
    void lower_before_condition(const plan::Block &part) override;
    void lower_step(const plan::Step &step) override;
    void lower_sequential(const ir::Operation &op) override;
    void lower_if(const ir::Operation &op) override;
    Values lower_body(const ir::Region &region) override;
    void lower_group(const plan::LoopGroup &group) override;
    void lower_contraction(const plan::Contraction &contraction) override;
    void lower_staged(const plan::Contraction &contraction);
    void lower_ordering(const plan::Ordering &ordering);
    void lower_updates(const ir::Operation &nest);
    void bind_iteration(const ir::Operation &nest, const Values &extents, const Range *range,
                        ir::Value *number);
    /// What a block adds to in shared memory (updates.cpp).
    struct Bins {
        const plan::PrivateBins *plan;
        int64_t room;
        ir::Value *usable;///< null: always
    };
    void begin_bins(const ir::Operation &nest, ir::Value *instances);
    void finish_bins();
    const Bins *bins_of(const ir::Operation &atomic) const;
    ir::Value *bin_address(const Bins &bins, ir::Value *index);
    void add_to_bin(const ir::Operation &atomic, const Bins &bins);
    void flush_bin(const Bins &bins, ir::Value *at);
    void read_operands(const ir::Operation &nest);
    void update_all(const ir::Operation &nest, bool with_bins);
    void lower_atomic(const ir::Operation &op) override;
    ir::ReportPayload report_at(int64_t site, bool checks) const override;
    void write_result(const plan::Root &root, ir::Value *value, Point &point) override;

private:
    using Ends = std::unordered_map<uint32_t, ir::Value *>;
    using Dims = std::vector<ir::DimExtent>;

    void begin_kernel(const std::string &name);
    void instance_loop(const ir::Operation &nest, Phase &out);
    void part_loop(const plan::Phase &phase, Phase &out);
    /// Notes what the next step touches, behind a barrier if that is needed.
    void touch(const Touched &next);
    void barrier();

    /// One thread a combination of `dims`, and where `ends` say so only those below.
    void deal_out(const Dims &dims, const Ends &ends, Point &point,
                  const std::function<void(Point &)> &body);
    /// The coordinates of element number `index`, the last dimension fastest.
    void place_at(const Dims &dims, ir::Value *index, Point &point);
    /// Runs `body` in one thread; scalar results of reductions are then known to all.
    void in_one_thread(const std::function<void()> &body);
    /// What the first thread has, in all threads.
    Values broadcast(const Values &values);

    // Groups of several vectors a thread (deals.cpp, dealt_folds.cpp).
    struct Line;
    using RoundsBody =
        std::function<Values(const std::vector<std::pair<Round, Round>> &, const Values &)>;
    [[nodiscard]] const plan::Deal *deal_of(const plan::LoopGroup &group) const;
    Share share_of(const plan::LoopGroup &group, const plan::Deal &deal);
    Point place_of(const Share &share, const Vector &vector, const Point &outer, const Ends &ends);
    Point line_of(const Share &share, const Round &kept);
    static ir::Value *early_end(const Ends &ends, const ir::DimExtent &dim);
    Values rounds(const Share::Level &outer, const Share::Level &inner, int together,
                  const Values &states, const RoundsBody &body);
    void read_first(const plan::LoopGroup &group, std::vector<Point> &points);
    void lower_dealt(const plan::LoopGroup &group, const plan::Deal &deal);
    void lower_dealt_tree(const plan::LoopGroup &group, const plan::Deal &deal);
    void lower_dealt_scan(const plan::LoopGroup &group, const plan::Deal &deal);
    void lower_dealt_column_scan(const plan::LoopGroup &group, const plan::Deal &deal);
    /// The loops of a group as long as they are in the program.
    [[nodiscard]] Dims whole_loops(const plan::LoopGroup &group) const;
    /// Moves a coordinate to where this block's part begins.
    ir::Value *in_part(Dim dim, ir::Value *at);
    void lower_dealt_fold(const plan::LoopGroup &group, const plan::Deal &deal);
    Values fold_vectors(const plan::LoopGroup &group, const Share &share, const Vector &at);
    Values single_states(const plan::LoopGroup &group, const Share &share, const Values &states);
    Values joined_states(const Share &share, const Values &single, size_t count);
    void finish_lines(const plan::LoopGroup &group, const Share &share, std::vector<Line> &lines);

    // What is known of views, and of what registers hold (known_views.cpp).
    [[nodiscard]] bool known_at_start(const ir::Value *value) const;
    ir::Value *fast_condition(const ir::Region &body);
    void lower_versions(const ir::Region &body, const plan::Block &block);
    [[nodiscard]] int64_t factor_of(const ir::Value *value, int depth) const;

    // Folds (folds.cpp).
    /// What is known of a group that folds.
    struct Fold {
        plan::LoopGroup group;///< with one partial result a thread
        Dims kept, folded;
        int64_t lines = 1, length = 1;
        int64_t sharers = 1;///< threads that share a line
        bool is_arg = false, shares = false, is_scalar = false, is_plain = true;
    };
    void lower_folds(const plan::LoopGroup &group);
    void fold_lines(Fold &fold);
    void fold_line_blocks(Fold &fold);
    Values fold_part(Fold &fold, ir::Value *lane, ir::Value *count, Point &point);
    Values merge_threads(Fold &fold, Values states);
    Values merge_warps(Fold &fold, const Values &states);
    void merge_across(Fold &fold, std::vector<Values> &lines, int64_t stride, int64_t sharers);
    void merge_shared(Fold &fold, std::vector<Values> &lines, int64_t stride, int64_t sharers);
    Values merge_states(const Fold &fold, const Values &left, const Values &right);
    void finish_line(const Fold &fold, const Values &states, Point &point);
    friend class ThreadContraction;
    friend class DealtScan;
    friend class DealtColumnScan;
    friend class DealtTree;
    friend class OrderedLines;
    friend class StagedContraction;
    friend class PanelCopy;
    /// Room in shared memory whatever it takes.
    int64_t shared_room(int64_t bytes);
    /// Makes room in shared memory for runs of keys, of which one step of the phase after the other uses it.
    void reserve_orders(const plan::Phase &phase);
    /// Room in shared memory for panels of products, of which one after the other uses it.
    int64_t staging_room();
    [[nodiscard]] std::pair<int64_t, bool> staged_bytes() const;

    const plan::Split *_split = nullptr;
    ir::Value *_part_start = nullptr;///< along the dimension of the split
    int _threads = 32;               ///< that share an instance
    ir::Value *_thread = nullptr;    ///< the number of this one among them
    bool _alone_in_team = false;     ///< each thread has an instance of its own
    ir::Value *_first_instance = nullptr, *_instance_step = nullptr;
    int64_t _shared_bytes = 0, _scratch_bytes = 0;///< so far, of a block
    int64_t _kept_bytes = 0;                      ///< of shared memory, by kept values
    int64_t _kept_limit = 0;                      ///< … at most
    int _resident = 0;                       ///< blocks on a multiprocessor that a product asks for
    int64_t _staging = 0, _staging_bytes = 0;///< where panels of products lie
    int64_t _order_room = 0;                 ///< where runs of keys lie
    bool _only_one_order = false;            ///< what it makes may stay there
    int64_t _private_threads = 0;            ///< that have a line of the current group
    Touched _touched;                        ///< since the last barrier
    size_t _write_count = 0;
    std::vector<size_t> _loop_marks;///< write counts where the loops around began
    std::vector<Bins> _bins;
    int _alone = 0;///< inside of code that not all threads run
    struct Branch {
        Touched before, after;
    };
    std::vector<Branch> _branches;
    std::vector<std::pair<const ir::Value *, ir::Value *>> _found;///< scalars of one thread
    bool _one_thread = false;
    ir::Value *_writer = nullptr;///< whether this thread writes results of folds; null: all do

    /// A value that is in a register at one place.
    struct HeldAt {
        int lanes;
        ir::Value *mask, *guard, *value;
        std::vector<cpu::Coordinate> at;
        [[nodiscard]] bool fits(const Point &point, const ir::Type &type) const;
    };
    std::unordered_multimap<const ir::Value *, HeldAt> _held;
    bool _fast = false;///< in the version for aligned views and boxes inside of them
    struct Inside {
        const ir::Value *view;
        size_t axis;
        const ir::Value *origin;
        int64_t range;
    };
    std::vector<Inside> _inside;
    std::unordered_map<const ir::Value *, int64_t> _factors;///< that these are multiples of
};

}// namespace luisa::tile::simt
