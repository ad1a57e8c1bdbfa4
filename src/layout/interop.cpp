// SPDX-License-Identifier: Apache-2.0
#include "layout/cursor.h"
#include "layout/node.h"
#include "layout/points.h"

#include <luisa/tile/layout_interop.h>

#include <algorithm>
#include <bit>

namespace luisa::tile {

namespace {

[[noreturn]] void refuse(const std::string &message) { throw_error(ErrorKind::INTEROP, message); }

/// An integer or a tuple of them, nested.
struct Tree {
    bool is_leaf = true;
    int64_t value = 0;
    std::vector<Tree> children;
};

class CuteReader : core::TextCursor {
public:
    explicit CuteReader(std::string_view text) : TextCursor{"CuTe layout", text} {}

    IndexMap whole() {
        int swizzle[3] = {0, 0, 0};
        bool swizzled = accept("Sw<");
        if (swizzled) {
            for (int i = 0; i < 3; ++i) {
                swizzle[i] = static_cast<int>(std::clamp<int64_t>(integer(), -99, 99));
                expect(i < 2 ? "," : ">");
            }
            expect("o");
            if (integer() != 0) {
                refuse("from_cute: an offset between swizzle and layout: " + std::string{_text});
            }
            expect("o");
        }
        auto shape = tree();
        expect(":");
        auto stride = tree();
        expect_end();
        auto map = layout(shape, stride);
        if (!swizzled) {
            return map;
        }
        // The swizzle permutes blocks of addresses: the next multiple of one holds all images.
        auto block = int64_t{1} << std::clamp(swizzle[0] + swizzle[1] + std::max(-swizzle[2], 0), 0,
                                              62);
        auto size = map.codomain().extents()[0];
        size = size > int64_t{1} << 61 ? size : (size + block - 1) / block * block;
        auto outer = IndexMap::swizzle(swizzle[0], swizzle[1], swizzle[2], size);
        return compose(outer, map.into({size}));
    }

private:
    /// `_4` is a static integer.
    int64_t integer() {
        (void)accept("_");
        auto value = TextCursor::integer();
        if (_text.substr(_at, 1) == "@") {
            refuse("from_cute: strides along basis vectors are no addresses: " +
                   std::string{_text});
        }
        return value;
    }
    Tree tree() {
        Nesting nesting{*this};
        if (!accept("(")) {
            return {true, integer(), {}};
        }
        Tree out{false, 0, {}};
        if (accept(")")) {
            return out;
        }
        do {
            out.children.push_back(tree());
        } while (accept(","));
        expect(")");
        return out;
    }

    void digits(const Tree &shape, const Tree &stride, LayoutMode &mode) const {
        if (shape.is_leaf != stride.is_leaf || shape.children.size() != stride.children.size()) {
            wrong("expected strides nested like the shape");
        }
        if (shape.is_leaf) {
            mode.shape.push_back(shape.value);
            mode.stride.push_back({stride.value});
        }
        for (size_t i = 0; i < shape.children.size(); ++i) {
            digits(shape.children[i], stride.children[i], mode);
        }
    }
    IndexMap layout(const Tree &shape, const Tree &stride) const {
        std::vector<LayoutMode> modes;
        if (shape.is_leaf || shape.children.size() != stride.children.size()) {
            modes.emplace_back();
            digits(shape, stride, modes.back());
        } else {
            for (size_t i = 0; i < shape.children.size(); ++i) {
                modes.emplace_back();
                digits(shape.children[i], stride.children[i], modes.back());
            }
        }
        return IndexMap::mixed_radix(std::move(modes), {0});
    }
};

std::string cute_modes(const IndexMap &map) {
    auto affine = map.domain().is_box() ? core::affine_form(map) : std::nullopt;
    if (!affine || map.codomain().rank() != 1 || affine->offset[0] != 0 ||
        map.domain().box_is_empty() ||
        core::digits_of(*affine, map.domain().extents()).any_ragged()) {
        refuse("to_cute: no layout of whole digits that begins at 0: " + map.text());
    }
    auto box = core::digits_of(*affine, map.domain().extents());
    std::string shapes, strides;
    for (size_t c = 0; c < map.domain().rank(); ++c) {
        std::string shape, stride;
        int count = 0;
        for (const auto &digit : box.digits) {
            if (digit.coordinate == c) {
                shape += (count ? "," : "") + std::to_string(digit.extent);
                stride += (count++ ? "," : "") + std::to_string(digit.stride[0]);
            }
        }
        auto wrapped = [&](const std::string &list, const char *none) {
            return count == 0 ? none : count == 1 ? list : "(" + list + ")";
        };
        shapes += (c ? "," : "") + wrapped(shape, "1");
        strides += (c ? "," : "") + wrapped(stride, "0");
    }
    return "(" + shapes + "):(" + strides + ")";
}

}// namespace

IndexMap from_cute(std::string_view text) { return CuteReader{text}.whole(); }

std::string to_cute(const IndexMap &map) {
    if (const auto *pair = std::get_if<core::Composition>(&map.node().what)) {
        if (const auto *s = std::get_if<core::Swizzle>(&pair->outer.node().what)) {
            return "Sw<" + std::to_string(s->bits) + "," + std::to_string(s->base) + "," +
                   std::to_string(s->shift) + "> o 0 o " + cute_modes(pair->inner.on(map.domain()));
        }
    }
    return cute_modes(map);
}

IndexMap from_triton_linear(const TritonLinear &layout) {
    std::vector<int> bits;
    for (const auto &output : layout.outputs) {
        if (output.size < 1 || !std::has_single_bit(static_cast<uint32_t>(output.size))) {
            refuse("from_triton_linear: the size " + std::to_string(output.size) + " of " +
                   output.name + " is no power of two");
        }
        bits.push_back(std::countr_zero(static_cast<uint32_t>(output.size)));
    }
    std::vector<std::vector<IndexPoint>> bases;
    for (const auto &input : layout.inputs) {
        bases.emplace_back();
        for (const auto &basis : input.bases) {
            IndexPoint image{basis.begin(), basis.end()};
            if (image.size() != bits.size() || !core::pack(image, bits)) {
                refuse("from_triton_linear: the basis " + core::tuple_text(image) + " of " +
                       input.name + " does not lie in the outputs");
            }
            bases.back().push_back(image);
        }
    }
    return IndexMap::bit_linear(bases, bits, IndexPoint(bits.size(), 0));
}

TritonLinear to_triton_linear(const IndexMap &map, const std::vector<std::string> &inputs,
                              const std::vector<std::string> &outputs) {
    const auto &extents = map.domain().extents();
    if (inputs.size() != extents.size() || outputs.size() != map.codomain().rank()) {
        refuse("to_triton_linear: " + std::to_string(inputs.size()) + " and " +
               std::to_string(outputs.size()) + " names for a map " + map.domain().text() + " -> " +
               map.codomain().text());
    }
    bool powers = std::all_of(extents.begin(), extents.end(), [](int64_t e) {
        return std::has_single_bit(static_cast<uint64_t>(e));
    });
    auto bits = powers && map.domain().is_box() ? core::bit_form(map) : std::nullopt;
    if (!bits || bits->offset != 0 || map.prove().totality.proof != Proof::PROVEN) {
        refuse("to_triton_linear: no linear map of powers of two: " + map.text());
    }
    TritonLinear out;
    for (size_t o = 0; o < outputs.size(); ++o) {
        // The codomain may be larger than what the bits reach.
        auto size = std::max(map.codomain().extents()[o], int64_t{1} << bits->out[o]);
        if (size > int64_t{1} << 30) {
            refuse("to_triton_linear: an output of more than 2^30 points: " + map.text());
        }
        out.outputs.push_back(
            {outputs[o], static_cast<int32_t>(std::bit_ceil(static_cast<uint64_t>(size)))});
    }
    size_t first = 0;
    for (size_t i = 0; i < inputs.size(); ++i) {
        out.inputs.push_back({inputs[i], {}});
        for (int b = 0; b < core::bits_for(extents[i]); ++b) {
            auto image = core::unpack(bits->columns[first + static_cast<size_t>(b)], bits->out);
            out.inputs.back().bases.emplace_back(image.begin(), image.end());
        }
        first += static_cast<size_t>(bits->in[i]);
    }
    return out;
}

LayoutCorr from_tilelang(const TileLangFragment &fragment, int64_t threads, int64_t slots) {
    auto extents = fragment.shape.extents();
    std::vector<size_t> axes(extents.size());
    for (size_t i = 0; i < axes.size(); ++i) {
        axes[i] = i;
    }
    extents.push_back(fragment.replicate);
    IndexSet occurrences{extents};
    if (fragment.shape.condition()) {
        occurrences = occurrences.restricted_to(*fragment.shape.condition());
    }
    return {IndexMap::project(occurrences, axes).into(fragment.shape),
            IndexMap::expression(occurrences, {threads, slots}, {fragment.thread, fragment.index})};
}

LayoutCorr from_tirx(const TirxLayout &layout, const std::vector<std::string> &axes) {
    auto axis_of = [&](const std::string &name) {
        auto found = std::find(axes.begin(), axes.end(), name);
        if (found == axes.end()) {
            refuse("from_tirx: the axis " + name + " is not among those asked for");
        }
        return static_cast<size_t>(found - axes.begin());
    };
    // Digits with the fastest first, as modes want them.
    auto mode_of = [&](const std::vector<TirxLayout::Iterator> &iterators) {
        LayoutMode mode;
        for (size_t i = iterators.size(); i-- > 0;) {
            const auto &it = iterators[i];
            if (it.extent < 1) {
                refuse("from_tirx: an extent of " + std::to_string(it.extent));
            }
            IndexPoint stride(axes.size(), 0);
            stride[axis_of(it.axis)] = it.stride;
            mode.shape.push_back(it.extent);
            mode.stride.push_back(stride);
        }
        return mode;
    };
    IndexPoint offset(axes.size(), 0);
    for (const auto &[axis, by] : layout.offset) {
        offset[axis_of(axis)] += by;
    }
    auto places = IndexMap::mixed_radix({mode_of(layout.shard), mode_of(layout.replica)}, offset);
    return {IndexMap::project(places.domain(), {0}), places};
}

}// namespace luisa::tile
