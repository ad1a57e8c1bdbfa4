// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/inspect.h>
#include <luisa/tile/tensor.h>

#include <functional>
#include <string>
#include <vector>

// Kernels by name, for callers that know no C++: the C API and Python list and run what a program or a library that
// was loaded has registered.

namespace luisa::tile {

/// One parameter of a registered kernel.
struct RegisteredParameter {
    ScalarType type = ScalarType::FLOAT32;
    bool is_view = false, read_only = false;
    int rank = 0;///< of a view
};

namespace runtime {

/// A kernel definition without its C++ types.
struct RegisteredForm {
    std::string name;
    std::vector<RegisteredParameter> parameters;
    std::function<Kernel(const TensorMeta *)> capture;
    SourceLoc loc;
};
/// A number for `unregister_kernel`.
[[nodiscard]] int register_kernel(RegisteredForm form);
void unregister_kernel(int id) noexcept;

template<class P> RegisteredParameter registered_parameter() {
    if constexpr (core::parameter_traits<P>::is_tensor) {
        using T = typename P::element;
        return {scalar_type_of<std::remove_const_t<T>>, true, std::is_const_v<T>, P::rank};
    } else {
        return {scalar_type_of<typename P::element>, false, true, 0};
    }
}

}// namespace runtime

/// Makes a kernel definition known by name for as long as this object lives; at namespace scope, as long as its
/// program or library is loaded. The kernel is captured for the extents and strides of each call's arguments.
///     const Registered softmax{"rows.softmax", tile_kernel([](TensorView<const float, 2> X, …) { … })};
/// A name that two definitions have is an error of the call that uses it, since nothing can be thrown while a library is
/// loaded.
class Registered {
public:
    template<class F, class... P>
    Registered(std::string name, KernelDefinition<F, P...> definition,
               SourceLoc loc = SourceLoc::current())
        : _id{runtime::register_kernel({std::move(name),
                                        {runtime::registered_parameter<P>()...},
                                        [d = std::move(definition)](const TensorMeta *metas) {
                                            return d.capture_from(metas);
                                        },
                                        loc})} {}
    Registered(const Registered &) = delete;
    Registered &operator=(const Registered &) = delete;
    ~Registered() { runtime::unregister_kernel(_id); }

private:
    int _id;
};

/// The names that are registered, in alphabetical order, each once.
[[nodiscard]] std::vector<std::string> registered_kernels();
/// The signature of a registered kernel. ValueError, with the names that there are, when there is none of that name, or two.
[[nodiscard]] std::vector<RegisteredParameter> registered_parameters(
    const std::string &name, SourceLoc loc = SourceLoc::current());
/// Captures a registered kernel, one `tensor_shape` a view, in order. CallError for another number.
[[nodiscard]] Kernel capture_registered(const std::string &name,
                                        const std::vector<TensorMeta> &metas,
                                        SourceLoc loc = SourceLoc::current());

}// namespace luisa::tile
