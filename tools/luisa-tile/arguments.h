// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile.h>
#include <luisa/tile/inspect.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace tool {

namespace lt = luisa::tile;

/// One argument of a run with the memory behind it.
struct Bound {
    lt::ParameterInfo info;
    lt::runtime::Argument argument;
    std::shared_ptr<void> memory;///< of the host
    size_t count = 0;///< elements that the memory holds; for a dense view, those of the view
    [[nodiscard]] size_t bytes() const { return count * size_of(info.type); }
};

using Settings = std::map<std::string, std::string>;

/// "key=value" pairs; ValueError names `option` where there is no '='.
Settings parse_settings(const char *option, const std::vector<std::string> &pairs);

/// Arguments for every parameter. A view starts as zeros unless `inputs` (by name or index) says
/// ones, iota, random or a file of its raw elements; a scalar is 0 unless `scalars` sets it.
/// ValueError for unknown keys, missing extents and files of another size.
std::vector<Bound> make_arguments(const std::vector<lt::ParameterInfo> &parameters,
                                  const Settings &inputs, const Settings &extents,
                                  const Settings &scalars);

/// Runs a shader of `device` on copies of the arguments in its memory.
void run_on(const lt::Device &device, const lt::Shader &shader, std::vector<Bound> &bound);

/// An element as a number.
double element(const Bound &bound, size_t index);
/// Writes the raw elements.
void write_file(const Bound &bound, const std::string &path);
/// The parameter that `key` names, by name or index; ValueError when there is none.
size_t find_parameter(const std::vector<lt::ParameterInfo> &parameters, const std::string &key);

}// namespace tool
