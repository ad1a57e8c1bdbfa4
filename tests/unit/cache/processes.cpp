// SPDX-License-Identifier: Apache-2.0
#include "unit/cache/support.h"

#include <atomic>
#include <csignal>
#include <random>
#include <thread>

namespace luisa::tile::test {

namespace {

constexpr int keys = 10;

std::string key_of(int i) { return "key " + std::to_string(i); }
std::string payload_of(int i) { return noise(5000 + 1000 * static_cast<size_t>(i), 77); }

/// Asks for every key and keeps those that are missing. Returns the number of wrong answers and warnings.
int use(const std::string &folder, uint32_t seed, int64_t most_bytes) {
    Cache cache{folder, most_bytes};
    std::mt19937 random{seed};
    int wrong = 0;
    for (int round = 0; round < 30; ++round) {
        auto i = static_cast<int>(random() % keys);
        auto found = cache.find(key_of(i));
        if (!found || random() % 4 == 0) {
            cache.keep(key_of(i), payload_of(i));
        }
        wrong += found && *found != payload_of(i) ? 1 : 0;
    }
    return wrong + static_cast<int>(cache.warnings.size());
}

/// Starts processes that use one folder and kills every second one at some time.
void run_processes(const std::string &folder, int count, uint32_t seed, int64_t most_bytes) {
    std::mt19937 random{seed};
    std::vector<pid_t> children;
    for (int i = 0; i < count; ++i) {
        auto own_seed = static_cast<uint32_t>(random());
        auto child = fork();
        if (child == 0) {
            _exit(std::min(use(folder, own_seed, most_bytes), 99));
        }
        children.push_back(child);
    }
    for (size_t i = 0; i < children.size(); i += 2) {
        std::this_thread::sleep_for(std::chrono::microseconds{random() % 3000});
        kill(children[i], SIGKILL);
    }
    for (size_t i = 0; i < children.size(); ++i) {
        int status = 0;
        waitpid(children[i], &status, 0);
        if (i % 2 == 1) {
            EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
        }
    }
}

}// namespace

TEST(Processes, that_share_a_folder_and_are_killed_read_right_bytes) {
    Folder folder;
    for (uint32_t round = 0; round < 20; ++round) {
        // Every third round trims all the time.
        run_processes(folder.path(), 8, round, round % 3 == 0 ? 20000 : 1 << 30);
    }
    Cache cache{folder.path()};
    for (int i = 0; i < keys; ++i) {
        cache.keep(key_of(i), payload_of(i));
        EXPECT_EQ(cache.find(key_of(i)), payload_of(i));
    }
    EXPECT_TRUE(cache.warnings.empty());
}

TEST(Processes, of_many_threads_share_one_cache) {
    Folder folder;
    Cache cache{folder.path(), 100000};
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t) {
        threads.emplace_back([&, t] {
            std::mt19937 random{static_cast<uint32_t>(t)};
            for (int round = 0; round < 100; ++round) {
                auto i = static_cast<int>(random() % keys);
                auto found = cache.find(key_of(i));
                if (!found) {
                    cache.keep(key_of(i), payload_of(i));
                } else {
                    wrong += *found != payload_of(i) ? 1 : 0;
                }
            }
        });
    }
    for (auto &thread : threads) {
        thread.join();
    }
    EXPECT_EQ(wrong, 0);
    EXPECT_TRUE(cache.warnings.empty());
}

}// namespace luisa::tile::test
