// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulator/panels.h"

#include "runtime/emulator/matrix.h"

#include <luisa/tile/error.h>

#include <algorithm>
#include <cstring>

namespace luisa::tile::emulator {

namespace {

/// A NaN that no arithmetic makes: the number of a chain and a lane.
constexpr uint32_t mark = 0xffc00000u, lane_bits = 8;
uint32_t stand_in(uint32_t chain, size_t lane) {
    return mark | chain << lane_bits | static_cast<uint32_t>(lane);
}
uint32_t chain_of(uint32_t bits) { return (bits & mark) == mark ? (bits & ~mark) >> lane_bits : 0; }

}// namespace

bool PanelThread::multiply(PanelProduct product, uint32_t *sums) {
    auto count = static_cast<size_t>(product.n / 2);
    product.group = _groups;
    auto known = std::find_if(_chains.begin(), _chains.end(), [&](const Chain &chain) {
        return chain.number == chain_of(sums[0]) && !chain.pending.empty();
    });
    if (known == _chains.end()) {
        if (all_done()) {
            _chains.clear();
        }
        _made = _made % ((1u << 14) - 1) + 1;
        _chains.push_back({_made, {sums, sums + count}, {product}});
        for (size_t i = 0; i < count; ++i) {
            sums[i] = stand_in(_made, i);
        }
        return _fenced;
    }
    bool whole = known->values.size() == count;
    for (size_t i = 0; i < count; ++i) {
        whole &= sums[i] == stand_in(known->number, i);
    }
    known->pending.push_back(product);
    return whole;
}

size_t PanelThread::over(const Chain &chain, int32_t groups) const noexcept {
    size_t count = 0;
    while (count < chain.pending.size() && chain.pending[count].group < _groups - groups) {
        ++count;
    }
    return count;
}

void PanelThread::give_back(int32_t lanes, uint32_t *sums) {
    for (int32_t i = 0; i < lanes; ++i) {
        auto number = chain_of(sums[i]);
        auto lane = sums[i] & ((1u << lane_bits) - 1);
        for (const auto &chain : _chains) {
            if (number && chain.number == number && chain.pending.empty() &&
                lane < chain.values.size()) {
                sums[i] = chain.values[lane];
                break;
            }
        }
    }
    // Where all came back, sums are computed with from here on: the next product needs a fence.
    _fenced = _fenced && !all_done();
}

bool PanelThread::all_done() const noexcept {
    return std::all_of(_chains.begin(), _chains.end(),
                       [](const Chain &chain) { return chain.pending.empty(); });
}

namespace {

struct Matrices {
    std::vector<uint64_t> a, b;///< by rows of a, and by rows of b
};

/// Both matrices through their descriptors. Each thread of the group asks for a part.
Matrices read_matrices(const PanelProduct &product, const target::PanelAtom &atom,
                       const PanelMemory &memory) {
    auto a = target::PanelDescriptor::of(product.a), b = target::PanelDescriptor::of(product.b);
    auto k = static_cast<size_t>(atom.k), n = static_cast<size_t>(product.n);
    Matrices found{std::vector<uint64_t>(64 * k), std::vector<uint64_t>(k * n)};
    auto read = [&](const target::PanelDescriptor &from, bool across, ScalarType type, size_t line,
                    size_t step) {
        auto bytes = size_of(type);
        auto row = static_cast<int64_t>(line), at = static_cast<int64_t>(step);
        auto offset = across ? from.across(row, at, static_cast<int64_t>(bytes))
                             : from.along(row, at, static_cast<int64_t>(bytes));
        uint64_t bits = 0;
        if (const auto *place = memory(line % 128, offset, bytes, product.at)) {
            std::memcpy(&bits, place, bytes);
        }
        return bits;
    };
    for (size_t step = 0; step < k; ++step) {
        for (size_t row = 0; row < 64; ++row) {
            found.a[row * k + step] = read(a, product.across & 1, atom.a, row, step);
        }
        for (size_t column = 0; column < n; ++column) {
            found.b[step * n + column] = read(b, product.across & 2, atom.b, column, step);
        }
    }
    return found;
}

void do_product(std::span<PanelThread *const> threads, size_t number, const PanelProduct &product,
                const PanelMemory &memory) {
    const auto &atom = target::panel_atoms()[static_cast<size_t>(product.atom)];
    bool permuted = (product.a >> 62) == 1 && (product.b >> 62) == 1;
    if (!permuted) {
        throw DeviceError{"a warpgroup multiplies matrices whose lines are not permuted"};
    }
    auto matrices = read_matrices(product, atom, memory);
    auto k = static_cast<size_t>(atom.k), n = static_cast<size_t>(product.n);
    for (size_t t = 0; t < threads.size(); ++t) {
        auto &values = threads[t]->chains()[number].values;
        for (size_t e = 0; e < values.size(); ++e) {
            auto place = target::panel_sum_at(static_cast<int>(t), static_cast<int>(e));
            auto *row = &matrices.a[static_cast<size_t>(place.row) * k];
            auto *column = &matrices.b[static_cast<size_t>(place.column)];
            values[e] = static_cast<uint32_t>(
                sum_of_products({atom.a, atom.b, atom.sum}, {row, k}, column, n, values[e]));
        }
    }
}

}// namespace

void finish_panels(std::span<PanelThread *const> threads, int32_t groups,
                   const PanelMemory &memory) {
    const auto &first = threads.front()->chains();
    auto fail = [] {
        throw DeviceError{"threads of a warpgroup ask for different products of panels"};
    };
    for (auto *thread : threads) {
        if (thread->chains().size() != first.size()) {
            fail();
        }
    }
    for (size_t number = 0; number < first.size(); ++number) {
        auto count = threads.front()->over(first[number], groups);
        for (size_t i = 0; i < count; ++i) {
            const auto product = first[number].pending[i];
            for (auto *thread : threads) {
                const auto &chain = thread->chains()[number];
                bool same = chain.pending.size() > i && chain.pending[i].a == product.a &&
                            chain.pending[i].b == product.b && chain.pending[i].n == product.n &&
                            chain.pending[i].across == product.across &&
                            thread->over(chain, groups) == count;
                if (!same) {
                    fail();
                }
            }
            do_product(threads, number, product, memory);
        }
        for (auto *thread : threads) {
            auto &pending = thread->chains()[number].pending;
            pending.erase(pending.begin(), pending.begin() + static_cast<std::ptrdiff_t>(count));
        }
    }
}

}// namespace luisa::tile::emulator
