#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

/// Finds the definitions in the text of a C++ file. It reads the house's own, formatted style, not
/// all of C++; `Scan::balanced` is false where it lost its way.
namespace rampart::architecture {

struct Definition {
    enum Kind { kType, kFunction, kVariable } kind = kType;
    /// with its namespaces and types, "rampart::stats::Interval"
    std::string name;
    /// types of a function's parameters, "(const Table&,size_t)"
    std::string parameters;
    size_t first_line = 0, last_line = 0;
    /// in an unnamed namespace, or static: other files cannot see it
    bool internal = false;
    /// a member of a type that is defined inside of that type
    bool in_type = false;
    /// `template <> …` or a partial one
    bool specialisation = false;
};

struct Scan {
    std::vector<Definition> definitions;
    bool unnamed_namespace = false;
    bool balanced = true;
};

Scan scan(const std::string& text);

}  // namespace rampart::architecture
