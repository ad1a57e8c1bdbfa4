// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <optional>

namespace minilm {

/// The folder with model.safetensors and vocab.txt: the one that $LUISA_TILE_MINILM names, else what
/// `./dev setup model` installs in `.venv` in or above the current folder or this source file's. Empty when there
/// is none.
[[nodiscard]] std::optional<std::filesystem::path> find_weights();

/// How to get the weights, in one line.
[[nodiscard]] const char *how_to_get_weights();

}// namespace minilm
