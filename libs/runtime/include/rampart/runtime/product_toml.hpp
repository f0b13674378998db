#pragma once

#include <filesystem>
#include <string_view>

#include "rampart/base/result.hpp"
#include "rampart/config/table.hpp"
#include "rampart/domain/product.hpp"

/// A loan product, as declared by a lender:
///
///     name = "credit_card"
///     [label]                    # 1 favourable, 0 not
///     name = "repaid"
///     horizon_months = 6
///     grace_days = 62
///     [[measure]]                # further ones, as many as there are
///     name = "income_change"
///     lo = -1.0
///     hi = 1.0
///     horizon_months = 12
///     grace_days = 31
///     [impact]                   # from the label, or: measure = "income_change"
///     units = "credit score points"
///     lo = -150
///     hi = 75
///     favourable = 75
///     unfavourable = -150
///     declined = 0
///
/// `measure` excludes `favourable` and `unfavourable`.
namespace rampart::runtime {

/// Reads the keys above from `table`; the caller calls finish() on its root and then
/// domain::validate(product).
domain::Product read_product(config::Table table);

/// Reads a separate file or text: reads, finishes and validates.
base::Result<domain::Product> parse_product(std::string_view toml, std::string_view name);
base::Result<domain::Product> load_product(const std::filesystem::path& path);

}  // namespace rampart::runtime
