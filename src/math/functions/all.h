// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "math/functions/error_function.h"
#include "math/functions/error_function_f64.h"
#include "math/functions/exponential.h"
#include "math/functions/exponential_f64.h"
#include "math/functions/hyperbolic.h"
#include "math/functions/logarithm.h"
#include "math/functions/logarithm_f64.h"
#include "math/functions/power.h"
#include "math/functions/power_f64.h"
#include "math/functions/trigonometric.h"
#include "math/functions/trigonometric_f64.h"
