// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile/registry.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <set>

namespace luisa::tile {

namespace {

struct Registry {
    std::mutex mutex;
    std::map<int, runtime::RegisteredForm> forms;
    int next = 0;
};

/// Never destroyed: objects of other libraries unregister as late as they like.
Registry &registry() {
    static auto &instance = *new Registry;
    return instance;
}

std::string names_text(const Registry &r) {
    std::set<std::string> names;
    for (const auto &[id, form] : r.forms) {
        names.insert("'" + form.name + "'");
    }
    std::string text;
    for (const auto &name : names) {
        text += (text.empty() ? "there are " : ", ") + name;
    }
    return text.empty() ? "none is registered" : text;
}

/// A copy, so that captures run without the lock.
runtime::RegisteredForm find(const std::string &name, SourceLoc loc) {
    auto &r = registry();
    std::lock_guard lock{r.mutex};
    std::vector<const runtime::RegisteredForm *> found;
    for (const auto &[id, form] : r.forms) {
        if (form.name == name) {
            found.push_back(&form);
        }
    }
    if (found.empty()) {
        throw ValueError{"no kernel is registered as '" + name + "'; " + names_text(r), loc};
    }
    if (found.size() > 1) {
        throw ValueError{
            "several kernels are registered as '" + name + "'; give each its own name",
            loc,
            {{"one is registered here", found[0]->loc}, {"another one here", found[1]->loc}}};
    }
    return *found[0];
}

}// namespace

namespace runtime {

int register_kernel(RegisteredForm form) {
    auto &r = registry();
    std::lock_guard lock{r.mutex};
    r.forms.emplace(r.next, std::move(form));
    return r.next++;
}

void unregister_kernel(int id) noexcept {
    auto &r = registry();
    std::lock_guard lock{r.mutex};
    r.forms.erase(id);
}

}// namespace runtime

std::vector<std::string> registered_kernels() {
    auto &r = registry();
    std::lock_guard lock{r.mutex};
    std::set<std::string> names;
    for (const auto &[id, form] : r.forms) {
        names.insert(form.name);
    }
    return {names.begin(), names.end()};
}

std::vector<RegisteredParameter> registered_parameters(const std::string &name, SourceLoc loc) {
    return find(name, loc).parameters;
}

Kernel capture_registered(const std::string &name, const std::vector<TensorMeta> &metas,
                          SourceLoc loc) {
    auto form = find(name, loc);
    auto views = std::count_if(form.parameters.begin(), form.parameters.end(),
                               [](const RegisteredParameter &p) { return p.is_view; });
    if (static_cast<size_t>(views) != metas.size()) {
        throw CallError{"kernel '" + name + "' has " + std::to_string(views) +
                            " views to capture for, got " + std::to_string(metas.size()) +
                            " tensor shapes",
                        loc};
    }
    for (size_t i = 0, v = 0; i < form.parameters.size(); ++i) {
        const auto &p = form.parameters[i];
        if (p.is_view && metas[v++].extents.size() != static_cast<size_t>(p.rank)) {
            throw CallError{"kernel '" + name + "' has a view of rank " + std::to_string(p.rank) +
                                " as parameter " + std::to_string(i) + ", got " +
                                std::to_string(metas[v - 1].extents.size()) + " extents",
                            loc};
        }
    }
    return form.capture(metas.data());
}

}// namespace luisa::tile
