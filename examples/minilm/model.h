// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kernels.h"
#include "safetensors.h"

#include <string>
#include <vector>

namespace minilm {

/// Token ids of several sentences: rows of one width, padded at the end.
struct Batch {
    lt::Tensor<int32_t, 2> ids;    ///< [sentence, token]
    lt::Tensor<int64_t, 1> lengths;///< tokens of a sentence without its padding, at least one
};
/// Rows of the longest sentence's width. No sentence may be empty.
[[nodiscard]] Batch make_batch(const lt::Device &device,
                               const std::vector<std::vector<int32_t>> &sentences);

/// all-MiniLM-L6-v2 on a device: compiled when it is made, for batches of every size. One call at a time.
class Model {
public:
    /// std::runtime_error when the weights are not this model's.
    Model(lt::Device device, const Safetensors &weights);

    /// Runs the model: one embedding of length one for each sentence. Sentences of more than 512 tokens are
    /// an error.
    void run(lt::Stream &stream, const Batch &batch, const lt::Tensor<float, 2> &embeddings);

    /// A kernel of the model with its name.
    struct Part {
        std::string name;
        lt::Kernel kernel;
        lt::Shader shader;
    };
    [[nodiscard]] const std::vector<Part> &parts() const noexcept { return _parts; }

private:
    using Vector = lt::Tensor<float, 1>;
    using Matrix = lt::Tensor<float, 2>;
    struct Linear {
        Matrix weights;///< in panels
        Vector bias;
    };
    struct Norm {
        Vector gain, shift;
    };
    struct Layer {
        Linear qkv, mixed, inner, outer;
        Norm after_attention, after_inner;
    };

    [[nodiscard]] Linear linear(const Safetensors &weights, const std::vector<std::string> &names,
                                int64_t inputs, int64_t outputs);
    [[nodiscard]] Norm norm(const Safetensors &weights, const std::string &name);
    [[nodiscard]] Layer layer(const Safetensors &weights, int64_t index);
    [[nodiscard]] lt::Shader compile(const lt::Kernel &kernel, const std::string &name);
    void reserve(int64_t tokens);
    void run_layer(lt::Stream &stream, const Batch &batch, const Layer &layer);

    lt::Device _device;
    Matrix _words, _positions, _kinds;
    Norm _norm;
    std::vector<Layer> _layers;
    lt::Shader _embed, _qkv, _attention, _long_attention, _mixed, _inner, _outer, _normalise, _pool;
    lt::Buffer<float> _x, _y, _wide, _context;///< workspace, as large as the largest batch needed
    std::vector<Part> _parts;
};

}// namespace minilm
