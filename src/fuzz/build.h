// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "fuzz/coverage.h"
#include "fuzz/generator.h"

#include <functional>

// The state of the generator while it writes one program; used by generate_*.cpp only.

namespace luisa::tile::fuzz {

using ir::Opcode;
using ir::Value;

/// A view parameter.
struct ViewFact {
    Value *value = nullptr;
    std::vector<int64_t> extents;///< as launched
    Fact fact;                   ///< of its elements
    size_t input = 0;            ///< its number among the parameters
    bool read_only = false;
    int twin = -1;///< a view with the same elements at the same coordinates
};

/// The part of a writable view that the current instance alone touches.
struct Owned {
    struct Axis {
        Value *origin = nullptr;///< null: 0
        int64_t length = 0;     ///< elements from there on
        bool shared = true;     ///< the whole axis belongs to this instance: nothing splits it
    };
    size_t view = 0;
    std::vector<Axis> axes;
    bool whole = false;///< overlaps another view: not where a nest splits it
};

/// The iterations of a nest.
struct Domain {
    ir::NestPayload payload;
    std::vector<Value *> operands;
    std::vector<int64_t> extents;///< of a shape; of a range: the number of iterations
    int64_t begin = 0, end = 0, step = 1;
    int64_t count = 1;
};

/// An index of an enclosing nest, and the least extent that holds it; -1: it is no coordinate.
struct Loop {
    Value *index = nullptr;
    int64_t extent = 0;
    bool parallel = false;
};

/// An operation that a program should have, where and on what.
struct Goal {
    Opcode op = Opcode::ADD;
    size_t region = 0;///< as coverage numbers them
    ScalarType type = ScalarType::FLOAT32;
    int left = 2;
};

struct Program {
    Random random;
    ir::Module &module;
    ir::Builder builder;
    std::vector<Input> inputs;
    std::vector<ViewFact> views;
    std::vector<ir::DimExtent> dims;///< the axes that tiles are made of
    std::vector<ScalarType> palette;///< element types that this program prefers
    std::unordered_map<const Value *, Fact> facts;
    std::vector<Value *> pool;///< tiles and scalars in scope
    std::vector<Owned> owned; ///< what may be stored to here
    std::vector<Loop> loops;  ///< enclosing, outermost first
    int depth = 0;            ///< of regions
    bool pure = false;        ///< no stores here (inside `reduce`)
    int64_t trips = 1;        ///< how often this place runs
    int64_t work = 0;         ///< element operations so far

    std::unordered_map<int64_t, Dim> lengths;///< dimensions of results, by extent
    std::vector<Goal> goals;
    const ScalarType *wanted_type = nullptr;///< what `any_type` gives
    std::vector<Feature> features;          ///< that the module does not show

    Program(Random r, ir::Module &m) : random{r}, module{m}, builder{m} {}

    static constexpr int64_t most_work = 60000;
    static constexpr int64_t most_elements = 1024;

    // Values (generate_values.cpp)
    Value *add(Value *v, Fact fact, int64_t cost = 0);///< joins the pool
    [[nodiscard]] Fact fact(const Value *v) const { return facts.at(v); }
    ScalarType any_type();
    ir::DimExtent any_dim(bool nonempty = false);
    /// Up to `most` different dims.
    std::vector<ir::DimExtent> some_dims(size_t least, size_t most);
    bool affordable(int64_t elements) const;
    /// One of the pool that `fits`, or null.
    Value *find(const std::function<bool(const Value *)> &fits);
    Value *scalar_constant(ScalarType type);
    Value *index_constant(int64_t n);
    Value *constant(const ir::Type *type);
    Value *tile_of(ScalarType type);      ///< from the pool or new; may be a scalar
    Value *value_of(const ir::Type *type);///< of exactly this type
    Value *scalar_of(ScalarType type);
    /// A coordinate for `extent`: mostly inside [-2, extent + 2).
    Value *coordinate(int64_t extent);
    /// A coordinate that is inside [0, extent - length] whenever this place runs, or null.
    Value *safe_coordinate(int64_t extent, int64_t length);
    Fact elementwise_fact(Opcode op, const std::vector<Value *> &x, ScalarType result) const;
    Value *arithmetic(Opcode op, const std::vector<Value *> &x, ir::Payload payload = ir::None{},
                      const ScalarType *element = nullptr);
    bool make_elementwise(bool scalars_only, const Opcode *wanted = nullptr);
    Value *free_operand(Opcode op, bool scalars_only, ScalarType &to);

    // Shapes (generate_shapes.cpp)
    bool make_iota();
    bool make_broadcast();
    bool make_retype();
    bool make_extract();
    bool make_insert();
    bool make_per();
    bool make_memory();
    std::string random_layout(const ir::Type &type);
    bool fill_memory(Value *object);
    /// Sometimes gives an access at `payload.dims` a box, whose dimensions `rest` lacks.
    void choose_box(const ir::Type &type, ir::AccessPayload &payload,
                    std::vector<ir::DimExtent> &rest);
    bool make_reduction();
    bool make_mma();
    bool make_map();

    // Prefixes (generate_prefixes.cpp)
    bool make_scan();
    /// Whether `part` has this type and spreads over `dims`.
    static bool fits(const Value *part, ScalarType type, const std::vector<ir::DimExtent> &dims);
    /// One that does, from the pool or new.
    Value *part_over(ScalarType type, const std::vector<ir::DimExtent> &dims);

    /// mma of two new or known tiles on `acc`; null if none fits. `trips` such products are added.
    Value *product(Value *acc, Fact acc_fact, int64_t times, Fact &result);
    std::vector<Value *> coordinates_in(const ir::Type &type, std::vector<Dim> &dims,
                                        std::vector<ir::DimExtent> &rest, bool all);

    // Memory (generate_memory.cpp)
    void make_parameters();
    /// The parameters of an earlier kernel, views of which may now be read only.
    void take_parameters(const Program &earlier);
    /// Lets stores to all of a view, which comes next; `whole`: see Owned.
    void own(const ViewFact &view, bool whole);
    /// Another view of a writable one: the same, shifted, or with its axes exchanged.
    void make_alias();
    /// One of those that may be stored to here; null if there is none.
    const Owned *writable_part();
    /// A new dense view, filled with a byte.
    Value *new_view(ScalarType scalar, const std::vector<int64_t> &extents, uint8_t byte);
    /// `view` itself, or now and then its twin.
    Value *handle_of(size_t view, bool writes);
    bool make_extent();
    bool make_load();
    void read_outside(bool fallback, const ViewFact &view, std::vector<Value *> &operands,
                      ir::LoadPayload &payload, Fact &f);
    bool make_store();
    /// A coordinate such that `length` elements from it stay in the part; null if they cannot.
    Value *own_coordinate(const Owned::Axis &axis, int64_t length);

    // Mapped views (generate_mapped.cpp)
    bool make_mapped_load();
    bool make_mapped_store();
    /// An index for each element over `box`; `body` gets the coordinates.
    Value *map_of(const std::vector<ir::DimExtent> &box,
                  const std::function<Value *(const std::vector<Value *> &)> &body);
    /// View coordinates for the elements over `box`, mostly affine.
    Value *coordinate_tile(const std::vector<ir::DimExtent> &box, int64_t extent);
    /// Coordinates along one axis of places that differ; `digits`: the axis of each dimension.
    Value *place_of(const std::vector<ir::DimExtent> &box,
                    const std::vector<std::vector<size_t>> &digits, size_t axis, int64_t extent);

    // Contracts (generate_contracts.cpp)
    bool make_contract();

    // Compositions of the front end (generate_composed.cpp)
    bool make_composed();
    bool make_ordering();
    bool make_segments();
    bool make_histogram();
    bool make_exchange();
    bool make_packed();
    /// With other dimensions where the program has none of such an extent; null when two become one.
    Value *with_known_dims(Value *x);
    bool add_composed(Value *v, int64_t cost);

    // Effects (generate_effects.cpp)
    bool make_atomic();
    /// Adds to, or takes the extremes with, elements of a new view that all iterations share.
    bool make_shared_atomic();
    bool make_assert();
    bool make_print();

    // Nests (generate_nests.cpp)
    Domain make_domain();
    bool make_parallel();
    /// A root nest whose instances can run as tasks, for nothing outside of it is a tile.
    void make_tasks();
    std::string random_order(const std::vector<int64_t> &extents);
    bool make_serial();
    bool make_reduce();
    void enter(const Domain &domain, ir::Operation *nest);///< index arguments and their facts
    void split_owned(const Domain &domain, const std::vector<Value *> &indices);
    Value *insert_at(Value *state, const std::vector<Value *> &at, const std::vector<Dim> &where);
    Value *insert_chain(Value *state, const Domain &domain, const std::vector<Value *> &indices);
    std::vector<Value *> make_serial_body(const Domain &domain, const std::vector<Value *> &states,
                                          const std::vector<Value *> &arguments,
                                          const std::vector<bool> &accumulates, size_t stages,
                                          std::vector<Fact> &results);
    std::vector<Value *> make_parallel_body(ir::Operation *nest, const Domain &domain,
                                            const std::vector<Value *> &states,
                                            const std::vector<Value *> &arguments,
                                            const std::vector<Value *> &indices);
    Value *accumulated(Value *state, const Fact &initial, int64_t times, bool tree, Fact &result);

    // Control (generate_control.cpp)
    bool make_if();
    bool make_while();
    /// An operation that this program is to have here, if there is one.
    void make_goals();
    void choose_goals();
    /// Those of the kernel itself, and a region for each of the others.
    void open_goals();
    /// A nest's body inside a branch: `body` gives what it yields where the condition holds.
    std::vector<Value *> make_condition(const std::vector<Value *> &arguments,
                                        const std::function<std::vector<Value *>()> &body);
    void make_operation();
    void make_operations(size_t count);
    /// Stores a value that nothing uses yet to a new view, one part for each enclosing iteration.
    void make_sink();
};

/// Restores what belongs to a region when it ends.
class Scope {
public:
    explicit Scope(Program &p, ir::Region *body)
        : _p{p}, _region{p.builder.region()}, _pool{p.pool.size()}, _loops{p.loops.size()},
          _owned{p.owned}, _trips{p.trips}, _pure{p.pure} {
        ++p.depth;
        p.builder.set_region(body);
    }
    ~Scope() {
        --_p.depth;
        _p.builder.set_region(_region);
        _p.pool.resize(_pool);
        _p.loops.resize(_loops);
        _p.owned = std::move(_owned);
        _p.trips = _trips;
        _p.pure = _pure;
    }
    Scope(const Scope &) = delete;
    Scope &operator=(const Scope &) = delete;

private:
    Program &_p;
    ir::Region *_region;
    size_t _pool, _loops;
    std::vector<Owned> _owned;
    int64_t _trips;
    bool _pure;
};

}// namespace luisa::tile::fuzz
