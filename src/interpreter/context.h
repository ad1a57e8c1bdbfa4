// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "interpreter/domain.h"
#include "interpreter/interpreter.h"
#include "interpreter/program.h"

#include <unordered_map>

namespace luisa::tile::interpreter {

/// A kernel parameter that is a view, as this launch gave it.
struct View {
    std::byte *data = nullptr;
    Numbers extents, strides;///< strides in elements
};

/// One running `parallel`, followed in validation mode only.
struct Frame {
    const ir::Operation *op = nullptr;
    Domain domain;
    int64_t instance = 0;
    struct Writer {
        int64_t instance;
        bool atomic;///< by atomic updates only
    };
    std::unordered_map<const std::byte *, Writer> writers;///< by element: who wrote it last
};

/// Everything that changes while a kernel runs.
struct Context {
    const Options &options;
    const ir::Function &kernel;
    std::vector<TileRef> slots;
    std::vector<View> views;///< by kernel parameter
    std::vector<Frame> frames;
    int64_t while_iterations = 0;
    std::array<Tile, 3> scratch;///< operands spread over the result's elements

    [[nodiscard]] const Tile &tile(Slot slot) const { return *slots[slot]; }
    /// A tile for a result: `count` elements, all defined, contents to be written.
    Tile &output(Slot slot, int64_t count);
    /// An i64 operand that decides what happens (coordinate, extent, condition): undefined is a
    /// BoundsError that says `use`.
    [[nodiscard]] int64_t integer(const Step &step, size_t operand, const char *use) const;
    [[nodiscard]] std::string parameter_name(const ir::Value *view) const;
};

void run_steps(Context &context, std::span<const Step> steps);
inline void run_block(Context &context, const Block &block) { run_steps(context, block.steps); }

/// Throws a BoundsError: an undefined element is used as `use` by `op`.
[[noreturn]] void undefined_use(const ir::Operation *op, const std::string &use,
                                const ir::Operation *load);
/// Throws a RaceError: two instances of a `parallel` write `element`.
[[noreturn]] void race(const ir::Operation *parallel, const Domain &domain, int64_t first,
                       int64_t second, const ir::Operation *write, const std::string &element);

// Handlers
void run_constant(Context &context, const Step &step);
void run_iota(Context &context, const Step &step);
void run_broadcast(Context &context, const Step &step);
void run_retype(Context &context, const Step &step);
void run_extract(Context &context, const Step &step);
void run_insert(Context &context, const Step &step);
void run_memory_alloc(Context &context, const Step &step);
void run_map(Context &context, const Step &step);
void run_reduce_expression(Context &context, const Step &step);
void run_scan(Context &context, const Step &step);
void run_mma(Context &context, const Step &step);
void run_extent(Context &context, const Step &step);
void run_load(Context &context, const Step &step);
void run_store(Context &context, const Step &step);
void run_atomic(Context &context, const Step &step);
void run_assert(Context &context, const Step &step);
void run_print(Context &context, const Step &step);
void run_serial(Context &context, const Step &step);
void run_parallel(Context &context, const Step &step);
void run_reduce(Context &context, const Step &step);
void run_if(Context &context, const Step &step);
void run_while(Context &context, const Step &step);
void run_elementwise(Context &context, const Step &step);

/// Writes operand 1 of an `insert` into `x`, a tile like operand 0, at the current values of the
/// coordinate operands. Elements written are appended to `written` unless it is null.
void insert_into(Context &context, const Step &step, Tile &x, Numbers *written);

/// `extract` and `insert` of a part that is a box.
void extract_box(Context &context, const Step &step);
void insert_box(Context &context, const Step &step, Tile &x, Numbers *written);

/// The elements of `step`'s operand spread over the box that it walks; may use `scratch`.
[[nodiscard]] const Tile &spread(Context &context, const Step &step, size_t operand, Tile &scratch);

/// A binary `op` on two tiles of one type, for the operations that reductions merge with.
void merge_elements(ir::Opcode op, ScalarType type, const Tile &left, const Tile &right, Tile &out);

}// namespace luisa::tile::interpreter
