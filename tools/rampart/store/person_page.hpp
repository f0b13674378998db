#pragma once

#include <boost/json.hpp>
#include <string>

namespace rampart::cli {

/// Returns the document of rampartd::to_json() of a person's record as an HTML page, for people:
/// each of its values is there.
std::string person_page(const boost::json::object& document);

/// Returns the same as text.
std::string person_text(const boost::json::object& document);

}  // namespace rampart::cli
