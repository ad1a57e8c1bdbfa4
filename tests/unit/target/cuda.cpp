// SPDX-License-Identifier: Apache-2.0
#include "target/cuda.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace luisa::tile::target {

TEST(CudaCatalog, rows_are_found_by_every_spelling_of_their_name) {
    for (const auto &row : cuda_architectures()) {
        EXPECT_EQ(find_cuda(row.name), &row);
        EXPECT_EQ(find_cuda(std::string{row.name}.substr(3)), &row);
    }
    EXPECT_EQ(find_cuda("sm_75"), nullptr);
    EXPECT_EQ(find_cuda(""), nullptr);
    EXPECT_EQ(cuda_names(), "sm_80, sm_89, sm_90, sm_90a, sm_100, sm_100a");
}

TEST(CudaCatalog, a_device_gets_the_newest_code_that_runs_on_it) {
    struct Row {
        int sm;
        const char *name;
    };
    for (const auto &row : {Row{80, "sm_80"},
                            {86, "sm_80"},
                            {89, "sm_89"},
                            {90, "sm_90a"},
                            {100, "sm_100a"},
                            {103, "sm_100"},
                            {120, "sm_100"}}) {
        ASSERT_NE(cuda_for_device(row.sm), nullptr) << row.sm;
        EXPECT_STREQ(cuda_for_device(row.sm)->name, row.name) << row.sm;
    }
    EXPECT_EQ(cuda_for_device(75), nullptr);
}

TEST(CudaCatalog, drivers_understand_the_ptx_of_their_time) {
    EXPECT_EQ(ptx_of_driver(10020), 0);
    EXPECT_EQ(ptx_of_driver(11000), 70);
    EXPECT_EQ(ptx_of_driver(11080), 78);
    EXPECT_EQ(ptx_of_driver(12060), 85);
    EXPECT_EQ(ptx_of_driver(12080), 87);
    EXPECT_EQ(ptx_of_driver(13010), newest_ptx);
}

TEST(CudaCatalog, occupancy_is_bounded_by_each_resource) {
    const auto &h = *find_cuda("sm_90");
    EXPECT_EQ(h.resident_blocks(1024, 32, 0), 2);
    EXPECT_EQ(h.resident_blocks(1024, 64, 0), 1);
    EXPECT_EQ(h.resident_blocks(32, 16, 0), 32) << "blocks";
    EXPECT_EQ(h.resident_blocks(128, 128, 0), 4) << "registers";
    EXPECT_EQ(h.resident_blocks(128, 16, 227 << 10), 1) << "shared memory";
    EXPECT_EQ(h.resident_blocks(1024, 255, 0), 0);
    EXPECT_EQ(h.resident_blocks(1025, 16, 0), 0);
    EXPECT_EQ(h.resident_blocks(128, 16, 228 << 10), 0);
    EXPECT_EQ(find_cuda("sm_89")->resident_blocks(1024, 32, 0), 1);
}

TEST(CudaCatalog, specific_rows_add_what_general_code_may_not_use) {
    for (const auto &row : cuda_architectures()) {
        EXPECT_EQ(row.async.warpgroups || row.async.tensor_memory, row.specific) << row.name;
        EXPECT_LE(row.shared_per_block + row.shared_reserved, row.shared_per_multiprocessor);
        EXPECT_TRUE(row.async.copy_16);
        EXPECT_EQ(row.async.bulk, row.sm >= 90);
        EXPECT_LE(row.ptx_isa, newest_ptx);
    }
}

TEST(MatrixAtoms, each_shape_is_listed_once) {
    std::set<std::string> seen;
    for (const auto &atom : matrix_atoms()) {
        EXPECT_TRUE(seen.insert(atom.instruction()).second) << atom.instruction();
        EXPECT_EQ(atom.n, 8);
    }
    EXPECT_TRUE(seen.count("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"));
    EXPECT_TRUE(seen.count("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64"));
}

}// namespace luisa::tile::target
