// SPDX-License-Identifier: Apache-2.0
#include "layout/proved.h"

#include "layout/expression.h"
#include "layout/node.h"

#include <bit>
#include <map>
#include <mutex>

namespace luisa::tile::core {

std::shared_ptr<const ProvedMap> proved_map(const std::string &text) {
    static std::mutex mutex;
    static std::map<std::string, std::shared_ptr<const ProvedMap>> recent;
    {
        std::lock_guard lock{mutex};
        if (auto found = recent.find(text); found != recent.end()) {
            return found->second;
        }
    }
    auto map = IndexMap::parse(text);
    auto proved = std::make_shared<const ProvedMap>(ProvedMap{map, map.prove()});
    std::lock_guard lock{mutex};
    if (recent.size() >= 64) {
        recent.clear();
    }
    recent.emplace(text, proved);
    return proved;
}

namespace {

using Exprs = std::vector<IndexExpr>;

/// Adds a term, leaving out what does nothing.
void accumulate(std::optional<IndexExpr> &sum, const IndexExpr &term, bool exclusive) {
    sum = !sum ? term : exclusive ? *sum ^ term : *sum + term;
}

IndexExpr times(const IndexExpr &x, int64_t by) { return by == 1 ? x : x * by; }

/// A power of two as a shift: divisions of vectors are dear.
IndexExpr quotient(const IndexExpr &x, int64_t by) {
    if (by == 1) {
        return x;
    }
    auto bits = static_cast<uint64_t>(by);
    return std::has_single_bit(bits) ? x >> int64_t{std::countr_zero(bits)} : x / by;
}

IndexExpr remainder(const IndexExpr &x, int64_t by) {
    return std::has_single_bit(static_cast<uint64_t>(by)) ? x & (by - 1) : x % by;
}

Exprs affine_expressions(const Affine &map, const IndexPoint &extents, const Exprs &at) {
    auto box = digits_of(map, extents);
    Exprs out;
    for (size_t o = 0; o < map.offset.size(); ++o) {
        std::optional<IndexExpr> sum;
        for (size_t i = 0; i < box.digits.size(); ++i) {
            const auto &digit = box.digits[i];
            if (digit.stride[o] == 0) {
                continue;
            }
            auto x = quotient(at[digit.coordinate], digit.lower);
            bool last = i + 1 == box.digits.size() ||
                        box.digits[i + 1].coordinate != digit.coordinate;
            accumulate(sum, times(last ? x : remainder(x, digit.extent), digit.stride[o]), false);
        }
        if (map.offset[o] != 0) {
            accumulate(sum, map.offset[o], false);
        }
        out.push_back(sum.value_or(IndexExpr{0}));
    }
    return out;
}

/// Bits of a coordinate that move together are one term: those from `from` on, `count` of them, by `places`.
IndexExpr moved(const IndexExpr &x, int from, int count, int width, int places) {
    auto low = from + count == width ? x : x & ((int64_t{1} << (from + count)) - 1);
    if (from > 0) {
        low = low & ~((int64_t{1} << from) - 1);
    }
    return places == 0 ? low : places > 0 ? low << int64_t{places} : low >> int64_t{-places};
}

Exprs bit_expressions(const BitLinear &map, const Exprs &at) {
    Exprs out;
    int shift = 0;
    for (auto width : map.out) {
        auto mask = (uint64_t{1} << width) - 1;
        std::optional<IndexExpr> sum;
        size_t column = 0;
        for (size_t c = 0; c < map.in.size(); ++c) {
            std::vector<uint64_t>
                left;// bits of the image that each bit of the coordinate still has to toggle
            for (int b = 0; b < map.in[c]; ++b) {
                left.push_back(map.columns[column++] >> shift & mask);
            }
            for (int b = 0; b < map.in[c]; ++b) {
                while (left[static_cast<size_t>(b)] != 0) {
                    int places = std::countr_zero(left[static_cast<size_t>(b)]) - b, end = b;
                    auto bit = [&](int i) {
                        return i + places < 0 ? 0 : uint64_t{1} << (i + places);
                    };
                    while (end < map.in[c] && (left[static_cast<size_t>(end)] & bit(end))) {
                        left[static_cast<size_t>(end)] ^= bit(end);
                        ++end;
                    }
                    accumulate(sum, moved(at[c], b, end - b, map.in[c], places), true);
                }
            }
        }
        auto offset = static_cast<int64_t>(map.offset >> shift & mask);
        if (offset != 0) {
            accumulate(sum, offset, true);
        }
        out.push_back(sum.value_or(IndexExpr{0}));
        shift += width;
    }
    return out;
}

IndexExpr substituted(const ExprNode &e, const Exprs &at) {
    if (e.kind == ExprNode::Kind::COORDINATE) {
        return at.at(static_cast<size_t>(e.value));
    }
    if (e.kind == ExprNode::Kind::CONSTANT) {
        return e.value;
    }
    std::vector<std::shared_ptr<const ExprNode>> operands;
    for (const auto &operand : e.operands) {
        operands.push_back(std::make_shared<ExprNode>(substituted(*operand, at).node()));
    }
    return IndexExpr{make_expr(e.op, std::move(operands))};
}

struct Expressed {
    const IndexMap &map;
    const Exprs &at;
    using Result = std::optional<Exprs>;

    Result operator()(const Affine &affine) const {
        return affine_expressions(affine, map.domain().extents(), at);
    }
    Result operator()(const BitLinear &bits) const { return bit_expressions(bits, at); }
    Result operator()(const Swizzle &swizzle) const {
        return bit_expressions(bits_of(swizzle, map.domain().extents()[0]), at);
    }
    Result operator()(const Table &) const { return std::nullopt; }
    Result operator()(const Expressions &expressions) const {
        Exprs out;
        for (const auto &image : expressions.images) {
            out.push_back(substituted(image.node(), at));
        }
        return out;
    }
    Result operator()(const Pieces &pieces) const {
        Result out;
        for (size_t i = pieces.pieces.size(); i-- > 0;) {
            const auto &[set, piece] = pieces.pieces[i];
            auto images = expression_form(piece, at);
            if (!images) {
                return std::nullopt;
            }
            IndexExpr here = 1;
            for (size_t c = 0; c < at.size(); ++c) {
                here = here & (at[c] < set.extents()[c]);
            }
            if (set.condition()) {
                here = here & substituted(set.condition()->node(), at);
            }
            for (size_t o = 0; out && o < images->size(); ++o) {
                (*images)[o] = IndexExpr::select(here, (*images)[o], (*out)[o]);
            }
            out = images;
        }
        return out;
    }
    Result operator()(const Composition &pair) const {
        auto between = expression_form(pair.inner, at);
        return between ? expression_form(pair.outer, *between) : std::nullopt;
    }
    Result operator()(const Product &pair) const {
        auto cut = at.begin() + static_cast<int64_t>(pair.first.domain().rank());
        auto a = expression_form(pair.first, {at.begin(), cut});
        auto b = expression_form(pair.second, {cut, at.end()});
        if (!a || !b) {
            return std::nullopt;
        }
        a->insert(a->end(), b->begin(), b->end());
        return a;
    }
};

}// namespace

std::optional<std::vector<IndexExpr>> expression_form(const IndexMap &map,
                                                      const std::vector<IndexExpr> &coordinates) {
    if (map.domain().box_is_empty()) {
        return Exprs(map.codomain().rank(), IndexExpr{0});
    }
    return std::visit(Expressed{map, coordinates}, map.node().what);
}

}// namespace luisa::tile::core
