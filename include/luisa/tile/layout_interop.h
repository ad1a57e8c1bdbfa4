// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/layout_ops.h>

// Layouts of other systems as index maps and back. The functions are the same, point by point; where a system counts points
// by one number, the law of each function says in which order.

namespace luisa::tile {

/// CuTe's text, "((2,4),3):((1,8),2)", or "Sw<3,4,3> o 0 o (8,8):(8,1)" with a swizzle behind: the coordinates of the
/// result are the outermost modes; modes within them are digits, the first the fastest. Other text: ParseError. Strides
/// that are no integers, an offset before a swizzle that is not 0: InteropError.
[[nodiscard]] IndexMap from_cute(std::string_view text);
/// The text of a layout, or of a swizzle after one, that `from_cute` reads back as an equal function. Other maps:
/// InteropError.
[[nodiscard]] std::string to_cute(const IndexMap &map);

/// Triton's linear layout: named inputs, each with the images of its bits, and named outputs with their sizes, which
/// are powers of two.
struct TritonLinear {
    struct Input {
        std::string name;
        std::vector<std::vector<int32_t>> bases;///< one a bit, each with an entry an output
    };
    struct Output {
        std::string name;
        int32_t size;
    };
    std::vector<Input> inputs;
    std::vector<Output> outputs;
};
/// Coordinates of the map are the inputs, those of its images the outputs, in order. Sizes that are no powers of two,
/// bases of other lengths or outside of the outputs: InteropError.
[[nodiscard]] IndexMap from_triton_linear(const TritonLinear &layout);
/// The names are given to coordinates in order. A map that is not bit-linear, has an offset, or a domain that is no
/// power of two: InteropError.
[[nodiscard]] TritonLinear to_triton_linear(const IndexMap &map,
                                            const std::vector<std::string> &inputs,
                                            const std::vector<std::string> &outputs);

/// TileLang's fragment: element `x` of replica `r` is held by thread `thread(x…, r)` in its local slot `index(x…)`.
struct TileLangFragment {
    IndexSet shape;
    int64_t replicate = 1;
    IndexExpr thread;///< the replica is the coordinate after those of the shape
    IndexExpr index;
};
/// Occurrences are (x…, r); the first side is the element, the second (thread, slot). `threads` and `slots` are the
/// extents of that side.
[[nodiscard]] LayoutCorr from_tilelang(const TileLangFragment &fragment, int64_t threads,
                                       int64_t slots);

/// TIRx's tile layout: an element's number, counted in row-major order, is split into the extents of `shard`, the last
/// the fastest; each digit moves its axis by its stride. Replicas move axes besides, in all combinations, and
/// offsets are added.
struct TirxLayout {
    struct Iterator {
        int64_t extent, stride;
        std::string axis;
    };
    std::vector<Iterator> shard, replica;
    std::vector<std::pair<std::string, int64_t>> offset;
};
/// Occurrences are (element number, replica number); the first side is the element number, the second the coordinates of
/// `axes`, in that order, with the smallest extents that hold them. An axis that `axes` lacks, extents below 1:
/// InteropError.
[[nodiscard]] LayoutCorr from_tirx(const TirxLayout &layout, const std::vector<std::string> &axes);

}// namespace luisa::tile
