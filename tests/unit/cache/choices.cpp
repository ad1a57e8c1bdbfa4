// SPDX-License-Identifier: Apache-2.0
#include "cache/choices.h"
#include "unit/cache/support.h"

#include <limits>

// Choices of measurements on disk.

namespace luisa::tile::test {

namespace {

class Choices : public ::testing::Test {
protected:
    using Choice = cache::ChoiceDatabase::Choice;
    std::unique_ptr<cache::ChoiceDatabase> open(const std::string &path = {}) {
        return cache::ChoiceDatabase::open(
            path.empty() ? folder.path() : path,
            [this](const std::string &text) { warnings.push_back(text); });
    }
    static cache::Key key(const std::string &text) { return cache::Key{text}; }
    Folder folder;
    std::vector<std::string> warnings;
};

}// namespace

TEST_F(Choices, come_back_in_another_process) {
    constexpr auto out = std::numeric_limits<double>::infinity();
    EXPECT_EQ(in_child([&] {
                  open()->keep(key("gemm"), {1, {20.5, 10.25, out}});
                  return 0;
              }),
              0);
    auto choice = open()->find(key("gemm"));
    ASSERT_TRUE(choice);
    EXPECT_EQ(choice->winner, 1u);
    EXPECT_EQ(choice->microseconds, (std::vector<double>{20.5, 10.25, out}));
    EXPECT_FALSE(open()->find(key("another")));
    EXPECT_TRUE(warnings.empty());
}

TEST_F(Choices, replace_earlier_ones) {
    auto database = open();
    database->keep(key("k"), {0, {1, 2}});
    database->keep(key("k"), {1, {3, 2, 9}});
    EXPECT_EQ(database->find(key("k"))->winner, 1u);
    EXPECT_EQ(database->find(key("k"))->microseconds.size(), 3u);
}

TEST_F(Choices, that_name_no_working_candidate_are_none) {
    auto database = open();
    database->keep(key("beyond"), {2, {1, 2}});
    database->keep(key("out"), {0, {std::numeric_limits<double>::infinity(), 2}});
    database->keep(key("empty"), {0, {}});
    EXPECT_FALSE(database->find(key("beyond")));
    EXPECT_FALSE(database->find(key("out")));
    EXPECT_FALSE(database->find(key("empty")));
}

TEST_F(Choices, in_a_damaged_file_are_gone_and_the_file_is_replaced) {
    for (const auto &bytes :
         {noise(20000, 3), std::string{"SQLite format 3"} + '\0' + noise(9000, 4)}) {
        write_file(folder / "choices.sqlite3", bytes);
        auto database = open();
        ASSERT_TRUE(database);
        EXPECT_FALSE(database->find(key("k")));
        database->keep(key("k"), {0, {1}});
        EXPECT_TRUE(open()->find(key("k")));
        database.reset();
        fs::remove(folder / "choices.sqlite3");
    }
    EXPECT_TRUE(warnings.empty());
}

TEST_F(Choices, of_many_processes_at_once_are_all_kept) {
    std::vector<pid_t> children;
    for (int i = 0; i < 8; ++i) {
        children.push_back(fork());
        if (children.back() == 0) {
            bool whole = true;
            for (int j = 0; j < 10; ++j) {
                auto database = open();
                whole &= database != nullptr;
                database->keep(key(std::to_string(i) + "." + std::to_string(j)), {0, {1.0 * i}});
            }
            _exit(whole && warnings.empty() ? 0 : 1);
        }
    }
    for (auto child : children) {
        int status = 0;
        waitpid(child, &status, 0);
        EXPECT_EQ(status, 0);
    }
    auto database = open();
    for (int i = 0; i < 8; ++i) {
        for (int j = 0; j < 10; ++j) {
            EXPECT_TRUE(database->find(key(std::to_string(i) + "." + std::to_string(j)))) << i << j;
        }
    }
}

TEST_F(Choices, used_last_are_the_ones_that_stay) {
    auto database = open();
    database->keep(key("first"), {0, {1}});
    database->keep(key("second"), {0, {1}});
    for (int i = 2; i < cache::ChoiceDatabase::most_choices; ++i) {
        database->keep(key(std::to_string(i)), {0, {1}});
    }
    EXPECT_TRUE(database->find(key("first")));
    database->keep(key("one more"), {0, {1}});
    EXPECT_TRUE(database->find(key("first")));
    EXPECT_FALSE(database->find(key("second")));
}

TEST_F(Choices, where_no_folder_can_be_are_a_warning) {
    write_file(folder / "file", "not a folder");
    EXPECT_FALSE(open((folder / "file").string()));
    ASSERT_EQ(warnings.size(), 1u);
    EXPECT_EQ(warnings[0], "tuning results are not kept in '" + (folder / "file").string() +
                               "': Not a directory");
}

TEST_F(Choices, follow_no_symbolic_link) {
    write_file(folder / "elsewhere", "");
    fs::create_symlink(folder / "elsewhere", folder / "choices.sqlite3");
    EXPECT_FALSE(open());
    EXPECT_EQ(read_file(folder / "elsewhere"), "");
    EXPECT_EQ(warnings.size(), 1u);
}

}// namespace luisa::tile::test
