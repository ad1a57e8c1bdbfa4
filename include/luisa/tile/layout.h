// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/error.h>

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

// Index maps: one algebra for addresses, views, distributions and the binding of instances.
//
// A map takes the points of a set to points of another. Take a matrix of 4 rows and 6 columns whose rows lie in
// memory at distances of 8 elements:
//
//     auto address = IndexMap::strided({4, 6}, {8, 1});   // (i, j) -> 8 i + j, into [0, 30)
//     address({2, 3})                                     // {19}
//     address.prove().injectivity.proof                   // Proof::PROVEN
//     address.prove().surjectivity.witness                // {{6}}: nothing lies at 6
//
// Coordinates are split into digits where a mode has several: in `(2,3):(1,8)` the coordinate x is d0 + 2 d1 and
// lies at d0 + 8 d1; the first digit is the fastest, as in CuTe. Bit-linear maps, Triton's linear layouts, take
// bits to bits by exclusive or; swizzles are some of them. Everything is a plain immutable value that is cheap
// to copy, usable from any thread, inside and outside of captures.
//
// Arithmetic is exact or refused: a map is not defined where a product or a partial sum leaves 64 bits.

namespace luisa::tile {

/// The coordinates of a point, or one image: an integer a dimension.
using IndexPoint = std::vector<int64_t>;

namespace core {
struct ExprNode;
struct MapNode;
}// namespace core

/// A pure integer expression of the coordinates of a point. Lambdas given to `IndexMap::of` and `IndexSet::where`
/// compute with these. Comparisons and logic give 0 or 1. `/` and `%` round towards zero; both are undefined for a
/// divisor of zero, shifts by less than 0 or more than 62 places too.
class IndexExpr {
public:
    /// The constant.
    IndexExpr(int64_t value);
    /// Coordinate `axis` of the point.
    [[nodiscard]] static IndexExpr coordinate(size_t axis);
    /// The smaller one.
    [[nodiscard]] static IndexExpr minimum(const IndexExpr &a, const IndexExpr &b);
    /// The larger one.
    [[nodiscard]] static IndexExpr maximum(const IndexExpr &a, const IndexExpr &b);
    /// `yes` where `condition` is not 0, else `no`. The other one need not be defined.
    [[nodiscard]] static IndexExpr select(const IndexExpr &condition, const IndexExpr &yes,
                                          const IndexExpr &no);

    /// The value at a point; nothing where a step is undefined, leaves 64 bits, or the point lacks a coordinate.
    [[nodiscard]] std::optional<int64_t> at(const IndexPoint &point) const;
    /// Canonical text, "add(mul(c0, 8), c1)".
    [[nodiscard]] std::string text() const;

    explicit IndexExpr(std::shared_ptr<const core::ExprNode> node) : _node{std::move(node)} {}
    /// The library's own form of it.
    [[nodiscard]] const core::ExprNode &node() const noexcept { return *_node; }

    friend IndexExpr operator+(const IndexExpr &a, const IndexExpr &b) { return make("add", a, b); }
    friend IndexExpr operator-(const IndexExpr &a, const IndexExpr &b) { return make("sub", a, b); }
    friend IndexExpr operator*(const IndexExpr &a, const IndexExpr &b) { return make("mul", a, b); }
    friend IndexExpr operator/(const IndexExpr &a, const IndexExpr &b) { return make("div", a, b); }
    friend IndexExpr operator%(const IndexExpr &a, const IndexExpr &b) { return make("mod", a, b); }
    friend IndexExpr operator&(const IndexExpr &a, const IndexExpr &b) { return make("and", a, b); }
    friend IndexExpr operator|(const IndexExpr &a, const IndexExpr &b) { return make("or", a, b); }
    friend IndexExpr operator^(const IndexExpr &a, const IndexExpr &b) { return make("xor", a, b); }
    friend IndexExpr operator<<(const IndexExpr &a, const IndexExpr &b) {
        return make("shl", a, b);
    }
    friend IndexExpr operator>>(const IndexExpr &a, const IndexExpr &b) {
        return make("shr", a, b);
    }
    friend IndexExpr operator<(const IndexExpr &a, const IndexExpr &b) { return make("lt", a, b); }
    friend IndexExpr operator<=(const IndexExpr &a, const IndexExpr &b) { return make("le", a, b); }
    friend IndexExpr operator>(const IndexExpr &a, const IndexExpr &b) { return make("lt", b, a); }
    friend IndexExpr operator>=(const IndexExpr &a, const IndexExpr &b) { return make("le", b, a); }
    friend IndexExpr operator==(const IndexExpr &a, const IndexExpr &b) { return make("eq", a, b); }
    friend IndexExpr operator!=(const IndexExpr &a, const IndexExpr &b) { return make("ne", a, b); }
    friend IndexExpr operator&&(const IndexExpr &a, const IndexExpr &b) {
        return make("ne", a, 0) & make("ne", b, 0);
    }
    friend IndexExpr operator||(const IndexExpr &a, const IndexExpr &b) {
        return make("ne", a, 0) | make("ne", b, 0);
    }

private:
    static IndexExpr make(std::string_view op, const IndexExpr &a, const IndexExpr &b);
    std::shared_ptr<const core::ExprNode> _node;
};

/// A finite set of points: a box that begins at zero, and of it the points where a predicate holds, if there is
/// one. The box need be no power of two and no multiple of anything.
class IndexSet {
public:
    /// The box of these extents; a negative one: ValueError. No extents: the set of one point without coordinates.
    IndexSet(IndexPoint extents);
    IndexSet(std::initializer_list<int64_t> extents) : IndexSet{IndexPoint{extents}} {}

    /// The points where `holds`, a lambda of as many IndexExpr as there are dimensions, gives no 0. Conditions add
    /// up. Where a condition is undefined it does not hold.
    template<class F> [[nodiscard]] IndexSet where(const F &holds) const {
        return restricted_to(call_with_coordinates(holds));
    }
    /// The same with the condition as an expression.
    [[nodiscard]] IndexSet restricted_to(const IndexExpr &condition) const;

    /// Coordinates of a point.
    [[nodiscard]] size_t rank() const noexcept { return _extents.size(); }
    /// The extents of the box.
    [[nodiscard]] const IndexPoint &extents() const noexcept { return _extents; }
    /// Whether there is no predicate.
    [[nodiscard]] bool is_box() const noexcept { return !_condition; }
    /// The predicate: all conditions in one.
    [[nodiscard]] const std::optional<IndexExpr> &condition() const noexcept { return _condition; }
    /// Whether a point has the rank of the set, lies in the box, and fulfils the predicate.
    [[nodiscard]] bool contains(const IndexPoint &point) const;
    /// Points of the box, whatever the predicate; nothing beyond 2^62.
    [[nodiscard]] std::optional<int64_t> box_size() const;
    /// Whether the box has no points.
    [[nodiscard]] bool box_is_empty() const noexcept;
    /// All points in lexicographic order, the last coordinate fastest. More than 2^20 in the box: ValueError.
    [[nodiscard]] std::vector<IndexPoint> points() const;
    /// "[4, 6]", "[4, 6 | lt(c0, c1)]".
    [[nodiscard]] std::string text() const;
    /// The same extents and the same text of the predicate.
    friend bool operator==(const IndexSet &a, const IndexSet &b);

    /// What a lambda of as many coordinates as the set has dimensions (at most six) gives for symbols.
    template<class F> [[nodiscard]] auto call_with_coordinates(const F &f) const {
        auto c = [](size_t i) { return IndexExpr::coordinate(i); };
        if constexpr (requires { f(c(0), c(1), c(2), c(3), c(4), c(5)); }) {
            return f(arity(0, 6), c(1), c(2), c(3), c(4), c(5));
        } else if constexpr (requires { f(c(0), c(1), c(2), c(3), c(4)); }) {
            return f(arity(0, 5), c(1), c(2), c(3), c(4));
        } else if constexpr (requires { f(c(0), c(1), c(2), c(3)); }) {
            return f(arity(0, 4), c(1), c(2), c(3));
        } else if constexpr (requires { f(c(0), c(1), c(2)); }) {
            return f(arity(0, 3), c(1), c(2));
        } else if constexpr (requires { f(c(0), c(1)); }) {
            return f(arity(0, 2), c(1));
        } else {
            return f(arity(0, 1));
        }
    }

private:
    /// Coordinate `axis`, after the check that the lambda takes as many as there are: ShapeError otherwise.
    [[nodiscard]] IndexExpr arity(size_t axis, size_t taken) const;
    IndexPoint _extents;
    std::optional<IndexExpr> _condition;
};

/// What is known of a claim. Unknown is never taken for proven.
enum class Proof : uint8_t { PROVEN, DISPROVEN, UNKNOWN };
/// "proven", "disproven" or "unknown".
[[nodiscard]] const char *to_string(Proof proof) noexcept;

/// Points that a proof may try one by one when no rule decides.
inline constexpr int64_t layout_proof_budget = 1'048'576;

/// The four claims about a map. The last three speak of the points where it is defined.
struct LayoutProof {
    struct Claim {
        Proof proof = Proof::UNKNOWN;
        std::vector<IndexPoint> witness;///< of a disproof; see each claim
    };
    Claim totality;    ///< defined at every point of the domain; witness: a point where it is not
    Claim bounds;      ///< every image lies in the codomain; witness: a point whose image does not
    Claim injectivity; ///< no two points share an image; witness: two that do
    Claim surjectivity;///< every point of the codomain is an image; witness: one that is none
    /// "totality proven, bounds disproven by (3, 0), …"
    [[nodiscard]] std::string text() const;
};

/// One coordinate as digits, the first the fastest, and what each digit adds to the image.
struct LayoutMode {
    std::vector<int64_t> shape;    ///< extents of the digits, each at least 1
    std::vector<IndexPoint> stride;///< one a digit: its step in each coordinate of the image
};

/// A map from the points of a set to integer points. See the top of this file.
class IndexMap {
public:
    /// x -> x.
    [[nodiscard]] static IndexMap identity(const IndexSet &domain);
    /// x -> x + by. Codomain: the smallest box, from zero, that can hold it.
    [[nodiscard]] static IndexMap translate(const IndexSet &domain, const IndexPoint &by);
    /// Coordinate k of the image is coordinate order[k]; each occurs once, else ValueError.
    [[nodiscard]] static IndexMap permute(const IndexSet &domain, const std::vector<size_t> &order);
    /// The image has the given coordinates of the point, in that order.
    [[nodiscard]] static IndexMap project(const IndexSet &domain, const std::vector<size_t> &axes);
    /// x -> sum of x[i] * strides[i], an address.
    [[nodiscard]] static IndexMap strided(const IndexPoint &extents, const IndexPoint &strides);
    /// Mixed radix: x -> offset + what the digits add. Domain: the products of the shapes.
    [[nodiscard]] static IndexMap mixed_radix(std::vector<LayoutMode> modes, IndexPoint offset);
    /// Bits to bits: bit b of coordinate i toggles `bases[i][b]`, beginning with `offset`. The domain has
    /// 2^bases[i].size() points in dimension i, the codomain 2^bits[k] in dimension k; 62 bits each at most.
    [[nodiscard]] static IndexMap bit_linear(const std::vector<std::vector<IndexPoint>> &bases,
                                             const std::vector<int> &bits,
                                             const IndexPoint &offset);
    /// The XOR swizzle of addresses below `size`, with CuTe's numbers: bits [base, base + bits) are toggled by those
    /// `shift` places above; for a negative shift they toggle those `-shift` places above. It is its own inverse.
    /// |shift| < bits: ValueError.
    [[nodiscard]] static IndexMap swizzle(int bits, int base, int shift, int64_t size);
    /// Images one by one, in lexicographic order of the points of a box; nothing where the map is undefined.
    [[nodiscard]] static IndexMap table(const IndexSet &domain, const IndexSet &codomain,
                                        std::vector<std::optional<IndexPoint>> images);
    /// At a point the first piece whose set contains it. Pieces of other ranks: ShapeError.
    [[nodiscard]] static IndexMap piecewise(const IndexSet &domain, const IndexSet &codomain,
                                            std::vector<std::pair<IndexSet, IndexMap>> pieces);
    /// The expressions, one a coordinate of the image.
    [[nodiscard]] static IndexMap expression(const IndexSet &domain, const IndexSet &codomain,
                                             std::vector<IndexExpr> images);
    /// What a lambda of the coordinates computes: an IndexExpr, or a vector of them.
    template<class F>
    [[nodiscard]] static IndexMap of(const IndexSet &domain, const IndexSet &codomain, const F &f) {
        auto result = domain.call_with_coordinates(f);
        if constexpr (std::is_convertible_v<decltype(result), IndexExpr>) {
            return expression(domain, codomain, {IndexExpr{result}});
        } else {
            return expression(domain, codomain, std::vector<IndexExpr>{result});
        }
    }
    /// Reads canonical text; anything else: ParseError that names the column.
    [[nodiscard]] static IndexMap parse(std::string_view text);

    /// Where the map is defined, unless `prove().totality` says otherwise.
    [[nodiscard]] const IndexSet &domain() const noexcept;
    /// Where its images are said to lie; `prove().bounds` says whether they do.
    [[nodiscard]] const IndexSet &codomain() const noexcept;
    /// The image; outside of the domain: IndexError; where the map is undefined: ValueError.
    [[nodiscard]] IndexPoint operator()(const IndexPoint &point) const;
    /// The image, or nothing outside of the domain and where the map is undefined.
    [[nodiscard]] std::optional<IndexPoint> at(const IndexPoint &point) const;
    /// The same map with claims about another codomain of the same rank.
    [[nodiscard]] IndexMap into(const IndexSet &codomain) const;
    /// The same map at fewer points: `domain` has the rank of this domain and no larger extents, else ShapeError.
    [[nodiscard]] IndexMap on(const IndexSet &domain) const;

    /// The four claims: exact for affine, mixed-radix and bit-linear maps over boxes of any extents, by rules for
    /// compositions and products, by trying all points within `layout_proof_budget`, else unknown.
    [[nodiscard]] LayoutProof prove() const;
    /// Canonical text that `parse` reads, "affine{(4):(8), (6):(1); 0} [4, 6] -> [30]".
    [[nodiscard]] std::string text() const;

    explicit IndexMap(std::shared_ptr<const core::MapNode> node) : _node{std::move(node)} {}
    /// The library's own form of it.
    [[nodiscard]] const core::MapNode &node() const noexcept { return *_node; }

private:
    std::shared_ptr<const core::MapNode> _node;
};

/// x -> outer(inner(x)), defined where inner(x) lies in the domain of `outer`. Different ranks: ShapeError.
/// Law: compose(f, compose(g, h)) and compose(compose(f, g), h) agree everywhere.
[[nodiscard]] IndexMap compose(const IndexMap &outer, const IndexMap &inner);
/// (x, y) -> (a(x), b(y)): coordinates one after another, predicates of both.
[[nodiscard]] IndexMap product(const IndexMap &a, const IndexMap &b);
/// Whether two maps have the same domain and are defined at the same points with the same images; the witness is a
/// point where they differ. Decided by normal forms, else by trying all points within the budget.
[[nodiscard]] LayoutProof::Claim equivalent(const IndexMap &a, const IndexMap &b);

}// namespace luisa::tile
