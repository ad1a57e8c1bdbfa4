// SPDX-License-Identifier: Apache-2.0
#include "types/constant.h"

#include "types/arith.h"
#include "types/convert.h"
#include "types/format.h"

#include <array>
#include <bit>
#include <charconv>
#include <system_error>

namespace luisa::tile {

namespace {

template<typename T, typename... Options> std::string to_text(T x, Options... options) {
    std::array<char, 64> buffer;
    auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), x, options...).ptr;
    return {buffer.data(), end};
}

template<typename T> bool from_text(std::string_view text, T &x, int base = 10) {
    auto end = text.data() + text.size();
    auto result = std::from_chars(text.data(), end, x, base);
    return result.ec == std::errc{} && result.ptr == end;
}

template<typename T> bool from_decimal(std::string_view text, T &x) {
    auto end = text.data() + text.size();
    auto result = std::from_chars(text.data(), end, x);
    return result.ec == std::errc{} && result.ptr == end;
}

// Quantising never saturates here: a literal out of range must be seen.
uint64_t round_to(ScalarType type, double x) {
    return encode(float_format(type),
                  decode(float_format(ScalarType::FLOAT64), std::bit_cast<uint64_t>(x)));
}

uint64_t round_to(ScalarType type, int64_t x) {
    auto magnitude = x < 0 ? 0 - static_cast<uint64_t>(x) : static_cast<uint64_t>(x);
    return encode(float_format(type), {ExactFloat::Kind::FINITE, x < 0, magnitude, 0});
}

uint64_t round_to(ScalarType type, uint64_t x) {
    return encode(float_format(type), {ExactFloat::Kind::FINITE, false, x, 0});
}

bool is_finite(ScalarType type, uint64_t bits) {
    return decode(float_format(type), bits).kind == ExactFloat::Kind::FINITE;
}

bool is_finite(double x) { return is_finite(ScalarType::FLOAT64, std::bit_cast<uint64_t>(x)); }

// An integral decimal gets ".0", so that a float never reads like an integer.
std::string with_point(std::string text) {
    return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

bool parse_decimal(std::string_view text, ScalarType type, uint64_t &bits) {
    uint64_t code = 0;
    if (type == ScalarType::FLOAT32) {// from the decimal itself: through double would round twice
        float x = 0;
        if (!from_decimal(text, x)) {
            return false;
        }
        code = std::bit_cast<uint32_t>(x);
    } else {
        double x = 0;
        if (!from_decimal(text, x)) {
            return false;
        }
        code = round_to(type, x);
    }
    if (!is_finite(type, code)) {
        return false;
    }
    bits = code;
    return true;
}

// Shortest for float and double.
std::string plain_decimal(ScalarType type, uint64_t bits) {
    auto x = arith::to_double(type, bits);
    return with_point(type == ScalarType::FLOAT64 ? to_text(x) : to_text(static_cast<float>(x)));
}

// The narrow formats need fewer digits than the float they equal: 0.1, not 0.099975586. An exponent
// is not worth a digit, though: 448.0, not 4.5e+02.
std::string shortest_decimal(ScalarType type, uint64_t bits) {
    auto plain = plain_decimal(type, bits);
    if (info(type).bits > 16) {
        return plain;
    }
    auto x = arith::to_double(type, bits);
    for (auto digits = 1; digits < 9; digits++) {
        auto text = with_point(to_text(x, std::chars_format::general, digits));
        auto new_exponent = text.find('e') != text.npos && plain.find('e') == plain.npos;
        uint64_t back = 0;
        if (!new_exponent && parse_decimal(text, type, back) && back == bits) {
            return text.size() < plain.size() ? text : plain;
        }
    }
    return plain;
}

std::string print_float(ScalarType type, uint64_t bits) {
    auto &format = float_format(type);
    auto x = decode(format, bits);
    switch (x.kind) {
        case ExactFloat::Kind::FINITE: return shortest_decimal(type, bits);
        case ExactFloat::Kind::INFINITE: return x.negative ? "-inf" : "inf";
        case ExactFloat::Kind::NOT_A_NUMBER: break;
    }
    return bits == format.nan ? "nan" : "0x" + to_text(bits, 16);
}

bool parse_float(std::string_view text, ScalarType type, uint64_t &bits) {
    auto &format = float_format(type);
    if (text == "nan") {
        bits = format.nan;
        return true;
    }
    auto negative = text.starts_with('-');
    auto magnitude = text.substr(negative ? 1 : 0);
    if (magnitude == "inf" && format.has_infinity) {
        bits = (negative ? format.sign_mask() : 0) | format.largest_number();
        return true;
    }
    if (text.starts_with("0x")) {
        uint64_t code = 0;
        if (!from_text(text.substr(2), code, 16) || arith::normalize(type, code) != code) {
            return false;
        }
        bits = code;
        return true;
    }
    // Keeps out the library's own spellings of infinity and NaN, and ".5".
    if (magnitude.empty() || magnitude.front() < '0' || magnitude.front() > '9') {
        return false;
    }
    return parse_decimal(text, type, bits);
}

bool parse_integer(std::string_view text, ScalarType type, uint64_t &bits) {
    if (is_signed(type)) {
        int64_t x = 0;
        if (!from_text(text, x) || !fits(type, x)) {
            return false;
        }
        bits = arith::normalize(type, static_cast<uint64_t>(x));
        return true;
    }
    uint64_t x = 0;
    if (!from_text(text, x) || !fits(type, x)) {
        return false;
    }
    bits = x;
    return true;
}

std::string range_of(ScalarType type) {
    auto lowest = arith::lowest(type);
    auto highest = arith::highest(type);
    auto text = [type](uint64_t x) {
        return is_signed(type) ? to_text(arith::to_int64(type, x)) : to_text(x);
    };
    return "[" + text(lowest) + ", " + text(highest) + "]";
}

template<typename T> std::string host_text(T x) { return to_text(x); }
template<> std::string host_text(double x) {
    return print_constant(ScalarType::FLOAT64, std::bit_cast<uint64_t>(x));
}

[[noreturn]] void literal_error(ScalarType type, const std::string &value, bool infinite,
                                bool fraction, SourceLoc loc) {
    auto name = std::string{to_string(type)};
    if (!is_float(type)) {
        auto reason = fraction ? " is not an integer, but the literal takes the type "
                               : " does not fit the type ";
        throw ValueError{"literal " + value + reason + name + ", which holds " + range_of(type) +
                             "; use a literal in that range, or cast the other operand to a type "
                             "that holds it",
                         loc};
    }
    auto largest = plain_decimal(type, float_format(type).largest_finite);
    if (infinite) {
        auto limit = (value.starts_with('-') ? "-" : "") + largest;
        throw ValueError{"literal " + value + ": " + name +
                             " has no infinity; its largest finite value is " + largest + "; use " +
                             limit + " or NaN",
                         loc};
    }
    throw ValueError{"literal " + value + " is too large for " + name +
                         ", whose largest finite value is " + largest +
                         "; write a smaller literal" +
                         (float_format(type).has_infinity ? ", or infinity if that is meant" : ""),
                     loc};
}

template<typename T> bool fits_float(ScalarType type, T x) {
    return is_finite(type, round_to(type, x));
}

}// namespace

std::string print_constant(ScalarType type, uint64_t bits) {
    bits = arith::normalize(type, bits);
    if (type == ScalarType::BOOL) {
        return bits != 0 ? "true" : "false";
    }
    if (is_float(type)) {
        return print_float(type, bits);
    }
    return is_signed(type) ? to_text(arith::to_int64(type, bits)) : to_text(bits);
}

bool parse_constant(std::string_view text, ScalarType type, uint64_t &bits) {
    if (type == ScalarType::BOOL) {
        if (text != "true" && text != "false") {
            return false;
        }
        bits = text == "true" ? 1 : 0;
        return true;
    }
    return is_float(type) ? parse_float(text, type, bits) : parse_integer(text, type, bits);
}

bool fits(ScalarType type, double x) {
    if (is_float(type)) {
        auto code = round_to(type, x);
        return is_finite(x) ? is_finite(type, code) : x != x || float_format(type).has_infinity;
    }
    if (!is_finite(x)) {
        return false;
    }
    // Saturation and truncation both change the value, so a round trip finds them. The compare is
    // with doubles of magnitude 0 or >= 1, except for a fraction, which must be refused anyway.
    if (x >= 0x1p63) {
        return x < 0x1p64 && fits(type, static_cast<uint64_t>(x));
    }
    return x >= -0x1p63 && static_cast<double>(static_cast<int64_t>(x)) == x &&
           fits(type, static_cast<int64_t>(x));
}

bool fits(ScalarType type, int64_t x) {
    if (is_float(type)) {
        return fits_float(type, x);
    }
    if (x < 0) {
        return is_signed(type) && x >= arith::to_int64(type, arith::lowest(type));
    }
    return fits(type, static_cast<uint64_t>(x));
}

bool fits(ScalarType type, uint64_t x) {
    return is_float(type) ? fits_float(type, x) : x <= arith::highest(type);
}

uint64_t encode_literal(ScalarType type, double x, SourceLoc loc) {
    if (!fits(type, x)) {
        auto infinite = !is_finite(x);
        auto integral = infinite || x >= 0x1p63 || x <= -0x1p63 ||
                        static_cast<double>(static_cast<int64_t>(x)) == x;
        literal_error(type, host_text(x), infinite, !integral, loc);
    }
    return is_float(type) ? round_to(type, x) : arith::from_double(type, x);
}

uint64_t encode_literal(ScalarType type, int64_t x, SourceLoc loc) {
    if (!fits(type, x)) {
        literal_error(type, host_text(x), false, false, loc);
    }
    return is_float(type) ? round_to(type, x) : arith::from_int64(type, x);
}

uint64_t encode_literal(ScalarType type, uint64_t x, SourceLoc loc) {
    if (!fits(type, x)) {
        literal_error(type, host_text(x), false, false, loc);
    }
    return is_float(type) ? round_to(type, x) : arith::from_uint64(type, x);
}

}// namespace luisa::tile
