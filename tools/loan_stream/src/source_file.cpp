#include "source_file.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "rampart/dataset/text.hpp"
#include "rampart/loan_stream/reasons.hpp"

namespace rampart::loan_stream {
namespace {

std::string remedy(std::string_view stream) {
    return fmt::format("`ops/data --stream {}` shows where an intact copy is searched", stream);
}

}  // namespace

base::Result<SourceFile> SourceFile::open(const std::filesystem::path& dir, std::string_view stem,
                                          std::string_view stream,
                                          const std::vector<std::string_view>& columns) {
    auto path = dir / fmt::format("{}.csv", stem);
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored)) path += ".gz";
    if (!std::filesystem::exists(path, ignored)) {
        return base::make_error(Reason::kDataFile,
                                "stream {} needs {}.csv or {}.csv.gz in '{}': neither exists; {}",
                                stream, stem, stem, dir.string(), remedy(stream));
    }
    auto csv = dataset::CsvReader::open(path);
    if (!csv) return csv.error();
    SourceFile file(*std::move(csv), path, std::string(stream));
    const auto& names = file.csv_.columns();
    for (const auto column : columns) {
        const auto at = std::find(names.begin(), names.end(), column);
        if (at == names.end()) {
            return base::make_error(Reason::kUnknownLayout, "{}: column '{}' is missing; {}",
                                    path.string(), column, remedy(stream));
        }
        file.positions_.push_back(static_cast<size_t>(at - names.begin()));
    }
    return file;
}

base::Result<bool> SourceFile::next() {
    auto more = csv_.next();
    if (!more) {
        auto error = more.error();
        error.message += "; " + remedy(stream_);
        return error;
    }
    return more;
}

base::Result<double> SourceFile::number(size_t column) const {
    const auto value = dataset::parse_number(cell(column));
    if (!value) return bad_cell(column, "a number");
    return *value;
}

base::Result<int64_t> SourceFile::integer(size_t column, int64_t lo, int64_t hi) const {
    const auto value = dataset::parse_number(cell(column));
    if (!value || *value != std::floor(*value) || *value < static_cast<double>(lo) ||
        *value > static_cast<double>(hi)) {
        return bad_cell(column, fmt::format("a whole number from {} to {}", lo, hi));
    }
    return static_cast<int64_t>(*value);
}

base::Error SourceFile::bad_cell(size_t column, std::string_view expected) const {
    return base::make_error(Reason::kBadCell, "{}, line {}, column '{}': '{}' is not {}; {}",
                            path_.string(), csv_.line(), csv_.columns()[positions_[column]],
                            cell(column).substr(0, 40), expected, remedy(stream_));
}

}  // namespace rampart::loan_stream
