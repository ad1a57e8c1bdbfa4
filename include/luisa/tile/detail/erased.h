// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/dim.h>
#include <luisa/tile/error.h>
#include <luisa/tile/policy.h>
#include <luisa/tile/scalar_type.h>

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

// The type-erased core that the typed surface calls. Nothing here is meant for users; it is out of
// line so that a kernel's translation unit stays small and one builder serves all libraries.

namespace luisa::tile::ir {
class Value;
}

namespace luisa::tile::core {

struct Variable;
struct NestRegion;
struct ViewInfo;
using ViewHandle = std::shared_ptr<const ViewInfo>;///< views may outlive their capture
using Value = ir::Value;

/// A host number of any type, exact.
struct Literal {
    enum class Kind : uint8_t { SIGNED, UNSIGNED, REAL } kind = Kind::SIGNED;
    int64_t i = 0;
    uint64_t u = 0;
    double d = 0;
};

Value *constant(ScalarType type, Literal literal, SourceLoc loc);
Value *constant_bits(ScalarType type, uint64_t bits, SourceLoc loc);
/// `op` is the operation's name in TileIR.
Value *elementwise(const char *op, std::initializer_list<Value *> operands, SourceLoc loc);
Value *cast(Value *x, ScalarType to, SourceLoc loc);
Value *bitcast(Value *x, ScalarType to, SourceLoc loc);
Value *quantize(Value *x, ScalarType to, bool saturate, SourceLoc loc);
/// Checks that a value is a single element (dropping positional dimensions of extent one).
Value *require_scalar(Value *x, const char *what, SourceLoc loc);

struct DimExtentInfo {
    Dim dim;
    int64_t extent;
};
std::vector<DimExtentInfo> dims_of(Value *x);

/// The number of the capture on this thread; 0 without one.
uint64_t capture_number() noexcept;
/// Checks that an index value was made in the capture on this thread.
void require_capture(uint64_t number, SourceLoc made, SourceLoc loc);

// Staged variables.
Variable *declare(Value *initial, SourceLoc loc);///< null: declared without a value
Variable *snapshot(const Variable *source, SourceLoc loc);
Variable *transfer(Variable *source, SourceLoc loc) noexcept;
void assign(Variable *to, Value *value, SourceLoc loc);
void assign_from(Variable *to, Variable *from);
void destroy(Variable *variable) noexcept;
/// Notes where the C++ object of a variable is: a struct of states is found by the places of its fields.
void place(Variable *variable, const void *object) noexcept;
Value *read(const Variable *variable, SourceLoc loc);

}// namespace luisa::tile::core
