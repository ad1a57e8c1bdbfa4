// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/nest.h>

#include <memory>
#include <string>
#include <tuple>

namespace luisa::tile {

/// The extent of one dimension at capture: fixed, or a runtime value under a name.
struct Extent {
    int64_t value = 0;
    const char *name = nullptr;
    template<std::integral U> Extent(U v) : value{static_cast<int64_t>(v)} {}
    explicit Extent(const char *name) : value{-1}, name{name} {}
};
/// An extent that each launch sets; equal names are one extent.
[[nodiscard]] inline Extent dynamic(const char *name) { return Extent{name}; }

/// What capture knows of one view: extents, and strides in elements (empty: dense row-major).
struct TensorMeta {
    std::vector<Extent> extents;
    std::vector<int64_t> strides;
    /// The same extents with strides in elements, one a dimension; 0 and negative ones are allowed.
    [[nodiscard]] TensorMeta with_strides(std::vector<int64_t> s) const {
        return {extents, std::move(s)};
    }
};
/// A dense row-major tensor of these extents, integers or `dynamic(…)`, for `capture`.
template<class... E> [[nodiscard]] TensorMeta tensor_shape(E... extents) {
    return {{Extent(extents)...}, {}};
}

/// Defaults of a kernel, resolved at capture into each operation that has no policy of its own.
struct KernelOptions {
    MathTier math = MathTier::STRICT;
    ReductionPolicy reduction = ReductionPolicy::UNORDERED_TREE;
    MmaPolicy mma = {};
    bool noalias = false;///< written views overlap no other
    const char *name = "kernel";
};

struct KernelImpl;

/// A captured program: one Candidate TileIR kernel. Immutable; copies share it.
class Kernel {
public:
    Kernel() = default;
    explicit Kernel(std::shared_ptr<const KernelImpl> impl) : _impl{std::move(impl)} {}
    /// The canonical text; with locations, each operation's source line follows it.
    [[nodiscard]] std::string ir_text(bool locations = false) const;
    /// The name of the kernel, in IR and in messages.
    [[nodiscard]] const std::string &name() const;
    [[nodiscard]] const KernelImpl *impl() const noexcept { return _impl.get(); }

private:
    std::shared_ptr<const KernelImpl> _impl;
};

/// Reads a kernel from TileIR text. Throws ParseError or VerifyError.
[[nodiscard]] Kernel parse_kernel(const std::string &text, const std::string &file_name = "<text>");

namespace core {

/// Pushes a builder on this thread and pops it on every exit.
class CaptureScope {
public:
    CaptureScope(const KernelOptions &options, SourceLoc loc);
    CaptureScope(const CaptureScope &) = delete;
    CaptureScope &operator=(const CaptureScope &) = delete;
    ~CaptureScope();
    Kernel finish();
    ViewHandle tensor(ScalarType type, bool read_only, int rank, const TensorMeta &meta,
                      SourceLoc loc);
    Value *scalar(ScalarType type);

private:
    struct State;
    std::unique_ptr<State> _state;
};

template<class P> struct parameter_traits { static constexpr bool ok = false, is_tensor = false; };
template<class T, int R> struct parameter_traits<TensorView<T, R>> {
    static constexpr bool ok = true, is_tensor = true;
};
template<class T> struct parameter_traits<Scalar<T>> {
    static constexpr bool ok = true, is_tensor = false;
};

}// namespace core

/// A kernel's C++ definition. `capture` runs the lambda once on the host and yields the program.
template<class F, class... P> class KernelDefinition {
    static_assert((core::parameter_traits<P>::ok && ...),
                  "a kernel parameter is TensorView<T, R>, TensorView<const T, R> or Scalar<T>; "
                  "capture other host values with [=]");

public:
    static constexpr size_t tensors = (size_t{0} + ... +
                                       (core::parameter_traits<P>::is_tensor ? 1 : 0));
    KernelDefinition(F f, KernelOptions options, SourceLoc loc)
        : _f{std::move(f)}, _options{options}, _loc{loc} {}

    /// One `tensor_shape` a TensorView parameter, in order; Scalars take none.
    template<std::convertible_to<TensorMeta>... M>
    [[nodiscard]] Kernel capture(const M &...meta) const {
        static_assert(
            sizeof...(M) == tensors,
            "capture() takes one tensor_shape per TensorView parameter, in order; Scalars "
            "take none");
        const std::array<TensorMeta, tensors> all{meta...};
        return capture_from(all.data());
    }
    /// The same from an array of `tensors` entries.
    [[nodiscard]] Kernel capture_from(const TensorMeta *meta) const {
        core::CaptureScope scope{_options, _loc};
        {
            size_t next = 0;
            // Braced initialisation: parameters are made left to right on every compiler.
            std::tuple<P...> arguments{make<P>(scope, meta, next)...};
            std::apply(_f, arguments);
        }
        return scope.finish();
    }

private:
    template<class Q>
    Q make(core::CaptureScope &scope, [[maybe_unused]] const TensorMeta *meta,
           [[maybe_unused]] size_t &next) const {
        if constexpr (core::parameter_traits<Q>::is_tensor) {
            using T = typename Q::element;
            return Q{scope.tensor(scalar_type_of<std::remove_const_t<T>>, std::is_const_v<T>,
                                  Q::rank, meta[next++], _loc)};
        } else {
            return Q{scope.scalar(scalar_type_of<typename Q::element>), _loc};
        }
    }
    F _f;
    KernelOptions _options;
    SourceLoc _loc;
};

namespace core {
template<class M> struct signature { static constexpr bool ok = false; };
template<class C, class R, class... A> struct signature<R (C::*)(A...) const> {
    static constexpr bool ok = true;
    using result = R;
    template<class F> using definition = KernelDefinition<F, std::remove_cvref_t<A>...>;
};
template<class C, class R, class... A>
struct signature<R (C::*)(A...) const noexcept> : signature<R (C::*)(A...) const> {};
template<class R, class... A> struct signature<R (*)(A...)> {
    static constexpr bool ok = true;
    using result = R;
    template<class F> using definition = KernelDefinition<F, std::remove_cvref_t<A>...>;
};
}// namespace core

/// Keeps a typed kernel definition; runs nothing. Takes a lambda, functor or function that returns nothing and whose
/// parameters are views and scalars.
template<class F>
[[nodiscard]] auto tile_kernel(F f, KernelOptions options = {},
                               SourceLoc loc = SourceLoc::current()) {
    if constexpr (std::is_function_v<std::remove_pointer_t<F>>) {
        using S = core::signature<F>;
        return typename S::template definition<F>(std::move(f), options, loc);
    } else if constexpr (!requires { &F::operator(); }) {
        static_assert(
            core::always_false<F>,
            "tile_kernel: the parameter types must be written out: TensorView<T, R> or "
            "Scalar<T> (an `auto` parameter or an overloaded call operator has no signature "
            "to capture from)");
    } else {
        using S = core::signature<decltype(&F::operator())>;
        if constexpr (!S::ok) {
            static_assert(
                core::always_false<F>,
                "tile_kernel: the lambda must not be mutable: it runs once per capture and "
                "must mean the same each time");
        } else {
            static_assert(std::is_void_v<typename S::result>,
                          "tile_kernel: the lambda returns nothing; write results through a "
                          "TensorView");
            return typename S::template definition<F>(std::move(f), options, loc);
        }
    }
}

}// namespace luisa::tile
