// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/einsum.h>
#include <luisa/tile/ops/window.h>

// Convolution as neural networks mean it: the weight is not mirrored. Windows of x times the weight, as `matmul` over
// the channels and the places of a window: any layout of dimensions, dilated, grouped and depthwise ones included.

namespace luisa::tile::ops {

/// One axis of x that a convolution replaces by its windows, and the axis of the weight that has their places.
struct ConvAxis {
    Dim dim;
    Axis taps;
    int64_t stride = 1;
    int64_t padding = 0; ///< positions before the first and after the last element that hold zero
    int64_t dilation = 1;///< distance in x of neighbouring taps

    ConvAxis(Dim along, const Axis &taps, int64_t stride = 1, int64_t padding = 0,
             int64_t dilation = 1)
        : dim{along}, taps{taps}, stride{stride}, padding{padding}, dilation{dilation} {}
    ConvAxis(const Axis &along, const Axis &taps, int64_t stride = 1, int64_t padding = 0,
             int64_t dilation = 1)
        : ConvAxis{along.dim, taps, stride, padding, dilation} {}

    /// The windows that slide over x; `window().count(n)` of them over n elements.
    [[nodiscard]] Window window() const { return {taps.extent, stride, padding, dilation}; }
};

namespace convolution {
/// x with the windows of one axis after the other.
template<class T>
Tile<T> slid(const Tile<T> &x, const ConvAxis *first, const ConvAxis *last, SourceLoc loc) {
    if (first == last) {
        return x;
    }
    auto w = first->window();
    windows::check("conv", w, loc);
    auto sliding = windows::slide("conv", x, first->dim, w, first->taps, loc);
    return slid(sliding.of(x, w, ScalarArg<T>{T{}, loc}, loc), first + 1, last, loc);
}
template<class A, class B>
auto product(const Tile<A> &x, const Tile<B> &weight, std::vector<Dim> contracted,
             std::initializer_list<ConvAxis> axes, SourceLoc loc) {
    for (const auto &a : axes) {
        auto own = count_along("conv", weight, {a.taps.dim}, loc);
        if (own != a.taps.extent) {
            core::fail(ErrorKind::SHAPE,
                       "conv: an axis of " + std::to_string(a.taps.extent) +
                           " taps, of which the weight has " + std::to_string(own) +
                           "; give the weight's own axis",
                       loc, {});
        }
        contracted.push_back(a.taps.dim);
    }
    ReduceAxes dims{axes.begin()->taps};
    dims.dims = std::move(contracted);
    return matmul(slid(x, axes.begin(), axes.end(), loc), weight, dims, loc);
}
}// namespace convolution

/// y[o, …] = Σ x[o·stride − padding + t·dilation, …]·weight[t, …] over the taps t and `channels`, which x and the weight
/// share. Dimensions that both have and that are not contracted stay apart (groups, depthwise); y has x's other
/// dimensions, the windows in the place of the axis, then the weight's own (output channels). Outside of x is zero.
/// The type and the order of the sum are those of `matmul`. A window that is none: ValueError; an axis that an operand
/// lacks: IndexError; an axis of taps that is not the weight's: ShapeError.
template<class A, class B>
[[nodiscard]] auto conv(const Tile<A> &x, const Tile<B> &weight, const ReduceAxes &channels,
                        const ConvAxis &along, SourceLoc loc = SourceLoc::current()) {
    return convolution::product(x, weight, channels.dims, {along}, loc);
}
/// The same over two axes.
template<class A, class B>
[[nodiscard]] auto conv(const Tile<A> &x, const Tile<B> &weight, const ReduceAxes &channels,
                        const ConvAxis &a, const ConvAxis &b,
                        SourceLoc loc = SourceLoc::current()) {
    return convolution::product(x, weight, channels.dims, {a, b}, loc);
}
/// The same over three axes.
template<class A, class B>
[[nodiscard]] auto conv(const Tile<A> &x, const Tile<B> &weight, const ReduceAxes &channels,
                        const ConvAxis &a, const ConvAxis &b, const ConvAxis &c,
                        SourceLoc loc = SourceLoc::current()) {
    return convolution::product(x, weight, channels.dims, {a, b, c}, loc);
}
/// `conv` over one axis with no channels to sum over: a filter of each line, or of each channel where both have them.
template<class A, class B>
[[nodiscard]] auto filter(const Tile<A> &x, const Tile<B> &weight, const ConvAxis &along,
                          SourceLoc loc = SourceLoc::current()) {
    return convolution::product(x, weight, {}, {along}, loc);
}
/// The same over two axes.
template<class A, class B>
[[nodiscard]] auto filter(const Tile<A> &x, const Tile<B> &weight, const ConvAxis &a,
                          const ConvAxis &b, SourceLoc loc = SourceLoc::current()) {
    return convolution::product(x, weight, {}, {a, b}, loc);
}

}// namespace luisa::tile::ops
