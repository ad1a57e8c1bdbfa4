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

}// namespace

}// namespace luisa::tile::interpreter::test
