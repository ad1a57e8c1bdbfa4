// SPDX-License-Identifier: Apache-2.0
#include "kernel.h"

// `reduce`, `if` and `while`, and a whole product in steps.

namespace luisa::tile::interpreter::test {

namespace {

using ir::NestPayload;

NestPayload policy(ReductionPolicy p) {
    NestPayload payload;
    payload.policy = p;
    return payload;
}

// sum of x under a policy, as a region; the seed is 0.5.
float fold(const std::vector<float> &data, ReductionPolicy p) {
    Kernel k;
    auto x = data;
    std::vector<float> out(1);
    auto *tile = k.load_all(k.vector(x));
    auto r = k.over(
        Opcode::REDUCE, {static_cast<int64_t>(x.size())}, {k.full(FLOAT32, {}, 0.5)},
        [&](const Values &i, const Values &s) {
            return Values{k.op(Opcode::ADD, {s[0], k.extract(tile, {at(0)}, {i[0]})})};
        },
        policy(p));
    k.store(k.vector(out), r[0], {k.index(0)}, {});
    k.run();
    return out[0];
}

TEST(Reduce, FoldsInTheirOrder) {
    std::vector<float> x{1e8f, 1.0f, -1e8f, 3.0f};
    EXPECT_EQ(fold(x, ReductionPolicy::FOLD_LEFT), (((0.5f + 1e8f) + 1.0f) + -1e8f) + 3.0f);
    EXPECT_EQ(fold(x, ReductionPolicy::FOLD_RIGHT), (((0.5f + 3.0f) + -1e8f) + 1.0f) + 1e8f);
}

TEST(Reduce, BalancedTreeMergesTheSeedLast) {
    std::vector<float> x{0.1f, 0.7f, 1e6f, 0.3f, 33.3f};
    EXPECT_EQ(fold(x, ReductionPolicy::BALANCED_TREE),
              0.5f + (((x[0] + x[1]) + (x[2] + x[3])) + x[4]));
    EXPECT_EQ(fold({}, ReductionPolicy::BALANCED_TREE), 0.5f);
}

TEST(Reduce, BalancedTreeOfTwoStatesAndTiles) {
    Kernel k;
    std::vector<float> x{1, 2, 3, 4, 5, 6}, out(4);
    auto *tile = k.load(k.matrix(x, 3, 2), {k.index(0), k.index(0)}, {{at(0), 3}, {at(1), 2}});
    auto r = k.over(
        Opcode::REDUCE, {3}, {k.full(FLOAT32, {{at(1), 2}}, 0), k.full(FLOAT32, {{at(1), 2}}, -1)},
        [&](const Values &i, const Values &s) {
            auto *row = k.extract(tile, {at(0)}, {i[0]});
            return Values{k.op(Opcode::ADD, {s[0], row}),
                          k.op(Opcode::MAXIMUM, {k.full(FLOAT32, {}, 5.5), s[1]})};
        },
        policy(ReductionPolicy::BALANCED_TREE));
    auto *view = k.vector(out);
    k.store(view, r[0], {k.index(0)}, {{at(1), 2}});
    k.store(view, r[1], {k.index(2)}, {{at(1), 2}});
    k.run();
    EXPECT_EQ(out, (std::vector<float>{9, 12, 5.5f, 5.5f}));
}

TEST(Reduce, BalancedTreeOfMma) {
    Kernel k;
    std::vector<float> x{0.1f, 0.7f, 1e6f}, out(1);
    auto *view = k.vector(x);
    auto r = k.over(
        Opcode::REDUCE, {3}, {k.full(FLOAT32, {}, 0.25)},
        [&](const Values &i, const Values &s) {
            auto *a = k.load(view, {i[0]}, {{K, 1}});
            return Values{k.mma(a, a, s[0])};
        },
        policy(ReductionPolicy::BALANCED_TREE));
    k.store(k.vector(out), r[0], {k.index(0)}, {});
    k.run();
    EXPECT_EQ(out[0], 0.25f + ((x[0] * x[0] + x[1] * x[1]) + x[2] * x[2]));
}

TEST(Reduce, BalancedTreeOfAnotherUpdateIsUnsupported) {
    Kernel k;
    k.b.loc = {"k.cpp", 50};
    k.over(
        Opcode::REDUCE, {3}, {k.full(FLOAT32, {}, 0)},
        [&](const Values &, const Values &s) {
            return Values{k.op(Opcode::SUB, {s[0], k.full(FLOAT32, {}, 1)})};
        },
        policy(ReductionPolicy::BALANCED_TREE));
    auto message = k.error<UnsupportedError>();
    EXPECT_TRUE(says(message, "k.cpp:50"));
    EXPECT_TRUE(says(message, "balanced_tree"));
    EXPECT_TRUE(says(message, "state 0"));
}

TEST(Reduce, TreesGiveIntegerSums) {
    for (auto p : {ReductionPolicy::UNORDERED_TREE, ReductionPolicy::ORDERED_TREE,
                   ReductionPolicy::BALANCED_TREE}) {
        EXPECT_EQ(fold({1, 2, 3, 4, 5, 6, 7}, p), 28.5f);
    }
}

TEST(If, TakesOneBranch) {
    for (bool condition : {true, false}) {
        Kernel k;
        std::vector<int64_t> out(2);
        auto *view = k.vector(out);
        auto r = k.if_(
            k.scalar(BOOL, condition), {k.module.scalar(INT64)},
            [&] {
                k.store(view, k.index(1), {k.index(0)}, {});
                return Values{k.index(10)};
            },
            [&] { return Values{k.index(20)}; });
        k.store(view, r[0], {k.index(1)}, {});
        k.run();
        EXPECT_EQ(out, (condition ? std::vector<int64_t>{1, 10} : std::vector<int64_t>{0, 20}));
    }
}

TEST(While, RunsUntilTheConditionFails) {
    Kernel k;
    std::vector<int64_t> out(2);
    // Collatz steps from 27.
    auto r = k.while_(
        {k.index(27), k.index(0)},
        [&](const Values &s) {
            return k.op(Opcode::NE, {s[0], k.index(1)});
        },
        [&](const Values &s) {
            auto *odd = k.op(Opcode::EQ, {k.op(Opcode::REM, {s[0], k.index(2)}), k.index(1)});
            auto *triple = k.op(Opcode::ADD, {k.op(Opcode::MUL, {s[0], k.index(3)}), k.index(1)});
            auto *next = k.op(Opcode::ITE, {odd, triple, k.op(Opcode::DIV, {s[0], k.index(2)})});
            return Values{next, k.op(Opcode::ADD, {s[1], k.index(1)})};
        });
    k.store(k.vector(out), r[1], {k.index(0)}, {});
    k.run();
    EXPECT_EQ(out[0], 111);
}

TEST(While, ZeroTripKeepsTheStates) {
    Kernel k;
    std::vector<int64_t> out(1);
    auto r = k.while_(
        {k.index(5)},
        [&](const Values &s) {
            return k.op(Opcode::LT, {s[0], k.index(5)});
        },
        [&](const Values &s) {
            return Values{k.op(Opcode::ADD, {s[0], k.index(1)})};
        });
    k.store(k.vector(out), r[0], {k.index(0)}, {});
    k.run();
    EXPECT_EQ(out[0], 5);
}

TEST(While, HasALimit) {
    Kernel k;
    k.b.loc = {"k.cpp", 60};
    k.while_(
        {k.index(0)},
        [&](const Values &s) {
            return k.op(Opcode::EQ, {s[0], s[0]});
        },
        [&](const Values &s) { return Values{s[0]}; });
    k.options.while_limit = 100;
    auto message = k.error<StateError>();
    EXPECT_TRUE(says(message, "k.cpp:60"));
    EXPECT_TRUE(says(message, "more than 100 iterations"));
}

TEST(While, InsideANestWithTileStates) {
    Kernel k;
    std::vector<int64_t> out(3);
    auto r = k.over(Opcode::SERIAL, {3}, {k.full(INT64, {{at(0), 3}}, 0)},
                    [&](const Values &i, const Values &s) {
                        return k.while_(
                            {s[0]},
                            [&](const Values &t) {
                                return k.op(Opcode::LT, {k.extract(t[0], {at(0)}, {i[0]}), i[0]});
                            },
                            [&](const Values &t) {
                                auto *x = k.extract(t[0], {at(0)}, {i[0]});
                                auto *y = k.op(Opcode::ADD, {x, k.index(1)});
                                return Values{k.insert(t[0], y, {at(0)}, {i[0]})};
                            });
                    });
    k.store_all(k.vector(out), r[0]);
    k.run();
    EXPECT_EQ(out, (std::vector<int64_t>{0, 1, 2}));
}

TEST(Gemm, PipelineOfMmaWithEdges) {
    // C = A B for 5x7x6 in tiles of 4x4x4.
    Kernel k;
    std::vector<float> a(5 * 6), b(6 * 7), c(5 * 7, -1);
    for (size_t i = 0; i < a.size(); ++i) {
        a[i] = float(i % 5) - 2;
    }
    for (size_t i = 0; i < b.size(); ++i) {
        b[i] = float(i % 7) - 3;
    }
    auto *x = k.matrix(a, 5, 6), *y = k.matrix(b, 6, 7), *z = k.matrix(c, 5, 7);
    k.over(Opcode::PARALLEL, {2, 2}, {}, [&](const Values &i, const Values &) {
        auto *m0 = k.op(Opcode::MUL, {i[0], k.index(4)});
        auto *n0 = k.op(Opcode::MUL, {i[1], k.index(4)});
        auto *zero = k.full(FLOAT32, {{M, 4}, {N, 4}}, 0);
        auto r = k.range(Opcode::PIPELINE, 0, 6, 4, {zero}, [&](const Values &j, const Values &s) {
            auto *p = k.load(x, {m0, j[0]}, {{M, 4}, {K, 4}});
            auto *q = k.load(y, {j[0], n0}, {{K, 4}, {N, 4}});
            return Values{k.mma(p, q, s[0])};
        });
        k.store(z, r[0], {m0, n0}, {{M, 4}, {N, 4}});
        return Values{};
    });
    k.options.validate = true;
    k.run();
    for (size_t m = 0; m < 5; ++m) {
        for (size_t n = 0; n < 7; ++n) {
            float sum = 0;
            for (size_t i = 0; i < 6; ++i) {
                sum += a[m * 6 + i] * b[i * 7 + n];
            }
            EXPECT_EQ(c[m * 7 + n], sum);
        }
    }
}

}// namespace

}// namespace luisa::tile::interpreter::test
