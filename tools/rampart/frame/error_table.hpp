#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rampart/base/error.hpp"

/// The reasons of all rooms with what becomes of them outside: made from the rooms' lists.
namespace rampart::cli {

struct ErrorEntry {
    const base::ReasonInfo* info;
    int http_status;
    int exit_code;
};

/// Returns all reasons, by word and room.
std::vector<ErrorEntry> error_table();

/// Returns the table as a page, schemas/errors.md.
std::string error_page();

/// Returns at most 5 reasons that have `word` as a part or are spelled much like it, the nearest
/// first.
std::vector<std::string> near_reasons(std::string_view word);

}  // namespace rampart::cli
