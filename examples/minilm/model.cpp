// SPDX-License-Identifier: Apache-2.0
#include "model.h"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

namespace minilm {

namespace {

/// Sentences of so many tokens fit one block of queries; for longer ones larger blocks read keys and values less often.
constexpr int64_t short_sentence = 32;

/// A tensor on the device with elements from the host.
template<class T, int R>
lt::Tensor<T, R> placed(const lt::Device &device, std::array<int64_t, R> extents,
                        const T *elements) {
    lt::Tensor<T, R> tensor{device, extents};
    lt::Stream stream{device};
    stream << tensor.copy_from({elements, static_cast<size_t>(tensor.size())}) << lt::synchronize();
    return tensor;
}

lt::Tensor<float, 1> vector_of(const lt::Device &device, const Safetensors &weights,
                               const std::string &name, int64_t size) {
    return placed<float, 1>(device, {size}, weights.get(name, {size}));
}

lt::Tensor<float, 2> matrix_of(const lt::Device &device, const Safetensors &weights,
                               const std::string &name, int64_t rows, int64_t columns) {
    return placed<float, 2>(device, {rows, columns}, weights.get(name, {rows, columns}));
}

}// namespace

Batch make_batch(const lt::Device &device, const std::vector<std::vector<int32_t>> &sentences) {
    size_t width = 0;
    for (const auto &sentence : sentences) {
        if (sentence.empty()) {
            throw std::runtime_error{"a sentence has no tokens, not even its marks"};
        }
        width = std::max(width, sentence.size());
    }
    auto count = static_cast<int64_t>(sentences.size());
    std::vector<int32_t> ids(sentences.size() * width);
    std::vector<int64_t> lengths;
    for (size_t i = 0; i < sentences.size(); ++i) {
        std::copy(sentences[i].begin(), sentences[i].end(), &ids[i * width]);
        lengths.push_back(static_cast<int64_t>(sentences[i].size()));
    }
    return {placed<int32_t, 2>(device, {count, static_cast<int64_t>(width)}, ids.data()),
            placed<int64_t, 1>(device, {count}, lengths.data())};
}

Model::Model(lt::Device device, const Safetensors &weights)
    : _device{std::move(device)}, _norm{norm(weights, "embeddings.LayerNorm")} {
    using S = Sizes;
    auto table = [&](const char *name, int64_t rows) {
        auto full = std::string{"embeddings."} + name + "_embeddings.weight";
        return matrix_of(_device, weights, full, rows, S::hidden);
    };
    _words = table("word", S::words);
    _positions = table("position", S::positions);
    _kinds = table("token_type", S::kinds);
    _embed = compile(embed_kernel(), "embedding");
    _qkv = compile(linear_kernel(S::hidden, 3 * S::hidden, false), "query, key, value");
    _attention = compile(attention_kernel(short_sentence), "attention");
    _long_attention = compile(attention_kernel(64), "attention, long");
    _mixed = compile(linear_add_kernel(S::hidden, S::hidden), "mixing of heads");
    _inner = compile(linear_kernel(S::hidden, S::inner, true), "inner layer");
    _outer = compile(linear_add_kernel(S::inner, S::hidden), "outer layer");
    _normalise = compile(norm_kernel(), "normalisation");
    _pool = compile(pool_kernel(), "pooling");
    for (int64_t i = 0; i < S::layers; ++i) {
        _layers.push_back(layer(weights, i));
    }
}

lt::Shader Model::compile(const lt::Kernel &kernel, const std::string &name) {
    _parts.push_back({name, kernel, _device.compile(kernel)});
    return _parts.back().shader;
}

Model::Linear Model::linear(const Safetensors &weights, const std::vector<std::string> &names,
                            int64_t inputs, int64_t outputs) {
    auto total = outputs * static_cast<int64_t>(names.size());
    std::vector<float> rows, bias;
    for (const auto &name : names) {
        const auto *weight = weights.get(name + ".weight", {outputs, inputs});
        rows.insert(rows.end(), weight, weight + outputs * inputs);
        const auto *shift = weights.get(name + ".bias", {outputs});
        bias.insert(bias.end(), shift, shift + outputs);
    }
    auto stored = placed<float, 2>(_device, {total, inputs}, rows.data());
    Linear result{{_device, {total / panel * inputs, panel}},
                  placed<float, 1>(_device, {total}, bias.data())};
    lt::Stream stream{_device};
    auto panels = _device.compile(panels_kernel(inputs, total));
    stream << panels(stored, result.weights).dispatch() << lt::synchronize();
    return result;
}

Model::Norm Model::norm(const Safetensors &weights, const std::string &name) {
    return {vector_of(_device, weights, name + ".weight", Sizes::hidden),
            vector_of(_device, weights, name + ".bias", Sizes::hidden)};
}

Model::Layer Model::layer(const Safetensors &weights, int64_t index) {
    using S = Sizes;
    auto own = "encoder.layer." + std::to_string(index) + ".";
    auto attention = own + "attention.self.";
    return {
        linear(weights, {attention + "query", attention + "key", attention + "value"}, S::hidden,
               S::hidden),
        linear(weights, {own + "attention.output.dense"}, S::hidden, S::hidden),
        linear(weights, {own + "intermediate.dense"}, S::hidden, S::inner),
        linear(weights, {own + "output.dense"}, S::inner, S::hidden),
        norm(weights, own + "attention.output.LayerNorm"),
        norm(weights, own + "output.LayerNorm"),
    };
}

void Model::reserve(int64_t tokens) {
    using S = Sizes;
    if (_x.size() < tokens * S::hidden) {
        _x = {_device, tokens * S::hidden};
        _y = {_device, tokens * S::hidden};
        _context = {_device, tokens * S::hidden};
        _wide = {_device, tokens * S::inner};
    }
}

void Model::run_layer(lt::Stream &stream, const Batch &batch, const Layer &layer) {
    using S = Sizes;
    auto sentences = batch.ids.extent(0), width = batch.ids.extent(1), rows = sentences * width;
    Matrix x{_x, {rows, S::hidden}}, y{_y, {rows, S::hidden}}, context{_context, {rows, S::hidden}};
    Matrix inner{_wide, {rows, S::inner}}, qkv{_wide, {rows, 3 * S::hidden}};
    lt::Tensor<float, 3> heads{_wide, {sentences, width, 3 * S::hidden}};
    lt::Tensor<float, 3> mixed{_context, {sentences, width, S::hidden}};
    const auto &attention = width > short_sentence ? _long_attention : _attention;
    const auto &first = layer.after_attention, &second = layer.after_inner;
    stream << _qkv(x, layer.qkv.weights, layer.qkv.bias, qkv).dispatch()
           << attention(batch.lengths, heads, mixed).dispatch()
           << _mixed(context, layer.mixed.weights, layer.mixed.bias, x, y).dispatch()
           << _normalise(y, first.gain, first.shift, context).dispatch()
           << _inner(context, layer.inner.weights, layer.inner.bias, inner).dispatch()
           << _outer(inner, layer.outer.weights, layer.outer.bias, context, y).dispatch()
           << _normalise(y, second.gain, second.shift, x).dispatch();
}

void Model::run(lt::Stream &stream, const Batch &batch, const lt::Tensor<float, 2> &embeddings) {
    using S = Sizes;
    auto sentences = batch.ids.extent(0), width = batch.ids.extent(1);
    if (width > S::positions) {
        throw std::runtime_error{"a sentence has " + std::to_string(width) +
                                 " tokens, at most 512 expected"};
    }
    reserve(sentences * width);
    lt::Tensor<float, 3> x{_x, {sentences, width, S::hidden}};
    stream << _embed(batch.ids, _words, _positions, _kinds, _norm.gain, _norm.shift, x).dispatch();
    for (const auto &layer : _layers) {
        run_layer(stream, batch, layer);
    }
    stream << _pool(batch.lengths, x, embeddings).dispatch();
}

}// namespace minilm
