// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulator/matrix.h"

#include "types/convert.h"

#include <cmath>
#include <cstring>
#include <vector>

namespace luisa::tile::emulator {

namespace {

/// A sum of doubles without any rounding: parts that do not overlap, the smallest first.
class ExactSum {
public:
    void add(double x) {
        if (!std::isfinite(x) || !std::isfinite(_special)) {
            _special += x;
            return;
        }
        size_t kept = 0;
        for (double y : _parts) {
            if (std::fabs(x) < std::fabs(y)) {
                std::swap(x, y);
            }
            double high = x + y, low = y - (high - x);
            if (low != 0) {
                _parts[kept++] = low;
            }
            x = high;
        }
        _parts.resize(kept);
        _parts.push_back(x);
    }
    /// The product, which may need two parts.
    void add_product(double a, double b) {
        double product = a * b;
        add(product);
        if (std::isfinite(product)) {
            add(std::fma(a, b, -product));
        }
    }
    /// Rounded to the nearest double.
    [[nodiscard]] double nearest() const {
        if (!std::isfinite(_special)) {
            return _special;
        }
        auto n = _parts.size();
        double high = n ? _parts[--n] : 0, low = 0;
        while (n > 0) {
            double x = high, y = _parts[--n];
            high = x + y;
            low = y - (high - x);
            if (low != 0) {
                break;
            }
        }
        // Half way, the parts below decide.
        if (n > 0 && (low < 0) == (_parts[n - 1] < 0)) {
            double twice = low * 2, other = high + twice;
            high = twice == other - high ? other : high;
        }
        return high;
    }
    /// A double that rounds to any narrower type as the sum itself would.
    [[nodiscard]] double sticky() const {
        double near = nearest();
        if (!std::isfinite(near)) {
            return near;
        }
        auto rest = *this;
        rest.add(-near);
        double beyond = rest.nearest();
        uint64_t bits = 0;
        std::memcpy(&bits, &near, sizeof bits);
        bool even = (bits & 1) == 0;
        return beyond != 0 && even ? std::nextafter(near, beyond > 0 ? HUGE_VAL : -HUGE_VAL) : near;
    }

private:
    std::vector<double> _parts;
    double _special = 0;
};

uint64_t load(const void *from, int element, size_t bytes) {
    uint64_t bits = 0;
    std::memcpy(&bits, static_cast<const char *>(from) + static_cast<size_t>(element) * bytes,
                bytes);
    return bits;
}

/// Cut to so many fraction bits, to the nearest, ties away from zero.
uint64_t cut(uint64_t bits, int fraction_bits) {
    auto drop = 23 - fraction_bits;
    bool special = (bits >> 23 & 0xff) == 0xff;
    return special ? bits : (bits + (uint64_t{1} << (drop - 1))) >> drop << drop;
}

/// A matrix of the warp, by rows.
std::vector<uint64_t> gather(const target::MatrixAtom &atom, target::MatrixRole role,
                             std::span<const LaneMatrices> lanes) {
    using enum target::MatrixRole;
    auto layout = target::fragment_layout(atom, role);
    auto type = role == A ? atom.a : role == B ? atom.b : atom.sum;
    auto width = role == A ? atom.k : atom.n;
    auto height = role == B ? atom.k : atom.m;
    std::vector<uint64_t> matrix(static_cast<size_t>(width * height));
    for (size_t lane = 0; lane < lanes.size(); ++lane) {
        const void *from = role == A ? lanes[lane].a : role == B ? lanes[lane].b : lanes[lane].sum;
        for (int e = 0; e < layout.elements; ++e) {
            auto place = layout.at(static_cast<int>(lane), e);
            auto bits = load(from, e, size_of(type));
            bool cuts = role != SUM && atom.fraction_bits > 0;
            matrix[static_cast<size_t>(place.row * width + place.column)] =
                cuts ? cut(bits, atom.fraction_bits) : bits;
        }
    }
    return matrix;
}

}// namespace

uint64_t sum_of_products(const ProductTypes &types, std::span<const uint64_t> row,
                         const uint64_t *column, size_t next, uint64_t before) {
    if (is_integer(types.sum)) {
        auto sum = static_cast<uint32_t>(before);
        for (size_t k = 0; k < row.size(); ++k) {
            sum += static_cast<uint32_t>(arith::to_int64(types.a, row[k]) *
                                         arith::to_int64(types.b, column[k * next]));
        }
        return sum;
    }
    ExactSum sum;
    for (size_t k = 0; k < row.size(); ++k) {
        sum.add_product(arith::to_double(types.a, row[k]),
                        arith::to_double(types.b, column[k * next]));
    }
    sum.add(arith::to_double(types.sum, before));
    bool wide = types.sum == ScalarType::FLOAT64;
    return arith::from_double(types.sum, wide ? sum.nearest() : sum.sticky());
}

void multiply(const target::MatrixAtom &atom, std::span<const LaneMatrices> lanes) {
    using enum target::MatrixRole;
    auto a = gather(atom, A, lanes), b = gather(atom, B, lanes), sums = gather(atom, SUM, lanes);
    auto layout = target::fragment_layout(atom, SUM);
    auto bytes = size_of(atom.sum);
    for (size_t lane = 0; lane < lanes.size(); ++lane) {
        for (int e = 0; e < layout.elements; ++e) {
            auto place = layout.at(static_cast<int>(lane), e);
            auto *row = &a[static_cast<size_t>(place.row * atom.k)];
            auto bits = sum_of_products(
                {atom.a, atom.b, atom.sum}, {row, static_cast<size_t>(atom.k)},
                &b[static_cast<size_t>(place.column)], static_cast<size_t>(atom.n),
                sums[static_cast<size_t>(place.row * atom.n + place.column)]);
            std::memcpy(static_cast<char *>(lanes[lane].sum) + static_cast<size_t>(e) * bytes,
                        &bits, bytes);
        }
    }
}

}// namespace luisa::tile::emulator
