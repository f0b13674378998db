#include "audit/file_rows.hpp"

#include <algorithm>
#include <numeric>

#include "rampart/base/reasons.hpp"
#include "rampart/dataset/reasons.hpp"
#include "rampart/dataset/row_reader.hpp"

namespace rampart::cli {

base::Result<std::vector<uint32_t>> file_rows(const std::string& file,
                                              const dataset::TableSchema& schema, size_t kept) {
    std::vector<uint32_t> rows;
    if (!schema.leave_out_unlabelled) {
        rows.resize(kept);
        std::iota(rows.begin(), rows.end(), 0u);
        return rows;
    }
    const auto is_missing = [&](const std::string& cell) {
        const auto& words = schema.missing_tokens;
        return cell.empty() || std::find(words.begin(), words.end(), cell) != words.end();
    };
    RAMPART_TRY(auto reader, dataset::RowReader::open(file, schema, {.kept{schema.label_column}}));
    constexpr size_t kBlock = 4096;
    dataset::RowBlock block;
    for (uint32_t row = 0;;) {
        RAMPART_RETURN_IF_ERROR(reader.next(block, kBlock));
        if (block.rows() == 0) break;
        for (const auto& cell : block.kept) {
            if (!is_missing(cell)) rows.push_back(row);
            ++row;
        }
    }
    if (rows.size() == kept) return rows;
    return base::make_error(dataset::Reason::kBadSplit, "{} has changed meanwhile", file);
}

}  // namespace rampart::cli
