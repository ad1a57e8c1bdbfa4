// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/atomic.h>
#include <luisa/tile/dim.h>
#include <luisa/tile/policy.h>
#include <luisa/tile/scalar_type.h>

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

// What an operation carries beside operands, results and regions: one small struct a kind, each
// with only its own fields. Which operation carries which is said in ops.def.

namespace luisa::tile::ir {

struct None {
    friend bool operator==(None, None) = default;
};

struct DimExtent {
    Dim dim;
    int64_t extent = 0;
    friend bool operator==(const DimExtent &, const DimExtent &) = default;
};

/// How a `parallel` updates one value of an enclosing scope.
enum class AncestorUpdate : uint8_t {
    COLLECTIVE,///< independent of the child's coordinates: done once
    INSERT,    ///< each instance writes its own part
};

/// How a law of a reduction is known.
enum class Provenance : uint8_t {
    NONE,    ///< it is not known to hold
    BUILTIN, ///< a fact of a built-in operation or of the library
    DERIVED, ///< follows from other laws
    DECLARED,///< the author of a contract says so
};

/// What is known of the merge of a reduction. `update`: one update is the merge with one contribution.
struct ReductionLaws {
    Provenance associative = Provenance::NONE, identity = Provenance::NONE,
               update = Provenance::NONE, commutative = Provenance::NONE;
    friend bool operator==(const ReductionLaws &, const ReductionLaws &) = default;
};

/// Domain and policies of a nest. Operands are [extents… | begin, end, step][initial states…];
/// region arguments are [indices…][states…]; results and yields are the states.
struct NestPayload {
    bool is_range = false;
    std::vector<Dim> dims;///< one a domain axis of a shape; empty for a range (one index)
    ExecLevel exec = ExecLevel::INFER;
    std::string layout;///< of `parallel`: the index map, as text, that orders its instances
    PipelinePolicy pipeline;
    ReductionPolicy policy = ReductionPolicy::UNORDERED_TREE;///< of `reduce` only
    std::vector<AncestorUpdate> updates;                     ///< of `parallel`, one a state
    /// Of a `reduce` with a contract: its states, one group of as many as the contract's has after another. The
    /// second region gives the identity of one group, the third merges two groups, elements each.
    std::vector<int32_t> contract;
    ReductionLaws laws;///< of the contract
    friend bool operator==(const NestPayload &, const NestPayload &) = default;
};

/// A label: of a stage.
struct NamePayload {
    std::string name;
    friend bool operator==(const NamePayload &, const NamePayload &) = default;
};

/// The bits of a scalar; a tile-typed constant holds it in every element.
struct ConstantPayload {
    uint64_t bits = 0;
    friend bool operator==(const ConstantPayload &, const ConstantPayload &) = default;
};

struct MathPayload {
    MathTier tier = MathTier::STRICT;
    friend bool operator==(const MathPayload &, const MathPayload &) = default;
};

struct QuantizePayload {
    bool saturate = true;
    friend bool operator==(const QuantizePayload &, const QuantizePayload &) = default;
};

/// `extract x, coords…[, fallback]` and `insert x, v, coords…`: `dims[i]` is the dimension of x that
/// coordinate i addresses. Outside, extract gives the fallback or zero and insert writes nothing.
/// With a `box`, one entry a coordinate, the part keeps these dimensions, called and as long as the
/// entries say: its element q is the one at coordinate + q. Without coordinates the part is all of x.
struct AccessPayload {
    std::vector<Dim> dims;
    bool has_fallback = false;
    std::vector<DimExtent> box;
    friend bool operator==(const AccessPayload &, const AccessPayload &) = default;
};

/// `reduce.expr x[, mask]` over `dims`; contributions where the mask is false are skipped.
struct ReducePayload {
    Reducer reducer = Reducer::ADD;
    std::vector<Dim> dims;
    ReductionPolicy policy = ReductionPolicy::UNORDERED_TREE;
    NanPolicy nan = NanPolicy::PROPAGATE;
    bool has_mask = false;
    friend bool operator==(const ReducePayload &, const ReducePayload &) = default;
};

/// `scan x[, seed][, mask]` along `dim`: element i of the result is `reducer` over the active elements
/// up to i (before i when exclusive; from the last one down when reversed), the seed first and once.
/// Without a seed, of nothing it is what a reduction of nothing gives.
struct ScanPayload {
    Reducer reducer = Reducer::ADD;
    Dim dim;
    ReductionPolicy policy = ReductionPolicy::ORDERED_TREE;
    bool exclusive = false;
    bool reverse = false;
    bool has_seed = false;
    bool has_mask = false;
    friend bool operator==(const ScanPayload &, const ScanPayload &) = default;
};

/// `sorted value, keys[, places]` is `value`, which is known to be the unsigned keys in ascending order, or those of them
/// that come first. Equal keys follow their places; without places no two differ. A device that has a better way than what
/// computed the value may take it. Position p of the order is coordinate p % C of dimension `order[0]` of extent C, and
/// p / C of `order[1]` where there is one. With `first`, the result is known for that many positions, along `to`, at
/// coordinate 0 of `order[1]`.
struct SortedPayload {
    int32_t word = 0;      ///< whether the result is the keys (0) or the places (1)
    std::vector<Dim> order;///< of the keys
    std::vector<Dim> to;   ///< with `first`: the dimension of the result
    int64_t first = 0;     ///< 0: all
    friend bool operator==(const SortedPayload &, const SortedPayload &) = default;
};

struct MmaPayload {
    MmaPolicy policy;
    friend bool operator==(const MmaPayload &, const MmaPayload &) = default;
};

/// A small number: which extent, which lane, which kernel argument word.
struct IndexPayload {
    int64_t index = 0;
    friend bool operator==(const IndexPayload &, const IndexPayload &) = default;
};

/// `load view, coords…[, fallback]`. A tile result has one dimension a view dimension, in order:
/// element q comes from view coordinate coords + q. A scalar result is the element at coords.
/// When mapped, a coordinate is a tile over dimensions of the result, which may be any: element q comes
/// from view coordinate coords[q].
struct LoadPayload {
    Bounds bounds = Bounds::ZERO;
    bool has_fallback = false;
    bool mapped = false;
    friend bool operator==(const LoadPayload &, const LoadPayload &) = default;
};

/// `store view, value, coords…`. `box` has one entry a view dimension (empty: one element); the
/// value's dimensions are among the box's, missing ones and extents of one broadcast. When mapped, the
/// box has any dimensions, a coordinate is a tile over some of them, and no two elements have equal ones.
struct StorePayload {
    Bounds bounds = Bounds::ZERO;
    std::vector<DimExtent> box;
    bool mapped = false;
    friend bool operator==(const StorePayload &, const StorePayload &) = default;
};

/// `atomic view, value[, expected], coords…`: the element at coords, updated in one step; the result is the
/// value from before. Outside the view nothing is done and the result is zero. In Machine form
/// `atomic_update pointer, value[, expected]`, integers only.
struct AtomicPayload {
    AtomicOp op = AtomicOp::ADD;
    friend bool operator==(const AtomicPayload &, const AtomicPayload &) = default;
};

/// `assert condition[, first], indices…`: fails where the condition does not hold. With a box the condition
/// is about its elements, and `first` is the row-major number of the first one that fails it. The indices
/// are those of the nests around, outermost first.
struct AssertPayload {
    std::string message;
    std::vector<DimExtent> box;
    friend bool operator==(const AssertPayload &, const AssertPayload &) = default;
};

/// `print values…`: one line, with a value in the place of each `{}`.
struct PrintPayload {
    std::string format;
    friend bool operator==(const PrintPayload &, const PrintPayload &) = default;
};

/// `report values…` hands values to the runtime, which knows what entry `site` of the program's table says.
/// One that `checks` has a condition first: where it holds nothing is done, else the function ends.
struct ReportPayload {
    int64_t site = 0;
    bool checks = false;
    bool once = false;///< all threads of the block run it alike: the first hands the values over
    friend bool operator==(const ReportPayload &, const ReportPayload &) = default;
};

/// `memory.alloc`: the contents, undefined at first, of an object in memory. `layout` is the index map, as
/// text, from the elements to their places; empty: row-major.
struct AllocPayload {
    MemoryClass kind = MemoryClass::AUTO;
    std::string layout;
    friend bool operator==(const AllocPayload &, const AllocPayload &) = default;
};

/// `for begin, end, step[, states…]`: region arguments are [index, states…]. Steps are positive.
struct ForPayload {
    bool at_least_once = false;///< the trip count is known not to be zero
    friend bool operator==(const ForPayload &, const ForPayload &) = default;
};

struct ShufflePayload {
    std::vector<int32_t> lanes;///< lane i of the result is lane lanes[i] of [a, b]
    friend bool operator==(const ShufflePayload &, const ShufflePayload &) = default;
};

/// Pairwise tree over the lanes: halves are combined, then halves of that, down to one.
struct LaneReducePayload {
    Reducer reducer = Reducer::ADD;
    friend bool operator==(const LaneReducePayload &, const LaneReducePayload &) = default;
};

/// Lookup in a constant table by an index that is in range.
struct TablePayload {
    std::vector<uint32_t> entries;
    friend bool operator==(const TablePayload &, const TablePayload &) = default;
};

/// `address base, index`: base + index * scale + offset, in bytes; the index may be left out.
struct AddressPayload {
    int64_t scale = 1;
    int64_t offset = 0;
    friend bool operator==(const AddressPayload &, const AddressPayload &) = default;
};

/// Accesses of Machine form. Operands:
///   read pointer[, mask, other]          write pointer, value[, mask]
///   gather base, indices[, mask, other]  scatter base, indices, value[, mask]
/// Indices count elements. A masked-off lane touches no memory; it reads `other`.
struct MemoryPayload {
    uint32_t align = 1;///< bytes that the address is a multiple of
    bool masked = false;
    bool streaming = false;///< non-temporal
    friend bool operator==(const MemoryPayload &, const MemoryPayload &) = default;
};

/// Asking for a line before it is used. Never faults.
struct PrefetchPayload {
    uint32_t level = 2;    ///< the cache that gets the line: 1 or 2
    bool exclusive = false;///< it will be written
    friend bool operator==(const PrefetchPayload &, const PrefetchPayload &) = default;
};

/// What the two factors of products of groups hold in a 32-bit word: two bf16, or four integers of 8 bits.
enum class GroupFactors : uint8_t { BF16, S8S8, S8U8, U8S8, U8U8 };

/// `dot a, b, sum`: lanes of `a` and `b` are words with a group of narrow elements each; a lane of the
/// result is that of `sum` plus the products of the elements at equal places of its group.
struct DotPayload {
    GroupFactors factors = GroupFactors::BF16;
    friend bool operator==(const DotPayload &, const DotPayload &) = default;
};

enum class MatrixAction : uint8_t {
    CONFIGURE,///< of pointer: the shapes of all registers are as it says
    RELEASE,  ///< registers are not used any longer
    ZERO,
    LOAD,    ///< of pointer, bytes from row to row
    STORE,   ///< to pointer, bytes from row to row
    MULTIPLY,///< to += a · b, whose rows hold groups of narrow elements
};

/// What is done to the matrix registers of a core, which are state of the thread and no values.
struct MatrixPayload {
    MatrixAction action = MatrixAction::ZERO;
    int32_t to = 0;      ///< the register that is written, or that is stored
    int32_t a = 0, b = 0;///< factors
    GroupFactors factors = GroupFactors::BF16;
    friend bool operator==(const MatrixPayload &, const MatrixPayload &) = default;
};

/// Who runs a function of a GPU.
enum class ParticipantKind : uint8_t {
    THREAD,///< of the threads of a block
    BLOCK, ///< of the blocks of a launch
};

/// `participant`: the number of this thread in its block, or of this block; `participants`: how many there are.
struct ParticipantPayload {
    ParticipantKind kind = ParticipantKind::THREAD;
    friend bool operator==(const ParticipantPayload &, const ParticipantPayload &) = default;
};

/// `shared`: the address of a byte of the memory that the threads of a block share.
struct SharedPayload {
    int64_t offset = 0;///< bytes from its start, which is 128-byte aligned
    friend bool operator==(const SharedPayload &, const SharedPayload &) = default;
};

/// Which thread of a warp `exchange_lanes value, by` reads from.
enum class ExchangeMode : uint8_t {
    XOR,  ///< lane ^ by
    UP,   ///< lane - by, its own where that is negative
    DOWN, ///< lane + by, its own where there is none
    INDEX,///< by
};

/// A value of another thread of the warp: threads 32 w to 32 w + 31 of the block. All of them take part, where
/// control does not differ between them.
struct ExchangePayload {
    ExchangeMode mode = ExchangeMode::XOR;
    friend bool operator==(const ExchangePayload &, const ExchangePayload &) = default;
};

/// `copy_async to, from[, count]`: copies bytes of global memory to shared memory, at addresses that are a multiple of
/// as many; only the first `count` (i64) of them are read where it is given, the others become zero. It is done
/// when a `copy_wait` of the same thread says so. `copy_commit` makes what the thread asked for since the last one a
/// group; `copy_wait` with index n lets no more than the n youngest groups be under way.
struct CopyPayload {
    uint32_t bytes = 16;///< 4, 8 or 16
    friend bool operator==(const CopyPayload &, const CopyPayload &) = default;
};

/// `load_matrix pointer`: matrices of eight rows of 16 bytes, from shared memory to the threads of a warp. Lane
/// 8 i + r gives the address of row r of matrix i; of it, lane l gets the 4 bytes number l % 4 of row l / 4, one
/// matrix after the other. Transposed (elements of two bytes): elements 2 (l % 4) and the next of column l / 4.
struct LoadMatrixPayload {
    uint32_t count = 4;///< matrices: 1, 2 or 4
    bool transposed = false;
    friend bool operator==(const LoadMatrixPayload &, const LoadMatrixPayload &) = default;
};

/// `multiply_matrix a, b, c`: a · b + c of an m×k, a k×n and an m×n matrix, of which each thread of a warp holds a
/// part: the elements that the table of matrix atoms says.
struct MultiplyMatrixPayload {
    int32_t m = 0, n = 0, k = 0;
    friend bool operator==(const MultiplyMatrixPayload &, const MultiplyMatrixPayload &) = default;
};

/// `panel_descriptor pointer`: where matrices begin in the memory that a block shares, and how they lie there, as the
/// i64 that `multiply_panels` takes; adding n to it moves it 16 n bytes on. Elements lie in atoms of eight lines of 128
/// bytes, which begin at multiples of 1024 bytes and whose 16-byte units are permuted: unit u of line l is at place
/// u ^ l % 8. Where lines go along the steps, the next eight rows are `stride` bytes on; where they go across, the next
/// eight steps are, and the next 128 bytes of rows are `leading` bytes on.
struct PanelDescriptorPayload {
    int64_t leading = 16, stride = 1024;
    friend bool operator==(const PanelDescriptorPayload &,
                           const PanelDescriptorPayload &) = default;
};

/// `multiply_panels a, b, c`: a · b + c of a 64×k and a k×n matrix in shared memory, by descriptors, and of a 64×n
/// matrix of which each of the 128 threads of a warpgroup holds n / 2 elements. The result is under way: nothing but
/// another such operation may use it before `panels_wait` gave it back. `panels_fence` stands before the first
/// after the elements were computed, `panels_commit` makes what came since the last one a group, and `panels_wait c`
/// with index n lets no more than the n youngest groups be under way. What threads wrote to shared memory, or copied
/// there, is seen by it after `copies_visible` of the same thread and a barrier.
struct MultiplyPanelsPayload {
    ScalarType a{}, b{};///< of the elements
    int32_t n = 0, k = 0;
    bool a_across = false, b_across = false;///< lines go along the rows of a, the columns of b
    friend bool operator==(const MultiplyPanelsPayload &, const MultiplyPanelsPayload &) = default;
};

using Payload = std::variant<
    None, NestPayload, NamePayload, ConstantPayload, MathPayload, QuantizePayload, AccessPayload,
    ReducePayload, ScanPayload, SortedPayload, MmaPayload, IndexPayload, LoadPayload, StorePayload,
    ForPayload, ShufflePayload, LaneReducePayload, TablePayload, AddressPayload, MemoryPayload,
    AtomicPayload, AssertPayload, PrintPayload, ReportPayload, AllocPayload, PrefetchPayload,
    DotPayload, MatrixPayload, ParticipantPayload, SharedPayload, ExchangePayload, CopyPayload,
    LoadMatrixPayload, MultiplyMatrixPayload, PanelDescriptorPayload, MultiplyPanelsPayload>;

}// namespace luisa::tile::ir
