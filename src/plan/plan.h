// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "analysis/roles.h"
#include "ir/module.h"
#include "plan/choices.h"
#include "target/cpu.h"
#include "target/cuda.h"
#include "target/warpgroup.h"

#include <luisa/tile/layout.h>

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <variant>
#include <vector>

namespace luisa::tile::plan {

/// One thing that a loop group produces.
struct Root {
    enum class Kind : uint8_t {
        STORE, ///< `op` is a store
        REDUCE,///< `op` is a reduce.expr; its result is written when the fold is done
        WRITE, ///< `source` is evaluated into the storage of `target` (often the same value)
        SCAN,  ///< `op` is a scan; an element of its result is known where it is computed
        INSERT,///< `op` is an insert whose part is written into the storage of `target`
    };
    Kind kind = Kind::WRITE;
    const ir::Operation *op = nullptr;
    const ir::Value *source = nullptr, *target = nullptr;
};

/// A load or store whose lines a group asks for while it does something else.
struct Ahead {
    const ir::Operation *op = nullptr;
    int64_t instances = 0;///< for the instance so many later in the order of the tasks; 0: this one
};

/// How the threads of a GPU's block share the elements of a group. `sharers` neighbouring threads have a line
/// along the axis, of which each takes vectors of `lanes` elements, the first from its own place on and one every
/// lanes · sharers. The next threads have the next of the lines that are folded, then the next of those that are
/// kept; what is left over is done in further rounds.
struct Deal {
    int axis = -1;           ///< position in the loops
    int lanes = 1;           ///< neighbouring elements of a thread
    int sharers = 1;         ///< threads along a line
    int folded = 1, kept = 1;///< lines at a time
    int together = 1;        ///< vectors of a thread that are under way at once
    bool all = false;        ///< these are all: what they compute may stay in registers
    friend bool operator==(const Deal &, const Deal &) = default;
};

/// Operations that share one loop nest with at most one vector axis. Values inside stay in
/// registers; what it reads from other groups comes from storage.
struct LoopGroup {
    std::vector<ir::DimExtent> loops;///< outer to inner, the vector axis included
    int vector_axis = -1;            ///< position in `loops`; -1: scalar code
    int lanes = 1;
    int accumulators = 1;///< independent partial results when the vector axis is folded
    int columns = 1;     ///< neighbouring vectors of a kept vector axis that one traversal folds
    std::vector<Root> roots;
    std::vector<Ahead> ahead;///< a line of each is asked for with each vector
    /// On a GPU: of whole blocks whose views lie at multiples of 16 bytes, and of all others. None: single
    /// elements, or single lines, go to the threads one after the other.
    std::optional<Deal> aligned, deal;
    std::string note;///< why it is scalar, or what it materialises

    [[nodiscard]] bool folds(Dim dim) const;
    [[nodiscard]] bool has_reduction() const;
    /// The scan that the group goes along, or null. It is the first root.
    [[nodiscard]] const ir::Operation *scan() const;
    /// Whether the lanes of its vectors are neighbours along the scanned axis.
    [[nodiscard]] bool scans_lanes() const;
};

/// More steps than any nest has: one panel holds them all.
inline constexpr int64_t all_steps = int64_t{1} << 30;

/// An operand of a contraction that is copied first, so that register blocks read it from adjacent places.
struct PanelPlan {
    /// The contracted dimension along which the vector operand is contiguous, when its columns are not:
    /// panels are filled by transposing blocks in registers. Panels of the scalar operand always are.
    std::optional<Dim> contiguous_step;
    bool shared = false;            ///< filled once a launch, by tasks of their own
    std::vector<size_t> shared_axes;///< axes of the root domain that the panel depends on
    /// Of each product: (step, column or row) to a place in the panel, in elements of the sums' type, or in words that
    /// each hold the steps of a group.
    std::vector<IndexMap> layouts;
};

/// How a panel of one operand of a staged product lies in the memory that a block shares: line after line, of which
/// neighbours are 16 bytes more than a multiple of 32 apart, so that equal places of eight lines lie in different banks.
/// Permuted, as warpgroups read them: the first 128 bytes of all lines, 128 bytes apart, then the next 128 of all; of
/// line l unit u is at place u ^ l % 8.
struct StagedOperand {
    ScalarType type{};
    bool along_steps =
        false;///< a line is a row or column, its elements steps; else the other way round
    int64_t lines = 0;
    int64_t length = 0;///< elements of a line, those that fill up its last 16 bytes included
    int64_t pitch = 0; ///< bytes from a line to the next
    int vector = 1;    ///< elements that are copied at a time where bounds and addresses allow
    bool async = false;///< … past the registers
    bool zeros = false;///< steps that do not exist are zeros, for they are multiplied too
    bool permuted = false;

    /// Bytes from 128 bytes of a line to the next 128 of it; 0: they are neighbours.
    [[nodiscard]] int64_t part_bytes() const noexcept { return permuted ? lines * pitch : 0; }
    [[nodiscard]] int64_t bytes() const noexcept;
};

/// A product whose operands the threads of a block copy together, a panel of steps after the other, into shared
/// memory. Panels that follow are on their way while one is used.
struct StagePlan {
    int64_t depth = 0;///< steps of a panel
    int stages = 2;   ///< panels that there is room for
    int unroll = 8;   ///< steps between branches
    int resident =
        1;///< blocks that a multiprocessor is to hold at once: what registers are given out for
    int thread_rows = 1, thread_columns = 1;///< threads that the result is dealt out to
    /// Of each product the operand with the rows, then the one with the columns.
    std::vector<std::array<StagedOperand, 2>> operands;
    const target::MatrixAtom *atom = nullptr;///< by warps, with this shape; else by threads
    int warp_rows = 1, warp_columns = 1;     ///< warps that the result is dealt out to
    /// By warpgroups, which hold 64 rows times `rows` of the contraction and 8 columns times `vectors` each.
    const target::PanelAtom *panel_atom = nullptr;
    int group_rows = 1, group_columns = 1;///< warpgroups that the result is dealt out to

    [[nodiscard]] int64_t threads() const noexcept {
        return int64_t{thread_rows} * thread_columns * warp_rows * warp_columns * group_rows *
               group_columns;
    }
    /// Bytes of one panel of all operands, and of all panels.
    [[nodiscard]] int64_t panel_bytes() const noexcept;
    [[nodiscard]] int64_t shared_bytes() const noexcept { return stages * panel_bytes(); }
};

/// What multiplies and adds in a contraction. All but the first read panels of groups: words that hold a few narrow
/// elements of neighbouring steps each.
enum class Atom : uint8_t {
    MULTIPLY_ADD,///< one step of one vector, in the type of the sums
    DOT,         ///< the steps of a group, of one vector
    MATRIX,      ///< 16 groups of 16 rows and one vector, in matrix registers
};

/// A register-blocked contraction. Every step of `nests` runs inside one register block, so an
/// accumulator element sees its contributions in source order and never leaves its register.
struct Contraction {
    std::vector<const ir::Operation *> nests;   ///< interchanged temporal nests, outer to inner
    std::vector<const ir::Operation *> products;///< mma operations of one step, in order
    const ir::Value *initial = nullptr;         ///< accumulator before the first step
    const ir::Value *result = nullptr;
    analysis::ContractionRoles roles;
    bool transposed = false;///< the vector axis runs over a's free dimension instead of b's
    int rows = 6, vectors = 4, lanes = 16;///< register block: rows × (vectors · lanes)
    /// Lanes along the contracted dimension, where both operands are contiguous and the order of sums is free: each of
    /// rows × vectors sums is a vector until all steps are done. 0: lanes are columns.
    int step_lanes = 0;
    Atom atom = Atom::MULTIPLY_ADD;
    std::optional<PanelPlan> vector_panel;///< of the operand whose columns are vectors
    std::optional<PanelPlan> scalar_panel;///< of the operand whose elements are broadcast
    int64_t panel_steps =
        0;///< steps of the (one) nest whose part of a column block stays in L2; 0: all
    /// All columns take `panel_steps` steps before any takes more: the vector operand is read in the order of memory.
    bool sweeps_columns = false;
    // What comes from beyond the second-level cache is asked for some steps before it is used.
    bool prefetch_panel =
        false;///< the panel that follows; of groups: the steps that follow, while one is filled
    bool prefetch_rows = false;    ///< rows of the broadcast operand, read where they are
    bool prefetch_columns = false; ///< with `step_lanes`: what lies behind in the same column
    bool prefetch_results = false; ///< the lines that the epilogue stores to
    std::optional<StagePlan> stage;///< of a GPU: operands go through shared memory
    std::vector<Root> epilogue;    ///< consumers applied in registers; empty: result is stored
};

/// The narrow elements that an operand widens: itself, or what a cast to the type of the sums was made from, unless
/// `is_kept`.
[[nodiscard]] const ir::Value *narrow_source(const ir::Value *operand,
                                             const std::function<bool(const ir::Value *)> &is_kept);
/// How products of two element types are grouped; nothing where no instruction does them.
[[nodiscard]] std::optional<ir::GroupFactors> group_factors(ScalarType a, ScalarType b);
/// Steps that one word holds.
[[nodiscard]] inline int group_size(ir::GroupFactors factors) {
    return factors == ir::GroupFactors::BF16 ? 2 : 4;
}
/// Rows of a matrix register, and its words a row.
inline constexpr int matrix_rows = 16;

/// How the threads of a GPU's block put keys in order: each sorts `each` of them in registers; then runs are merged in
/// pairs through shared memory, of which each thread makes `each` places. What exceeds threads · each keys is merged
/// through scratch memory, a part of that size after the other.
struct OrderPlan {
    int each = 1;   ///< keys of a thread at a time, a power of two
    int threads = 1;///< that sort a line, a power of two
    int lines = 1;  ///< at a time
    /// The first keys of all threads tell a bound that enough keys are not behind, and only these are put in order.
    bool bounded = false;
    friend bool operator==(const OrderPlan &, const OrderPlan &) = default;
};

/// Keys in order along one or two dimensions, one line after the other.
struct Ordering {
    std::vector<const ir::Operation *> ops;///< `sorted`, one a word of the result
    std::vector<ir::DimExtent> lines;      ///< dimensions that are no part of the order
    int64_t positions = 1;                 ///< of a line, a power of two
    int64_t first = 1;                     ///< that the result has; `positions` or fewer
    OrderPlan how;

    [[nodiscard]] const ir::Value *keys() const;
    /// The second word of keys, or null.
    [[nodiscard]] const ir::Value *places() const;
};

/// Whether a block of threads puts these keys in order itself.
[[nodiscard]] bool puts_in_order(const ir::Operation &sorted);

/// An operation that runs where it stands: nests, branches, loops and scalar loads.
struct Sequential {
    const ir::Operation *op = nullptr;
};

using Step = std::variant<LoopGroup, Contraction, Sequential, Ordering>;

struct Block {
    std::vector<Step> steps;
};

/// The layout that a program asks of a Memory: a map from its coordinates to places.
struct MemoryLayout {
    IndexMap map;
    std::vector<ir::DimExtent> dims;///< what each coordinate is
};

/// Where a kept value lives: dimensions from slowest to fastest, unless it is a Memory that has a layout.
struct Storage {
    std::vector<ir::DimExtent> order;
    std::optional<MemoryLayout> layout;
};

/// On a GPU: several blocks share an instance, each with a part of the elements along a dimension that all of its
/// groups keep. The loops of groups are as long as a part.
struct Split {
    Dim dim;
    int64_t parts = 1, extent = 0;///< of a part
};

/// A run of root operations: one `parallel` whose instances are tasks, or the rest as one task.
struct Phase {
    const ir::Operation *nest = nullptr;
    Block block;       ///< the operations, when `nest` is null
    int64_t grain = 1; ///< tasks claimed at a time, when there are many
    double task_us = 0;///< predicted time of one task on one core; 0: unknown
    int threads = 0;   ///< of a GPU's block; 0: not known
    /// Of a GPU: blocks that a multiprocessor is to hold at once: what registers are given out for. 0: as it comes.
    int resident = 0;
    bool alone = false;///< each of them has instances of its own
    /// How many instances along the last of two axes take turns before the first axis has passed: what they share
    /// stays in the second-level cache. 0: all.
    int64_t band = 0;
    std::optional<Split> split;
};

/// Elements of a view that the instances of a block only add to: sums of their own in shared memory, which the view gets
/// when the block is done, where the view has no more of them than there is room for.
struct PrivateBins {
    const ir::Operation *nest = nullptr;///< the root whose instances add
    const ir::Value *view = nullptr;
    int64_t capacity = 0;
    bool counts =
        false;///< nothing but 0 and 1 is added: 32 bits a sum do as long as there are few instances

    [[nodiscard]] int64_t bytes() const noexcept;///< of one sum
};

/// Another way to do something, and why the planner did not take it.
struct Alternative {
    const ir::Operation *op = nullptr;///< what it concerns; null: the kernel
    std::string what;                 ///< what was decided, such as "vectors along n"
    std::string alternative, reason;
};

/// Everything that was decided for a kernel on a CPU. The realizer takes it literally.
struct Plan {
    const ir::Function *kernel = nullptr;
    target::CpuFacts facts;
    bool may_alias = false;                ///< views may overlap each other
    bool team = false;                     ///< the threads of a GPU's block run a task together
    const target::CudaFacts *gpu = nullptr;///< whose threads they are
    std::vector<Phase> phases;
    std::unordered_map<const ir::Region *, Block> blocks;
    std::vector<const ir::Region *> block_order;///< in program order, for printing
    std::unordered_map<const ir::Value *, Storage> storage;
    /// A value that lives in the storage of another: a new loop state in that of the old one.
    std::unordered_map<const ir::Value *, const ir::Value *> shares;
    /// Of a GPU: values with storage that no thread but the one that computes them reads, where all that it has
    /// of them is in registers. Nothing is written to memory.
    std::unordered_set<const ir::Value *> in_registers;
    /// Of a GPU: loops that only update memory in an order that nothing shows. Threads take iterations of their own.
    std::unordered_set<const ir::Operation *> dealt_loops;
    std::vector<PrivateBins> private_bins;
    std::vector<std::string> notes;
    std::shared_ptr<Choices> choices;///< who decides instead of the planner; null: nobody
    bool records = false;            ///< whether `alternatives` are wanted
    std::vector<Alternative> alternatives;
    std::shared_ptr<ir::Module> temporaries;///< owns values that stand for planned copies

    /// The value whose storage `value` uses, or null when it has none.
    [[nodiscard]] const ir::Value *home(const ir::Value *value) const;
};

struct PlanOptions {
    bool may_alias = false;
    bool team = false;
    bool record = false;///< what was not chosen is recorded, for explanations
    std::string choices;///< as `make_choices` reads it; of a CPU's plans alone
    const target::CudaFacts *gpu =
        nullptr;///< with `team`: what the threads run on; it outlives the plan
};

/// Decides how a verified Candidate kernel runs on a CPU. Throws UnsupportedError naming the
/// operation and its line for what the CPU back end does not realize.
[[nodiscard]] Plan make_plan(const ir::Module &module, const target::CpuFacts &facts,
                             const PlanOptions &options = {});

/// Adds groups that bring into shared memory what others would read across the lines of a view.
void read_along_lines(Plan &plan);
/// Lets several blocks share the instances of a `parallel` that has too few of them for all multiprocessors.
void split_instances(Plan &plan);
/// Decides how the threads of blocks share the work of the plan's groups.
void deal_out(Plan &plan);
/// Decides which views get sums from shared memory.
void keep_bins(Plan &plan);
/// Decides which values stay in registers between groups that were dealt out alike.
void keep_in_registers(Plan &plan);

/// The plan as text: bindings, groups, contractions, storage, notes.
[[nodiscard]] std::string print(const Plan &plan);

}// namespace luisa::tile::plan
