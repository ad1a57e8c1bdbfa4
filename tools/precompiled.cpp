// SPDX-License-Identifier: Apache-2.0
// A program, for its precompiled header: examples and lessons use it.
int main() {}
