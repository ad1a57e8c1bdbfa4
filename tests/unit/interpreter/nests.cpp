// SPDX-License-Identifier: Apache-2.0
#include "kernel.h"

namespace luisa::tile::interpreter::test {

namespace {

using ir::AncestorUpdate;
using ir::NestPayload;

NestPayload updates(std::vector<AncestorUpdate> kinds) {
    NestPayload payload;
    payload.updates = std::move(kinds);
    return payload;
}

NestPayload policy(ReductionPolicy p) {
    NestPayload payload;
    payload.policy = p;
    return payload;
}

const auto inserts = updates({AncestorUpdate::INSERT});

ir::Value *iota(Kernel &k, int64_t extent) {
    return k.b.value(Opcode::IOTA, {}, k.tile(INT64, {{at(0), extent}}));
}

// Appends each visited index to `out`: s is the count.
std::vector<int64_t> visits(
    const std::function<void(Kernel &, const Kernel::Body &, ir::Value *)> &nest) {
    Kernel k;
    std::vector<int64_t> out(12, -1);
    auto *view = k.vector(out);
    nest(
        k,
        [&](const Values &i, const Values &s) {
            ir::Value *code = i[0];
            for (size_t axis = 1; axis < i.size(); ++axis) {
                code = k.op(Opcode::ADD, {k.op(Opcode::MUL, {code, k.index(10)}), i[axis]});
            }
            k.store(view, code, {s[0]}, {});
            return Values{k.op(Opcode::ADD, {s[0], k.index(1)})};
        },
        k.index(0));
    k.run();
    while (!out.empty() && out.back() == -1) {
        out.pop_back();
    }
    return out;
}

TEST(Serial, IsLexicographic) {
    auto order = visits([](Kernel &k, const Kernel::Body &body, ir::Value *zero) {
        k.over(Opcode::SERIAL, {2, 3}, {zero}, body);
    });
    EXPECT_EQ(order, (std::vector<int64_t>{0, 1, 2, 10, 11, 12}));
}

TEST(Serial, RangesUpAndDown) {
    auto count = [](int64_t begin, int64_t end, int64_t step) {
        return visits([=](Kernel &k, const Kernel::Body &body, ir::Value *zero) {
            k.range(Opcode::SERIAL, begin, end, step, {zero}, body);
        });
    };
    EXPECT_EQ(count(2, 9, 3), (std::vector<int64_t>{2, 5, 8}));
    EXPECT_EQ(count(2, 8, 3), (std::vector<int64_t>{2, 5}));
    EXPECT_EQ(count(5, 0, -2), (std::vector<int64_t>{5, 3, 1}));
    EXPECT_EQ(count(0, 5, -1), (std::vector<int64_t>{}));
    EXPECT_EQ(count(3, 3, 1), (std::vector<int64_t>{}));
    EXPECT_EQ(count(INT64_MAX - 1, INT64_MAX, INT64_MAX), (std::vector<int64_t>{INT64_MAX - 1}));
    EXPECT_EQ(count(INT64_MIN, INT64_MAX, INT64_MAX),
              (std::vector<int64_t>{INT64_MIN, -1, INT64_MAX - 1}));
}

TEST(Serial, PipelineIsTheSameWithStages) {
    auto order = visits([](Kernel &k, const Kernel::Body &body, ir::Value *zero) {
        k.range(Opcode::PIPELINE, 0, 3, 1, {zero}, [&](const Values &i, const Values &s) {
            k.b.emit(Opcode::STAGE, {}, {}, ir::NamePayload{"load"});
            return body(i, s);
        });
    });
    EXPECT_EQ(order, (std::vector<int64_t>{0, 1, 2}));
}

TEST(Serial, StepOfZeroIsAnError) {
    Kernel k;
    k.b.loc = {"k.cpp", 30};
    k.range(Opcode::SERIAL, 0, 3, 0, {}, [](const Values &, const Values &) { return Values{}; });
    auto message = k.error<ValueError>();
    EXPECT_TRUE(says(message, "k.cpp:30"));
    EXPECT_TRUE(says(message, "the step of the range is 0"));
}

TEST(Serial, TooManyIterationsIsAnError) {
    Kernel k;
    auto nothing = [](const Values &, const Values &) { return Values{}; };
    k.over(Opcode::SERIAL, {INT64_MAX, 2}, {}, nothing);
    EXPECT_TRUE(says(k.error<ResourceError>(), "2^63"));
}

TEST(Serial, ZeroTripKeepsTheInitialState) {
    for (auto op : {Opcode::SERIAL, Opcode::PIPELINE, Opcode::REDUCE}) {
        for (auto extents : {std::vector<int64_t>{0}, {3, 0}, {INT64_MAX, INT64_MAX, 0}}) {
            Kernel k;
            std::vector<int64_t> out(1);
            auto r = k.over(op, extents, {k.index(42)}, [&](const Values &, const Values &s) {
                return Values{k.op(Opcode::ADD, {s[0], k.index(1)})};
            });
            k.store(k.vector(out), r[0], {k.index(0)}, {});
            k.run();
            EXPECT_EQ(out[0], 42);
        }
    }
}

TEST(Serial, StatesUpdateSimultaneously) {
    Kernel k;
    std::vector<int64_t> out(2);
    auto r = k.over(Opcode::SERIAL, {7}, {k.index(0), k.index(1)},
                    [&](const Values &, const Values &s) {
                        return Values{s[1], k.op(Opcode::ADD, {s[0], s[1]})};
                    });
    auto *view = k.vector(out);
    k.store(view, r[0], {k.index(0)}, {});
    k.store(view, r[1], {k.index(1)}, {});
    k.run();
    EXPECT_EQ(out, (std::vector<int64_t>{13, 21}));
}

TEST(Serial, RankZeroRunsOnce) {
    Kernel k;
    std::vector<int64_t> out(1);
    auto r = k.over(Opcode::SERIAL, {}, {k.index(1)}, [&](const Values &, const Values &s) {
        return Values{k.op(Opcode::ADD, {s[0], s[0]})};
    });
    k.store(k.vector(out), r[0], {k.index(0)}, {});
    k.run();
    EXPECT_EQ(out[0], 2);
}

TEST(Serial, InsertsAccumulate) {
    Kernel k;
    std::vector<int64_t> out(4), before(4);
    auto *initial = k.full(INT64, {{at(0), 4}}, 1);
    // t[i + 1] = 2 t[i]
    auto r = k.over(Opcode::SERIAL, {3}, {initial}, [&](const Values &i, const Values &s) {
        auto *x = k.extract(s[0], {at(0)}, {i[0]});
        auto *next = k.op(Opcode::ADD, {i[0], k.index(1)});
        return Values{k.insert(s[0], k.op(Opcode::ADD, {x, x}), {at(0)}, {next})};
    });
    k.store_all(k.vector(out), r[0]);
    k.store_all(k.vector(before), initial);
    k.run();
    EXPECT_EQ(out, (std::vector<int64_t>{1, 2, 4, 8}));
    EXPECT_EQ(before, (std::vector<int64_t>{1, 1, 1, 1}));
}

TEST(Serial, NestsInNests) {
    Kernel k;
    std::vector<int64_t> out(1);
    auto r = k.over(Opcode::SERIAL, {3}, {k.index(0)}, [&](const Values &i, const Values &s) {
        return k.over(Opcode::SERIAL, {4}, {s[0]}, [&](const Values &j, const Values &t) {
            return Values{k.op(Opcode::ADD, {t[0], k.op(Opcode::MUL, {i[0], j[0]})})};
        });
    });
    k.store(k.vector(out), r[0], {k.index(0)}, {});
    k.run();
    EXPECT_EQ(out[0], 18);
}

TEST(Parallel, InstancesStore) {
    Kernel k;
    std::vector<int64_t> out(6);
    auto *view = k.matrix(out, 2, 3);
    k.over(Opcode::PARALLEL, {2, 3}, {}, [&](const Values &i, const Values &) {
        k.store(view, k.op(Opcode::SUB, {i[0], i[1]}), {i[0], i[1]}, {});
        return Values{};
    });
    k.options.validate = true;
    k.run();
    EXPECT_EQ(out, (std::vector<int64_t>{0, -1, -2, 1, 0, -1}));
}

TEST(Parallel, InsertsAreCollected) {
    Kernel k;
    std::vector<int64_t> out(5), before(5);
    auto *initial = k.full(INT64, {{at(0), 5}}, -1);
    auto r = k.over(
        Opcode::PARALLEL, {4}, {initial},
        [&](const Values &i, const Values &s) {
            return Values{k.insert(s[0], k.op(Opcode::MUL, {i[0], i[0]}), {at(0)}, {i[0]})};
        },
        inserts);
    k.store_all(k.vector(out), r[0]);
    k.store_all(k.vector(before), initial);
    k.options.validate = true;
    k.run();
    EXPECT_EQ(out, (std::vector<int64_t>{0, 1, 4, 9, -1}));
    EXPECT_EQ(before, (std::vector<int64_t>(5, -1)));
}

TEST(Parallel, InstancesSeeTheIncomingTile) {
    // Each reads its left neighbour: as it was, not as that instance made it.
    Kernel k;
    std::vector<int64_t> out(4);
    auto r = k.over(
        Opcode::PARALLEL, {4}, {iota(k, 4)},
        [&](const Values &i, const Values &s) {
            auto *left = k.extract(s[0], {at(0)}, {k.op(Opcode::SUB, {i[0], k.index(1)})});
            return Values{k.insert(s[0], k.op(Opcode::ADD, {left, k.index(100)}), {at(0)}, {i[0]})};
        },
        inserts);
    k.store_all(k.vector(out), r[0]);
    k.run();
    EXPECT_EQ(out, (std::vector<int64_t>{100, 100, 101, 102}));
}

TEST(Parallel, ChainsOfInserts) {
    Kernel k;
    std::vector<int64_t> out(6);
    auto *initial = k.full(INT64, {{at(0), 6}}, 0);
    auto r = k.over(
        Opcode::PARALLEL, {3}, {initial},
        [&](const Values &i, const Values &s) {
            auto *two_i = k.op(Opcode::MUL, {i[0], k.index(2)});
            auto *first = k.insert(s[0], k.index(7), {at(0)}, {two_i});
            // Reads its own first insert.
            auto *x = k.extract(first, {at(0)}, {two_i});
            auto *next = k.op(Opcode::ADD, {two_i, k.index(1)});
            return Values{k.insert(first, k.op(Opcode::ADD, {x, i[0]}), {at(0)}, {next})};
        },
        inserts);
    k.store_all(k.vector(out), r[0]);
    k.options.validate = true;
    k.run();
    EXPECT_EQ(out, (std::vector<int64_t>{7, 7, 7, 8, 7, 9}));
}

TEST(Parallel, NestedInserts) {
    Kernel k;
    std::vector<int64_t> out(6);
    auto *initial = k.full(INT64, {{at(0), 2}, {at(1), 3}}, 0);
    auto r = k.over(
        Opcode::PARALLEL, {2}, {initial},
        [&](const Values &i, const Values &s) {
            return k.over(
                Opcode::PARALLEL, {3}, {s[0]},
                [&](const Values &j, const Values &t) {
                    auto *value = k.op(Opcode::ADD, {k.op(Opcode::MUL, {i[0], k.index(10)}), j[0]});
                    return Values{k.insert(t[0], value, {at(0), at(1)}, {i[0], j[0]})};
                },
                inserts);
        },
        inserts);
    k.store_all(k.matrix(out, 2, 3), r[0]);
    k.options.validate = true;
    k.run();
    EXPECT_EQ(out, (std::vector<int64_t>{0, 1, 2, 10, 11, 12}));
}

TEST(Parallel, InsertsUnderACondition) {
    Kernel k;
    std::vector<int64_t> out(4);
    auto *initial = k.full(INT64, {{at(0), 4}}, -1);
    auto r = k.over(
        Opcode::PARALLEL, {4}, {initial},
        [&](const Values &i, const Values &s) {
            auto *odd = k.op(Opcode::EQ, {k.op(Opcode::REM, {i[0], k.index(2)}), k.index(1)});
            return k.if_(
                odd, {s[0]->type()}, [&] { return Values{k.insert(s[0], i[0], {at(0)}, {i[0]})}; },
                [&] { return Values{s[0]}; });
        },
        inserts);
    k.store_all(k.vector(out), r[0]);
    k.run();
    EXPECT_EQ(out, (std::vector<int64_t>{-1, 1, -1, 3}));
}

TEST(Parallel, CollectiveUpdatesHappenOnce) {
    Kernel k;
    std::vector<int64_t> out(1);
    auto r = k.over(
        Opcode::PARALLEL, {5}, {k.index(3)},
        [&](const Values &, const Values &s) {
            return Values{k.op(Opcode::ADD, {s[0], k.index(1)})};
        },
        updates({AncestorUpdate::COLLECTIVE}));
    k.store(k.vector(out), r[0], {k.index(0)}, {});
    k.run();
    EXPECT_EQ(out[0], 4);
}

TEST(Parallel, WithoutInstancesNothingChanges) {
    Kernel k;
    std::vector<int64_t> out(1);
    auto r = k.over(
        Opcode::PARALLEL, {0}, {k.index(3)},
        [&](const Values &, const Values &s) {
            return Values{k.op(Opcode::ADD, {s[0], k.index(1)})};
        },
        updates({AncestorUpdate::COLLECTIVE}));
    k.store(k.vector(out), r[0], {k.index(0)}, {});
    k.run();
    EXPECT_EQ(out[0], 3);
}

TEST(Parallel, RootNestsRunInOrder) {
    Kernel k;
    std::vector<int64_t> x(4), out(4);
    auto *a = k.vector(x);
    auto *b = k.vector(out);
    k.over(Opcode::PARALLEL, {4}, {}, [&](const Values &i, const Values &) {
        k.store(a, i[0], {i[0]}, {});
        return Values{};
    });
    k.over(Opcode::PARALLEL, {4}, {}, [&](const Values &i, const Values &) {
        k.store(b, k.load(a, {k.op(Opcode::SUB, {k.index(3), i[0]})}, {}), {i[0]}, {});
        return Values{};
    });
    k.options.validate = true;
    k.run();
    EXPECT_EQ(out, (std::vector<int64_t>{3, 2, 1, 0}));
}

TEST(Parallel, ValidationReportsCollidingStores) {
    Kernel k;
    std::vector<int64_t> out(4);
    auto *view = k.vector(out);
    k.b.loc = {"k.cpp", 40};
    k.over(Opcode::PARALLEL, {2, 3}, {}, [&](const Values &i, const Values &) {
        k.b.loc = {"k.cpp", 41};
        k.store(view, i[0], {i[1]}, {});
        return Values{};
    });
    k.run();// the last one wins without validation
    k.options.validate = true;
    auto message = k.error<RaceError>();
    EXPECT_TRUE(says(message, "k.cpp:41: RaceError: store"));
    EXPECT_TRUE(says(message, "instances (0, 0) and (1, 0)"));
    EXPECT_TRUE(says(message, "element (0) of p0"));
    EXPECT_TRUE(says(message, "(k.cpp:40)"));
}

TEST(Parallel, ValidationNamesTheIndexOfARange) {
    Kernel k;
    std::vector<int64_t> out(1);
    auto *view = k.vector(out);
    k.range(Opcode::PARALLEL, 10, 30, 10, {}, [&](const Values &i, const Values &) {
        k.store(view, i[0], {k.index(0)}, {});
        return Values{};
    });
    k.options.validate = true;
    EXPECT_TRUE(says(k.error<RaceError>(), "instances (10) and (20)"));
}

TEST(Parallel, ValidationReportsCollisionsOfOuterInstances) {
    // Inner instances are disjoint, outer ones are not.
    Kernel k;
    std::vector<int64_t> out(3);
    auto *view = k.vector(out);
    k.over(Opcode::PARALLEL, {2}, {}, [&](const Values &, const Values &) {
        k.over(Opcode::PARALLEL, {3}, {}, [&](const Values &j, const Values &) {
            k.store(view, j[0], {j[0]}, {});
            return Values{};
        });
        return Values{};
    });
    k.options.validate = true;
    EXPECT_TRUE(says(k.error<RaceError>(), "instances (0) and (1)"));
}

TEST(Parallel, ValidationReportsCollisionsThroughAliases) {
    Kernel k;
    std::vector<int64_t> out(2);
    auto *a = k.vector(out);
    auto *b = k.vector(out);
    k.over(Opcode::PARALLEL, {2}, {}, [&](const Values &i, const Values &) {
        k.store(a, i[0], {i[0]}, {});
        k.store(b, i[0], {k.index(0)}, {});
        return Values{};
    });
    k.options.validate = true;
    EXPECT_TRUE(says(k.error<RaceError>(), "element (0) of p1"));
}

TEST(Parallel, ValidationAcceptsRewritesByOneInstance) {
    Kernel k;
    std::vector<int64_t> out(2);
    auto *view = k.vector(out);
    k.over(Opcode::SERIAL, {3}, {}, [&](const Values &, const Values &) {
        k.over(Opcode::PARALLEL, {2}, {}, [&](const Values &i, const Values &) {
            k.store(view, i[0], {i[0]}, {});
            k.store(view, i[0], {i[0]}, {});
            return Values{};
        });
        return Values{};
    });
    k.options.validate = true;
    k.run();
    EXPECT_EQ(out[1], 1);
}

TEST(Parallel, ValidationReportsCollidingInserts) {
    Kernel k;
    auto *initial = k.full(INT64, {{at(0), 4}}, 0);
    k.over(
        Opcode::PARALLEL, {3}, {initial},
        [&](const Values &i, const Values &s) {
            auto *half = k.op(Opcode::DIV, {i[0], k.index(2)});
            return Values{k.insert(s[0], k.index(0), {at(0)}, {half})};
        },
        inserts);
    k.run();
    k.options.validate = true;
    auto message = k.error<RaceError>();
    EXPECT_TRUE(says(message, "instances (0) and (1)"));
    EXPECT_TRUE(says(message, "element (0) of a tile"));
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
