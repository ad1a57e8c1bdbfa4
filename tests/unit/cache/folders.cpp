// SPDX-License-Identifier: Apache-2.0
#include "unit/cache/support.h"

#include "cache/folder.h"

namespace luisa::tile::test {

namespace {

/// The environment that chooses a folder, put back afterwards.
class Folders : public ::testing::Test {
protected:
    void SetUp() override {
        for (const auto *name : names) {
            const char *value = std::getenv(name);
            before.push_back(value ? std::optional<std::string>{value} : std::nullopt);
            unsetenv(name);
        }
    }
    void TearDown() override {
        for (size_t i = 0; i < before.size(); ++i) {
            before[i] ? setenv(names[i], before[i]->c_str(), 1) : unsetenv(names[i]);
        }
    }
    static void expect_refused(const std::string &folder, const std::string &why) {
        Cache cache{folder};
        EXPECT_FALSE(cache.impl);
        ASSERT_EQ(cache.warnings.size(), 1u);
        EXPECT_EQ(cache.warnings[0], "compiled kernels are not kept in " + folder + ": " + why);
    }
    static constexpr const char *names[] = {"LUISA_TILE_CACHE", "XDG_CACHE_HOME", "HOME"};
    std::vector<std::optional<std::string>> before;
    Folder parent;
};

}// namespace

TEST_F(Folders, are_chosen_by_option_then_variable_then_home) {
    EXPECT_FALSE(cache::choose_folder("").path);
    setenv("HOME", "relative", 1);
    EXPECT_FALSE(cache::choose_folder("").path);
    setenv("HOME", "/home/me", 1);
    EXPECT_EQ(cache::choose_folder("").path, "/home/me/.cache/luisa-tile");
    setenv("XDG_CACHE_HOME", "relative", 1);
    EXPECT_EQ(cache::choose_folder("").path, "/home/me/.cache/luisa-tile");
    setenv("XDG_CACHE_HOME", "/var/me", 1);
    EXPECT_EQ(cache::choose_folder("").path, "/var/me/luisa-tile");
    setenv("LUISA_TILE_CACHE", "/else/where", 1);
    EXPECT_EQ(cache::choose_folder("").path, "/else/where");
    EXPECT_EQ(cache::choose_folder("/mine").path, "/mine");
    setenv("LUISA_TILE_CACHE", "off", 1);
    EXPECT_TRUE(cache::choose_folder("").off);
    EXPECT_EQ(cache::choose_folder("/mine").path, "/mine");
}

TEST_F(Folders, that_nothing_names_are_not_used) {
    Cache cache{""};
    EXPECT_FALSE(cache.impl);
    ASSERT_EQ(cache.warnings.size(), 1u);
    EXPECT_EQ(
        cache.warnings[0],
        "compiled kernels are not kept on disk: none of LUISA_TILE_CACHE, XDG_CACHE_HOME and HOME "
        "names a folder; LUISA_TILE_CACHE=off says that none is wanted");
    setenv("LUISA_TILE_CACHE", "off", 1);
    Cache off{""};
    EXPECT_FALSE(off.impl);
    EXPECT_TRUE(off.warnings.empty());
}

TEST_F(Folders, that_are_missing_are_made_for_this_user_alone) {
    auto path = parent.path() + "/a/b/c/";
    Cache cache{path};
    ASSERT_TRUE(cache.impl);
    EXPECT_TRUE(cache.warnings.empty());
    EXPECT_EQ(fs::status(parent / "a").permissions(), fs::perms::owner_all);
    EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_all);
}

TEST_F(Folders, that_others_may_write_are_refused) {
    for (auto who : {fs::perms::group_write, fs::perms::others_write}) {
        auto path = parent.path() + "/open";
        fs::create_directory(path);
        fs::permissions(path, fs::perms::owner_all | who);
        expect_refused(path, "others may write it");
        fs::remove(path);
    }
}

TEST_F(Folders, of_another_user_are_refused) {
    if (geteuid() == 0) {
        auto path = parent.path() + "/foreign";
        fs::create_directory(path);
        ASSERT_EQ(chown(path.c_str(), 65534, 65534), 0);
        expect_refused(path, "it belongs to another user");
    } else {
        expect_refused("/", "it belongs to another user");
    }
}

TEST_F(Folders, behind_a_symbolic_link_or_that_are_none_are_refused) {
    auto link = parent.path() + "/link", file = parent.path() + "/file";
    fs::create_directory(parent / "target");
    fs::create_symlink(parent / "target", link);
    expect_refused(link, "Not a directory");
    write_file(file, "text");
    expect_refused(file, "Not a directory");
    expect_refused(file + "/below", "Not a directory");
    expect_refused(parent.path() + "/" + std::string(300, 'x'), "File name too long");
    expect_refused("/proc/luisa-tile", "No such file or directory");
}

TEST_F(Folders, that_vanish_later_cost_one_warning) {
    Cache cache{parent.path() + "/short"};
    fs::remove(parent / "short");
    EXPECT_FALSE(cache.find("key"));
    cache.keep("key", "payload");
    cache.keep("other", "payload");
    ASSERT_EQ(cache.warnings.size(), 1u);
    EXPECT_EQ(cache.warnings[0], "compiled kernels are not kept in " + parent.path() +
                                     "/short: No such file or directory");
}

TEST_F(Folders, that_are_read_only_are_read) {
    auto path = parent.path() + "/shut";
    auto seen = in_child([&] {
        if (geteuid() == 0 &&
            (chown(parent.path().c_str(), 65534, 65534) != 0 || setuid(65534) != 0)) {
            return 1;
        }
        Cache{path}.keep("key", "payload");
        fs::permissions(path, fs::perms::owner_read | fs::perms::owner_exec);
        Cache cache{path};
        EXPECT_EQ(cache.find("key"), "payload");
        cache.keep("other", "payload");
        EXPECT_FALSE(cache.find("other"));
        cache.keep("third", "payload");
        EXPECT_EQ(cache.warnings, std::vector<std::string>{"compiled kernels are not kept in " +
                                                           path + ": Permission denied"});
        fs::permissions(path, fs::perms::owner_all);
        return HasFailure() ? 2 : 0;
    });
    EXPECT_EQ(seen, 0);
}

}// namespace luisa::tile::test
