// SPDX-License-Identifier: Apache-2.0
#include "interpreter/arguments.h"

#include "types/convert.h"

#include <algorithm>

namespace luisa::tile::interpreter {

namespace {

std::string type_text(const ir::Type &type) {
    if (!type.is_view()) {
        return to_string(type.scalar);
    }
    std::string text = std::string{"view<"} + (type.read_only ? "const " : "") +
                       to_string(type.scalar) + ", ";
    for (size_t i = 0; i < type.axes.size(); ++i) {
        const auto &axis = type.axes[i];
        text += i == 0 ? "" : "x";
        text += axis.extent == ir::runtime_value ? "?" + axis.name : std::to_string(axis.extent);
    }
    return text + ">";
}

[[noreturn]] void mismatch(const Context &context, const std::string &what) {
    throw CallError{context.kernel.name + ": " + what + "; expected " + signature(context.kernel),
                    context.kernel.loc};
}

/// A runtime extent, and the parameter that first gave it a value.
struct NamedExtent {
    int64_t extent = 0;
    std::string place;
};
using NamedExtents = std::unordered_map<std::string, NamedExtent>;

void check_extent(Context &context, const ir::ViewAxis &axis, int64_t extent,
                  const std::string &place, NamedExtents &named) {
    if (extent < 0) {
        mismatch(context, place + " is " + std::to_string(extent) + ", which is negative");
    }
    if (axis.extent != ir::runtime_value) {
        if (extent != axis.extent) {
            mismatch(context, place + " is " + std::to_string(extent) + ", not " +
                                  std::to_string(axis.extent));
        }
        return;
    }
    if (axis.name.empty()) {
        return;
    }
    auto [found, added] = named.try_emplace(axis.name, NamedExtent{extent, place});
    if (!added && found->second.extent != extent) {
        mismatch(context, place + " is " + std::to_string(extent) + ", but " + found->second.place +
                              ", the same '" + axis.name + "', is " +
                              std::to_string(found->second.extent));
    }
}

// Along an axis of at most one element the stride is never used, nor any of a view of none.
void check_strides(Context &context, const ir::Type &type, const View &view,
                   const std::string &name) {
    auto dense = dense_strides(view.extents);
    for (size_t i = 0; i < view.extents.size(); ++i) {
        auto expected = type.strides.empty() ? dense[i] : type.strides[i];
        if (expected != ir::runtime_value && view.strides[i] != expected && view.extents[i] > 1) {
            mismatch(context, "stride " + std::to_string(i) + " of " + name + " is " +
                                  std::to_string(view.strides[i]) + ", not " +
                                  std::to_string(expected));
        }
    }
}

View bind_view(Context &context, const ir::Value *parameter, const KernelArgument &argument,
               NamedExtents &named) {
    const auto &type = *parameter->type();
    const auto &name = context.parameter_name(parameter);
    if (argument.extents.size() != type.axes.size()) {
        mismatch(context, name + " has rank " + std::to_string(argument.extents.size()) + ", not " +
                              std::to_string(type.axes.size()));
    }
    for (size_t i = 0; i < type.axes.size(); ++i) {
        check_extent(context, type.axes[i], argument.extents[i],
                     "extent " + std::to_string(i) + " of " + name, named);
    }
    View view{static_cast<std::byte *>(argument.data), argument.extents, argument.strides};
    if (view.strides.empty()) {
        view.strides = dense_strides(view.extents);
    }
    if (view.strides.size() != view.extents.size()) {
        mismatch(context, name + " has " + std::to_string(view.strides.size()) + " strides for " +
                              std::to_string(view.extents.size()) + " extents");
    }
    auto empty = std::find(view.extents.begin(), view.extents.end(), 0) != view.extents.end();
    if (!empty) {
        check_strides(context, type, view, name);
        if (!view.data) {
            mismatch(context, name + " has elements but no memory (null)");
        }
    }
    return view;
}

}// namespace

std::string signature(const ir::Function &kernel) {
    auto text = kernel.name + "(";
    for (auto *parameter : kernel.body->arguments()) {
        auto i = parameter->index();
        text += i == 0 ? "" : ", ";
        text += (i < kernel.parameter_names.size() ? kernel.parameter_names[i] : "_") + ": " +
                type_text(*parameter->type());
    }
    return text + ")";
}

void bind_arguments(Context &context, const Block &body,
                    std::span<const KernelArgument> arguments) {
    const auto &parameters = context.kernel.body->arguments();
    if (arguments.size() != parameters.size()) {
        mismatch(context, std::to_string(arguments.size()) + " arguments, not " +
                              std::to_string(parameters.size()));
    }
    context.views.resize(parameters.size());
    NamedExtents named;
    for (size_t i = 0; i < parameters.size(); ++i) {
        if (parameters[i]->type()->is_view()) {
            context.views[i] = bind_view(context, parameters[i], arguments[i], named);
        } else {
            context.output(body.arguments[i], 1).bits[0] = arith::normalize(
                parameters[i]->scalar(), arguments[i].scalar_bits);
        }
    }
}

}// namespace luisa::tile::interpreter
