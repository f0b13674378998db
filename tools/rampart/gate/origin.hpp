#pragma once

#include <string>

#include "rampart/certification/certificate_file.hpp"
#include "rampart/report/html.hpp"

/// Where a certificate's evidence and software come from, and when it ends.
namespace rampart::cli {

/// Returns the section for the terminal; empty: an older certificate, which says nothing of it.
std::string origin_text(const certification::Certificate& certificate);

/// Adds the section to the certificate's page, if there is one.
void add_origin(const certification::Certificate& certificate, report::Html& page);

}  // namespace rampart::cli
