// SPDX-License-Identifier: Apache-2.0
#include "unit/cache/support.h"

#include <luisa/tile.h>
#include <luisa/tile/autotune.h>

#include <cmath>

// Choosing among configurations by measuring them.

namespace luisa::tile::test {

namespace {

/// y += x in tiles of `width`, plus `error`; more passes take longer.
struct Config {
    int width = 64;
    int passes = 1;
    float error = 0;
};

auto adding(Config c) {
    return tile_kernel([=](TensorView<const float, 1> X, TensorView<float, 1> Y) {
        auto i = axis("i", c.width);
        for (auto &nest : parallel(shape(ceil_div(Y.extent(0), c.width)))) {
            auto at = coord(nest.index() * c.width);
            auto x = X[at, shape(i)];
            auto waste = zeros<float>(shape(i));
            for (auto &pass : nest.serial(range(0, c.passes, 1))) {
                waste += sin(x + cast<float>(pass.index()));
            }
            // Too small to change a sum, too real to be dropped.
            Y(at, shape(i)).store(Y[at, shape(i)] + x + waste * 1e-30f + c.error);
        }
    });
}

class Autotune : public ::testing::Test {
protected:
    static constexpr int64_t n = 3000;
    Device device(int threads = 1) {
        return Device::create("cpu",
                              {.threads = threads,
                               .cache_directory = folder.path(),
                               .warn = [this](const std::string &s) { lines.push_back(s); }});
    }
    TuneOptions options() {
        return {.samples = 3, .sample_ms = 0.2, .progress = [this](const std::string &s) {
                    lines.push_back(s);
                }};
    }
    void make(const Device &device) {
        x = make_tensor<float>(device, n);
        y = make_tensor<float>(device, n);
        for (int64_t i = 0; i < n; ++i) {
            x.at(i) = static_cast<float>(i % 17);
            y.at(i) = static_cast<float>(i);
        }
    }
    void expect_unchanged() {
        for (int64_t i = 0; i < n; ++i) {
            ASSERT_EQ(y.at(i), static_cast<float>(i));
        }
    }
    Folder folder;
    std::vector<std::string> lines;
    Tensor<float, 1> x, y;
};

TEST_F(Autotune, takes_the_fastest_and_leaves_the_arguments_as_they_were) {
    auto cpu = device();
    make(cpu);
    std::vector<Config> configs{{64, 400}, {64, 1}, {64, 200}};
    auto best = autotune(cpu, configs, adding, std::tie(x, y), options());
    EXPECT_EQ(best.index, 1u);
    EXPECT_EQ(best.config.passes, 1);
    EXPECT_FALSE(best.remembered);
    ASSERT_EQ(best.trials.size(), 3u);
    for (const auto &trial : best.trials) {
        EXPECT_TRUE(trial.works()) << trial.problem;
        EXPECT_GT(trial.microseconds, 0);
        EXPECT_GE(trial.microseconds, best.trials[1].microseconds);
    }
    expect_unchanged();
    Stream stream{cpu};
    stream << best.shader(x, y).dispatch();
    EXPECT_EQ(y.at(20), 23.0f);
    ASSERT_EQ(lines.size(), 4u);
    EXPECT_EQ(lines[0].substr(0, 26), "autotune 1/3: compiled in ");
    EXPECT_EQ(lines[3].substr(0, 45), "autotune: configuration 2 of 3 is the fastest");
}

TEST_F(Autotune, remembers_the_choice_for_the_same_kernels_device_and_arguments) {
    auto cpu = device();
    make(cpu);
    std::vector<Config> configs{{64, 400}, {64, 1}};
    auto first = autotune(cpu, configs, adding, std::tie(x, y), options());
    lines.clear();
    auto again = device();
    auto second = autotune(again, configs, adding, std::tie(x, y), options());
    EXPECT_TRUE(second.remembered);
    EXPECT_EQ(second.index, first.index);
    EXPECT_EQ(second.trials[0].microseconds, first.trials[0].microseconds);
    EXPECT_TRUE(lines.empty());
    expect_unchanged();
    EXPECT_FALSE(
        autotune(again, std::vector<Config>{{64, 400}, {32, 1}}, adding, std::tie(x, y), options())
            .remembered);
    EXPECT_FALSE(autotune(device(2), configs, adding, std::tie(x, y), options()).remembered);
    auto forgetful = options();
    forgetful.remember = false;
    EXPECT_FALSE(autotune(again, configs, adding, std::tie(x, y), forgetful).remembered);
}

TEST_F(Autotune, drops_what_is_wrong_or_cannot_be_captured) {
    auto cpu = device();
    make(cpu);
    std::vector<Config> configs{{64, 50}, {64, 1, 7.0f}, {-3, 1}, {32, 60}};
    auto best = autotune(cpu, configs, adding, std::tie(x, y), options());
    EXPECT_TRUE(best.index == 0 || best.index == 3);
    EXPECT_EQ(best.trials[1].problem.substr(0, 53),
              "wrong result: element 0 of argument 1 is 7, expected ");
    EXPECT_TRUE(std::isinf(best.trials[1].microseconds));
    EXPECT_NE(best.trials[2].problem.find("-3"), std::string::npos) << best.trials[2].problem;
    EXPECT_TRUE(best.trials[3].works());
    expect_unchanged();
}

TEST_F(Autotune, can_take_the_interpreter_for_the_reference) {
    auto cpu = device();
    make(cpu);
    // The first one is wrong here: all others would be dropped beside it.
    auto make_kernel = [](int i) { return adding({64, 1, i == 0 ? 7.0f : 0.0f}); };
    auto careful = options();
    auto best = autotune(cpu, std::vector<int>{0, 1}, make_kernel, std::tie(x, y), careful);
    EXPECT_EQ(best.index, 0u);
    careful.reference = TuneReference::INTERPRETER;
    careful.remember = false;
    best = autotune(cpu, std::vector<int>{1, 0}, make_kernel, std::tie(x, y), careful);
    EXPECT_EQ(best.index, 0u);
    EXPECT_FALSE(best.trials[1].works());
    expect_unchanged();
}

TEST_F(Autotune, takes_captured_kernels_and_strided_views) {
    auto cpu = device();
    auto all = make_tensor<float>(cpu, 40, 8);
    for (int64_t i = 0; i < 40; ++i) {
        for (int64_t j = 0; j < 8; ++j) {
            all.at(i, j) = static_cast<float>(i * 8 + j);
        }
    }
    auto part = all.slice(1, 2, 5);
    auto make_kernel = [&](int rows) {
        return tile_kernel([=](TensorView<float, 2> A) {
                   auto r = axis("r", rows), c = axis("c", 3);
                   for (auto &nest : parallel(shape(40 / rows))) {
                       auto at = coord(nest.index() * rows, 0);
                       A(at, shape(r, c)).store(A[at, shape(r, c)] * 2.0f);
                   }
               })
            .capture(part.meta());
    };
    auto best = autotune(cpu, std::vector<int>{1, 4, 40}, make_kernel, std::tie(part), options());
    for (const auto &trial : best.trials) {
        EXPECT_TRUE(trial.works()) << trial.problem;
    }
    for (int64_t i = 0; i < 40; ++i) {
        for (int64_t j = 0; j < 8; ++j) {
            EXPECT_EQ(all.at(i, j), static_cast<float>(i * 8 + j));
        }
    }
}

template<class F> std::string message_of(const F &f) {
    try {
        f();
    } catch (const Error &error) {
        return std::string{to_string(error.kind())} + ": " + error.message();
    }
    return "no error";
}

TEST_F(Autotune, says_what_is_wrong_with_a_call) {
    auto cpu = device();
    make(cpu);
    std::vector<Config> configs{{64, 1}};
    auto tune = [&](const std::vector<Config> &list, const TuneOptions &how) {
        return message_of([&] { (void)autotune(cpu, list, adding, std::tie(x, y), how); });
    };
    EXPECT_EQ(tune({}, options()), "ValueError: autotune: the list of configurations is empty");
    auto bad = options();
    bad.samples = 0;
    EXPECT_EQ(tune(configs, bad),
              "ValueError: TuneOptions::samples is 0, expected a number above 0");
    bad = options();
    bad.tolerance = -1;
    EXPECT_EQ(tune(configs, bad),
              "ValueError: TuneOptions::tolerance is -1, expected a number >= 0");
    EXPECT_EQ(tune({{-3, 1}, {-3, 2}}, options()).substr(0, 75),
              "UnsupportedError: autotune: none of the 2 configurations works; the first: ");
    y.free();
    EXPECT_EQ(message_of([&] {
                  (void)autotune(cpu, configs, adding, std::tie(x, y), options());
              }).substr(0, 13),
              "LifetimeError");
}

}// namespace

}// namespace luisa::tile::test
