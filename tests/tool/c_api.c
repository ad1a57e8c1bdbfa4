/* SPDX-License-Identifier: Apache-2.0 */
// The C API from C: `c_api softmax.tir DEVICE` runs the kernel and checks its result, then some mistakes.
#include <luisa/tile/c_api.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

// [check]
static int failed(luisa_tile_status status, const char *what) {
    if (status == LUISA_TILE_OK) {
        return 0;
    }
    fprintf(stderr, "%s: %s\n", what, luisa_tile_last_error());
    return 1;
}
// [end]

// [softmax]
static int softmax(const char *path, const char *device_name, float *numbers) {
    const int64_t extents[2] = {6, 64};
    luisa_tile_device *device = NULL;
    luisa_tile_shader *shader = NULL;
    luisa_tile_tensor *x = NULL, *y = NULL;
    int bad = failed(luisa_tile_device_create(device_name, NULL, &device), "device") ||
              failed(luisa_tile_compile_file(device, path, &shader), "compile") ||
              failed(luisa_tile_tensor_create(device, LUISA_TILE_FLOAT32, 2, extents, &x), "x") ||
              failed(luisa_tile_tensor_create(device, LUISA_TILE_FLOAT32, 2, extents, &y), "y") ||
              failed(luisa_tile_tensor_write(x, NULL, numbers, 6 * 64 * sizeof(float)), "write");
    if (!bad) {
        // On CUDA the stream could be any CUstream; null is CUDA's default one.
        const luisa_tile_argument arguments[2] = {{.tensor = x}, {.tensor = y}};
        bad = failed(luisa_tile_dispatch(shader, NULL, arguments, 2), "dispatch") ||
              failed(luisa_tile_tensor_read(y, NULL, numbers, 6 * 64 * sizeof(float)), "read");
    }
    luisa_tile_tensor_destroy(x);
    luisa_tile_tensor_destroy(y);
    luisa_tile_shader_destroy(shader);
    luisa_tile_device_destroy(device);
    return bad;
}
// [end]

static int is_right(const float *x, const float *y) {
    for (int row = 0; row < 6; ++row) {
        double sum = 0;
        for (int i = 0; i < 64; ++i) {
            sum += exp((double)x[64 * row + i]);
        }
        for (int i = 0; i < 64; ++i) {
            double expected = exp((double)x[64 * row + i]) / sum;
            if (!(fabs(y[64 * row + i] - expected) < 1e-6 * expected + 1e-9)) {
                fprintf(stderr, "row %d, column %d: %g, expected %g\n", row, i,
                        (double)y[64 * row + i], expected);
                return 0;
            }
        }
    }
    return 1;
}

static int expect(luisa_tile_status status, luisa_tile_status kind, const char *text) {
    if (status == kind && strcmp(luisa_tile_last_error(), text) == 0) {
        return 1;
    }
    fprintf(stderr, "status %s, text '%s'; expected %s, '%s'\n", luisa_tile_status_name(status),
            luisa_tile_last_error(), luisa_tile_status_name(kind), text);
    return 0;
}

int main(int argc, char **argv) {
    if (argc != 3) {
        fprintf(stderr, "c_api KERNEL DEVICE\n");
        return 2;
    }
    float x[6 * 64], y[6 * 64];
    for (int i = 0; i < 6 * 64; ++i) {
        y[i] = x[i] = (float)((i * 37) % 101) / 50.0f - 1.0f;
    }
    if (softmax(argv[1], argv[2], y) || !is_right(x, y)) {
        return 1;
    }
    luisa_tile_device *device = NULL;
    luisa_tile_shader *shader = NULL;
    int good = expect(luisa_tile_device_create("gpu", NULL, &device), LUISA_TILE_TARGET_ERROR,
                      "TargetError: no device called 'gpu'; there are \"cpu\", \"interpreter\", "
                      "\"cuda-emulator\", \"cuda\" and \"cuda:1\", \"cuda:2\", \xe2\x80\xa6 of several GPUs") &&
               !device &&
               expect(luisa_tile_compile(NULL, "", NULL, &shader), LUISA_TILE_VALUE_ERROR,
                      "ValueError: luisa_tile_compile: device is null") &&
               !shader;
    printf("luisa tile %s: %s\n", luisa_tile_version(), good ? "ok" : "failed");
    return good ? 0 : 1;
}
