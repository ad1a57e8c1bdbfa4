// SPDX-License-Identifier: Apache-2.0
// A source, for its precompiled header: the components from the IR upwards use it.
