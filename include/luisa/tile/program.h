// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/stream.h>

#include <string>
#include <vector>

// Programs of several kernels: a host function over tensors whose dispatches are recorded once and run as
// one command.

namespace luisa::tile {

class Commands;

namespace runtime {

struct Recorder;
struct ProgramState;

/// Where the parameters and temporaries of a program lie while it is recorded: nowhere. Places are told
/// from their distance to this address.
inline constexpr uintptr_t program_base = uintptr_t{1} << 46;

/// An argument of a recorded command: a part of a parameter or temporary, or memory of its own.
struct ProgramArgument {
    Argument argument;
    int slot = -1;///< parameters first, then temporaries; -1: the argument is what it says
};

struct ProgramParameter {
    ScalarType type{};
    bool is_view = false, read_only = false;
    int rank = 0;
};

}// namespace runtime

/// A tensor of a program while it is recorded: it has extents and strides, but no elements yet.
template<class T, int R> class ProgramTensor {
public:
    using element = T;
    static constexpr int rank = R;
    ProgramTensor(int slot, Tensor<T, R> shape) : _slot{slot}, _shape{std::move(shape)} {}

    /// Elements along dimension `i`.
    [[nodiscard]] int64_t extent(int i) const { return _shape.extent(i); }
    /// Elements in memory from one place to the next along dimension `i`.
    [[nodiscard]] int64_t stride(int i) const { return _shape.stride(i); }
    /// Number of elements.
    [[nodiscard]] int64_t size() const noexcept { return _shape.size(); }
    /// As Tensor::slice, with its errors.
    [[nodiscard]] ProgramTensor slice(int axis, int64_t begin, int64_t end, int64_t step = 1,
                                      SourceLoc loc = SourceLoc::current()) const {
        return {_slot, _shape.slice(axis, begin, end, step, loc)};
    }
    /// Two dimensions exchanged.
    [[nodiscard]] ProgramTensor transposed(int a, int b,
                                           SourceLoc loc = SourceLoc::current()) const {
        return {_slot, _shape.transposed(a, b, loc)};
    }
    /// As Tensor::repeated, with its errors.
    [[nodiscard]] ProgramTensor repeated(int axis, int64_t count,
                                         SourceLoc loc = SourceLoc::current()) const {
        return {_slot, _shape.repeated(axis, count, loc)};
    }
    // The same tensor for reading only.
    operator ProgramTensor<const T, R>() const requires(!std::is_const_v<T>) {
        return {_slot, {_shape.data(), _shape.extents(), _shape.strides()}};
    }
    /// What a capture needs to know.
    [[nodiscard]] TensorMeta meta() const { return _shape.meta(); }
    /// What a recorded command takes.
    [[nodiscard]] runtime::ProgramArgument program_argument() const {
        return {_shape.argument(), _slot};
    }

private:
    int _slot;
    Tensor<T, R> _shape;
};

/// A number that each dispatch of a program gives, or one of the host; it can only be passed on.
template<class T> class ProgramScalar {
public:
    using element = T;
    ProgramScalar(T value) : _argument{runtime::argument_from(value), -1} {}
    /// A parameter of the program.
    [[nodiscard]] static ProgramScalar parameter(int slot) {
        ProgramScalar scalar{T{}};
        scalar._argument.slot = slot;
        return scalar;
    }
    /// What a recorded command takes.
    [[nodiscard]] const runtime::ProgramArgument &program_argument() const { return _argument; }

private:
    runtime::ProgramArgument _argument;
};

struct ProgramOptions {
    const char *name = "program";
    std::vector<std::string> parameters = {};///< their names, in order, for messages
};

namespace runtime {

template<class P> struct program_parameter { static constexpr bool ok = false; };
template<class T, int R> struct program_parameter<ProgramTensor<T, R>> {
    static constexpr bool ok = true;
    static constexpr ProgramParameter of{scalar_type_of<std::remove_const_t<T>>, true,
                                         std::is_const_v<T>, R};
    static ProgramTensor<T, R> make(int slot, const Argument &a) {
        std::array<int64_t, static_cast<size_t>(R)> extents, strides;
        for (size_t i = 0; i < extents.size(); ++i) {
            extents[i] = a.extents[i];
            strides[i] = a.strides[i];
        }
        return {slot, Tensor<T, R>{reinterpret_cast<T *>(program_base), extents, strides}};
    }
};
template<class T> struct program_parameter<ProgramScalar<T>> {
    static constexpr bool ok = true;
    static constexpr ProgramParameter of{scalar_type_of<T>, false, false, 0};
    static ProgramScalar<T> make(int slot, const Argument &) {
        return ProgramScalar<T>::parameter(slot);
    }
};

template<class X> ProgramArgument program_argument(const X &x) {
    if constexpr (requires { x.program_argument(); }) {
        return x.program_argument();
    } else {
        return {argument_from(x), -1};
    }
}

// The recorder.
[[nodiscard]] const Device &device_of(const Recorder &recorder);
/// A new slot of so many bytes. ValueError for a size that no memory has.
[[nodiscard]] int add_temporary(Recorder &recorder, const int64_t *extents, int rank,
                                size_t element, SourceLoc loc);
void add_command(Recorder &recorder, const Shader &shader, std::vector<ProgramArgument> arguments,
                 SourceLoc loc);
/// ShapeError that names the parameter of the program.
[[noreturn]] void fail_extent_of(const Recorder &recorder, int slot, int axis, int64_t extent,
                                 int64_t expected);

}// namespace runtime

/// A program's C++ definition: `device.jit(program)` is a callable that records it for the extents and strides
/// of its arguments when they are new.
template<class F, class... P> class ProgramDefinition {
    static_assert((runtime::program_parameter<P>::ok && ...),
                  "a program parameter is ProgramTensor<T, R>, ProgramTensor<const T, R> or "
                  "ProgramScalar<T>, after Commands &");

public:
    ProgramDefinition(F f, ProgramOptions options, SourceLoc loc)
        : f{std::move(f)}, options{std::move(options)}, loc{loc} {}
    F f;
    ProgramOptions options;
    SourceLoc loc;
};

/// What a program records into: `run(kernel)(x, y)` adds a dispatch. Commands run in order; each sees all
/// effects of those before it.
class Commands {
public:
    explicit Commands(runtime::Recorder &recorder) : _recorder{&recorder} {}
    Commands(const Commands &) = delete;
    Commands &operator=(const Commands &) = delete;

    /// Takes the arguments of a command: tensors of the program, tensors and numbers of the host.
    template<class What> class Launch {
    public:
        Launch(Commands &commands, const What &what, SourceLoc loc)
            : _commands{commands}, _what{what}, _loc{loc} {}
        template<class... A> void operator()(const A &...arguments) const {
            _commands.add(_what, _loc, arguments...);
        }

    private:
        Commands &_commands;
        const What &_what;
        SourceLoc _loc;
    };
    /// A kernel definition, which is captured for the extents of the arguments; a kernel that was captured
    /// already, such as one for all lengths; a shader of the program's device; or another program, whose
    /// commands are recorded here.
    template<class What>
    [[nodiscard]] Launch<What> operator()(const What &what, SourceLoc loc = SourceLoc::current()) {
        return {*this, what, loc};
    }
    /// A dense tensor that lives while the program runs. What it holds at first is not defined. Its memory is
    /// allocated once and used by all dispatches. A negative extent: ValueError.
    template<class T, class... E>
    [[nodiscard]] ProgramTensor<T, static_cast<int>(sizeof...(E))> temporary(E... extents) {
        constexpr auto r = static_cast<int>(sizeof...(E));
        std::array<int64_t, sizeof...(E)> all{static_cast<int64_t>(extents)...};
        auto slot = runtime::add_temporary(*_recorder, all.data(), r, sizeof(T), {});
        return {slot, Tensor<T, r>{reinterpret_cast<T *>(runtime::program_base), all}};
    }
    /// ShapeError that names the parameter unless `x` has `expected` elements along `axis`.
    template<class T, int R>
    void expect_extent(const ProgramTensor<T, R> &x, int axis, int64_t expected) const {
        if (x.extent(axis) != expected) {
            runtime::fail_extent_of(*_recorder, x.program_argument().slot, axis, x.extent(axis),
                                    expected);
        }
    }
    /// The device that the program is recorded for.
    [[nodiscard]] const Device &device() const { return runtime::device_of(*_recorder); }

private:
    template<class... A> void add(const Shader &shader, SourceLoc loc, const A &...arguments) {
        runtime::add_command(*_recorder, shader, {runtime::program_argument(arguments)...}, loc);
    }
    template<class... A> void add(const Kernel &kernel, SourceLoc loc, const A &...arguments) {
        add(device().compile(kernel), loc, arguments...);
    }
    template<class F, class... P, class... A>
    void add(const KernelDefinition<F, P...> &kernel, SourceLoc loc, const A &...arguments) {
        static_assert(sizeof...(P) == sizeof...(A), "one argument for each parameter of the "
                                                    "kernel, in order");
        std::vector<TensorMeta> metas;
        auto note = [&](const auto &x) {
            if constexpr (requires { x.meta(); }) {
                metas.push_back(x.meta());
            }
        };
        (note(arguments), ...);
        add(kernel.capture_from(metas.data()), loc, arguments...);
    }
    template<class F, class... P, class... A>
    void add(const ProgramDefinition<F, P...> &program, SourceLoc, const A &...arguments) {
        static_assert(sizeof...(P) == sizeof...(A), "one argument for each parameter of the "
                                                    "program, in order");
        program.f(*this, static_cast<const P &>(arguments)...);
    }
    runtime::Recorder *_recorder;
};

/// Keeps a host function over tensors; runs nothing. Its first parameter is `Commands &`; the others are
/// ProgramTensor and ProgramScalar. It runs once for each set of extents and strides and must mean the same
/// each time.
///     auto f = device.jit(tile_program([](Commands &run, ProgramTensor<const float, 1> x, …) { … }));
///     stream << f(x, y).dispatch();
/// Errors of a dispatch name the parameter. Two dispatches of one function do not run at the same time: they
/// share the temporaries. A dispatch with known extents allocates nothing on a synchronous stream.
template<class F>
[[nodiscard]] auto tile_program(F f, ProgramOptions options = {},
                                SourceLoc loc = SourceLoc::current());

namespace runtime {

template<class C> struct program_signature { static constexpr bool ok = false; };
template<class C, class... A> struct program_signature<void (C::*)(Commands &, A...) const> {
    static constexpr bool ok = true;
    template<class F> using definition = ProgramDefinition<F, std::remove_cvref_t<A>...>;
};

/// A program on a device, without its C++ types.
struct ProgramForm {
    Device device;
    ProgramOptions options;
    std::vector<ProgramParameter> parameters;
    std::function<void(Commands &, const Argument *)> body;
    SourceLoc loc;
};
[[nodiscard]] std::shared_ptr<ProgramState> make_program(ProgramForm form);

/// A program with its arguments, ready to go to a stream.
template<size_t N> struct ProgramCall {
    std::shared_ptr<ProgramState> program;
    std::array<Argument, N> arguments;
    SourceLoc loc;
    /// The command for a stream; errors name the place of this call.
    [[nodiscard]] ProgramCall &dispatch(SourceLoc at = SourceLoc::current()) noexcept {
        loc = at;
        return *this;
    }
};

template<class Definition> class JitFunction;
/// A program on a device. Copies share what was recorded, and the temporaries.
template<class F, class... P> class JitFunction<ProgramDefinition<F, P...>> {
public:
    JitFunction(Device device, ProgramDefinition<F, P...> definition)
        : _program{make_program(form(std::move(device), std::move(definition)))} {}
    /// The command that runs the program on these arguments: `stream << f(x, y).dispatch()`.
    template<class... A>
    [[nodiscard]] ProgramCall<sizeof...(A)> operator()(const A &...arguments) const {
        static_assert(sizeof...(A) == sizeof...(P),
                      "one argument for each parameter of the program, in order");
        return {_program, {argument_from(arguments)...}, {}};
    }

private:
    static ProgramForm form(Device device, ProgramDefinition<F, P...> definition) {
        ProgramForm form{std::move(device),
                         definition.options,
                         {program_parameter<P>::of...},
                         {},
                         definition.loc};
        form.body = [f = std::move(definition.f)](Commands &commands, const Argument *arguments) {
            int slot = 0;
            auto make = [&]<class Q>(std::type_identity<Q>) {
                auto i = slot++;
                return program_parameter<Q>::make(i, arguments[i]);
            };
            // Braced initialisation: parameters are made left to right on every compiler.
            std::tuple<P...> parameters{make(std::type_identity<P>{})...};
            std::apply([&](const P &...p) { f(commands, p...); }, parameters);
        };
        return form;
    }
    std::shared_ptr<ProgramState> _program;
};

}// namespace runtime

template<class F> auto tile_program(F f, ProgramOptions options, SourceLoc loc) {
    using S = runtime::program_signature<decltype(&F::operator())>;
    static_assert(S::ok, "tile_program: a lambda that is not mutable, returns nothing, and takes "
                         "Commands & and then ProgramTensor or ProgramScalar parameters");
    return typename S::template definition<F>(std::move(f), std::move(options), loc);
}

}// namespace luisa::tile
