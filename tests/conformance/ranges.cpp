// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile.h>

#include "support/both.h"

// The coordinates that a range gives to each of the four nests, known at capture or at launch.

using namespace luisa::tile;
using namespace luisa::tile::test;

namespace {

struct Range {
    const char *name;
    int64_t begin, end, step;
    [[nodiscard]] std::vector<int64_t> indices() const {
        std::vector<int64_t> list;
        for (auto i = begin; step > 0 ? i < end : i > end;) {
            list.push_back(i);
            if (__builtin_add_overflow(i, step, &i)) {
                break;
            }
        }
        return list;
    }
};
const auto ranges = ::testing::Values(
    Range{"empty", 4, 4, 1}, Range{"backwards_is_empty", 5, 3, 1},
    Range{"forwards_with_a_negative_step_is_empty", 3, 5, -1}, Range{"one_trip", 7, 8, 1},
    Range{"one_ragged_trip", 2, 5, 100}, Range{"whole", 0, 6, 1}, Range{"dividing_step", -6, 9, 3},
    Range{"ragged_step", 1, 12, 4}, Range{"negative_begin", -11, -3, 2}, Range{"down", 10, 3, -1},
    Range{"down_ragged", 10, -4, -5}, Range{"down_past_zero", 2, -3, -2},
    Range{"prime_trips", 0, 97, 1},
    Range{"step_of_2_to_the_40", 0, int64_t{5} << 40, int64_t{1} << 40},
    Range{"step_beyond_the_end", 0, 10, int64_t{1} << 62},
    Range{"ends_near_the_least_integer", INT64_MIN + 5, INT64_MIN, -3});

enum class Known { CAPTURE, LAUNCH, LAUNCH_STEP_TOO };
using Parameter = std::tuple<Range, Known>;
class EveryRange : public ::testing::TestWithParam<Parameter> {
protected:
    [[nodiscard]] Range range_case() const { return std::get<0>(GetParam()); }
    [[nodiscard]] bool at_launch() const { return std::get<1>(GetParam()) != Known::CAPTURE; }
    [[nodiscard]] IndexSpace domain(const Scalar<int64_t> &b, const Scalar<int64_t> &e,
                                    const Scalar<int64_t> &step) const {
        auto r = range_case();
        if (std::get<1>(GetParam()) == Known::LAUNCH_STEP_TOO) {
            return range(b, e, step);
        }
        return at_launch() ? range(b, e, r.step) : range(r.begin, r.end, r.step);
    }
    [[nodiscard]] std::vector<uint64_t> scalars() const {
        return {bits_of(range_case().begin), bits_of(range_case().end), bits_of(range_case().step)};
    }
};

/// An order-sensitive hash, in wrapping arithmetic as the language has it.
int64_t mix(int64_t state, int64_t x) {
    return static_cast<int64_t>(static_cast<uint64_t>(state) * 31 + static_cast<uint64_t>(x));
}
Scalar<int64_t> mix(const Scalar<int64_t> &state, const Scalar<int64_t> &x) {
    return state * 31 + x;
}
int64_t integer_at(const View &v, size_t i) {
    int64_t x = 0;
    std::memcpy(&x, v.bytes.data() + i * 8, 8);
    return x;
}
std::string range_name(const ::testing::TestParamInfo<Parameter> &i) {
    const char *known[] = {"", "_at_launch", "_and_its_step_at_launch"};
    return std::string{std::get<0>(i.param).name} + known[static_cast<int>(std::get<1>(i.param))];
}
View integers(int64_t n) { return dense<int64_t>({n}, {-77}); }

}// namespace

TEST_P(EveryRange, serial_visits_in_order) {
    auto def = tile_kernel([=, this](TensorView<int64_t, 1> Y, Scalar<int64_t> b, Scalar<int64_t> e,
                                     Scalar<int64_t> d) {
        Scalar<int64_t> state = 5, trips = 0;
        for (auto &s : serial(domain(b, e, d))) {
            state = mix(state, s.index());
            trips += 1;
        }
        Y(0).store(state);
        Y(1).store(trips);
    });
    auto out = run_both(def.capture(tensor_shape(2)), {integers(2)}, scalars());
    int64_t expected = 5;
    for (auto i : range_case().indices()) {
        expected = mix(expected, i);
    }
    EXPECT_EQ(integer_at(out[0], 0), expected);
    EXPECT_EQ(integer_at(out[0], 1), static_cast<int64_t>(range_case().indices().size()));
}
TEST_P(EveryRange, pipeline_equals_serial) {
    auto def = tile_kernel([=, this](TensorView<int64_t, 1> Y, Scalar<int64_t> b, Scalar<int64_t> e,
                                     Scalar<int64_t> d) {
        for ([[maybe_unused]] auto &nest : parallel(shape(1))) {
            Scalar<int64_t> state = 5;
            for (auto &s : nest.pipeline(domain(b, e, d), {.max_in_flight = 3})) {
                s.stage("first");
                auto twice = s.index() + s.index();
                s.stage("second");
                state = mix(state, twice);
            }
            Y(0).store(state);
        }
    });
    auto out = run_both(def.capture(tensor_shape(1)), {integers(1)}, scalars());
    int64_t expected = 5;
    for (auto i : range_case().indices()) {
        expected = mix(expected, static_cast<int64_t>(2 * static_cast<uint64_t>(i)));
    }
    EXPECT_EQ(integer_at(out[0], 0), expected);
}
TEST_P(EveryRange, reduce_folds_each_index_once_and_folds_keep_their_direction) {
    auto def = tile_kernel([=, this](TensorView<int64_t, 1> Y, Scalar<int64_t> b, Scalar<int64_t> e,
                                     Scalar<int64_t> d) {
        for (auto &nest : parallel(shape(1))) {
            Scalar<int64_t> sum = 9, left = 1, right = 1;
            for (auto &r : nest.reduce(domain(b, e, d))) {
                sum += r.index();
            }
            for (auto &r : nest.reduce(domain(b, e, d), reduction::fold_left)) {
                left = left * 31 + r.index();
            }
            for (auto &r : nest.reduce(domain(b, e, d), reduction::fold_right)) {
                right = r.index() + right * 31;
            }
            Y(0).store(sum);
            Y(1).store(left);
            Y(2).store(right);
        }
    });
    auto out = run_both(def.capture(tensor_shape(3)), {integers(3)}, scalars());
    auto list = range_case().indices();
    uint64_t sum = 9;
    int64_t left = 1, right = 1;
    for (size_t i = 0; i < list.size(); ++i) {
        sum += static_cast<uint64_t>(list[i]);
        left = mix(left, list[i]);
        right = mix(right, list[list.size() - 1 - i]);
    }
    EXPECT_EQ(integer_at(out[0], 0), static_cast<int64_t>(sum));
    EXPECT_EQ(integer_at(out[0], 1), left);
    EXPECT_EQ(integer_at(out[0], 2), right);
}
TEST_P(EveryRange, parallel_runs_each_index_once) {
    auto r = range_case();
    auto n = static_cast<int64_t>(r.indices().size());
    auto def = tile_kernel([=, this](TensorView<int64_t, 1> Y, Scalar<int64_t> b, Scalar<int64_t> e,
                                     Scalar<int64_t> d) {
        for (auto &nest : parallel(domain(b, e, d))) {
            auto place = (nest.index() - r.begin) / r.step;
            Y(place).store(Y(place).load() + nest.index());
        }
    });
    auto out = run_both(def.capture(tensor_shape(n + 2)), {integers(n + 2)}, scalars());
    auto list = r.indices();
    for (size_t i = 0; i < list.size(); ++i) {
        // A sum below the least integer wraps.
        EXPECT_EQ(integer_at(out[0], i), static_cast<int64_t>(static_cast<uint64_t>(list[i]) - 77));
    }
    EXPECT_EQ(integer_at(out[0], static_cast<size_t>(n)), -77);
}
INSTANTIATE_TEST_SUITE_P(Ranges, EveryRange,
                         ::testing::Combine(ranges, ::testing::Values(Known::CAPTURE, Known::LAUNCH,
                                                                      Known::LAUNCH_STEP_TOO)),
                         range_name);
