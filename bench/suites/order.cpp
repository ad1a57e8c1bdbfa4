// SPDX-License-Identifier: Apache-2.0
// Sorting of rows and the largest of each row, with the places of the values.
#include "suite.h"

#include <luisa/tile/sort.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>

namespace bench {

namespace {

using namespace luisa::tile;

auto sort_source() {
    return tile_kernel(
        [](TensorView<const float, 2> X, TensorView<float, 2> Y, TensorView<int64_t, 2> I) {
            auto c = axis("column", X.extent(1));
            for (auto &nest : parallel(shape(X.extent(0)))) {
                auto row = nest.index();
                auto sorted = sort(X[coord(row, 0), shape(1, c)], c);
                Y(coord(row, 0), shape(1, c)).store(sorted.values);
                I(coord(row, 0), shape(1, c)).store(sorted.indices);
            }
        });
}

auto topk_source(int64_t k) {
    return tile_kernel(
        [k](TensorView<const float, 2> X, TensorView<float, 2> Y, TensorView<int64_t, 2> I) {
            auto c = axis("column", X.extent(1)), first = axis(c.dim, k);
            for (auto &nest : parallel(shape(X.extent(0)))) {
                auto row = nest.index();
                auto best = topk(X[coord(row, 0), shape(1, c)], c, k);
                Y(coord(row, 0), shape(1, first)).store(best.values);
                I(coord(row, 0), shape(1, first)).store(best.indices);
            }
        });
}

std::vector<double> reference(const LinesProblem &p) {
    std::vector<double> all;
    for (int64_t r = 0; r < p.rows; ++r) {
        std::vector<double> row(p.x + r * p.columns, p.x + (r + 1) * p.columns);
        std::sort(row.begin(), row.end());
        if (p.kind == LinesKind::TOPK_ROWS) {
            std::reverse(row.begin(), row.end());
        }
        all.insert(all.end(), row.begin(), row.begin() + p.k);
    }
    return all;
}

/// Values against the reference; infinite where a place does not hold its value.
double error_of(const LinesProblem &p, const std::vector<double> &expected) {
    for (int64_t i = 0; i < p.rows * p.k; ++i) {
        auto place = p.places[i];
        bool there = place >= 0 && place < p.columns;
        if (!there || p.x[i / p.k * p.columns + place] != p.y[i]) {
            return std::numeric_limits<double>::infinity();
        }
    }
    return max_error(p.y, expected);
}

Subject prepare(const Device &device, LinesProblem p) {
    const Mirror<float, 2> x{device, p.rows, p.columns}, y{device, p.rows, p.k};
    const Mirror<int64_t, 2> places{device, p.rows, p.k};
    fill(x, 1);
    p.x = x.host();
    p.y = y.host();
    p.places = places.host();
    const auto &xt = x.tensor(), &yt = y.tensor();
    auto subject = p.kind == LinesKind::SORT_ROWS
                       ? make_subject(device, sort_source(), xt, yt, places.tensor())
                       : make_subject(device, topk_source(p.k), xt, yt, places.tensor());
    auto expected = std::make_shared<std::vector<double>>(reference(p));
    subject.peer = [p](Peer &peer) { return peer.call(p); };
    subject.error = [p, x, y, places, expected] {
        y.pull();
        places.pull();
        return error_of(p, *expected);
    };
    subject.poison = [y, places] {
        fill_nan(y);
        std::fill_n(places.host(), places.size(), int64_t{-1});
        places.push();
    };
    return subject;
}

Case make_case(LinesKind kind, int64_t rows, int64_t columns, int64_t k) {
    LinesProblem p;
    p.kind = kind;
    p.rows = rows;
    p.columns = columns;
    p.k = k;
    auto name = fmt::format("{}x{}", rows, columns);
    if (kind == LinesKind::TOPK_ROWS) {
        name += fmt::format("-{}", k);
    }
    auto bytes = 4 * columns + 12 * k;
    return {.name = name,
            .dtype = "f32",
            .work = {.bytes = static_cast<double>(rows * bytes)},
            .tolerance = 0,
            .prepare = [p](const Device &d) { return prepare(d, p); }};
}

using SortSizes = std::vector<std::array<int64_t, 2>>;
using TopkSizes = std::vector<std::array<int64_t, 3>>;

std::vector<Case> sorts(const SortSizes &sizes) {
    std::vector<Case> all;
    for (auto [rows, columns] : sizes) {
        all.push_back(make_case(LinesKind::SORT_ROWS, rows, columns, columns));
    }
    return all;
}
std::vector<Case> selections(const TopkSizes &sizes) {
    std::vector<Case> all;
    for (auto [rows, columns, k] : sizes) {
        all.push_back(make_case(LinesKind::TOPK_ROWS, rows, columns, k));
    }
    return all;
}

std::vector<Case> sort_cases() {
    return sorts({{1024, 1024}, {257, 1000}, {8192, 64}, {64, 8192}, {7, 5}});
}
std::vector<Case> sort_gpu() {
    return sorts({{8192, 4096}, {8192, 1024}, {65536, 64}, {4095, 1000}, {33, 129}, {7, 5}});
}
std::vector<Case> topk_cases() {
    return selections(
        {{1024, 1024, 64}, {1024, 4096, 64}, {1024, 1024, 8}, {257, 1000, 1}, {7, 5, 2}});
}
std::vector<Case> topk_gpu() {
    return selections({{8192, 4096, 64},
                       {8192, 1024, 64},
                       {8192, 1024, 8},
                       {4095, 1000, 1},
                       {33, 129, 8},
                       {7, 5, 2}});
}

const Registered sorting{{"sort", "rows in ascending order, with places", sort_cases, sort_gpu}};
const Registered selection{{"topk", "the largest of each row, with places", topk_cases, topk_gpu}};

}// namespace

}// namespace bench
