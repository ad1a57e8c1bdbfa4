// SPDX-License-Identifier: Apache-2.0
#include "unit/cache/support.h"

#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include <csignal>
#include <cstring>

namespace luisa::tile::test {

namespace {

// What the hook below does: it counts the steps of one kind, or of all, and acts at one of them.
const char *faulty_step = nullptr;///< null: any
int countdown = -1;
int fault_error = 0;///< 0: the process is killed

int fail_once(const char *step) {
    if ((faulty_step && std::strcmp(step, faulty_step) != 0) || countdown < 0 || countdown-- > 0) {
        return 0;
    }
    if (fault_error == 0) {
        kill(getpid(), SIGKILL);
    }
    return fault_error;
}

class Faults : public ::testing::Test {
protected:
    void TearDown() override { cache::set_fault_hook(nullptr); }
    static void arm(const char *step, int number, int error) {
        faulty_step = step;
        countdown = number;
        fault_error = error;
        cache::set_fault_hook(fail_once);
    }
    [[nodiscard]] size_t files() const {
        size_t count = 0;
        for ([[maybe_unused]] const auto &file : fs::directory_iterator{folder.path()}) {
            ++count;
        }
        return count;
    }
    Folder folder;
    std::string payload = noise(20000, 5);
};

}// namespace

TEST_F(Faults, of_every_step_of_a_write_leave_no_entry_and_no_rest) {
    for (const auto *step : {"open", "write", "close", "rename"}) {
        for (int error : {ENOSPC, EDQUOT, EROFS, EACCES, EIO, ENAMETOOLONG, ESTALE, EBUSY}) {
            Cache cache{folder.path()};
            arm(step, 0, error);
            cache.keep("key", payload);
            cache.keep("key", payload);
            cache::set_fault_hook(nullptr);
            EXPECT_EQ(cache.warnings,
                      std::vector<std::string>{"compiled kernels are not kept in " + folder.path() +
                                               ": " + cache::error_text(error)})
                << step;
            EXPECT_FALSE(cache.find("key"));
            EXPECT_EQ(files(), 0u) << step << " " << error;
        }
    }
}

TEST_F(Faults, of_every_step_of_a_read_count_as_missing) {
    Cache{folder.path()}.keep("key", payload);
    for (const auto *step : {"open", "stat", "read"}) {
        for (int error : {EACCES, EIO, ESTALE, ENOMEM}) {
            Cache cache{folder.path()};
            arm(step, 0, error);
            EXPECT_FALSE(cache.find("key"));
            EXPECT_EQ(cache.warnings.size(), 1u);
            EXPECT_EQ(cache.find("key"), payload);
        }
    }
}

TEST_F(Faults, of_interruption_are_tried_again) {
    Cache cache{folder.path()};
    for (const auto *step : {"open", "write", "rename"}) {
        arm(step, 0, EINTR);
        cache.keep(step, payload);
    }
    for (const auto *step : {"open", "stat", "read"}) {
        arm(step, 0, EINTR);
        EXPECT_EQ(cache.find("write"), payload);
        EXPECT_EQ(countdown, -1);
    }
    EXPECT_TRUE(cache.warnings.empty());
}

TEST_F(Faults, while_a_folder_is_opened_leave_no_cache) {
    for (const auto *step : {"open", "stat", "mkdir"}) {
        auto path = folder.path() + "/" + step;
        if (std::string{step} == "stat") {
            fs::create_directory(path);
        }
        // The folders above it are there: that they cannot be made is no fault.
        arm(step, std::string{step} == "mkdir" ? 2 : 0, EIO);
        Cache cache{path};
        EXPECT_FALSE(cache.impl);
        EXPECT_EQ(cache.warnings, std::vector<std::string>{"compiled kernels are not kept in " +
                                                           path + ": Input/output error"});
    }
}

TEST_F(Faults, of_a_trim_are_silent) {
    for (int i = 0; i < 3; ++i) {
        Cache cache{folder.path(), 1};
        arm("unlink", 0, EBUSY);
        cache.keep("key " + std::to_string(i), payload);
        EXPECT_TRUE(cache.warnings.empty());
    }
}

TEST_F(Faults, that_kill_the_process_at_any_step_leave_a_whole_entry_or_none) {
    int steps = 0;
    for (;; ++steps) {
        auto result = in_child([&] {
            Cache cache{folder.path()};
            arm(nullptr, steps, 0);
            cache.keep("key", payload);
            cache.keep("key", payload + "second");
            return 0;
        });
        Cache cache{folder.path()};
        auto found = cache.find("key");
        EXPECT_TRUE(!found || *found == payload || *found == payload + "second") << steps;
        EXPECT_TRUE(cache.warnings.empty());
        cache.keep("key", "the next run's");
        EXPECT_EQ(cache.find("key"), "the next run's");
        fs::remove(folder / name_of("key"));
        if (result == 0) {
            break;
        }
        ASSERT_EQ(result, ended_by_signal);
    }
    // open, two writes, close and rename, twice, and what a trim opens and closes.
    EXPECT_GE(steps, 10);
}

TEST_F(Faults, that_kill_writers_leave_files_that_a_later_trim_removes) {
    auto result = in_child([&] {
        Cache cache{folder.path()};
        arm("rename", 0, 0);
        cache.keep("key", payload);
        return 0;
    });
    ASSERT_EQ(result, ended_by_signal);
    ASSERT_EQ(files(), 1u);
    Cache cache{folder.path()};
    cache.impl->trim();
    EXPECT_EQ(files(), 1u);// its writer may still be at work
    auto left = fs::directory_iterator { folder.path() } -> path();
    fs::last_write_time(left, fs::file_time_type::clock::now() - std::chrono::hours{2});
    cache.impl->trim();
    EXPECT_EQ(files(), 0u);
    // One of a process that lives stays for a day.
    auto ours = folder / (".tmp-" + std::to_string(getpid()) + "-0-0");
    write_file(ours, "text");
    fs::last_write_time(ours, fs::file_time_type::clock::now() - std::chrono::hours{2});
    cache.impl->trim();
    EXPECT_EQ(files(), 1u);
    fs::last_write_time(ours, fs::file_time_type::clock::now() - std::chrono::hours{25});
    cache.impl->trim();
    EXPECT_EQ(files(), 0u);
}

TEST_F(Faults, of_a_limit_on_file_sizes_are_noticed) {
    auto result = in_child([&] {
        std::signal(SIGXFSZ, SIG_IGN);
        rlimit limit{8192, 8192};
        setrlimit(RLIMIT_FSIZE, &limit);
        Cache cache{folder.path()};
        cache.keep("key", payload);
        EXPECT_EQ(cache.warnings, std::vector<std::string>{"compiled kernels are not kept in " +
                                                           folder.path() + ": File too large"});
        return HasFailure() ? 1 : 0;
    });
    EXPECT_EQ(result, 0);
    EXPECT_EQ(files(), 0u);
}

TEST_F(Faults, of_a_full_disk_are_noticed) {
    constexpr int not_possible = 50;
    auto result = in_child([&] {
        // A disk of 64 KiB that only this child sees.
        if (unshare(geteuid() == 0 ? CLONE_NEWNS : CLONE_NEWUSER | CLONE_NEWNS) != 0 ||
            mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
            mount("none", folder.path().c_str(), "tmpfs", 0, "size=64k,mode=0700") != 0) {
            return not_possible;
        }
        Cache cache{folder.path()};
        for (int i = 0; i < 5; ++i) {
            cache.keep("key " + std::to_string(i), payload);
        }
        EXPECT_EQ(cache.warnings,
                  std::vector<std::string>{"compiled kernels are not kept in " + folder.path() +
                                           ": No space left on device"});
        EXPECT_EQ(cache.find("key 0"), payload);
        EXPECT_FALSE(cache.find("key 4"));
        EXPECT_EQ(files(), 3u);
        return HasFailure() ? 1 : 0;
    });
    if (result == not_possible) {
        GTEST_SKIP() << "no file system may be mounted here";
    }
    EXPECT_EQ(result, 0);
}

}// namespace luisa::tile::test
