// SPDX-License-Identifier: Apache-2.0
#include "c_api/status.h"

#include "c_api/handles.h"

#include <luisa/tile/error.h>
#include <luisa/tile/scalar_type.h>
#include <luisa/tile/version.h>

#include <new>
#include <string>

namespace luisa::tile::c_api {

namespace {

thread_local std::string last_error;

// Statuses and types of the C API are the kinds and types of C++, whose order therefore stays.
static_assert(static_cast<int>(ErrorKind::SHAPE) + 1 == LUISA_TILE_SHAPE_ERROR);
static_assert(static_cast<int>(ErrorKind::ALIGNMENT) + 1 == LUISA_TILE_ALIGNMENT_ERROR);
static_assert(static_cast<int>(ErrorKind::CALL) + 1 == LUISA_TILE_CALL_ERROR);
static_assert(static_cast<int>(ErrorKind::PARSE) + 1 == LUISA_TILE_PARSE_ERROR);
static_assert(static_cast<int>(ErrorKind::UNSUPPORTED) + 1 == LUISA_TILE_UNSUPPORTED_ERROR);
static_assert(static_cast<int>(ErrorKind::DEVICE_UNAVAILABLE) + 1 == LUISA_TILE_DEVICE_UNAVAILABLE);
static_assert(static_cast<int>(ErrorKind::ASSERTION) + 1 == LUISA_TILE_ASSERTION_ERROR);
static_assert(static_cast<int>(ErrorKind::INTERNAL) + 1 == LUISA_TILE_INTERNAL_ERROR);
static_assert(static_cast<int>(ScalarType::INT64) == LUISA_TILE_INT64);
static_assert(static_cast<int>(ScalarType::UINT64) == LUISA_TILE_UINT64);
static_assert(static_cast<int>(ScalarType::FLOAT32) == LUISA_TILE_FLOAT32);
static_assert(static_cast<int>(ScalarType::FLOAT8_E5M2) == LUISA_TILE_FLOAT8_E5M2);

luisa_tile_status say(luisa_tile_status status, const char *text) noexcept {
    try {
        last_error = text;
    } catch (...) {
        // No memory for the text; the status says the kind.
        last_error.clear();
    }
    return status;
}

}// namespace

luisa_tile_status note(std::exception_ptr exception) noexcept {
    try {
        std::rethrow_exception(exception);
    } catch (const Error &error) {
        return say(static_cast<luisa_tile_status>(error.kind()) + 1, error.what());
    } catch (const std::bad_alloc &) {
        return say(LUISA_TILE_OUT_OF_MEMORY_ERROR, "no memory of the host is left");
    } catch (const std::exception &error) {
        return say(LUISA_TILE_INTERNAL_ERROR, error.what());
    } catch (...) {
        return say(LUISA_TILE_INTERNAL_ERROR, "something was thrown that is no std::exception");
    }
}

void need(const void *pointer, const char *function, const char *what) {
    if (!pointer) {
        throw ValueError{std::string{function} + ": " + what + " is null"};
    }
}

}// namespace luisa::tile::c_api

using namespace luisa::tile;

const char *luisa_tile_version(void) { return version(); }
int32_t luisa_tile_c_api(void) { return LUISA_TILE_C_API; }
const char *luisa_tile_last_error(void) { return c_api::last_error.c_str(); }

const char *luisa_tile_status_name(luisa_tile_status status) {
    if (status == LUISA_TILE_OK) {
        return "OK";
    }
    return status > 0 && status <= LUISA_TILE_INTERNAL_ERROR
               ? to_string(static_cast<ErrorKind>(status - 1))
               : "unknown";
}

const char *luisa_tile_type_name(luisa_tile_type type) {
    return type >= 0 && type < static_cast<int>(scalar_type_count)
               ? to_string(static_cast<ScalarType>(type))
               : "";
}
