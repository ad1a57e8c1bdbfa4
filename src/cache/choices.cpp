// SPDX-License-Identifier: Apache-2.0
#include "cache/choices.h"

#include "cache/folder.h"

#include <sqlite3.h>
#include <unistd.h>

#include <cmath>
#include <cstring>

namespace luisa::tile::cache {

namespace {

constexpr int schema_version = 1;
constexpr int patience_ms = 2000;///< for another process that writes

/// A statement that ends with its scope.
class Statement {
public:
    Statement(sqlite3 *database, const char *text) {
        status = sqlite3_prepare_v2(database, text, -1, &_statement, nullptr);
    }
    Statement(const Statement &) = delete;
    Statement &operator=(const Statement &) = delete;
    ~Statement() { sqlite3_finalize(_statement); }
    /// SQLITE_ROW, SQLITE_DONE or an error.
    int step() { return status == SQLITE_OK ? sqlite3_step(_statement) : status; }
    Statement &blob(int at, const void *data, size_t size) {
        if (status == SQLITE_OK) {
            status = sqlite3_bind_blob64(_statement, at, data, size, SQLITE_TRANSIENT);
        }
        return *this;
    }
    Statement &number(int at, int64_t value) {
        if (status == SQLITE_OK) {
            status = sqlite3_bind_int64(_statement, at, value);
        }
        return *this;
    }
    [[nodiscard]] int64_t number(int column) { return sqlite3_column_int64(_statement, column); }
    [[nodiscard]] std::vector<double> numbers(int column) {
        std::vector<double> all(static_cast<size_t>(sqlite3_column_bytes(_statement, column)) /
                                sizeof(double));
        if (!all.empty()) {
            std::memcpy(all.data(), sqlite3_column_blob(_statement, column),
                        all.size() * sizeof(double));
        }
        return all;
    }
    int status = SQLITE_OK;

private:
    sqlite3_stmt *_statement = nullptr;
};

bool damaged(int status) { return status == SQLITE_CORRUPT || status == SQLITE_NOTADB; }

int run(sqlite3 *database, const char *text) {
    return sqlite3_exec(database, text, nullptr, nullptr, nullptr);
}

}// namespace

std::unique_ptr<ChoiceDatabase> ChoiceDatabase::open(
    const std::string &chosen_folder, std::function<void(const std::string &)> warn) {
    auto choice = choose_folder(chosen_folder);
    if (choice.off || !choice.path) {
        return nullptr;
    }
    File folder;
    if (auto why = open_folder(*choice.path, folder); !why.empty()) {
        warn("tuning results are not kept in '" + *choice.path + "': " + why);
        return nullptr;
    }
    std::unique_ptr<ChoiceDatabase> database{
        new ChoiceDatabase{*choice.path + "/choices.sqlite3", std::move(warn)}};
    auto status = database->prepare();
    if (damaged(status)) {
        for (const char *suffix : {"", "-wal", "-shm"}) {
            ::unlink((database->_path + suffix).c_str());
        }
        status = database->prepare();
    }
    if (status != SQLITE_OK) {
        database->report("opened");
        return nullptr;
    }
    return database;
}

/// Opens the file and makes sure of the table. SQLITE_OK or an error.
int ChoiceDatabase::prepare() {
    sqlite3_close(_database);
    _database = nullptr;
    auto status = sqlite3_open_v2(_path.c_str(), &_database,
                                  SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOFOLLOW,
                                  nullptr);
    if (status != SQLITE_OK) {
        return status;
    }
    sqlite3_busy_timeout(_database, patience_ms);
    // Another process may be setting the mode, which stays in the file; waiting is not done for it.
    status = run(_database, "PRAGMA journal_mode = WAL");
    if (status == SQLITE_OK || status == SQLITE_BUSY) {
        status = run(_database, "PRAGMA synchronous = NORMAL; BEGIN IMMEDIATE");
    }
    if (status != SQLITE_OK) {
        return status;
    }
    // Asked inside of the transaction: of several processes one makes the table.
    bool current = false;
    {
        Statement read{_database, "PRAGMA user_version"};
        status = read.step();
        current = status == SQLITE_ROW && read.number(0) == schema_version;
    }
    if (status == SQLITE_ROW) {
        status = current ? SQLITE_OK
                         : run(_database,
                               "DROP TABLE IF EXISTS choices;"
                               "CREATE TABLE choices(key BLOB PRIMARY KEY, winner INTEGER NOT NULL,"
                               " microseconds BLOB NOT NULL, used INTEGER NOT NULL);"
                               "CREATE INDEX by_use ON choices(used);"
                               "PRAGMA user_version = 1");
    }
    if (status == SQLITE_OK) {
        return run(_database, "COMMIT");
    }
    run(_database, "ROLLBACK");
    return status;
}

ChoiceDatabase::~ChoiceDatabase() { sqlite3_close(_database); }

std::optional<ChoiceDatabase::Choice> ChoiceDatabase::find(const Key &key) {
    Choice choice;
    {
        Statement read{_database, "SELECT winner, microseconds FROM choices WHERE key = ?"};
        auto status = read.blob(1, key.hash.data(), key.hash.size()).step();
        if (status == SQLITE_DONE) {
            return std::nullopt;
        }
        if (status != SQLITE_ROW) {
            report("read");
            return std::nullopt;
        }
        choice.microseconds = read.numbers(1);
        auto winner = read.number(0);
        if (winner < 0 || static_cast<size_t>(winner) >= choice.microseconds.size() ||
            !std::isfinite(choice.microseconds[static_cast<size_t>(winner)])) {
            return std::nullopt;
        }
        choice.winner = static_cast<size_t>(winner);
    }
    // Only what is used last stays; that this one was is no reason to wait.
    Statement{_database,
              "UPDATE choices SET used = (SELECT MAX(used) + 1 FROM choices) WHERE key = ?"}
        .blob(1, key.hash.data(), key.hash.size())
        .step();
    return choice;
}

void ChoiceDatabase::keep(const Key &key, const Choice &choice) {
    Statement write{_database, "INSERT OR REPLACE INTO choices VALUES (?, ?, ?, "
                               "(SELECT COALESCE(MAX(used), 0) + 1 FROM choices))"};
    auto status = write.blob(1, key.hash.data(), key.hash.size())
                      .number(2, static_cast<int64_t>(choice.winner))
                      .blob(3, choice.microseconds.data(),
                            choice.microseconds.size() * sizeof(double))
                      .step();
    if (status == SQLITE_DONE) {
        status = Statement{_database,
                           "DELETE FROM choices WHERE used <= "
                           "(SELECT used FROM choices ORDER BY used DESC LIMIT 1 OFFSET ?)"}
                     .number(1, most_choices)
                     .step();
    }
    if (status != SQLITE_DONE) {
        report("written");
    }
}

void ChoiceDatabase::report(const std::string &doing) {
    _warn("tuning results in '" + _path + "' cannot be " + doing + ": " +
          (_database ? sqlite3_errmsg(_database) : "no memory"));
}

}// namespace luisa::tile::cache
