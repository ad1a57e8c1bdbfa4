// SPDX-License-Identifier: Apache-2.0
#include "compile/stored.h"

#include "ir/text.h"
#include "support/fresh_process.h"
#include "unit/compile/kernels.h"

#include <fstream>
#include <functional>

// What a kept kernel is found by, and that it comes back as it was.

namespace luisa::tile::test {

namespace {

compiler::CpuOptions plain_options() {
    compiler::CpuOptions options;
    options.target = emit::host_cpu();
    options.threads = 2;
    options.facts = target::CpuFacts{};
    return options;
}

std::string key_of(const ir::Module &module, const compiler::CpuOptions &options) {
    return compiler::key_text(module, ir::print(module), options);
}

std::string bytes_of(const ir::Module &module, const compiler::CpuOptions &options) {
    return compiler::to_bytes(compiler::compile_object(module, options));
}

compiler::CpuObject example() {
    compiler::CpuObject object;
    object.code = {{"one", "two"}, std::string("\0code", 5)};
    object.phases = {{"one", "two", 3, 4, 5.5}, {"two", "", 7, 8, 0.25}};
    object.scratch_bytes = 9;
    object.shared_bytes = 10;
    object.plan = "plan";
    ir::Report report{true, "said", {{Dim::positional(0), 11}, {Dim::positional(1), 12}}, {}, {}};
    report.types = {ScalarType::FLOAT32, ScalarType::INT64};
    report.loc = {"file.cpp", 13};
    object.reports = {report, {}};
    return object;
}

constexpr const char *keys_file = "LUISA_TILE_TEST_KEYS";

}// namespace

TEST(StoredKernels, come_back_as_they_were) {
    auto bytes = compiler::to_bytes(example());
    compiler::CpuObject back;
    ASSERT_TRUE(compiler::from_bytes(bytes, back));
    EXPECT_EQ(compiler::to_bytes(back), bytes);
    EXPECT_EQ(back.code.functions, (std::vector<std::string>{"one", "two"}));
    EXPECT_EQ(back.code.bytes, std::string("\0code", 5));
    ASSERT_EQ(back.phases.size(), 2u);
    EXPECT_EQ(back.phases[0].count_function, "two");
    EXPECT_EQ(back.phases[1].task_us, 0.25);
    ASSERT_EQ(back.reports.size(), 2u);
    EXPECT_TRUE(back.reports[0].is_assertion);
    EXPECT_EQ(back.reports[0].box[1].extent, 12);
    EXPECT_EQ(to_string(back.reports[0].loc), "file.cpp:13");
    EXPECT_FALSE(back.reports[1].loc.known());
}

TEST(StoredKernels, are_refused_when_cut_or_longer) {
    auto bytes = compiler::to_bytes(example());
    for (size_t length = 0; length < bytes.size(); ++length) {
        compiler::CpuObject back;
        EXPECT_FALSE(compiler::from_bytes(std::string_view{bytes}.substr(0, length), back));
    }
    compiler::CpuObject back;
    EXPECT_FALSE(compiler::from_bytes(bytes + '\0', back));
}

TEST(StoredKernels, are_refused_or_read_when_bytes_differ) {
    auto bytes = compiler::to_bytes(example());
    for (size_t at = 0; at < bytes.size(); ++at) {
        auto bad = bytes;
        bad[at] = static_cast<char>(0xff);
        compiler::CpuObject back;
        static_cast<void>(compiler::from_bytes(bad, back));// memory is what counts
    }
}

TEST(StoredKernels, have_another_key_for_each_option_that_changes_them) {
    auto module = gemm(37, 65, 29, 8, 16, 8);
    auto base = plain_options();
    auto key = key_of(*module, base), bytes = bytes_of(*module, base);
    EXPECT_EQ(key_of(*module, plain_options()), key);
    EXPECT_EQ(bytes_of(*module, plain_options()), bytes);
    using Change = std::function<void(compiler::CpuOptions &)>;
    const std::pair<const char *, Change> changes[] = {
        {"cpu", [](auto &o) { o.target.cpu = "x86-64-v2"; }},
        {"features", [](auto &o) { o.target.features = "+sse4.2"; }},
        {"one feature", [](auto &o) { o.target.features += ",-avx512f"; }},
        {"vector_bytes", [](auto &o) { o.facts->vector_bytes = 16; }},
        {"vector_registers", [](auto &o) { o.facts->vector_registers = 16; }},
        {"l1_bytes", [](auto &o) { o.facts->l1_bytes = 1 << 10; }},
        {"l2_bytes", [](auto &o) { o.facts->l2_bytes = 1 << 12; }},
        {"threads", [](auto &o) { o.facts->threads = 7; }},
        {"dot_bf16", [](auto &o) { o.facts->dot_bf16 = true; }},
        {"dot_int8", [](auto &o) { o.facts->dot_int8 = true; }},
        {"matrix_bf16", [](auto &o) { o.facts->matrix_bf16 = true; }},
        {"matrix_int8", [](auto &o) { o.facts->matrix_int8 = true; }},
        {"may_alias", [](auto &o) { o.may_alias = true; }},
        {"own facts", [](auto &o) { o.facts.reset(); }},
    };
    int changed = 0;
    for (const auto &[name, change] : changes) {
        auto options = plain_options();
        change(options);
        auto other = bytes_of(*module, options);
        EXPECT_TRUE(other == bytes || key_of(*module, options) != key) << name;
        changed += other != bytes ? 1 : 0;
    }
    EXPECT_GE(changed, 4);// the comparison above has something to find
}

TEST(StoredKernels, have_another_key_for_each_other_program) {
    auto options = plain_options();
    auto key = key_of(*gemm(37, 65, 29, 8, 16, 8), options);
    EXPECT_NE(key_of(*gemm(38, 65, 29, 8, 16, 8), options), key);
    EXPECT_NE(key_of(*gemm(37, 65, 29, 8, 8, 8), options), key);
    EXPECT_NE(key_of(*gemm(37, 65, 29, 8, 16, 8, true), options), key);
    // The plan and the reports name lines.
    auto moved = gemm(37, 65, 29, 8, 16, 8);
    moved->kernel()->body->first()->loc = {"moved.cpp", 3};
    auto further = gemm(37, 65, 29, 8, 16, 8);
    further->kernel()->body->first()->loc = {"moved.cpp", 4};
    EXPECT_NE(key_of(*moved, options), key);
    EXPECT_NE(key_of(*moved, options), key_of(*further, options));
}

TEST(StoredKernels, have_keys_that_name_the_build_the_compiler_and_the_machine) {
    auto options = plain_options();
    auto key = key_of(*gemm(37, 65, 29, 8, 16, 8), options);
    EXPECT_NE(key.find("\ngenerator LLVM 22."), std::string::npos);
    EXPECT_NE(
        key.find("\ncpu " + options.target.cpu + "\nfeatures " + options.target.features + "\n"),
        std::string::npos);
    auto build = key.find("\nbuild ");
    ASSERT_NE(build, std::string::npos);
    auto id = key.substr(build + 7, 65);
    EXPECT_EQ(id.find_first_not_of("0123456789abcdef"), 64u);
}

TEST(StoredKernels, DISABLED_append_their_name_to_a_file) {
    std::ofstream out{std::getenv(keys_file), std::ios::app};
    auto module = gemm(37, 65, 29, 8, 16, 8);
    auto options = plain_options();
    out << cache::Key{key_of(*module, options)}.name() << " "
        << cache::Key{bytes_of(*module, options)}.name() << "\n";
}

TEST(StoredKernels, have_the_same_key_and_bytes_in_every_process) {
    constexpr int processes = 20;
    char file[] = "/tmp/luisa-tile-keys-XXXXXX";
    close(mkstemp(file));
    setenv(keys_file, file, 1);
    for (int i = 0; i < processes; ++i) {
        ASSERT_TRUE(
            passes_in_a_fresh_process("StoredKernels.DISABLED_append_their_name_to_a_file"));
    }
    std::ifstream in{file};
    std::string line, first;
    int lines = 0;
    for (; std::getline(in, line); ++lines) {
        first = lines == 0 ? line : first;
        EXPECT_EQ(line, first);
    }
    EXPECT_EQ(lines, processes);
    unlink(file);
}

}// namespace luisa::tile::test
