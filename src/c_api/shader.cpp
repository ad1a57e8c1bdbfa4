// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile/registry.h>

#include "c_api/handles.h"
#include "c_api/status.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

namespace luisa::tile::c_api {

void Parameter::fill(luisa_tile_parameter &out) const noexcept {
    out = {};
    out.name = info.name.c_str();
    out.is_view = info.is_view;
    out.read_only = info.read_only;
    out.type = static_cast<luisa_tile_type>(info.type);
    out.rank = static_cast<int32_t>(info.axes.size());
    for (size_t d = 0; d < LUISA_TILE_MAX_RANK; ++d) {
        bool there = d < info.axes.size();
        out.extents[d] = there ? info.axes[d].extent : 0;
        out.extent_names[d] = there ? info.axes[d].name.c_str() : "";
    }
}

std::vector<runtime::Argument> read_arguments(const DeviceState &device,
                                              const std::vector<ParameterKind> &kinds,
                                              const luisa_tile_argument *arguments, size_t count,
                                              const char *function) {
    if (count > 0) {
        need(arguments, function, "arguments");
    }
    if (count != kinds.size()) {
        throw CallError{std::string{function} + ": the kernel takes " +
                        std::to_string(kinds.size()) + " arguments, got " + std::to_string(count)};
    }
    std::vector<runtime::Argument> all(count);
    for (size_t i = 0; i < count; ++i) {
        const auto &from = arguments[i];
        if (!from.tensor) {
            if (kinds[i].is_view) {
                throw ValueError{std::string{function} + ": argument " + std::to_string(i) +
                                 " is null in place of a tensor"};
            }
            all[i].type = kinds[i].type;
            all[i].bits = from.bits;
            continue;
        }
        if (from.tensor->device->device.impl() != device.device.impl()) {
            throw DeviceError{std::string{function} + ": argument " + std::to_string(i) +
                              " is a tensor of device '" + from.tensor->device->device.name() +
                              "' made by another handle, the kernel's is '" + device.device.name() +
                              "'"};
        }
        all[i] = from.tensor->argument;
        if (from.tensor->imported) {
            all[i].owner = nullptr;
        }
    }
    return all;
}

namespace {

std::string read_file(const std::string &path) {
    std::ifstream file{path, std::ios::binary};
    std::ostringstream text;
    if (!file || !(text << file.rdbuf())) {
        throw ValueError{"cannot read '" + path + "': " + std::strerror(errno ? errno : EIO)};
    }
    return std::move(text).str();
}

luisa_tile_shader *compile(const luisa_tile_device &device, const std::string &text,
                           const std::string &name) {
    auto kernel = parse_kernel(text, name);
    auto made = std::make_unique<luisa_tile_shader>();
    made->device = device.state;
    made->shader = device.state->device.compile(kernel);
    made->name = kernel.name();
    for (auto &info : parameters(kernel)) {
        made->kinds.push_back({info.is_view, info.type});
        made->parameters.push_back({std::move(info)});
    }
    return made.release();
}

std::vector<ParameterKind> registered_kinds(const char *name) {
    std::vector<ParameterKind> kinds;
    for (const auto &p : registered_parameters(name, {})) {
        kinds.push_back({p.is_view, p.type});
    }
    return kinds;
}

thread_local std::vector<std::string> registered_list;

}// namespace

}// namespace luisa::tile::c_api

using namespace luisa::tile;
using namespace luisa::tile::c_api;

luisa_tile_status luisa_tile_compile(luisa_tile_device *device, const char *text, const char *name,
                                     luisa_tile_shader **out) {
    static constexpr auto *function = "luisa_tile_compile";
    return guarded([&] {
        need(device, function, "device");
        need(text, function, "text");
        need(out, function, "out");
        *out = compile(*device, text, name ? name : "<text>");
    });
}

luisa_tile_status luisa_tile_compile_file(luisa_tile_device *device, const char *path,
                                          luisa_tile_shader **out) {
    static constexpr auto *function = "luisa_tile_compile_file";
    return guarded([&] {
        need(device, function, "device");
        need(path, function, "path");
        need(out, function, "out");
        *out = compile(*device, read_file(path), path);
    });
}

void luisa_tile_shader_destroy(luisa_tile_shader *shader) { delete shader; }

luisa_tile_status luisa_tile_shader_name(luisa_tile_shader *shader, const char **out) {
    static constexpr auto *function = "luisa_tile_shader_name";
    return guarded([&] {
        need(shader, function, "shader");
        need(out, function, "out");
        *out = shader->name.c_str();
    });
}

luisa_tile_status luisa_tile_shader_plan(luisa_tile_shader *shader, const char **out) {
    static constexpr auto *function = "luisa_tile_shader_plan";
    return guarded([&] {
        need(shader, function, "shader");
        need(out, function, "out");
        *out = shader->shader.metadata().plan.c_str();
    });
}

luisa_tile_status luisa_tile_shader_parameter_count(luisa_tile_shader *shader, size_t *out) {
    static constexpr auto *function = "luisa_tile_shader_parameter_count";
    return guarded([&] {
        need(shader, function, "shader");
        need(out, function, "out");
        *out = shader->parameters.size();
    });
}

luisa_tile_status luisa_tile_shader_parameter(luisa_tile_shader *shader, size_t index,
                                              luisa_tile_parameter *out) {
    static constexpr auto *function = "luisa_tile_shader_parameter";
    return guarded([&] {
        need(shader, function, "shader");
        need(out, function, "out");
        if (index >= shader->parameters.size()) {
            throw IndexError{std::string{function} + ": parameter " + std::to_string(index) +
                             " of a kernel that has " + std::to_string(shader->parameters.size())};
        }
        shader->parameters[index].fill(*out);
    });
}

luisa_tile_status luisa_tile_dispatch(luisa_tile_shader *shader, void *stream,
                                      const luisa_tile_argument *arguments, size_t count) {
    static constexpr auto *function = "luisa_tile_dispatch";
    return guarded([&] {
        need(shader, function, "shader");
        auto list = read_arguments(*shader->device, shader->kinds, arguments, count, function);
        shader->device->dispatch(shader->shader, stream, list);
    });
}

size_t luisa_tile_registered_count(void) {
    auto taken = guarded([] { registered_list = registered_kernels(); });
    return taken == LUISA_TILE_OK ? registered_list.size() : 0;
}

const char *luisa_tile_registered_name(size_t index) {
    return index < registered_list.size() ? registered_list[index].c_str() : nullptr;
}

luisa_tile_status luisa_tile_registered_parameter_count(const char *name, size_t *out) {
    static constexpr auto *function = "luisa_tile_registered_parameter_count";
    return guarded([&] {
        need(name, function, "name");
        need(out, function, "out");
        *out = registered_parameters(name, {}).size();
    });
}

luisa_tile_status luisa_tile_registered_parameter(const char *name, size_t index,
                                                  luisa_tile_parameter *out) {
    static constexpr auto *function = "luisa_tile_registered_parameter";
    return guarded([&] {
        need(name, function, "name");
        need(out, function, "out");
        auto all = registered_parameters(name, {});
        if (index >= all.size()) {
            throw IndexError{std::string{function} + ": parameter " + std::to_string(index) +
                             " of a kernel that has " + std::to_string(all.size())};
        }
        const auto &p = all[index];
        *out = {};
        out->name = "";
        out->is_view = p.is_view;
        out->read_only = p.read_only;
        out->type = static_cast<luisa_tile_type>(p.type);
        out->rank = p.rank;
        for (int d = 0; d < LUISA_TILE_MAX_RANK; ++d) {
            out->extents[d] = d < p.rank ? -1 : 0;
            out->extent_names[d] = "";
        }
    });
}

luisa_tile_status luisa_tile_run_registered(luisa_tile_device *device, const char *name,
                                            void *stream, const luisa_tile_argument *arguments,
                                            size_t count) {
    static constexpr auto *function = "luisa_tile_run_registered";
    return guarded([&] {
        need(device, function, "device");
        need(name, function, "name");
        auto list = read_arguments(*device->state, registered_kinds(name), arguments, count,
                                   function);
        device->state->dispatch(device->state->registered(name, list), stream, list);
    });
}
