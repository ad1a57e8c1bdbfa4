// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/layout.h>

// What is derived from index maps: divisions, products, inverses, and relations. The laws below are the tests.
//
// Some of these read a layout, a mixed-radix map with one output, no offset and strides that are not negative, as
// a function of one number: the points of its box are counted with the first coordinate the fastest, as in
// CuTe. `A[x]` below is the address of point number x. What is no such layout: ValueError.

namespace luisa::tile {

/// The same map as one affine or one bit-linear node where rules find it, else the map itself.
/// Law: equivalent(simplify(f), f) is proven.
[[nodiscard]] IndexMap simplify(const IndexMap &map);

/// A layout of one coordinate with as few digits as possible. Law: coalesce(A)({x}) = A[x].
[[nodiscard]] IndexMap coalesce(const IndexMap &layout);
/// The layout with modes joined one after another: result mode i has the digits of the modes `groups[i]` in order.
[[nodiscard]] IndexMap group(const IndexMap &layout,
                             const std::vector<std::vector<size_t>> &groups);
/// The places that a layout leaves free below `size`, in ascending order. Laws, for an injective layout A whose
/// strides nest: images of A and of the result meet in 0 only; sums of the two fill [0, size) if its cosize
/// divides `size`, and more otherwise. Strides that do not nest: ValueError.
[[nodiscard]] IndexMap complement(const IndexMap &layout, int64_t size);
/// CuTe's composition: of the modes of `inner`. Law: result(q) = outer[inner(q)].
[[nodiscard]] IndexMap layout_compose(const IndexMap &outer, const IndexMap &inner);

/// (tile, rest): A composed with (tiler, its complement in A). Law: result({i, j}) = A[tiler[i] + c[j]], with c the
/// complement.
[[nodiscard]] IndexMap logical_divide(const IndexMap &layout, const IndexMap &tiler);
/// The same for each mode: mode i becomes (tile i, rest i) under one coordinate. One tiler a mode.
[[nodiscard]] IndexMap logical_divide(const IndexMap &layout, const std::vector<IndexMap> &tilers);
/// The tiles of all modes under the first coordinate, the rests under the second.
[[nodiscard]] IndexMap zipped_divide(const IndexMap &layout, const std::vector<IndexMap> &tilers);
/// The tiles of all modes under the first coordinate, then each rest by itself.
[[nodiscard]] IndexMap tiled_divide(const IndexMap &layout, const std::vector<IndexMap> &tilers);

/// (block, where it is repeated): repeats `block` at the places of `tiler`. Law: result({i, j}) =
/// block[i] + c[tiler[j]], with c the complement of the block.
[[nodiscard]] IndexMap logical_product(const IndexMap &block, const IndexMap &tiler);
/// The same by modes: the block's digits of a coordinate are faster than those of its repetition.
[[nodiscard]] IndexMap blocked_product(const IndexMap &block, const IndexMap &tiler);
/// The same by modes: the block's digits of a coordinate are slower, so repetitions interleave.
[[nodiscard]] IndexMap raked_product(const IndexMap &block, const IndexMap &tiler);

/// The largest layout R of one coordinate with A[R({i})] = i.
[[nodiscard]] IndexMap right_inverse(const IndexMap &layout);
/// From the codomain to the domain, defined at images only. Law: left_inverse(f)(f(x)) = x. A map that is not
/// proven injective and bounded, or has more than 2^20 places and no inverse by rules: ValueError.
[[nodiscard]] IndexMap left_inverse(const IndexMap &map);
/// The inverse of a map that is proven to be one to one and onto; else nothing.
/// Laws: compose(f, *try_inverse(f)) and compose(*try_inverse(f), f) are identities.
[[nodiscard]] std::optional<IndexMap> try_inverse(const IndexMap &map);
/// All points that a map sends to a place, in lexicographic order. Beyond the budget, where no rule helps: ValueError.
[[nodiscard]] std::vector<IndexPoint> preimage(const IndexMap &map, const IndexPoint &place);

/// A layout of elements of `from_bits` as one of elements of `to_bits`. To narrower ones the digit of stride 1 grows,
/// to wider ones it shrinks. Law, for k = from_bits / to_bits: the result's places are k A[x] + r for all x and r < k;
/// with the widths exchanged A's are k result[x] + r. Elements that are no runs of k: ValueError.
[[nodiscard]] IndexMap recast(const IndexMap &layout, int from_bits, int to_bits);

/// The rank of a matrix over GF(2), and bases of its kernel and of its image.
struct BitStructure {
    size_t rank = 0;
    std::vector<IndexPoint> kernel;///< x with f(x ^ y) = f(y)
    std::vector<IndexPoint> image;
};
/// Of a map with a bit-linear form, its offset left out; others: ValueError. Law: rank + kernel size = bits of the
/// domain.
[[nodiscard]] BitStructure bit_structure(const IndexMap &map);
/// The bit-linear q with q(b(x)) = a(x) for all x, or nothing when there is none. It exists exactly when the kernel
/// of b lies in that of a.
[[nodiscard]] std::optional<IndexMap> bit_divide(const IndexMap &a, const IndexMap &b);

/// A relation of two sets: occurrences, each of which is one point of either set. Replication is several
/// occurrences of a point, so the converse of any correspondence exists, and nothing is counted twice by chance.
class LayoutCorr {
public:
    /// Both maps take occurrences; different domains: ShapeError.
    LayoutCorr(IndexMap first, IndexMap second);
    /// x related to f(x).
    [[nodiscard]] static LayoutCorr of(const IndexMap &map);

    /// From occurrences to the first set.
    [[nodiscard]] const IndexMap &first() const noexcept { return _first; }
    /// From occurrences to the second set.
    [[nodiscard]] const IndexMap &second() const noexcept { return _second; }
    /// The sides exchanged. Law: converse of converse is the same.
    [[nodiscard]] LayoutCorr converse() const { return {_second, _first}; }
    /// All points of the second set related to one of the first, one for each occurrence, in order of occurrences.
    [[nodiscard]] std::vector<IndexPoint> related(const IndexPoint &point) const;
    /// Whether no point of the first set has two occurrences.
    [[nodiscard]] Proof has_no_replicas() const { return _first.prove().injectivity.proof; }

private:
    IndexMap _first, _second;
};
/// Occurrences of both that meet in the middle. Where the second one's first side has an inverse by rules, its
/// occurrences are those of the first; else pairs are listed: more than 2^20 of them: ValueError.
[[nodiscard]] LayoutCorr compose(const LayoutCorr &second, const LayoutCorr &first);

}// namespace luisa::tile
