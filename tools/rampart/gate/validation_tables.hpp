#pragma once

#include <string>
#include <vector>

#include "rampart/base/significant.hpp"
#include "rampart/certification/certificate_file.hpp"
#include "rampart/report/text_table.hpp"

namespace rampart::cli {

/// A table of a certificate's figures, for people.
struct FigureTable {
    std::string heading, note;
    report::Table rows;  // the first is the head
    size_t left = 1;     // columns of text in front
};

/// Returns the tables of the figures beside the verdict; none for an older certificate or a
/// refusal. At most four digits, ends of intervals rounded outwards.
std::vector<FigureTable> validation_tables(const certification::Certificate& certificate);

/// Returns a number with its sign and at most four digits.
std::string signed_number(double x, base::Toward toward = base::Toward::kNearest);

/// Returns "99.16 %", rounded down.
std::string confidence_text(double delta);

}  // namespace rampart::cli
