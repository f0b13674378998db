#include "rampart/dataset/row_keys.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "label_reader.hpp"
#include "rampart/base/limits.hpp"
#include "rampart/dataset/csv.hpp"
#include "rampart/dataset/reasons.hpp"
#include "rampart/dataset/text.hpp"

namespace rampart::dataset {
namespace {

namespace limits = base::limits;

struct TextHash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
};

std::string_view trimmed(std::string_view text) {
    const auto from = text.find_first_not_of(" \t");
    if (from == std::string_view::npos) return {};
    return text.substr(from, text.find_last_not_of(" \t") - from + 1);
}

/// Collects the keys, row by row.
class KeyBuilder {
  public:
    KeyBuilder(const std::string& by, const std::string& time) : by_(by), time_(time) {}

    base::Status add_unit(std::string_view cell) {
        RAMPART_RETURN_IF_ERROR(check_cell(by_, cell));
        hash_.update_field(cell);
        auto found = numbers_.find(cell);
        if (found == numbers_.end()) {
            found = numbers_.emplace(cell, static_cast<uint32_t>(numbers_.size())).first;
            keys_.unit_names.emplace_back(cell);
        }
        keys_.unit.push_back(found->second);
        return base::ok();
    }

    base::Status add_time(std::string_view cell) {
        RAMPART_RETURN_IF_ERROR(check_cell(time_, cell));
        hash_.update_field(cell);
        std::optional<double> date, number;
        if (may_be_dates_) date = parse_date(cell);
        if (may_be_numbers_) number = parse_number(cell);
        if (!date && !number)
            return base::make_error(Reason::kBadSplitTime, "column '{}' is '{}': {}", time_,
                                    cell.substr(0, 80),
                                    may_be_dates_ && may_be_numbers_
                                        ? "neither a date like 2006, 2006-01 or 2006-01-31 nor a "
                                          "number"
                                    : may_be_dates_ ? "the cells above are dates like 2006-01-31"
                                                    : "the cells above are numbers");
        may_be_dates_ = date.has_value();
        may_be_numbers_ = number.has_value();
        if (may_be_dates_) keys_.time.push_back(date.value_or(0));
        if (may_be_numbers_) numbers_of_time_.push_back(number.value_or(0));
        return base::ok();
    }

    RowKeys finish() && {
        if (!may_be_dates_) keys_.time = std::move(numbers_of_time_);
        keys_.scale = may_be_dates_ ? TimeScale::kDates : TimeScale::kNumbers;
        keys_.digest = hash_.finish();
        return std::move(keys_);
    }

  private:
    static base::Status check_cell(const std::string& column, std::string_view cell) {
        if (cell.empty())
            return base::make_error(Reason::kEmptySplitCell,
                                    "column '{}' is empty, and the split goes by it; fill it, or "
                                    "leave the row out",
                                    column);
        if (cell.size() <= limits::kMaxTextBytes) return base::ok();
        return base::make_error(Reason::kLongSplitCell,
                                "column '{}' has {} bytes; to split by it, {} are allowed", column,
                                cell.size(), limits::kMaxTextBytes);
    }

    const std::string &by_, &time_;
    std::unordered_map<std::string, uint32_t, TextHash, std::equal_to<>> numbers_;
    std::vector<double> numbers_of_time_;
    bool may_be_dates_ = true, may_be_numbers_ = true;
    base::Sha256 hash_;
    RowKeys keys_;
};

base::Result<std::optional<size_t>> place_of(const CsvReader& csv, const std::string& column) {
    if (column.empty()) return std::optional<size_t>();
    const auto& columns = csv.columns();
    const auto found = std::find(columns.begin(), columns.end(), column);
    if (found != columns.end()) return std::optional(static_cast<size_t>(found - columns.begin()));
    return base::make_error(
        Reason::kMissingColumn, "there is no column '{}' to split by; the file has {}", column,
        fmt::join(columns.begin(), columns.begin() + std::min<ptrdiff_t>(20, std::ssize(columns)),
                  ", "));
}

/// Returns the label's column where rows without a label are left out; empty: none is.
std::string left_out_by(const TableSchema* schema) {
    return schema != nullptr && schema->leave_out_unlabelled ? schema->label_column : std::string();
}

base::Result<RowKeys> read(CsvReader& csv, const std::string& by, const std::string& time,
                           const TableSchema* schema, const std::string& file) {
    const auto label_at = place_of(csv, left_out_by(schema));
    if (!label_at) return label_at.error().with_context(file);
    std::optional<LabelReader> labels;
    if (*label_at) labels.emplace(*schema);
    const auto unit_at = place_of(csv, by), time_at = place_of(csv, time);
    for (const auto* place : {&unit_at, &time_at})
        if (!*place) return place->error().with_context(file);
    KeyBuilder builder(by, time);
    for (size_t rows = 0;; ++rows) {
        RAMPART_TRY(const bool more, csv.next());
        if (!more) break;
        if (labels && labels->is_missing(csv.cells()[**label_at])) continue;
        if (rows == limits::kMaxRows)
            return base::make_error(Reason::kTooManyRows, "{}: more than {} rows", file, rows);
        base::Status added = base::ok();
        if (*unit_at) added = builder.add_unit(trimmed(csv.cells()[**unit_at]));
        if (added && *time_at) added = builder.add_time(trimmed(csv.cells()[**time_at]));
        if (!added) return added.error().with_context(fmt::format("{}, line {}", file, csv.line()));
    }
    return std::move(builder).finish();
}

}  // namespace

base::Result<RowKeys> read_row_keys(const std::filesystem::path& path, const std::string& by,
                                    const std::string& time, const TableSchema* schema) {
    RAMPART_TRY(auto csv, CsvReader::open(path));
    return read(csv, by, time, schema, fmt::format("'{}'", path.string()));
}

}  // namespace rampart::dataset
