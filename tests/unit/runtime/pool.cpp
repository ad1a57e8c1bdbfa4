// SPDX-License-Identifier: Apache-2.0
#include "runtime/cpu/pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <thread>

namespace luisa::tile::runtime {

namespace {

struct Marks {
    explicit Marks(size_t n) : seen(n) {}
    std::vector<std::atomic<int>> seen;
    static void mark(void *context, int64_t begin, int64_t end) {
        auto &self = *static_cast<Marks *>(context);
        for (auto i = begin; i < end; ++i) {
            self.seen[static_cast<size_t>(i)].fetch_add(1, std::memory_order_relaxed);
        }
    }
    [[nodiscard]] bool each_exactly(int times) const {
        for (const auto &s : seen) {
            if (s.load() != times) {
                return false;
            }
        }
        return true;
    }
};

}// namespace

TEST(Pool, each_task_runs_once_whatever_threads_and_grain) {
    for (int threads : {1, 2, 3, 7, 64}) {
        Pool pool{threads};
        for (int64_t count : {0, 1, 2, 3, 63, 64, 65, 1000, 70000}) {
            for (int64_t grain : {1, 2, 7, 1000, 100000}) {
                Marks marks{static_cast<size_t>(count)};
                pool.run(count, grain, Marks::mark, &marks);
                ASSERT_TRUE(marks.each_exactly(1)) << threads << " " << count << " " << grain;
            }
        }
    }
}

TEST(Pool, a_hundred_thousand_tiny_jobs) {
    Pool pool{3};
    std::atomic<int64_t> sum{0};
    for (int i = 0; i < 100000; ++i) {
        pool.run(
            4, 1,
            [](void *context, int64_t begin, int64_t) {
                static_cast<std::atomic<int64_t> *>(context)->fetch_add(begin);
            },
            &sum);
    }
    EXPECT_EQ(sum.load(), 6 * 100000);
}

TEST(Pool, sleeping_workers_wake_again) {
    Pool pool{4};
    for (int i = 0; i < 5; ++i) {
        while (pool.hot()) {
            std::this_thread::yield();
        }
        Marks marks{1000};
        pool.run(1000, 1, Marks::mark, &marks);
        ASSERT_TRUE(marks.each_exactly(1));
    }
}

TEST(Pool, nested_runs_stay_on_their_thread) {
    struct Context {
        Pool *pool;
        std::atomic<int> inner{0};
        std::atomic<bool> moved{false};
    };
    Pool pool{4};
    Context context{&pool};
    pool.run(
        50, 1,
        [](void *c, int64_t, int64_t) {
            auto thread = std::this_thread::get_id();
            struct Inner {
                Context *context;
                std::thread::id thread;
            } inner{static_cast<Context *>(c), thread};
            inner.context->pool->run(
                20, 1,
                [](void *i, int64_t begin, int64_t end) {
                    auto &self = *static_cast<Inner *>(i);
                    self.context->inner += static_cast<int>(end - begin);
                    if (std::this_thread::get_id() != self.thread) {
                        self.context->moved = true;
                    }
                },
                &inner);
        },
        &context);
    EXPECT_EQ(context.inner.load(), 1000);
    EXPECT_FALSE(context.moved.load());
}

TEST(Pool, an_exception_comes_out_and_the_pool_stays_usable) {
    Pool pool{4};
    for (int round = 0; round < 200; ++round) {
        try {
            pool.run(
                100, 1,
                [](void *, int64_t begin, int64_t) {
                    if (begin % 10 == 3) {
                        throw std::runtime_error{"task " + std::to_string(begin)};
                    }
                },
                nullptr);
            FAIL();
        } catch (const std::runtime_error &error) {
            EXPECT_EQ(std::string{error.what()}.substr(0, 5), "task ");
        }
        Marks marks{64};
        pool.run(64, 1, Marks::mark, &marks);
        ASSERT_TRUE(marks.each_exactly(1));
    }
}

TEST(Pool, an_exception_of_a_nested_run_keeps_later_runs_nested) {
    Pool pool{2};
    for (int i = 0; i < 100; ++i) {
        EXPECT_THROW(pool.run(
                         8, 1,
                         [](void *c, int64_t, int64_t) {
                             static_cast<Pool *>(c)->run(
                                 4, 1, [](void *, int64_t, int64_t) { throw 7; }, nullptr);
                         },
                         &pool),
                     int);
    }
}

TEST(Pool, several_callers_share_one_pool) {
    Pool pool{3};
    std::vector<std::thread> callers;
    std::atomic<bool> right{true};
    for (int t = 0; t < 4; ++t) {
        callers.emplace_back([&] {
            for (int i = 0; i < 2000; ++i) {
                Marks marks{17};
                pool.run(17, 2, Marks::mark, &marks);
                if (!marks.each_exactly(1)) {
                    right = false;
                }
            }
        });
    }
    for (auto &caller : callers) {
        caller.join();
    }
    EXPECT_TRUE(right.load());
}

TEST(Pool, ending_it_waits_for_a_run_on_another_thread) {
    for (int round = 0; round < 50; ++round) {
        auto pool = std::make_unique<Pool>(4);
        Marks marks{5000};
        std::atomic<bool> began{false};
        struct Context {
            Marks *marks;
            std::atomic<bool> *began;
        } context{&marks, &began};
        std::thread caller{[&pool = *pool, &context] {
            pool.run(
                5000, 1,
                [](void *c, int64_t begin, int64_t end) {
                    auto &self = *static_cast<Context *>(c);
                    self.began->store(true);
                    Marks::mark(self.marks, begin, end);
                },
                &context);
        }};
        while (!began.load()) {
            std::this_thread::yield();
        }
        pool.reset();
        caller.join();
        ASSERT_TRUE(marks.each_exactly(1));
    }
}

TEST(Pool, starts_and_stops_quickly_many_times) {
    for (int i = 0; i < 300; ++i) {
        Pool pool{1 + i % 9};
    }
}

}// namespace luisa::tile::runtime
