// SPDX-License-Identifier: Apache-2.0
// Sums, running sums and transposition of an f32 matrix.
#include "suite.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <memory>

namespace bench {

namespace {

using namespace luisa::tile;

constexpr int64_t strip = 256;///< columns of one instance where lines are columns
constexpr int64_t square = 64;///< side of the block that one instance transposes

/// One row an instance.
template<class F> auto over_rows(F f) {
    return tile_kernel([f](TensorView<const float, 2> X, TensorView<float, 1> Y) {
        auto c = axis("column", X.extent(1));
        for (auto &nest : parallel(shape(X.extent(0)))) {
            auto row = nest.index();
            Y(coord(row), shape(1)).store(f(X[coord(row, 0), shape(1, c)], c));
        }
    });
}

auto sum_columns_source() {
    return tile_kernel([](TensorView<const float, 2> X, TensorView<float, 1> Y) {
        auto r = axis("row", X.extent(0)), c = axis("column", strip);
        for (auto &nest : parallel(shape(ceil_div(X.extent(1), strip)))) {
            auto c0 = nest.index() * strip;
            Y(coord(c0), shape(c)).store(reduce(X[coord(0, c0), shape(r, c)], r, add));
        }
    });
}

auto scan_rows_source() {
    return tile_kernel([](TensorView<const float, 2> X, TensorView<float, 2> Y) {
        auto c = axis("column", X.extent(1));
        for (auto &nest : parallel(shape(X.extent(0)))) {
            auto row = nest.index();
            Y(coord(row, 0), shape(1, c)).store(scan(X[coord(row, 0), shape(1, c)], c, add));
        }
    });
}

auto scan_columns_source() {
    return tile_kernel([](TensorView<const float, 2> X, TensorView<float, 2> Y) {
        auto r = axis("row", X.extent(0)), c = axis("column", strip);
        for (auto &nest : parallel(shape(ceil_div(X.extent(1), strip)))) {
            auto c0 = nest.index() * strip;
            auto x = X[coord(0, c0), shape(r, c)];
            Y(coord(0, c0), shape(r, c)).store(scan(x, r, add));
        }
    });
}

auto transpose_source() {
    return tile_kernel([](TensorView<const float, 2> X, TensorView<float, 2> Y) {
        auto r = axis("row", square), c = axis("column", square);
        for (auto &nest :
             parallel(shape(ceil_div(X.extent(0), square), ceil_div(X.extent(1), square)))) {
            auto r0 = nest.index(0) * square, c0 = nest.index(1) * square;
            auto x = X[coord(r0, c0), shape(r, c)];
            Y(coord(c0, r0), shape(c, r)).store(transpose(x, {c, r}));
        }
    });
}

std::vector<double> reference(const LinesProblem &p) {
    auto at = [&](int64_t r, int64_t c) {
        return static_cast<double>(p.x[static_cast<size_t>(r * p.columns + c)]);
    };
    bool columns = p.kind == LinesKind::SUM_COLUMNS || p.kind == LinesKind::SCAN_COLUMNS;
    bool folds = p.kind == LinesKind::SUM_ROWS || p.kind == LinesKind::SUM_COLUMNS ||
                 p.kind == LinesKind::MAXIMUM_ROWS;
    auto lines = columns ? p.columns : p.rows, length = columns ? p.rows : p.columns;
    std::vector<double> all(static_cast<size_t>(folds ? lines : p.rows * p.columns));
    for (int64_t line = 0; line < lines; ++line) {
        double sum = 0, top = -HUGE_VAL;
        for (int64_t i = 0; i < length; ++i) {
            auto r = columns ? i : line, c = columns ? line : i;
            sum += at(r, c);
            top = std::max(top, at(r, c));
            if (!folds) {
                bool turns = p.kind == LinesKind::TRANSPOSE;
                all[static_cast<size_t>(turns ? c * p.rows + r : r * p.columns + c)] =
                    turns ? at(r, c) : sum;
            }
        }
        if (folds) {
            all[static_cast<size_t>(line)] = p.kind == LinesKind::MAXIMUM_ROWS ? top : sum;
        }
    }
    return all;
}

/// `y` is the result, a vector or a matrix.
template<class Y>
Subject finished(Subject subject, LinesProblem problem, const Mirror<float, 2> &x, const Y &y) {
    problem.x = x.host();
    problem.y = y.host();
    auto expected = std::make_shared<std::vector<double>>(reference(problem));
    subject.peer = [problem](Peer &peer) { return peer.call(problem); };
    subject.error = [x, y, expected] { return max_error(y, *expected); };
    subject.poison = [y] { fill_nan(y); };
    return subject;
}

Subject prepare(const Device &device, const LinesProblem &p) {
    const Mirror<float, 2> x{device, p.rows, p.columns};
    fill(x, 1);
    auto line = [&](const auto &source, int64_t extent) {
        const Mirror<float, 1> y{device, extent};
        return finished(make_subject(device, source, x.tensor(), y.tensor()), p, x, y);
    };
    auto whole = [&](const auto &source, int64_t rows, int64_t columns) {
        const Mirror<float, 2> y{device, rows, columns};
        return finished(make_subject(device, source, x.tensor(), y.tensor()), p, x, y);
    };
    switch (p.kind) {
        case LinesKind::SUM_ROWS:
            return line(over_rows([](const auto &t, Axis c) { return reduce(t, c, add); }), p.rows);
        case LinesKind::MAXIMUM_ROWS:
            return line(over_rows([](const auto &t, Axis c) { return reduce(t, c, maximum); }),
                        p.rows);
        case LinesKind::SUM_COLUMNS: return line(sum_columns_source(), p.columns);
        case LinesKind::SCAN_ROWS: return whole(scan_rows_source(), p.rows, p.columns);
        case LinesKind::SCAN_COLUMNS: return whole(scan_columns_source(), p.rows, p.columns);
        default: return whole(transpose_source(), p.columns, p.rows);
    }
}

struct Variant {
    const char *suffix;
    LinesKind kind;
};
using Sizes = std::vector<std::array<int64_t, 2>>;

template<size_t N>
std::vector<Case> cases_of(const std::array<Variant, N> &variants, double words,
                           const Sizes &sizes) {
    std::vector<Case> all;
    for (auto [suffix, kind] : variants) {
        for (auto [rows, columns] : sizes) {
            LinesProblem problem;
            problem.kind = kind;
            problem.rows = rows;
            problem.columns = columns;
            all.push_back({.name = fmt::format("{}x{}{}", rows, columns, suffix),
                           .dtype = "f32",
                           .work = {.bytes = 4 * words * static_cast<double>(rows * columns)},
                           .tolerance = 1e-4,
                           .prepare = [problem](const Device &d) { return prepare(d, problem); }});
        }
    }
    return all;
}

constexpr std::array<Variant, 3> reduce_variants{{{"-sum", LinesKind::SUM_ROWS},
                                                  {"-sum-columns", LinesKind::SUM_COLUMNS},
                                                  {"-maximum", LinesKind::MAXIMUM_ROWS}}};
constexpr std::array<Variant, 2> scan_variants{
    {{"-rows", LinesKind::SCAN_ROWS}, {"-columns", LinesKind::SCAN_COLUMNS}}};
constexpr std::array<Variant, 1> transpose_variants{{{"", LinesKind::TRANSPOSE}}};

const Sizes cpu_sizes{{4096, 4096}, {257, 1538}, {7, 5}};
const Sizes gpu_sizes{{4096, 4096}, {16384, 1024}, {1024, 16384}, {8192, 8192}, {8192, 4096},
                      {4095, 4097}, {257, 1538},   {33, 129},     {7, 5}};

std::vector<Case> reduce_cases() { return cases_of(reduce_variants, 1, cpu_sizes); }
std::vector<Case> reduce_gpu() { return cases_of(reduce_variants, 1, gpu_sizes); }
std::vector<Case> scan_cases() { return cases_of(scan_variants, 2, cpu_sizes); }
std::vector<Case> scan_gpu() { return cases_of(scan_variants, 2, gpu_sizes); }
std::vector<Case> transpose_cases() { return cases_of(transpose_variants, 2, cpu_sizes); }
std::vector<Case> transpose_gpu() { return cases_of(transpose_variants, 2, gpu_sizes); }

const Registered reductions{
    {"reduce", "sums and maxima of rows and columns", reduce_cases, reduce_gpu}};
const Registered scans{{"scan", "running sums along rows and columns", scan_cases, scan_gpu}};
const Registered transpositions{
    {"transpose", "a matrix by its columns", transpose_cases, transpose_gpu}};

}// namespace

}// namespace bench
