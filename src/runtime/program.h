// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/program.h>

namespace luisa::tile::runtime {

class AcceleratorQueue;
struct ProfilerState;

[[nodiscard]] const Device &device_of(const ProgramState &program);
/// Records the program for these extents if they are new, and checks every command. Throws what `check_call`
/// throws, with a note that names the command, and for the program's own parameters
///   CallError, TypeError, LifetimeError, ValueError
void check_program(ProgramState &program, const Argument *arguments, int count, SourceLoc loc);
/// Checks, then runs the commands to the end. With known extents it allocates nothing.
/// On an accelerator it starts them on a queue. An active profile gets each command; it may be null.
void run_program(ProgramState &program, const Argument *arguments, int count, SourceLoc loc,
                 AcceleratorQueue *queue = nullptr, ProfilerState *profile = nullptr);

}// namespace luisa::tile::runtime
