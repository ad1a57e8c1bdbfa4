// SPDX-License-Identifier: Apache-2.0
#include "unit/cache/support.h"

#include <fcntl.h>
#include <sys/file.h>

#include <chrono>
#include <thread>

namespace luisa::tile::test {

namespace {

constexpr size_t entry_bytes = 16000;// and its header and key: four blocks of a usual file system

class Trim : public ::testing::Test {
protected:
    void keep(int first, int last, int64_t most_bytes = int64_t{1} << 30) {
        Cache cache{folder.path(), most_bytes};
        for (int i = first; i < last; ++i) {
            cache.keep("key " + std::to_string(i), noise(entry_bytes, 1));
        }
    }
    void age(int number, int hours) {
        auto file = folder / name_of("key " + std::to_string(number));
        fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::hours{hours});
    }
    [[nodiscard]] std::string left(int count) const {
        std::string all;
        for (int i = 0; i < count; ++i) {
            all += fs::exists(folder / name_of("key " + std::to_string(i))) ? '1' : '0';
        }
        return all;
    }
    Folder folder;
};

}// namespace

TEST_F(Trim, removes_what_was_used_longest_ago) {
    keep(0, 6);
    for (int i = 0; i < 6; ++i) {
        age(i, 10 + i);
    }
    Cache cache{folder.path(), int64_t{3} * 16384};
    EXPECT_TRUE(cache.find("key 5"));// is the newest now
    cache.impl->trim();
    EXPECT_EQ(left(6), "110001");
    cache.impl->trim();
    EXPECT_EQ(left(6), "110001");
}

TEST_F(Trim, follows_what_is_written) {
    keep(0, 40, int64_t{4} * 16384);
    auto all = left(40);
    EXPECT_LE(std::count(all.begin(), all.end(), '1'), 5);
    EXPECT_EQ(all.substr(39), "1");
    keep(40, 42, 0);
    EXPECT_EQ(left(40).find('1'), std::string::npos);
}

TEST_F(Trim, leaves_other_files_alone) {
    write_file(folder / "notes", "mine");
    fs::create_directory(folder / std::string(64, 'a'));
    keep(0, 3, 0);
    EXPECT_TRUE(fs::exists(folder / "notes"));
    EXPECT_TRUE(fs::exists(folder / std::string(64, 'a')));
}

TEST_F(Trim, does_not_wait_for_another_one) {
    keep(0, 3);
    auto descriptor = open(folder.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ASSERT_EQ(flock(descriptor, LOCK_EX), 0);
    Cache cache{folder.path(), 0};
    cache.impl->trim();
    EXPECT_EQ(left(3), "111");
    close(descriptor);
    cache.impl->trim();
    EXPECT_EQ(left(3), "000");
}

}// namespace luisa::tile::test
