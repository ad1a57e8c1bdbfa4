// SPDX-License-Identifier: Apache-2.0
#include "layout/expression.h"
#include "layout/node.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace luisa::tile::core {

namespace {

// Normal forms of expressions: sums of multiples of coordinates, and exclusive ors of their bits.

/// A constant in front, then a factor a coordinate.
using Sum = std::vector<int64_t>;

std::optional<Sum> scaled(const Sum &sum, int64_t by) {
    auto out = sum;
    for (auto &c : out) {
        if (__builtin_mul_overflow(c, by, &c)) {
            return std::nullopt;
        }
    }
    return out;
}

std::optional<Sum> added(const Sum &a, const Sum &b) {
    auto out = a;
    for (size_t i = 0; i < out.size(); ++i) {
        if (__builtin_add_overflow(a[i], b[i], &out[i])) {
            return std::nullopt;
        }
    }
    return out;
}

bool is_constant(const Sum &sum) {
    return std::all_of(sum.begin() + 1, sum.end(), [](int64_t c) { return c == 0; });
}

std::optional<Sum> sum_of_expr(const ExprNode &e, size_t rank) {
    Sum out(rank + 1, 0);
    if (e.kind == ExprNode::Kind::CONSTANT) {
        out[0] = e.value;
        return out;
    }
    if (e.kind == ExprNode::Kind::COORDINATE) {
        if (static_cast<size_t>(e.value) >= rank) {
            return std::nullopt;
        }
        out[static_cast<size_t>(e.value) + 1] = 1;
        return out;
    }
    std::string_view name = e.op->name;
    if (name != "add" && name != "sub" && name != "mul" && name != "shl") {
        return std::nullopt;
    }
    auto a = sum_of_expr(*e.operands[0], rank), b = sum_of_expr(*e.operands[1], rank);
    if (!a || !b) {
        return std::nullopt;
    }
    if (name == "add") {
        return added(*a, *b);
    }
    if (name == "sub") {
        auto minus = scaled(*b, -1);
        return minus ? added(*a, *minus) : std::nullopt;
    }
    if (name == "shl") {
        bool fits = is_constant(*b) && (*b)[0] >= 0 && (*b)[0] <= 62;
        return fits ? scaled(*a, int64_t{1} << (*b)[0]) : std::nullopt;
    }
    return is_constant(*b)   ? scaled(*a, (*b)[0])
           : is_constant(*a) ? scaled(*b, (*a)[0])
                             : std::nullopt;
}

std::optional<Affine> affine_of_expressions(const Expressions &map, const IndexPoint &extents) {
    auto rank = extents.size();
    Affine out{{}, IndexPoint(map.images.size(), 0)};
    for (auto extent : extents) {
        out.modes.push_back({{std::max<int64_t>(extent, 1)}, {IndexPoint(map.images.size(), 0)}});
    }
    for (size_t o = 0; o < map.images.size(); ++o) {
        auto sum = sum_of_expr(map.images[o].node(), rank);
        if (!sum) {
            return std::nullopt;
        }
        out.offset[o] = (*sum)[0];
        for (size_t c = 0; c < rank; ++c) {
            out.modes[c].stride[0][o] = (*sum)[c + 1];
        }
    }
    return out;
}

/// A number whose bits are exclusive ors of bits of the coordinates; never negative.
struct Bits {
    std::vector<uint64_t> columns;
    uint64_t offset = 0;
    [[nodiscard]] uint64_t possible() const {
        return std::accumulate(columns.begin(), columns.end(), offset, std::bit_or<>{});
    }
    template<class F> std::optional<Bits> each(const F &f) const {
        auto out = *this;
        for (auto &column : out.columns) {
            column = f(column);
        }
        out.offset = f(offset);
        return out;
    }
};

std::optional<Bits> joined(const Bits &a, const Bits &b) {
    auto out = a;
    for (size_t i = 0; i < a.columns.size(); ++i) {
        out.columns[i] ^= b.columns[i];
    }
    out.offset ^= b.offset;
    return out;
}

std::optional<Bits> bits_by_constant(std::string_view name, const Bits &a, uint64_t by) {
    bool power = std::has_single_bit(by);
    if ((name == "mul" && power) || (name == "shl" && by <= 62)) {
        auto places = name == "mul" ? std::countr_zero(by) : static_cast<int>(by);
        if (std::bit_width(a.possible()) + places > 62) {
            return std::nullopt;
        }
        return a.each([&](uint64_t x) { return x << places; });
    }
    if ((name == "div" && power) || (name == "shr" && by <= 62)) {
        auto places = name == "div" ? std::countr_zero(by) : static_cast<int>(by);
        return a.each([&](uint64_t x) { return x >> places; });
    }
    if (name == "mod" && power) {
        return a.each([&](uint64_t x) { return x & (by - 1); });
    }
    if (name == "and") {
        return a.each([&](uint64_t x) { return x & by; });
    }
    return std::nullopt;
}

std::optional<Bits> bits_of_expr(const ExprNode &e, const std::vector<int> &in) {
    Bits out{std::vector<uint64_t>(static_cast<size_t>(sum_of(in)), 0), 0};
    if (e.kind == ExprNode::Kind::CONSTANT) {
        out.offset = static_cast<uint64_t>(e.value);
        return e.value >= 0 && e.value >> 62 == 0 ? std::optional{out} : std::nullopt;
    }
    if (e.kind == ExprNode::Kind::COORDINATE) {
        auto c = static_cast<size_t>(e.value);
        if (c >= in.size()) {
            return std::nullopt;
        }
        auto first = std::accumulate(in.begin(), in.begin() + e.value, size_t{0});
        for (int b = 0; b < in[c]; ++b) {
            out.columns[first + static_cast<size_t>(b)] = uint64_t{1} << b;
        }
        return out;
    }
    if (e.op->arity != 2) {
        return std::nullopt;
    }
    auto a = bits_of_expr(*e.operands[0], in), b = bits_of_expr(*e.operands[1], in);
    if (!a || !b) {
        return std::nullopt;
    }
    std::string_view name = e.op->name;
    bool disjoint = (a->possible() & b->possible()) == 0;
    if (name == "xor" || (disjoint && (name == "add" || name == "or"))) {
        return joined(*a, *b);
    }
    auto constant = [](const Bits &x) { return x.possible() == x.offset; };
    auto moves = [](const Bits &x) {
        return std::any_of(x.columns.begin(), x.columns.end(), [](uint64_t c) { return c != 0; });
    };
    if (constant(*b) && !moves(*b)) {
        return bits_by_constant(name, *a, b->offset);
    }
    bool commutes = name == "mul" || name == "and";
    return commutes && !moves(*a) ? bits_by_constant(name, *b, a->offset) : std::nullopt;
}

}// namespace

std::optional<BitLinear> bits_of(const Expressions &map, const IndexPoint &extents) {
    BitLinear out;
    for (auto extent : extents) {
        out.in.push_back(bits_for(extent));
    }
    if (sum_of(out.in) > 62) {
        return std::nullopt;
    }
    out.columns.assign(static_cast<size_t>(sum_of(out.in)), 0);
    int shift = 0;
    for (const auto &image : map.images) {
        auto bits = bits_of_expr(image.node(), out.in);
        if (!bits || shift + std::bit_width(bits->possible()) > 62) {
            return std::nullopt;
        }
        for (size_t i = 0; i < out.columns.size(); ++i) {
            out.columns[i] |= bits->columns[i] << shift;
        }
        out.offset |= bits->offset << shift;
        out.out.push_back(static_cast<int>(std::bit_width(bits->possible())));
        shift += out.out.back();
    }
    return out;
}

std::optional<Affine> affine_form(const IndexMap &map) {
    const auto &node = map.node();
    const auto &extents = map.domain().extents();
    if (const auto *affine = std::get_if<Affine>(&node.what)) {
        return *affine;
    }
    if (const auto *expressions = std::get_if<Expressions>(&node.what)) {
        return affine_of_expressions(*expressions, extents);
    }
    if (const auto *pair = std::get_if<Composition>(&node.what)) {
        auto outer = affine_form(pair->outer), inner = affine_form(pair->inner);
        return outer && inner ? compose_affine(*outer, *inner, extents) : std::nullopt;
    }
    if (const auto *pair = std::get_if<Product>(&node.what)) {
        auto a = affine_form(pair->first), b = affine_form(pair->second);
        return a && b ? std::optional{product_affine(*a, *b)} : std::nullopt;
    }
    return std::nullopt;
}

std::optional<BitLinear> bit_form(const IndexMap &map) {
    const auto &node = map.node();
    const auto &extents = map.domain().extents();
    if (const auto *bits = std::get_if<BitLinear>(&node.what)) {
        return *bits;
    }
    if (const auto *swizzle = std::get_if<Swizzle>(&node.what)) {
        return bits_of(*swizzle, extents[0]);
    }
    if (const auto *expressions = std::get_if<Expressions>(&node.what)) {
        return bits_of(*expressions, extents);
    }
    if (const auto *affine = std::get_if<Affine>(&node.what)) {
        return bits_of(*affine, extents);
    }
    if (const auto *pair = std::get_if<Composition>(&node.what)) {
        auto outer = bit_form(pair->outer), inner = bit_form(pair->inner);
        return outer && inner ? compose_bits(*outer, *inner) : std::nullopt;
    }
    if (const auto *pair = std::get_if<Product>(&node.what)) {
        auto a = bit_form(pair->first), b = bit_form(pair->second);
        return a && b ? product_bits(*a, *b) : std::nullopt;
    }
    return std::nullopt;
}

}// namespace luisa::tile::core
