#include "rampart/dataset/row_reader.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "cell_encoder.hpp"
#include "group_reader.hpp"
#include "rampart/base/limits.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/dataset/csv.hpp"
#include "rampart/dataset/pooled_values.hpp"
#include "rampart/dataset/reasons.hpp"

namespace rampart::dataset {

using base::Result;

struct RowReader::Impl {
    Impl(CsvReader reader, std::string name, TableSchema given, Wanted asked)
        : csv(std::move(reader)),
          file(std::move(name)),
          schema(std::move(given)),
          wanted(std::move(asked)),
          encoder(schema),
          group_reader(schema) {}

    CsvReader csv;
    std::string file;
    TableSchema schema;
    Wanted wanted;
    CellEncoder encoder;
    GroupReader group_reader;
    std::vector<std::vector<size_t>> features;  // places in a record, of encoder.columns_of()
    std::vector<size_t> protecteds, kept;
    std::vector<std::string> unread, group_names, pool_notes;
    std::map<std::string, int32_t, std::less<>> groups;
    std::vector<std::string_view> values;

    base::Status find_places();
    base::Status add(RowBlock& block);
    Result<int32_t> group_of(std::span<const std::string_view> cells);
};

base::Status RowReader::Impl::find_places() {
    std::map<std::string, size_t, std::less<>> place_of;
    const auto& columns = csv.columns();
    for (size_t i = 0; i < columns.size(); ++i) place_of[columns[i]] = i;
    std::vector<std::string> absent;
    std::set<std::string> read;
    const auto take = [&](const std::string& name, std::vector<size_t>& places) {
        read.insert(name);
        const auto found = place_of.find(name);
        if (found == place_of.end()) return absent.push_back(name);
        places.push_back(found->second);
    };
    for (size_t f = 0; f < schema.features.size(); ++f)
        for (auto& places = features.emplace_back(); const auto& name : encoder.columns_of(f))
            take(name, places);
    if (wanted.groups)
        for (const auto& name : schema.protected_columns) take(name, protecteds);
    for (const auto& name : wanted.kept) take(name, kept);
    if (!absent.empty())
        return base::make_error(Reason::kMissingColumn,
                                "the file lacks columns that are needed: {}; it has {}",
                                name_some(absent), name_some(columns));
    read.insert(schema.label_column);
    read.insert(schema.protected_columns.begin(), schema.protected_columns.end());
    read.insert(schema.ignored_columns.begin(), schema.ignored_columns.end());
    if (schema.weight_column) read.insert(*schema.weight_column);
    for (const auto& name : columns)
        if (!read.contains(name)) unread.push_back(name);
    return base::ok();
}

Result<int32_t> RowReader::Impl::group_of(std::span<const std::string_view> cells) {
    values.clear();
    for (const size_t place : protecteds) values.push_back(cells[place]);
    RAMPART_TRY(auto name, group_reader.name(values));
    const auto [found, fresh] = groups.emplace(name, static_cast<int32_t>(group_names.size()));
    if (!fresh) return found->second;
    if (groups.size() > base::limits::kMaxGroups)
        return base::make_error(base::Reason::kTooManyGroups,
                                "the protected columns ({}) make more than {} groups",
                                name_some(schema.protected_columns), base::limits::kMaxGroups);
    group_names.push_back(std::move(name));
    return found->second;
}

base::Status RowReader::Impl::add(RowBlock& block) {
    const auto cells = csv.cells();
    for (size_t f = 0; f < features.size(); ++f) {
        RAMPART_TRY(const float value, encoder.encode(f, features[f], cells));
        block.columns[f].push_back(value);
    }
    if (wanted.groups) {
        RAMPART_TRY(const int32_t group, group_of(cells));
        block.group.push_back(group);
    }
    for (const size_t place : kept) block.kept.emplace_back(cells[place]);
    block.line.push_back(csv.line());
    return base::ok();
}

Result<RowReader> RowReader::open(const std::filesystem::path& path, TableSchema schema,
                                  Wanted wanted) {
    std::vector<std::string> notes;
    if (wanted.groups) {
        RAMPART_TRY(auto pooled, decide_pools(path, schema));
        schema = std::move(pooled.schema);
        notes = std::move(pooled.notes);
    }
    RAMPART_TRY(auto csv, CsvReader::open(path));
    auto file = fmt::format("'{}'", path.string());
    auto impl = std::make_unique<Impl>(std::move(csv), std::move(file), std::move(schema),
                                       std::move(wanted));
    impl->pool_notes = std::move(notes);
    if (const auto found = impl->find_places(); !found)
        return found.error().with_context(impl->file);
    return RowReader(std::move(impl));
}

RowReader::RowReader(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
RowReader::~RowReader() = default;
RowReader::RowReader(RowReader&&) noexcept = default;
RowReader& RowReader::operator=(RowReader&&) noexcept = default;

base::Status RowReader::next(RowBlock& block, size_t most) {
    block.columns.resize(impl_->features.size());
    for (auto& column : block.columns) column.clear();
    block.group.clear();
    block.line.clear();
    block.kept.clear();
    while (block.rows() < most) {
        RAMPART_TRY(const bool more, impl_->csv.next());
        if (!more) break;
        if (const auto added = impl_->add(block); !added)
            return added.error().with_context(
                fmt::format("{}, line {}", impl_->file, impl_->csv.line()));
    }
    return base::ok();
}

const std::vector<std::string>& RowReader::group_names() const { return impl_->group_names; }
const std::vector<std::string>& RowReader::unread() const { return impl_->unread; }
std::vector<std::string> RowReader::notes() const {
    auto out = impl_->pool_notes;
    for (auto& note : impl_->encoder.notes()) out.push_back(std::move(note));
    for (auto& note : impl_->group_reader.notes()) out.push_back(std::move(note));
    return out;
}

}  // namespace rampart::dataset
