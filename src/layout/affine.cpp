// SPDX-License-Identifier: Apache-2.0
#include "layout/affine.h"

#include "layout/points.h"

#include <algorithm>

namespace luisa::tile::core {

namespace {

constexpr Wide far_away = Wide{1} << 100;

Wide clamped(Wide value) { return std::clamp(value, -far_away, far_away); }

/// The digit of `rest`, which then keeps what the slower digits stand for.
int64_t take_digit(int64_t &rest, const LayoutMode &mode, size_t j) {
    if (j + 1 == mode.shape.size()) {
        return rest;
    }
    auto digit = rest % mode.shape[j];
    rest /= mode.shape[j];
    return digit;
}

/// One coordinate's part of one output, counting the digits `only` selects.
struct Part {
    Wide low = 0, high = 0;
    int64_t lowest = 0, highest = 0;
};

/// Over coordinates 0 … limit - 1. A coordinate below `limit` agrees with limit - 1 in its slow digits, is less in
/// one and free in the faster ones: each of these families has its extremes at the ends of its digits.
template<class Selects>
Part part_of(const LayoutMode &mode, int64_t limit, size_t output, const Selects &selects) {
    struct Place {
        Wide step;
        int64_t top, lower;
    };
    std::vector<Place> places;
    int64_t rest = limit - 1, lower = 1;
    for (size_t j = 0; j < mode.shape.size(); ++j) {
        Wide step = selects(j) ? Wide{mode.stride[j][output]} : Wide{0};
        places.push_back({step, take_digit(rest, mode, j), lower});
        lower = j + 1 == mode.shape.size() ? lower : lower * mode.shape[j];
        if (rest == 0) {
            break;// slower digits are zero
        }
    }
    Part out{0, 0, 0, 0};
    bool first = true;
    for (int sign : {1, -1}) {
        Wide above = 0, best = 0;
        int64_t above_at = 0, best_at = 0;
        for (size_t j = 0; j < places.size(); ++j) {
            best += clamped(sign * places[j].step * places[j].top);
        }
        best_at = limit - 1;
        for (size_t p = places.size(); p-- > 0;) {
            if (places[p].top > 0) {
                Wide sum = above;
                int64_t at = above_at;
                auto take = [&](size_t j, int64_t most) {
                    if (sign * places[j].step > 0) {
                        sum += clamped(sign * places[j].step * most);
                        at += places[j].lower * most;
                    }
                };
                take(p, places[p].top - 1);
                for (size_t j = 0; j < p; ++j) {
                    take(j, mode.shape[j] - 1);
                }
                if (sum > best) {
                    best = sum;
                    best_at = at;
                }
            }
            above += clamped(sign * places[p].step * places[p].top);
            above_at += places[p].lower * places[p].top;
        }
        (first ? out.high : out.low) = sign * best;
        (first ? out.highest : out.lowest) = best_at;
        first = false;
    }
    return out;
}

bool every_digit(size_t) { return true; }

}// namespace

std::optional<IndexPoint> Affine::at(const IndexPoint &point) const {
    auto image = offset;
    for (size_t c = 0; c < modes.size(); ++c) {
        auto rest = point[c];
        for (size_t j = 0; j < modes[c].shape.size(); ++j) {
            auto digit = take_digit(rest, modes[c], j);
            for (size_t o = 0; o < image.size(); ++o) {
                int64_t step = 0;
                if (__builtin_mul_overflow(digit, modes[c].stride[j][o], &step) ||
                    __builtin_add_overflow(image[o], step, &image[o])) {
                    return std::nullopt;
                }
            }
        }
    }
    return image;
}

bool DigitBox::any_ragged() const {
    return std::find(ragged.begin(), ragged.end(), true) != ragged.end();
}

DigitBox digits_of(const Affine &map, const IndexPoint &extents) {
    DigitBox out;
    for (size_t c = 0; c < extents.size(); ++c) {
        const auto &mode = map.modes[c];
        int64_t lower = 1, covered = 1;
        for (size_t j = 0; j < mode.shape.size(); ++j) {
            auto left = (extents[c] - 1) / lower + 1;// values of this digit and the slower ones
            auto extent = j + 1 == mode.shape.size() ? left : std::min(left, mode.shape[j]);
            if (extent > 1) {
                out.digits.push_back({c, extent, lower, mode.stride[j]});
            }
            if (left <= extent) {
                covered = extent > 1 ? (extents[c] % lower == 0 ? extents[c] : 0) : extents[c];
                break;
            }
            lower *= mode.shape[j];
        }
        out.ragged.push_back(extents[c] > 1 && !mode.shape.empty() && covered != extents[c]);
    }
    return out;
}

Extremes extremes_of(const Affine &map, const IndexPoint &extents, size_t output) {
    Extremes out{map.offset[output], map.offset[output], {}, {}};
    for (size_t c = 0; c < extents.size(); ++c) {
        auto part = part_of(map.modes[c], extents[c], output, every_digit);
        out.low = clamped(out.low + part.low);
        out.high = clamped(out.high + part.high);
        out.lowest.push_back(part.lowest);
        out.highest.push_back(part.highest);
    }
    return out;
}

IndexPoint natural_extents(const Affine &map, const IndexPoint &extents) {
    IndexPoint out(map.offset.size(), 0);
    if (std::find(extents.begin(), extents.end(), 0) == extents.end()) {
        for (size_t o = 0; o < out.size(); ++o) {
            auto end = extremes_of(map, extents, o).high + 1;
            out[o] = static_cast<int64_t>(std::clamp<Wide>(end, 0, INT64_MAX));
        }
    }
    return out;
}

LayoutProof::Claim prove_defined(const Affine &map, const IndexPoint &extents) {
    auto fits = [](Wide value) { return value >= INT64_MIN && value <= INT64_MAX; };
    for (size_t o = 0; o < map.offset.size(); ++o) {
        Wide low = map.offset[o], high = map.offset[o];
        IndexPoint lowest(extents.size(), 0), highest(extents.size(), 0);
        for (size_t c = 0; c < extents.size(); ++c) {
            Part sum;
            for (size_t j = 0; j < map.modes[c].shape.size(); ++j) {
                auto one = part_of(map.modes[c], extents[c], o, [j](size_t k) { return k == j; });
                sum = part_of(map.modes[c], extents[c], o, [j](size_t k) { return k <= j; });
                IndexPoint at(extents.size(), 0);
                if (!fits(one.low) || !fits(one.high)) {
                    at[c] = fits(one.low) ? one.highest : one.lowest;
                    return {Proof::DISPROVEN, {at}};
                }
                if (!fits(low + sum.low) || !fits(high + sum.high)) {
                    bool below = !fits(low + sum.low);
                    at = below ? lowest : highest;
                    at[c] = below ? sum.lowest : sum.highest;
                    return {Proof::DISPROVEN, {at}};
                }
            }
            low += sum.low;
            high += sum.high;
            lowest[c] = sum.lowest;
            highest[c] = sum.highest;
        }
    }
    return {Proof::PROVEN, {}};
}

Affine product_affine(const Affine &a, const Affine &b) {
    Affine out = a;
    auto before = a.offset.size(), after = b.offset.size();
    out.offset.insert(out.offset.end(), b.offset.begin(), b.offset.end());
    for (auto &mode : out.modes) {
        for (auto &stride : mode.stride) {
            stride.resize(before + after, 0);
        }
    }
    for (auto mode : b.modes) {
        for (auto &stride : mode.stride) {
            stride.insert(stride.begin(), before, 0);
        }
        out.modes.push_back(std::move(mode));
    }
    return out;
}

namespace {

/// One digit of `inner` with its step in one coordinate of `outer`, cut at the digits of that coordinate.
struct Cut {
    int64_t extent;   ///< of the part of the inner digit
    IndexPoint stride;///< what it adds to the image
};

/// Adds what an inner digit of `extent` steps of `step` does to the outer coordinate of `mode`. `used` counts per
/// outer digit what its contributions reach, so that no sum carries into the next. False where it is not affine.
bool cut_digit(const LayoutMode &mode, int64_t extent, int64_t step, std::vector<Wide> &used,
               size_t rank, std::vector<Cut> &out) {
    int64_t lower = 1;
    for (size_t k = 0; k < mode.shape.size() && extent > 1; ++k) {
        bool last = k + 1 == mode.shape.size();
        Wide end = last ? Wide{INT64_MAX} : Wide{lower} * mode.shape[k];
        if (step < end) {
            if (step % lower != 0) {
                return false;
            }
            auto within = last ? extent : std::min<Wide>(extent, (end - 1) / step + 1);
            if (within < extent && end % step != 0) {
                return false;
            }
            auto taken = static_cast<int64_t>(within);
            if (extent % taken != 0) {
                return false;
            }
            auto times = step / lower;
            used[k] += Wide{times} * (taken - 1);
            IndexPoint stride(rank, 0);
            for (size_t o = 0; o < rank; ++o) {
                if (__builtin_mul_overflow(mode.stride[k][o], times, &stride[o])) {
                    return false;
                }
            }
            out.push_back({taken, stride});
            extent /= taken;
            if (extent > 1) {
                step = static_cast<int64_t>(end);
            }
        }
        lower = last ? lower : static_cast<int64_t>(end);
    }
    return extent == 1;
}

}// namespace

std::optional<Affine> compose_affine(const Affine &outer, const Affine &inner,
                                     const IndexPoint &extents) {
    auto rank = outer.offset.size();
    auto box = digits_of(inner, extents);
    std::vector<std::vector<Wide>> used;
    for (const auto &mode : outer.modes) {
        used.emplace_back(mode.shape.size(), Wide{0});
    }
    for (size_t i = 0; i < outer.modes.size(); ++i) {
        if (outer.modes[i].shape.size() > 1 && inner.offset[i] != 0) {
            return std::nullopt;// an offset may carry between digits
        }
    }
    auto start = outer.at(inner.offset);
    if (!start) {
        return std::nullopt;
    }
    Affine out{std::vector<LayoutMode>(extents.size()), *start};
    for (const auto &digit : box.digits) {
        auto &mode = out.modes[digit.coordinate];
        std::vector<Cut> cuts;
        size_t moving = 0;
        for (size_t i = 0; i < outer.modes.size(); ++i) {
            moving += digit.stride[i] != 0;
        }
        IndexPoint linear(rank, 0);
        for (size_t i = 0; i < outer.modes.size(); ++i) {
            auto step = digit.stride[i];
            if (step == 0 || outer.modes[i].shape.empty()) {
                continue;
            }
            if (outer.modes[i].shape.size() == 1) {
                for (size_t o = 0; o < rank; ++o) {
                    int64_t times = 0;
                    if (__builtin_mul_overflow(outer.modes[i].stride[0][o], step, &times) ||
                        __builtin_add_overflow(linear[o], times, &linear[o])) {
                        return std::nullopt;
                    }
                }
            } else if (moving > 1 || step < 0 ||
                       !cut_digit(outer.modes[i], digit.extent, step, used[i], rank, cuts)) {
                return std::nullopt;
            }
        }
        if (cuts.empty()) {
            cuts.push_back({digit.extent, linear});
        }
        // Digits of extent 1 were left out, so the ones before fill the coordinate up to this one.
        for (const auto &cut : cuts) {
            mode.shape.push_back(cut.extent);
            mode.stride.push_back(cut.stride);
        }
    }
    for (size_t i = 0; i < used.size(); ++i) {
        for (size_t k = 0; k + 1 < used[i].size(); ++k) {
            if (used[i][k] >= outer.modes[i].shape[k]) {
                return std::nullopt;// sums carry
            }
        }
    }
    return out;
}

}// namespace luisa::tile::core
