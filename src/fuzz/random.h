// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace luisa::tile::fuzz {

/// SplitMix64: the same numbers from the same seed on every machine, which the standard's
/// distributions do not promise.
class Random {
public:
    explicit Random(uint64_t seed) noexcept : _state{seed} {}
    /// The stream of case `index` of a run with `seed`.
    Random(uint64_t seed, uint64_t index) noexcept : _state{seed} {
        _state = next() ^ (index * 0x9e3779b97f4a7c15u);
        next();
    }

    uint64_t next() noexcept {
        auto z = (_state += 0x9e3779b97f4a7c15u);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return z ^ (z >> 31);
    }
    /// In [0, n); n > 0.
    size_t below(size_t n) noexcept { return static_cast<size_t>(next() % n); }
    /// In [low, high].
    int64_t between(int64_t low, int64_t high) noexcept {
        return low + static_cast<int64_t>(next() % static_cast<uint64_t>(high - low + 1));
    }
    bool chance(unsigned percent) noexcept { return next() % 100 < percent; }
    /// In [0, 1).
    double unit() noexcept { return static_cast<double>(next() >> 11) * 0x1p-53; }
    template<class T> const T &pick(const std::vector<T> &list) { return list[below(list.size())]; }
    template<class T, size_t N> const T &pick(const T (&list)[N]) { return list[below(N)]; }
    template<class T> void shuffle(std::vector<T> &list) {
        for (size_t i = list.size(); i > 1; --i) {
            std::swap(list[i - 1], list[below(i)]);
        }
    }

private:
    uint64_t _state;
};

}// namespace luisa::tile::fuzz
