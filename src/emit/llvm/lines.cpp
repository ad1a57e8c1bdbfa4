// SPDX-License-Identifier: Apache-2.0
#include "emit/llvm/emitter.h"

#include <llvm/BinaryFormat/Dwarf.h>
#include <llvm/IR/DebugInfoMetadata.h>

// Which operation an instruction comes from, as far as LLVM can carry it to the assembly: debug locations.

namespace luisa::tile::emit {

void Emitter::begin_lines(const ir::Function &function) {
    if (!_keeps_lines) {
        return;
    }
    if (!_lines) {
        _lines = std::make_unique<llvm::DIBuilder>(*_module);
        _lines_file = _lines->createFile("operations", ".");
        _lines->createCompileUnit(llvm::dwarf::DW_LANG_C, _lines_file, "Luisa Tile", true, "", 0,
                                  "", llvm::DICompileUnit::LineTablesOnly);
        _module->addModuleFlag(llvm::Module::Warning, "Debug Info Version",
                               llvm::DEBUG_METADATA_VERSION);
    }
    auto *type = _lines->createSubroutineType(_lines->getOrCreateTypeArray({}));
    _function->setSubprogram(_lines->createFunction(
        _lines_file, function.name, "", _lines_file, 0, type, 0, llvm::DINode::FlagZero,
        llvm::DISubprogram::SPFlagDefinition | llvm::DISubprogram::SPFlagOptimized));
    set_line(0);
}

void Emitter::set_line(uint32_t line) {
    _b.SetCurrentDebugLocation(
        llvm::DILocation::get(_context, line, 0, _function->getSubprogram()));
}

void Emitter::end_lines() {
    if (_lines) {
        _lines->finalize();
        _b.SetCurrentDebugLocation({});
    }
}

}// namespace luisa::tile::emit
