// SPDX-License-Identifier: Apache-2.0
#include "layout/cursor.h"
#include "layout/expression.h"
#include "layout/node.h"
#include "layout/points.h"

#include <algorithm>
#include <cctype>

namespace luisa::tile {

namespace core {

namespace {

std::string image_text(const IndexPoint &image) {
    return image.size() == 1 ? std::to_string(image[0]) : tuple_text(image, '<', '>');
}

template<class List, class F>
std::string list_text(const List &list, const F &text_of, const char *between = ", ") {
    std::string text;
    for (const auto &entry : list) {
        text += (&entry == &*list.begin() ? "" : between) + text_of(entry);
    }
    return text;
}

struct Print {
    std::string operator()(const Affine &map) const {
        auto mode_text = [](const LayoutMode &mode) {
            return tuple_text(mode.shape) + ":(" + list_text(mode.stride, image_text) + ")";
        };
        return "affine{" + list_text(map.modes, mode_text) + "; " + image_text(map.offset) + "}";
    }
    std::string operator()(const BitLinear &map) const {
        std::string text = "bits{";
        size_t column = 0;
        for (size_t i = 0; i < map.in.size(); ++i) {
            text += i ? ", (" : "(";
            for (int b = 0; b < map.in[i]; ++b) {
                text += (b ? ", " : "") + image_text(unpack(map.columns[column++], map.out));
            }
            text += ")";
        }
        IndexPoint out{map.out.begin(), map.out.end()};
        return text + "; " + tuple_text(out) + "; " + image_text(unpack(map.offset, map.out)) + "}";
    }
    std::string operator()(const Swizzle &map) const {
        return "swizzle{" + std::to_string(map.bits) + ", " + std::to_string(map.base) + ", " +
               std::to_string(map.shift) + "}";
    }
    std::string operator()(const Table &map) const {
        return "table{" + tuple_text(map.extents, '[', ']') + "; " +
               list_text(map.images,
                         [](const auto &image) { return image ? image_text(*image) : "."; }) +
               "}";
    }
    std::string operator()(const Expressions &map) const {
        return "expr{" + list_text(map.images, [](const IndexExpr &e) { return e.text(); }) + "}";
    }
    std::string operator()(const Pieces &map) const {
        auto piece_text = [](const auto &piece) {
            return piece.first.text() + ": " + piece.second.text();
        };
        return "piecewise{" + list_text(map.pieces, piece_text, "; ") + "}";
    }
    std::string operator()(const Composition &map) const {
        return "compose{" + map.outer.text() + "; " + map.inner.text() + "}";
    }
    std::string operator()(const Product &map) const {
        return "product{" + map.first.text() + "; " + map.second.text() + "}";
    }
};

/// Reads what Print writes. White space is free.
class Reader : TextCursor {
public:
    explicit Reader(std::string_view text) : TextCursor{"index map", text} {}

    IndexMap whole() {
        auto out = map();
        expect_end();
        return out;
    }

private:
    std::string_view word() {
        skip();
        auto from = _at;
        while (_at < _text.size() && std::isalpha(static_cast<unsigned char>(_text[_at]))) {
            ++_at;
        }
        return _text.substr(from, _at - from);
    }
    IndexPoint integers(std::string_view open, std::string_view close) {
        IndexPoint out;
        expect(open);
        if (accept(close)) {
            return out;
        }
        do {
            out.push_back(integer());
        } while (accept(","));
        expect(close);
        return out;
    }
    IndexPoint image() {
        skip();
        return _text.substr(_at, 1) == "<" ? integers("<", ">") : IndexPoint{integer()};
    }
    std::vector<IndexPoint> images() {
        std::vector<IndexPoint> out;
        expect("(");
        if (accept(")")) {
            return out;
        }
        do {
            out.push_back(image());
        } while (accept(","));
        expect(")");
        return out;
    }

    IndexExpr expr() {
        Nesting nesting{*this};
        skip();
        auto from = _at;
        if (_at < _text.size() &&
            (std::isdigit(static_cast<unsigned char>(_text[_at])) || _text[_at] == '-')) {
            return integer();
        }
        auto name = word();
        if (name == "c") {
            return IndexExpr::coordinate(static_cast<size_t>(integer()));
        }
        const auto *op = find_expr_op(name);
        if (!op) {
            _at = from;
            fail("an expression");
        }
        std::vector<std::shared_ptr<const ExprNode>> operands;
        for (size_t i = 0; i < op->arity; ++i) {
            expect(i ? "," : "(");
            operands.push_back(std::make_shared<ExprNode>(expr().node()));
        }
        expect(")");
        return IndexExpr{make_expr(op, std::move(operands))};
    }

    IndexSet set() {
        IndexPoint extents;
        expect("[");
        skip();
        if (_at < _text.size() && _text[_at] != '|' && _text[_at] != ']') {
            do {
                extents.push_back(integer());
            } while (accept(","));
        }
        IndexSet out{extents};
        if (accept("|")) {
            out = out.restricted_to(expr());
        }
        expect("]");
        return out;
    }

    IndexMap affine() {
        std::vector<LayoutMode> modes;
        if (!accept(";")) {
            do {
                auto shape = integers("(", ")");
                expect(":");
                modes.push_back({shape, images()});
            } while (accept(","));
            expect(";");
        }
        return IndexMap::mixed_radix(std::move(modes), image());
    }
    IndexMap bits() {
        std::vector<std::vector<IndexPoint>> bases;
        if (!accept(";")) {
            do {
                bases.push_back(images());
            } while (accept(","));
            expect(";");
        }
        auto out = integers("(", ")");
        expect(";");
        std::vector<int> widths;
        for (auto width : out) {
            widths.push_back(static_cast<int>(std::clamp<int64_t>(width, -1, 63)));
        }
        return IndexMap::bit_linear(bases, widths, image());
    }

    /// Maps whose text needs the sets behind it.
    IndexMap with_sets(std::string_view name) {
        if (name == "table") {
            auto extents = integers("[", "]");
            expect(";");
            std::vector<std::optional<IndexPoint>> list;
            while (!accept("}")) {
                if (!list.empty()) {
                    expect(",");
                }
                list.push_back(accept(".") ? std::nullopt : std::optional{image()});
            }
            auto domain = set();
            expect("->");
            auto codomain = set();
            return IndexMap::table(IndexSet{extents}, codomain, std::move(list)).on(domain);
        }
        std::vector<IndexExpr> exprs;
        std::vector<std::pair<IndexSet, IndexMap>> pieces;
        IndexPoint numbers;
        bool first = true;
        while (!accept("}")) {
            if (!first) {
                expect(name == "piecewise" ? ";" : ",");
            }
            first = false;
            if (name == "piecewise") {
                auto where = set();
                expect(":");
                pieces.emplace_back(where, map());
            } else if (name == "expr") {
                exprs.push_back(expr());
            } else {
                numbers.push_back(integer());
            }
        }
        auto domain = set();
        expect("->");
        auto codomain = set();
        if (name == "expr") {
            return IndexMap::expression(domain, codomain, std::move(exprs));
        }
        if (name == "piecewise") {
            return IndexMap::piecewise(domain, codomain, std::move(pieces));
        }
        if (numbers.size() != 3 || domain.rank() != 1) {
            fail("three numbers and a domain of rank 1 of a swizzle");
        }
        auto narrow = [](int64_t n) { return static_cast<int>(std::clamp<int64_t>(n, -99, 99)); };
        return IndexMap::swizzle(narrow(numbers[0]), narrow(numbers[1]), narrow(numbers[2]),
                                 domain.extents()[0])
            .on(domain)
            .into(codomain);
    }

    IndexMap map() {
        Nesting nesting{*this};
        skip();
        auto from = _at;
        auto name = word();
        if (name == "table" || name == "expr" || name == "piecewise" || name == "swizzle") {
            expect("{");
            return with_sets(name);
        }
        if (name != "affine" && name != "bits" && name != "compose" && name != "product") {
            _at = from;
            fail("affine, bits, swizzle, table, expr, piecewise, compose or product");
        }
        expect("{");
        auto out = name == "affine" ? affine() : name == "bits" ? bits() : pair(name);
        expect("}");
        auto domain = set();
        expect("->");
        return out.on(domain).into(set());
    }
    IndexMap pair(std::string_view name) {
        auto first = map();
        expect(";");
        auto second = map();
        return name == "compose" ? compose(first, second) : product(first, second);
    }
};

}// namespace

}// namespace core

std::string IndexMap::text() const {
    return std::visit(core::Print{}, _node->what) + " " + domain().text() + " -> " +
           codomain().text();
}

IndexMap IndexMap::parse(std::string_view text) { return core::Reader{text}.whole(); }

}// namespace luisa::tile
