// SPDX-License-Identifier: Apache-2.0
// A program, for its precompiled header: the tests use it.
int main() {}
