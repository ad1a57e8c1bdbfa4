// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <string_view>

#include <luisa/tile/scalar_type.h>

#include "math/program.h"

namespace luisa::tile::math {

/// The functions of the strict tier. Square root, division and fma are machine operations and not
/// listed.
enum class Function : uint8_t {
    EXP,
    EXP2,
    EXPM1,
    LOG,
    LOG2,
    LOG10,
    LOG1P,
    SIN,
    COS,
    TAN,
    TANH,
    ERF,
    ERFC,
    RSQRT,
    POW,
    SIGMOID,
    SILU,
    GELU,
    GELU_TANH,
    SOFTPLUS,
    CBRT,
};
inline constexpr size_t function_count = 21;

/// One row of the function table.
struct FunctionInfo {
    const char *name;///< as in TileIR: "exp", "gelu_tanh"
    int arity;
    double bound_ulp;///< FLOAT32: largest error found over all 2^32 inputs, rounded up (pow: over
                     ///< the sample)
    double bound_ulp_f64;///< FLOAT64: bound over samples
    uint32_t worst_input;///< bits of an f32 input that has the largest error (pow: of x)
    const char *special; ///< special values, for the reader
};

[[nodiscard]] const FunctionInfo &info(Function function) noexcept;
[[nodiscard]] inline const char *to_string(Function f) noexcept { return info(f).name; }
/// The function called `name` in TileIR. Returns false if there is none.
[[nodiscard]] bool parse_function(std::string_view name, Function &out) noexcept;

/// Whether `program(function, type)` exists: for FLOAT32 and FLOAT64. Narrower floats are computed by
/// the caller: widen to f32, evaluate, round once. Other types: false.
[[nodiscard]] bool supports(Function function, ScalarType type) noexcept;

/// The expansion of `function` for FLOAT32 or FLOAT64 arguments. Built once, then shared; safe from
/// all threads. The reference stays valid for the life of the process. Not supported: an internal
/// error.
[[nodiscard]] const Program &program(Function function, ScalarType type);

/// A cheaper expansion with the same bits wherever every |argument| <= `fast_limit(function,
/// type)`, for targets that can branch on "all lanes are small" (sin, cos, tan: no table look-up).
/// Others: `program` itself, limit +inf.
[[nodiscard]] const Program &fast_program(Function function, ScalarType type);
[[nodiscard]] double fast_limit(Function function, ScalarType type) noexcept;

/// One value, with the bits of `run(program(function, FLOAT32), ...)`, by compiled code.
[[nodiscard]] float evaluate(Function function, const float *arguments);
/// The same for FLOAT64. Not supported: an internal error.
[[nodiscard]] double evaluate(Function function, const double *arguments);

}// namespace luisa::tile::math
