// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/kernel.h>

#include "ir/module.h"

#include <deque>
#include <exception>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace luisa::tile::core {

struct Variable;

/// A region that is being captured.
struct NestRegion {
    const char *kind = "kernel";
    NestRegion *parent = nullptr;
    ir::Region *region = nullptr;
    ir::Operation *owner = nullptr;///< null for the kernel and for pure bodies
    std::vector<Value *> indices;
    std::vector<Dim> dims;///< of the indices; empty for ranges
    std::vector<Variable *> touched;
    NestRegion *active = nullptr;///< the branch that a domain with conditions wraps its body in
    bool open = true;
    bool no_writes = false;///< conditions and map bodies only read outer variables
    SourceLoc loc;
};

/// What a variable is inside one region.
struct Entry {
    NestRegion *region;
    Value *forward;   ///< placeholder for the value that enters the region
    Value *definition;///< current value; null: none
    bool written = false, moved = false;
    bool bound = false;///< a state of the region whatever the body does to it
};

/// One staged C++ object; capture.md §5. Owned by its object and by the regions that it is noted in.
struct Variable {
    int references = 1;
    uint64_t capture = 0, serial = 0;
    NestRegion *scope = nullptr;
    SourceLoc declared;
    bool alive = true, is_memory = false;
    const void *object = nullptr;///< where its C++ object is, or was
    std::vector<Entry> stack;
};

struct ViewInfo {
    uint64_t capture = 0;
    Value *parameter = nullptr;
    std::vector<Index> extents;
};

/// One run of a kernel lambda.
struct Capture {
    Capture(const KernelOptions &options, SourceLoc loc);
    /// Gives up the references to variables, which may outlive it and then find their scopes closed.
    ~Capture();
    Capture(const Capture &) = delete;
    Capture &operator=(const Capture &) = delete;

    uint64_t id;
    KernelOptions options;
    SourceLoc loc;
    std::shared_ptr<ir::Module> module;
    ir::Builder builder;
    ir::Region *placeholders;///< where forwarding values are made; never part of the program
    std::unordered_map<Value *, Value *> replaced;
    std::deque<NestRegion> regions;
    std::deque<Nest> nests;
    NestRegion *current = nullptr;
    /// The variable that was placed at an address last; holds a reference.
    std::unordered_map<const void *, Variable *> objects;
    std::unordered_map<const void *, const char *> states;///< live ones: mark, type
    uint64_t next_serial = 0;
    std::exception_ptr failure;///< the first error: it poisons the capture
    struct OpenIf {
        ir::Operation *op;
        std::vector<std::pair<Variable *, Entry>> then_written;
    };
    std::vector<OpenIf> ifs;

    /// Follows replaced placeholders to the value that stands for them now.
    Value *resolve(Value *value);
};

/// The capture on this thread. Throws CaptureError without one, and the first error again once poisoned.
Capture &current(SourceLoc loc);
/// The capture on this thread, or null.
Capture *current_or_null() noexcept;
Capture *exchange_current(Capture *capture) noexcept;

/// Poisons the capture and throws.
[[noreturn]] void fail(ErrorKind kind, std::string message, SourceLoc loc,
                       std::vector<Error::Note> notes = {});

/// Runs `f`, remembering an error as the capture's first.
template<class F> auto guarded(Capture &c, const F &f) {
    try {
        return f();
    } catch (...) {
        if (!c.failure) {
            c.failure = std::current_exception();
        }
        throw;
    }
}

/// Checks that operands are defined in an open region. Index values in a Coord or Index are not variables,
/// so only their use can tell that their nest is over.
void require_visible(Capture &c, const std::vector<Value *> &operands, SourceLoc loc);

/// Records an operation in the current region.
ir::Operation *emit(Capture &c, ir::Opcode op, const std::vector<Value *> &operands,
                    const std::vector<const ir::Type *> &results, ir::Payload payload,
                    SourceLoc loc, size_t regions = 0);
Value *emit_value(Capture &c, ir::Opcode op, const std::vector<Value *> &operands,
                  const ir::Type *result, ir::Payload payload, SourceLoc loc);

NestRegion *open_region(Capture &c, const char *kind, ir::Operation *owner, ir::Region *region,
                        SourceLoc loc);
/// Closes a repeated or parallel region: written outer variables become its states.
void close_states(Capture &c, NestRegion &region, bool repeated);
/// Makes `v` a state of the current region, also if its body leaves it as it is.
void bind_in_region(Capture &c, Variable *v);
/// Closes a body that has no states.
void close_plain(Capture &c, NestRegion &region);

/// The tile's static dimensions of a shape; a runtime extent there is an error.
std::vector<ir::DimExtent> static_dims(const Shape &shape, SourceLoc loc);
/// ValueError when the product of the extents is beyond int64.
void check_count(const std::vector<ir::DimExtent> &dims, const char *what, SourceLoc loc);
/// x with exactly these dimensions in this order: positional ones of extent one may be dropped or added,
/// others only reordered. Null when that is impossible.
Value *fit_dims(Capture &c, Value *x, const std::vector<ir::DimExtent> &dims, SourceLoc loc);

NestRegion &region_of(const Nest &nest, SourceLoc loc);

}// namespace luisa::tile::core

namespace luisa::tile {
struct KernelImpl {
    std::shared_ptr<const ir::Module> module;
    std::string text;///< canonical
};
}// namespace luisa::tile
