#pragma once

#include <cstdlib>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "source_tree.hpp"

/// Lists of what does not keep a rule yet. A list may only shrink: what is missing in it fails, what
/// stands in it without need fails, and each test has a limit on the number of entries.
namespace rampart::architecture {

/// What breaks a rule, or an entry of a list: name -> reason or size.
using Exceptions = std::map<std::string, std::string>;

/// Lines "name: reason"; empty lines and those that begin with # count for nothing.
inline Exceptions parse_exceptions(const std::string& text) {
    Exceptions list;
    for (const auto& line : lines_of(text)) {
        const size_t colon = line.find(": ");
        if (line.starts_with("#") || colon == std::string::npos) continue;
        list[line.substr(0, colon)] = line.substr(colon + 2);
    }
    return list;
}

/// tests/architecture/lists/`name`
inline Exceptions read_exceptions(const std::string& name) {
    return parse_exceptions(read_source(fs::path("tests/architecture/lists") / name));
}

/// One sentence for each name that is in only one of both. `sizes`: the values are sizes, and have to
/// be equal as well.
inline std::vector<std::string> differences(const Exceptions& found, const Exceptions& list,
                                            bool sizes) {
    std::vector<std::string> faults;
    for (const auto& [name, value] : found) {
        const auto entry = list.find(name);
        if (entry == list.end())
            faults.push_back(name + ": " + value);
        else if (sizes && entry->second != value)
            faults.push_back(name + ": " + value + ", but its entry says " + entry->second);
    }
    for (const auto& [name, value] : list)
        if (!found.contains(name))
            faults.push_back(name + ": the entry is not needed any more: remove it");
    return faults;
}

/// The reason that the list has for `name`, or for what had that name in another room; else "?".
inline std::string reason_of(const std::string& name, const Exceptions& list) {
    if (const auto entry = list.find(name); entry != list.end()) return entry->second;
    const auto in_room = [](const std::string& full) {
        return full.substr(std::min(full.find("::", full.find("::") + 2), full.size()));
    };
    for (const auto& [old, reason] : list)
        if (in_room(old) == in_room(name)) return reason;
    return "?";
}

/// With RAMPART_PRINT_LISTS=1 prints the list as it would have to be.
inline void print_if_asked(const std::string& name, const Exceptions& found, const Exceptions& list,
                           bool sizes) {
    if (std::getenv("RAMPART_PRINT_LISTS") == nullptr) return;
    std::cout << "=== tests/architecture/lists/" << name << ", " << found.size() << " entries\n";
    for (const auto& [entry, value] : found) {
        const auto old = list.find(entry);
        std::cout << entry << ": "
                  << (sizes               ? value
                      : old == list.end() ? "?"
                                          : old->second)
                  << "\n";
    }
    std::cout << "===\n";
}

}  // namespace rampart::architecture
