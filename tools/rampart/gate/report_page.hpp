#pragma once

#include <boost/json/object.hpp>
#include <string>

/// The answer of GET /v1/report for people.
namespace rampart::cli {

/// Returns tables for a terminal.
std::string report_text(const boost::json::object& report);
/// Returns one HTML file.
std::string report_page(const boost::json::object& report);

}  // namespace rampart::cli
