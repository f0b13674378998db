#pragma once

#include "assemble.hpp"

/// One function per source: reads its files, checks every cell that it uses, and documents in its
/// source file which columns it omits and why.
namespace rampart::loan_stream {

base::Result<Source> read_default_credit_card(const StreamOptions& options);
base::Result<Source> read_sba(const StreamOptions& options);
base::Result<Source> read_cards(const StreamOptions& options);
base::Result<Source> simulate(const StreamOptions& options);

}  // namespace rampart::loan_stream
