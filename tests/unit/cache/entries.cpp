// SPDX-License-Identifier: Apache-2.0
#include "unit/cache/support.h"

#include <fcntl.h>

#include <random>

namespace luisa::tile::test {

namespace {

const std::string key = "the text of a key", payload = noise(500, 7);

class Entries : public ::testing::Test {
protected:
    void SetUp() override {
        Cache{folder.path()}.keep(key, payload);
        good = read_file(file);
        ASSERT_EQ(good.size(), cache::header_bytes + key.size() + payload.size());
    }
    /// What the cache makes of the file as it is now: nothing, after one warning with this end; and of the
    /// entry after it was written again.
    void expect_replaced(const std::string &warning) {
        Cache cache{folder.path()};
        EXPECT_FALSE(cache.find(key));
        EXPECT_FALSE(cache.find(key));
        ASSERT_EQ(cache.warnings.size(), 1u);
        EXPECT_EQ(cache.warnings[0],
                  "the compiled kernel in " + file.string() + " is not used: " + warning);
        cache.keep(key, payload);
        EXPECT_EQ(cache.find(key), payload);
        EXPECT_EQ(cache.warnings.size(), 1u);
    }
    Folder folder;
    fs::path file = folder / name_of(key);
    std::string good;
};

}// namespace

TEST_F(Entries, are_found_by_the_same_key_in_another_cache_of_the_folder) {
    Cache cache{folder.path()};
    EXPECT_EQ(cache.find(key), payload);
    EXPECT_FALSE(cache.find(key + " "));
    cache.keep("empty", "");
    EXPECT_EQ(cache.find("empty"), "");
    EXPECT_TRUE(cache.warnings.empty());
    EXPECT_EQ(fs::status(file).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(Entries, have_names_that_are_the_same_in_every_build_and_process) {
    // Taken down when the format was made: a change of it needs another `entry_version`.
    EXPECT_EQ(name_of(""), "99aa06d3014798d86001c324468d497fd142977a2cca554b4ca5176998171787");
    EXPECT_EQ(good.substr(0, 16), std::string("LTILE\r\n\x1a\1\0\0\0\x60\0\0\0", 16));
}

TEST_F(Entries, cut_at_any_length_are_missing) {
    Cache cache{folder.path()};
    for (size_t length = 0; length < good.size(); ++length) {
        write_file(file, good.substr(0, length));
        ASSERT_FALSE(cache.find(key)) << length;
    }
    EXPECT_EQ(cache.warnings.size(),
              2u);// once for too short a file, once for a header that names more
    write_file(file, "");
    expect_replaced("its size is not that of an entry");
    write_file(file, good.substr(0, 200));
    expect_replaced("its size is not the one that its header names");
    write_file(file, good + "x");
    expect_replaced("its size is not the one that its header names");
}

TEST_F(Entries, with_a_flipped_bit_in_the_header_or_the_key_are_missing) {
    Cache cache{folder.path()};
    for (size_t at = 0; at < cache::header_bytes + key.size(); ++at) {
        for (int bit : {0, 7}) {
            auto bad = good;
            bad[at] = static_cast<char>(bad[at] ^ (1 << bit));
            write_file(file, bad);
            ASSERT_FALSE(cache.find(key)) << at << " " << bit;
        }
    }
    write_file(file, good);
    EXPECT_EQ(cache.find(key), payload);
}

TEST_F(Entries, with_other_payload_bytes_are_missing) {
    Cache cache{folder.path()};
    std::mt19937 random{1};
    for (int i = 0; i < 1000; ++i) {
        auto bad = good;
        auto at = cache::header_bytes + key.size() + random() % payload.size();
        bad[at] = static_cast<char>(bad[at] ^ (1 + random() % 255));
        write_file(file, bad);
        ASSERT_FALSE(cache.find(key)) << at;
    }
    expect_replaced("its payload is damaged");
}

TEST_F(Entries, of_another_key_under_this_name_are_missing) {
    Cache cache{folder.path()};
    cache.keep("another key text!", payload);
    write_file(file, read_file(folder / name_of("another key text!")));
    expect_replaced("its key is another one");
    // Texts of equal hash: the header is this key's, the text is not.
    auto bad = good;
    bad[cache::header_bytes] ^= 1;
    write_file(file, bad);
    expect_replaced("its key is another one");
}

TEST_F(Entries, of_another_version_or_kind_are_missing) {
    auto bad = good;
    bad[8] = 2;
    write_file(file, bad);
    expect_replaced("its format is of another version");
    write_file(file, noise(1000, 3));
    expect_replaced("it is not an entry of this cache");
}

TEST_F(Entries, that_are_no_files_are_missing_and_nobody_waits) {
    fs::remove(file);
    ASSERT_EQ(mkfifo(file.c_str(), 0600), 0);
    expect_replaced("it is not a regular file");
    fs::remove(file);
    fs::create_directory(file);
    expect_replaced("it is not a regular file");
}

TEST_F(Entries, whose_place_a_full_folder_takes_are_not_kept) {
    fs::remove(file);
    fs::create_directories(file / "mine");
    Cache cache{folder.path()};
    cache.keep(key, payload);
    EXPECT_FALSE(cache.find(key));
    EXPECT_EQ(
        cache.warnings,
        (std::vector<std::string>{
            "compiled kernels are not kept in " + folder.path() + ": Directory not empty",
            "the compiled kernel in " + file.string() + " is not used: it is not a regular file"}));
    EXPECT_TRUE(fs::exists(file / "mine"));
}

TEST_F(Entries, behind_a_symbolic_link_are_missing_and_the_target_stays) {
    auto target = folder / "target";
    fs::rename(file, target);
    fs::create_symlink(target, file);
    expect_replaced("Too many levels of symbolic links");
    EXPECT_EQ(read_file(target), good);
    EXPECT_FALSE(fs::is_symlink(file));
}

TEST_F(Entries, that_are_huge_and_sparse_are_missing) {
    ASSERT_EQ(truncate(file.c_str(), off_t{2} << 30), 0);
    expect_replaced("its size is not that of an entry");
    ASSERT_EQ(truncate(file.c_str(), off_t{200} << 20), 0);
    expect_replaced("its size is not the one that its header names");
}

TEST_F(Entries, that_others_may_write_or_own_are_missing) {
    fs::permissions(file, fs::perms::others_write, fs::perm_options::add);
    expect_replaced("others may write it");
    if (geteuid() == 0) {
        ASSERT_EQ(chown(file.c_str(), 65534, 65534), 0);
        expect_replaced("it belongs to another user");
    }
}

TEST_F(Entries, that_may_not_be_read_are_missing) {
    fs::permissions(file, fs::perms::none);
    // The superuser may read all: a child that is not it sees what users see.
    auto seen = in_child([&] {
        if (geteuid() == 0 && (chown(folder.path().c_str(), 65534, 65534) != 0 ||
                               chown(file.c_str(), 65534, 65534) != 0 || setuid(65534) != 0)) {
            return 1;
        }
        expect_replaced("Permission denied");
        return HasFailure() ? 2 : 0;
    });
    EXPECT_EQ(seen, 0);
}

}// namespace luisa::tile::test
