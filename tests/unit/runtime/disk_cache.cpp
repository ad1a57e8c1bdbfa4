// SPDX-License-Identifier: Apache-2.0
#include "support/fresh_process.h"
#include "unit/cache/support.h"
#include "unit/runtime/support.h"

#include <luisa/tile.h>

// Compiled kernels on disk, as a program sees them.

namespace luisa::tile::test {

namespace {

constexpr const char *shared_folder = "LUISA_TILE_TEST_FOLDER";

Kernel row_sums(int64_t columns = 65) {
    return tile_kernel([](TensorView<const float, 2> X, TensorView<float, 1> Y) {
               auto r = axis("row", 1), c = axis("column", X.extent(1));
               for (auto &nest : parallel(shape(X.extent(0)))) {
                   auto x = X[coord(nest.index(), 0), shape(r, c)];
                   Y(coord(nest.index()), shape(r)).store(reduce(x, c, add));
               }
           })
        .capture(tensor_shape(9, columns), tensor_shape(9));
}

/// The sums of nine rows of ones, computed by a shader.
void expect_sums(const Device &device, const Shader &shader, int64_t columns = 65) {
    auto x = make_tensor<float>(device, 9, columns);
    auto y = make_tensor<float>(device, 9);
    for (int64_t i = 0; i < 9; ++i) {
        for (int64_t j = 0; j < columns; ++j) {
            x.at(i, j) = 1;
        }
    }
    Stream stream{device};
    stream << shader(x, y).dispatch();
    for (int64_t i = 0; i < 9; ++i) {
        EXPECT_EQ(y.at(i), static_cast<float>(columns));
    }
}

class DiskCached : public ::testing::Test {
protected:
    Device device(const std::string &path = {}) {
        return Device::create(
            "cpu", {.threads = 1,
                    .cache_directory = path.empty() ? folder.path() : path,
                    .warn = [this](const std::string &text) { warnings.push_back(text); }});
    }
    [[nodiscard]] std::vector<fs::path> files() const {
        std::vector<fs::path> all;
        for (const auto &file : fs::directory_iterator{folder.path()}) {
            all.push_back(file);
        }
        return all;
    }
    Folder folder;
    std::vector<std::string> warnings;
};

}// namespace

TEST_F(DiskCached, kernels_are_found_by_the_next_device) {
    auto first = device(), second = device();
    auto made = first.compile(row_sums()), found = second.compile(row_sums());
    EXPECT_EQ(made.metadata().disk, DiskCache::MISS);
    EXPECT_EQ(found.metadata().disk, DiskCache::HIT);
    EXPECT_EQ(files().size(), 1u);
    EXPECT_EQ(found.metadata().plan, made.metadata().plan);
    EXPECT_FALSE(found.metadata().plan.empty());
    EXPECT_EQ(found.metadata().scratch_bytes, made.metadata().scratch_bytes);
    EXPECT_EQ(found.metadata().shared_bytes, made.metadata().shared_bytes);
    EXPECT_EQ(found.metadata().codegen_ms, 0);
    EXPECT_GT(found.metadata().disk_ms, 0);
    expect_sums(first, made);
    expect_sums(second, found);
    EXPECT_EQ(second.compile(row_sums(66)).metadata().disk, DiskCache::MISS);
    EXPECT_EQ(Device::create("cpu", {.threads = 2, .cache_directory = folder.path()})
                  .compile(row_sums())
                  .metadata()
                  .disk,
              DiskCache::MISS);
    EXPECT_TRUE(warnings.empty());
}

TEST_F(DiskCached, DISABLED_kernel_of_another_process) {
    auto device = Device::create("cpu",
                                 {.threads = 1, .cache_directory = std::getenv(shared_folder)});
    auto shader = device.compile(row_sums());
    EXPECT_EQ(shader.metadata().disk, DiskCache::HIT);
    expect_sums(device, shader);
}

TEST_F(DiskCached, kernels_are_found_by_the_next_process) {
    setenv(shared_folder, folder.path().c_str(), 1);
    EXPECT_FALSE(passes_in_a_fresh_process("DiskCached.DISABLED_kernel_of_another_process"));
    EXPECT_TRUE(passes_in_a_fresh_process("DiskCached.DISABLED_kernel_of_another_process"));
    EXPECT_EQ(device().compile(row_sums()).metadata().disk, DiskCache::HIT);
}

TEST_F(DiskCached, kernels_are_not_asked_for_where_that_is_not_wanted) {
    auto off = Device::create("cpu", {.cache = false, .cache_directory = folder.path()});
    EXPECT_EQ(off.compile(row_sums()).metadata().disk, DiskCache::OFF);
    auto on = device();
    EXPECT_EQ(on.compile(row_sums(), {.cached = false}).metadata().disk, DiskCache::OFF);
    EXPECT_EQ(on.compile(row_sums(), {.disk = false}).metadata().disk, DiskCache::OFF);
    auto interpreter = Device::create("interpreter", {.cache_directory = folder.path()});
    EXPECT_EQ(interpreter.compile(row_sums()).metadata().disk, DiskCache::OFF);
    EXPECT_TRUE(files().empty());
}

TEST_F(DiskCached, the_variant_for_overlapping_views_is_an_entry_of_its_own) {
    for (int round = 0; round < 2; ++round) {
        auto on = device();
        auto kernel = tile_kernel([](TensorView<const float, 1> X, TensorView<float, 1> Y) {
                          auto i = axis("i", 64);
                          Y(coord(0), shape(i)).store(X[coord(0), shape(i)] + 1.0f);
                      }).capture(tensor_shape(64), tensor_shape(64));
        auto shader = on.compile(kernel);
        auto x = make_tensor<float>(on, 64);
        x.at(5) = 2;
        Stream stream{on};
        stream << shader(x, x).dispatch();
        EXPECT_EQ(x.at(5), 3);
        EXPECT_EQ(files().size(), 2u);
    }
    EXPECT_TRUE(warnings.empty());
}

TEST_F(DiskCached, kernels_report_what_they_did_before) {
    std::string first;
    for (auto disk : {DiskCache::MISS, DiskCache::HIT}) {
        auto on = device();
        auto kernel = tile_kernel([](TensorView<const float, 1> X) {
                          auto i = axis("i", 8);
                          assert_(X[coord(0), shape(i)] < 1.0f, "below one");
                      }).capture(tensor_shape(8));
        auto shader = on.compile(kernel);
        EXPECT_EQ(shader.metadata().disk, disk);
        auto x = make_tensor<float>(on, 8);
        for (int64_t j = 0; j < 8; ++j) {
            x.at(j) = j == 3 ? 4 : 0;
        }
        std::string said;
        try {
            Stream stream{on};
            stream << shader(x).dispatch();
        } catch (const AssertionError &error) {
            said = error.what();
        }
        EXPECT_NE(said.find("below one; element (3)"), std::string::npos) << said;
        EXPECT_NE(said.find("disk_cache.cpp:"), std::string::npos) << said;
        first = first.empty() ? said : first;
        EXPECT_EQ(said, first);
    }
}

TEST_F(DiskCached, damaged_kernels_are_compiled_again) {
    static_cast<void>(device().compile(row_sums()));
    auto file = files().at(0);
    auto bytes = read_file(file);
    bytes.back() ^= 1;
    write_file(file, bytes);
    auto on = device();
    auto shader = on.compile(row_sums());
    EXPECT_EQ(shader.metadata().disk, DiskCache::MISS);
    EXPECT_EQ(warnings, std::vector<std::string>{"the compiled kernel in " + file.string() +
                                                 " is not used: its payload is damaged"});
    expect_sums(on, shader);
    EXPECT_EQ(device().compile(row_sums()).metadata().disk, DiskCache::HIT);
    EXPECT_EQ(warnings.size(), 1u);
}

TEST_F(DiskCached, whole_entries_that_are_no_kernels_are_compiled_again) {
    auto on = device();
    auto kernel = row_sums();
    cache::Key key{compiler::key_text(*module_of(kernel), canonical_text(kernel),
                                      {on.impl()->target, 1, false, std::nullopt})};
    compiler::CpuObject no_code;
    no_code.code.bytes = noise(300, 9);
    auto prefix = "the compiled kernel in " + folder.path() + "/" + key.name() + " is not used: ";
    for (const auto &[payload, why] :
         {std::pair{noise(100, 2), "its payload is not a kernel"},
          std::pair{compiler::to_bytes(no_code), "cannot read generated code"}}) {
        warnings.clear();
        on.impl()->disk->keep(key, payload);
        auto next = device();
        auto shader = next.compile(kernel);
        EXPECT_EQ(shader.metadata().disk, DiskCache::MISS);
        ASSERT_EQ(warnings.size(), 1u);
        EXPECT_TRUE(warnings[0].starts_with(prefix + why)) << warnings[0];
        expect_sums(next, shader);
        EXPECT_EQ(device().compile(kernel).metadata().disk, DiskCache::HIT);
    }
}

TEST_F(DiskCached, folders_that_cannot_be_used_cost_one_warning) {
    auto path = folder.path() + "/file";
    write_file(path, "text");
    auto on = device(path);
    auto shader = on.compile(row_sums());
    EXPECT_EQ(shader.metadata().disk, DiskCache::OFF);
    expect_sums(on, shader);
    (void)on.compile(row_sums(66));
    EXPECT_EQ(warnings, std::vector<std::string>{"compiled kernels are not kept in " + path +
                                                 ": Not a directory"});
}

TEST_F(DiskCached, DISABLED_warnings_without_a_receiver) {
    auto path = folder.path() + "/file";
    write_file(path, "text");
    ::testing::internal::CaptureStderr();
    for (int i = 0; i < 3; ++i) {
        auto on = Device::create("cpu", {.threads = 1, .cache_directory = path});
        expect_sums(on, on.compile(row_sums()));
    }
    EXPECT_EQ(::testing::internal::GetCapturedStderr(),
              "luisa-tile: compiled kernels are not kept in " + path + ": Not a directory\n");
}

TEST_F(DiskCached, warnings_without_a_receiver_go_to_the_error_stream_once_a_process) {
    EXPECT_TRUE(passes_in_a_fresh_process("DiskCached.DISABLED_warnings_without_a_receiver"));
}

TEST_F(DiskCached, code_is_never_writable_and_executable) {
    for (auto disk : {DiskCache::MISS, DiskCache::HIT}) {
        auto on = device();
        auto shader = on.compile(row_sums());
        ASSERT_EQ(shader.metadata().disk, disk);
        auto maps = read_file("/proc/self/maps");
        EXPECT_NE(maps.find(" r-xp "), std::string::npos);
        EXPECT_EQ(maps.find("rwx"), std::string::npos) << maps;
        expect_sums(on, shader);
    }
}

TEST_F(DiskCached, a_negative_limit_is_an_error) {
    try {
        static_cast<void>(Device::create("cpu", {.cache_bytes = -1}));
        FAIL();
    } catch (const ValueError &error) {
        EXPECT_EQ(error.message(),
                  "DeviceOptions::cache_bytes is -1, expected a number of bytes >= 0");
    }
}

}// namespace luisa::tile::test
