// SPDX-License-Identifier: Apache-2.0
#include "layout/digits.h"

#include <luisa/tile/layout_ops.h>

#include <algorithm>

namespace luisa::tile {

namespace core {

std::vector<Steps> modes_of(const IndexMap &layout, const char *what) {
    auto refuse = [&](const char *why) {
        throw_error(ErrorKind::VALUE, std::string{what} + ": " + why + ": " + layout.text());
    };
    auto affine = affine_form(layout);
    if (!affine || layout.codomain().rank() != 1) {
        refuse("not a mixed-radix layout with one output");
    }
    if (!layout.domain().is_box() || layout.domain().box_is_empty()) {
        refuse("the domain is empty or no box");
    }
    if (affine->offset[0] != 0) {
        refuse("the layout does not begin at 0");
    }
    auto box = digits_of(*affine, layout.domain().extents());
    if (box.any_ragged()) {
        refuse("the domain cuts a digit short");
    }
    std::vector<Steps> modes(layout.domain().rank());
    for (const auto &digit : box.digits) {
        if (digit.stride[0] < 0) {
            refuse("a stride is negative");
        }
        modes[digit.coordinate].push_back({digit.extent, digit.stride[0]});
    }
    return modes;
}

Steps coalesced(const std::vector<Steps> &modes) {
    Steps out;
    for (const auto &mode : modes) {
        for (const auto &step : mode) {
            if (!out.empty() && Wide{out.back().extent} * out.back().stride == step.stride) {
                out.back().extent *= step.extent;
            } else if (step.extent > 1) {
                out.push_back(step);
            }
        }
    }
    return out;
}

int64_t size_of(const Steps &steps) {
    int64_t size = 1;
    for (const auto &step : steps) {
        size *= step.extent;
    }
    return size;
}

IndexMap layout_of(const std::vector<Steps> &modes) {
    std::vector<LayoutMode> out;
    for (const auto &mode : modes) {
        LayoutMode next;
        for (const auto &step : mode) {
            next.shape.push_back(step.extent);
            next.stride.push_back({step.stride});
        }
        out.push_back(std::move(next));
    }
    return IndexMap::mixed_radix(std::move(out), {0});
}

Steps composed(const Steps &outer, const Steps &inner, const char *what) {
    auto map = compose(layout_of({outer}), layout_of({inner}));
    auto whole = affine_form(map);
    Steps out;
    bool fits = whole && map.prove().totality.proof == Proof::PROVEN;
    if (fits) {
        for (const auto &digit : digits_of(*whole, map.domain().extents()).digits) {
            out.push_back({digit.extent, digit.stride[0]});
        }
    }
    if (!fits) {
        throw_error(ErrorKind::VALUE,
                    std::string{what} +
                        ": the composition has no digits of its own: " + map.text());
    }
    return out;
}

}// namespace core

using core::coalesced;
using core::composed;
using core::layout_of;
using core::modes_of;
using core::Steps;

IndexMap simplify(const IndexMap &map) {
    if (map.domain().box_is_empty() || map.prove().totality.proof != Proof::PROVEN) {
        return map;
    }
    const auto &extents = map.domain().extents();
    if (auto affine = core::affine_form(map);
        affine && core::prove_defined(*affine, extents).proof == Proof::PROVEN) {
        for (size_t c = 0; c < extents.size(); ++c) {
            if (affine->modes[c].shape.empty()) {
                affine->modes[c] = {{1}, {IndexPoint(affine->offset.size(), 0)}};
            }
        }
        return core::make_map({map.domain(), map.codomain(), *affine});
    }
    if (auto bits = core::bit_form(map)) {
        return core::make_map({map.domain(), map.codomain(), *bits});
    }
    return map;
}

IndexMap coalesce(const IndexMap &layout) {
    return layout_of({coalesced(modes_of(layout, "coalesce"))});
}

IndexMap group(const IndexMap &layout, const std::vector<std::vector<size_t>> &groups) {
    auto modes = modes_of(layout, "group");
    std::vector<Steps> out;
    for (const auto &together : groups) {
        out.emplace_back();
        for (auto i : together) {
            if (i >= modes.size()) {
                throw_error(ErrorKind::VALUE, "group: mode " + std::to_string(i) +
                                                  " of a layout of " +
                                                  std::to_string(modes.size()) + " modes");
            }
            out.back().insert(out.back().end(), modes[i].begin(), modes[i].end());
        }
    }
    return layout_of(out);
}

static Steps complement_of(const Steps &steps, int64_t size, const char *what) {
    auto sorted = steps;
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const auto &a, const auto &b) { return a.stride < b.stride; });
    Steps out;
    int64_t reached = 1;
    for (const auto &step : sorted) {
        if (step.stride == 0 || step.extent == 1) {
            continue;// adds nothing
        }
        if (step.stride % reached != 0) {
            throw_error(ErrorKind::VALUE, std::string{what} + ": the strides do not nest: " +
                                              layout_of({steps}).text());
        }
        out.push_back({step.stride / reached, reached});
        if (__builtin_mul_overflow(step.stride, step.extent, &reached)) {
            throw_error(ErrorKind::VALUE, std::string{what} + ": the layout is longer than 2^63");
        }
    }
    out.push_back({std::max<int64_t>((size - 1) / reached + 1, 1), reached});
    return coalesced({out});
}

IndexMap complement(const IndexMap &layout, int64_t size) {
    if (size < 1) {
        throw_error(ErrorKind::VALUE,
                    "complement: a size of " + std::to_string(size) + "; it is at least 1");
    }
    return layout_of(
        {complement_of(coalesced(modes_of(layout, "complement")), size, "complement")});
}

/// The digits of outer[inner], mode by mode. That modes may be composed one by one and added, without a carry from
/// one to another, is checked on the whole.
static std::vector<Steps> composed_modes(const Steps &outer, const std::vector<Steps> &inner,
                                         const char *what) {
    std::vector<Steps> out;
    for (const auto &mode : inner) {
        out.push_back(composed(outer, mode, what));
    }
    auto whole = compose(layout_of({outer}), layout_of(inner));
    if (equivalent(whole, layout_of(out)).proof != Proof::PROVEN) {
        throw_error(ErrorKind::VALUE,
                    std::string{what} +
                        ": the composition has no digits of its own: " + whole.text());
    }
    return out;
}

IndexMap layout_compose(const IndexMap &outer, const IndexMap &inner) {
    return layout_of(composed_modes(coalesced(modes_of(outer, "layout_compose")),
                                    modes_of(inner, "layout_compose"), "layout_compose"));
}

/// The tile and the rest of a layout of one coordinate.
static std::pair<Steps, Steps> divided(const Steps &layout, const IndexMap &tiler) {
    auto tile = coalesced(modes_of(tiler, "logical_divide"));
    auto rest = complement_of(tile, core::size_of(layout), "logical_divide");
    auto both = composed_modes(layout, {tile, rest}, "logical_divide");
    return {both[0], both[1]};
}

IndexMap logical_divide(const IndexMap &layout, const IndexMap &tiler) {
    auto [tile, rest] = divided(coalesced(modes_of(layout, "logical_divide")), tiler);
    return layout_of({tile, rest});
}

static std::vector<std::pair<Steps, Steps>> divided_modes(const IndexMap &layout,
                                                          const std::vector<IndexMap> &tilers) {
    auto modes = modes_of(layout, "logical_divide");
    if (modes.size() != tilers.size()) {
        throw_error(ErrorKind::SHAPE, "logical_divide: " + std::to_string(tilers.size()) +
                                          " tilers for a layout of " +
                                          std::to_string(modes.size()) + " modes");
    }
    std::vector<std::pair<Steps, Steps>> out;
    for (size_t i = 0; i < modes.size(); ++i) {
        out.push_back(divided(coalesced({modes[i]}), tilers[i]));
    }
    return out;
}

static void append(Steps &to, const Steps &steps) {
    to.insert(to.end(), steps.begin(), steps.end());
}

IndexMap logical_divide(const IndexMap &layout, const std::vector<IndexMap> &tilers) {
    std::vector<Steps> out;
    for (auto &[tile, rest] : divided_modes(layout, tilers)) {
        append(tile, rest);
        out.push_back(tile);
    }
    return layout_of(out);
}

IndexMap zipped_divide(const IndexMap &layout, const std::vector<IndexMap> &tilers) {
    std::vector<Steps> out(2);
    for (const auto &[tile, rest] : divided_modes(layout, tilers)) {
        append(out[0], tile);
        append(out[1], rest);
    }
    return layout_of(out);
}

IndexMap tiled_divide(const IndexMap &layout, const std::vector<IndexMap> &tilers) {
    std::vector<Steps> out(1);
    for (const auto &[tile, rest] : divided_modes(layout, tilers)) {
        append(out[0], tile);
        out.push_back(rest);
    }
    return layout_of(out);
}

/// The modes of the block and of its repetitions.
static std::pair<std::vector<Steps>, std::vector<Steps>> repeated(const IndexMap &block,
                                                                  const IndexMap &tiler,
                                                                  const char *what) {
    auto modes = modes_of(block, what), places = modes_of(tiler, what);
    auto flat = coalesced(modes);
    int64_t reach = 1, size = 0;
    for (const auto &step : coalesced(places)) {
        reach += (step.extent - 1) * step.stride;
    }
    if (__builtin_mul_overflow(core::size_of(flat), reach, &size)) {
        throw_error(ErrorKind::VALUE, std::string{what} + ": the product is longer than 2^63");
    }
    auto free = complement_of(flat, size, what);
    return {modes, composed_modes(free, places, what)};
}

IndexMap logical_product(const IndexMap &block, const IndexMap &tiler) {
    auto [inner, outer] = repeated(block, tiler, "logical_product");
    return layout_of({coalesced(inner), coalesced(outer)});
}

static IndexMap product_by_modes(const IndexMap &block, const IndexMap &tiler, bool raked,
                                 const char *what) {
    auto [inner, outer] = repeated(block, tiler, what);
    std::vector<Steps> out(std::max(inner.size(), outer.size()));
    inner.resize(out.size());
    outer.resize(out.size());
    for (size_t i = 0; i < out.size(); ++i) {
        append(out[i], raked ? outer[i] : inner[i]);
        append(out[i], raked ? inner[i] : outer[i]);
    }
    return layout_of(out);
}

IndexMap blocked_product(const IndexMap &block, const IndexMap &tiler) {
    return product_by_modes(block, tiler, false, "blocked_product");
}

IndexMap raked_product(const IndexMap &block, const IndexMap &tiler) {
    return product_by_modes(block, tiler, true, "raked_product");
}

IndexMap right_inverse(const IndexMap &layout) {
    auto steps = coalesced(modes_of(layout, "right_inverse"));
    std::vector<std::pair<core::Step, int64_t>> places;
    int64_t before = 1;
    for (const auto &step : steps) {
        places.emplace_back(step, before);
        before *= step.extent;
    }
    std::stable_sort(places.begin(), places.end(),
                     [](const auto &a, const auto &b) { return a.first.stride < b.first.stride; });
    Steps out;
    int64_t reached = 1;
    for (const auto &[step, number] : places) {
        if (step.stride == reached) {
            out.push_back({step.extent, number});
            reached *= step.extent;
        }
    }
    return layout_of({coalesced({out})});
}

IndexMap recast(const IndexMap &layout, int from_bits, int to_bits) {
    auto modes = modes_of(layout, "recast");
    auto refuse = [&](const std::string &why) {
        throw_error(ErrorKind::VALUE, "recast: " + why + ": " + layout.text());
    };
    bool narrower = to_bits < from_bits;
    auto large = std::max(from_bits, to_bits), small = std::min(from_bits, to_bits);
    if (small < 1 || large % small != 0) {
        refuse(std::to_string(from_bits) + " and " + std::to_string(to_bits) +
               " bits do not divide");
    }
    int64_t k = large / small;
    bool unit = k == 1;
    int64_t size = 1;
    for (auto &mode : modes) {
        for (auto &[extent, stride] : mode) {
            if (narrower) {
                (stride == 1 && !unit ? extent : stride) *= k;
                unit |= stride == 1;
            } else if (stride % k == 0) {
                stride /= k;
            } else {
                auto share = k / stride;// of these elements make a wider one
                if (k % stride != 0 || (extent % share != 0 && share % extent != 0)) {
                    refuse("a digit does not divide into elements of " + std::to_string(to_bits) +
                           " bits");
                }
                extent = std::max<int64_t>(extent / share, 1);
                stride = 1;
            }
            size *= extent;
        }
    }
    auto before = layout.domain().box_size().value_or(0);
    if (size != (narrower ? before * k : before / k) || (!narrower && before % k != 0)) {
        refuse("its elements are no runs of " + std::to_string(k));
    }
    return layout_of(modes);
}

}// namespace luisa::tile
