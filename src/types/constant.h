// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/error.h>
#include <luisa/tile/scalar_type.h>

#include <cstdint>
#include <string>
#include <string_view>

// Scalars as text, and the check that a host literal suits the type that it takes.

namespace luisa::tile {

/// The text of a constant, from which `parse_constant` gets the same bits back: "true", "-7",
/// "1.0", "1e+20", "-0.0", "inf", "nan". Floats print the shortest decimal that is enough for their
/// type; a NaN other than the format's own prints as its code, "0x7fc00001".
[[nodiscard]] std::string print_constant(ScalarType type, uint64_t bits);

/// Reads what `print_constant` writes, and any other decimal that fits the type: integers exactly,
/// floats rounded (the 16- and 8-bit ones from the nearest double, as a C++ literal would be). A
/// hexadecimal number is the code of a float. Returns false, and leaves `bits` alone, for anything
/// else, a finite decimal that would become infinite included.
[[nodiscard]] bool parse_constant(std::string_view text, ScalarType type, uint64_t &bits);

/// Whether a host value may stand as a literal of the type. An integer type (and bool, with 0
/// and 1) must hold it exactly; a float type rounds, but finite must stay finite, and an infinity
/// must exist in the format.
[[nodiscard]] bool fits(ScalarType type, double x);
[[nodiscard]] bool fits(ScalarType type, int64_t x);
[[nodiscard]] bool fits(ScalarType type, uint64_t x);

/// The bits of a literal. Throws a ValueError that names the type's range, or its largest finite
/// value, for one that does not fit.
[[nodiscard]] uint64_t encode_literal(ScalarType type, double x, SourceLoc loc = {});
[[nodiscard]] uint64_t encode_literal(ScalarType type, int64_t x, SourceLoc loc = {});
[[nodiscard]] uint64_t encode_literal(ScalarType type, uint64_t x, SourceLoc loc = {});

}// namespace luisa::tile
