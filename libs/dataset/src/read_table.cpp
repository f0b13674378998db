#include "rampart/dataset/read_table.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "cell_encoder.hpp"
#include "cell_memo.hpp"
#include "group_reader.hpp"
#include "label_reader.hpp"
#include "rampart/base/limits.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/dataset/csv.hpp"
#include "rampart/dataset/feature_schema_toml.hpp"
#include "rampart/dataset/pooled_values.hpp"
#include "rampart/dataset/reasons.hpp"
#include "rampart/dataset/text.hpp"

namespace rampart::dataset {
namespace {

using base::Error;
using base::Result;
namespace limits = base::limits;

constexpr size_t kShownBytes = 60;

/// Positions of a schema's columns in a record.
struct Places {
    size_t label = 0;
    std::optional<size_t> weight;
    std::vector<size_t> protecteds;
    std::vector<std::vector<size_t>> features;  // those of CellEncoder::columns_of()

    static Result<Places> find(const std::vector<std::string>& columns, const TableSchema& schema,
                               const CellEncoder& encoder) {
        std::map<std::string, size_t, std::less<>> place_of;
        for (size_t i = 0; i < columns.size(); ++i) place_of[columns[i]] = i;
        std::vector<std::string> absent;
        std::set<std::string, std::less<>> known(schema.ignored_columns.begin(),
                                                 schema.ignored_columns.end());
        const auto take = [&](const std::string& name) {
            known.insert(name);
            const auto found = place_of.find(name);
            if (found != place_of.end()) return found->second;
            absent.push_back(name);
            return size_t{0};
        };
        Places places;
        places.label = take(schema.label_column);
        if (schema.weight_column) places.weight = take(*schema.weight_column);
        for (const auto& name : schema.protected_columns) places.protecteds.push_back(take(name));
        for (size_t f = 0; f < schema.features.size(); ++f) {
            auto& of_feature = places.features.emplace_back();
            for (const auto& name : encoder.columns_of(f)) of_feature.push_back(take(name));
        }
        if (!absent.empty()) {
            return base::make_error(Reason::kMissingColumn,
                                    "the schema names columns that the file lacks: {}; "
                                    "the file has {}{}",
                                    name_some(absent), name_some(columns),
                                    absent[0] == schema.label_column ? hint(absent[0]) : "");
        }
        std::vector<std::string> unknown;
        for (const auto& [name, place] : place_of)
            if (!known.contains(name)) unknown.push_back(name);
        for (const auto& name : unknown)
            if (schema.derived.contains(name))
                return base::make_error(
                    Reason::kUnknownColumn,
                    "the file has a column '{}', and the schema derives a feature of that name "
                    "from others: rename one of them, or delete `derived` to read the column",
                    name);
        if (!unknown.empty()) {
            return base::make_error(
                Reason::kUnknownColumn,
                "the file has columns that the schema does not "
                "mention: {}; add each as a [[feature]] or list it under `ignored`",
                name_some(unknown));
        }
        return places;
    }
};

/// Collects the rows of one file.
class TableBuilder {
  public:
    /// Keeps a reference to the schema, in which pools are decided.
    explicit TableBuilder(const TableSchema& schema)
        : schema_(schema), encoder_(schema), labels_of_file_(schema), groups_of_file_(schema) {
        data_.schema = schema.features;
        data_.columns.resize(schema.features.size());
    }

    base::Status find_places(const std::vector<std::string>& columns) {
        RAMPART_TRY(places_, Places::find(columns, schema_, encoder_));
        return base::ok();
    }

    base::Status add(std::span<const std::string_view> cells) {
        if (schema_.leave_out_unlabelled && labels_of_file_.is_missing(cells[places_.label])) {
            ++left_out_;
            return base::ok();
        }
        if (data_.rows() == limits::kMaxRows) {
            return base::make_error(Reason::kTooManyRows, "more than {} rows; take a sample",
                                    limits::kMaxRows);
        }
        for (size_t f = 0; f < places_.features.size(); ++f) {
            RAMPART_TRY(const float value, encoder_.encode(f, places_.features[f], cells));
            data_.columns[f].push_back(value);
        }
        RAMPART_RETURN_IF_ERROR(schema_.label_range ? add_target(cells[places_.label])
                                                    : add_label(cells[places_.label]));
        if (places_.weight) RAMPART_RETURN_IF_ERROR(add_weight(cells[*places_.weight]));
        return add_group(cells);
    }

    Result<Dataset> finish() && {
        if (data_.rows() == 0)
            return base::make_error(base::Reason::kNoRows, "there are no rows below the header{}",
                                    left_out_ > 0 ? " that have a label" : "");
        RAMPART_RETURN_IF_ERROR(schema_.label_range ? check_targets() : check_labels());
        sort_groups();
        data_.notes = encoder_.notes();
        for (auto& note : groups_of_file_.notes()) data_.notes.push_back(std::move(note));
        if (left_out_ > 0)
            data_.notes.push_back(fmt::format("{} row{} without a label ('{}') left out", left_out_,
                                              left_out_ == 1 ? "" : "s", schema_.label_text()));
        return std::move(data_);
    }

  private:
    base::Status check_labels() const {
        if (!labels_.contains(labels_of_file_.favourable())) {
            return base::make_error(
                Reason::kNoFavourableLabel,
                "label '{}' never has the favourable value '{}'; it has {}; correct "
                "`favourable`",
                schema_.label_text(), schema_.favourable, labels());
        }
        if (labels_.size() == 1) {
            return base::make_error(Reason::kOneLabel,
                                    "label '{}' has only the value '{}'; two are needed",
                                    schema_.label_text(), schema_.favourable);
        }
        return base::ok();
    }
    base::Status check_targets() const {
        const auto& target = data_.target;
        if (std::any_of(target.begin(), target.end(), [&](double y) { return y != target[0]; }))
            return base::ok();
        return base::make_error(Reason::kOneLabel,
                                "label '{}' is {} in every row: there is nothing to learn",
                                schema_.label_column, target[0]);
    }

    std::string labels() const {
        return name_some(std::vector<std::string>(labels_.begin(), labels_.end()));
    }

    base::Status add_label(std::string_view cell) {
        if (const uint8_t* known = labels_of_cells_.find(cell)) {
            data_.label.push_back(*known);
            return base::ok();
        }
        if (labels_of_file_.is_missing(cell)) return missing_label();
        RAMPART_TRY(const auto label, labels_of_file_.value(cell));
        labels_.insert(label);
        if (labels_.size() > 2) {
            return base::make_error(Reason::kThreeLabels,
                                    "label '{}' has a third value: {}; a label has two, "
                                    "make it so or choose another column, or, if it is a "
                                    "number to predict, give label_range instead of "
                                    "favourable",
                                    schema_.label_column, labels());
        }
        data_.label.push_back(label == labels_of_file_.favourable() ? 1 : 0);
        labels_of_cells_.keep(cell, data_.label.back());
        return base::ok();
    }

    base::Status add_target(std::string_view cell) {
        if (labels_of_file_.is_missing(cell)) return missing_label();
        const auto number = parse_number(cell);
        if (!number) {
            return base::make_error(Reason::kLabelNotANumber,
                                    "label '{}' is '{}', not a number; correct the file, or "
                                    "give the schema `favourable` instead of `label_range`",
                                    schema_.label_column, cell.substr(0, kShownBytes));
        }
        const auto [lo, hi] = *schema_.label_range;
        if (!(*number >= lo && *number <= hi)) {
            return base::make_error(Reason::kLabelOutsideRange,
                                    "label '{}' is {}, outside label_range from {} to {}; widen "
                                    "the range, or leave the row out",
                                    schema_.label_column, *number, lo, hi);
        }
        data_.target.push_back(*number);
        return base::ok();
    }

    base::Error missing_label() const {
        return base::make_error(Reason::kMissingLabel,
                                "label '{}' is empty; leave rows without an outcome "
                                "out of the file, or declare label_missing = \"leave_out\"",
                                schema_.label_column);
    }

    base::Status add_weight(std::string_view cell) {
        const auto number = parse_number(cell);
        const auto weight = static_cast<float>(number.value_or(0));
        if (!(weight > 0) || !std::isfinite(weight)) {
            return base::make_error(base::Reason::kBadWeight,
                                    "weight '{}' is '{}'; a weight is a number above 0",
                                    *schema_.weight_column, cell.substr(0, kShownBytes));
        }
        data_.weight.push_back(weight);
        return base::ok();
    }

    base::Status add_group(std::span<const std::string_view> cells) {
        if (places_.protecteds.empty()) return base::ok();
        // cells with their lengths, so that different combinations have different keys
        key_.clear();
        for (const size_t place : places_.protecteds) {
            const std::string_view cell = cells[place].substr(0, CellMemo<int32_t>::kLongest + 1);
            key_ += static_cast<char>(cell.size());
            key_ += cell;
        }
        if (const int32_t* known = groups_of_cells_.find(key_)) {
            data_.group.push_back(*known);
            return base::ok();
        }
        const size_t outside = groups_of_file_.outside();
        RAMPART_TRY(const int32_t group, find_group(cells));
        // a number outside its range is counted in each row
        if (groups_of_file_.outside() == outside) groups_of_cells_.keep(key_, group);
        data_.group.push_back(group);
        return base::ok();
    }

    /// Returns the group of this name; creates it if needed.
    Result<int32_t> find_group(std::span<const std::string_view> cells) {
        std::vector<std::string_view> values;
        for (const size_t place : places_.protecteds) values.push_back(cells[place]);
        RAMPART_TRY(auto name, groups_of_file_.name(values));
        const auto [found, fresh] =
            groups_.emplace(std::move(name), static_cast<int32_t>(groups_.size()));
        if (fresh && groups_.size() > limits::kMaxGroups) {
            return base::make_error(
                base::Reason::kTooManyGroups,
                "the protected columns ({}) make more than {} groups; "
                "give them bands or a pool in a [[column]] of the schema, or protect fewer",
                name_some(schema_.protected_columns), limits::kMaxGroups);
        }
        return found->second;
    }

    /// Renumbers the groups from order of appearance to order of names.
    void sort_groups() {
        std::vector<int32_t> rank(groups_.size());
        for (const auto& [name, appeared] : groups_) {
            rank[static_cast<size_t>(appeared)] = static_cast<int32_t>(data_.group_names.size());
            data_.group_names.push_back(name);
        }
        for (auto& group : data_.group) group = rank[static_cast<size_t>(group)];
    }

    const TableSchema& schema_;
    CellEncoder encoder_;
    LabelReader labels_of_file_;
    GroupReader groups_of_file_;
    Places places_;
    size_t left_out_ = 0;
    std::string key_;
    std::set<std::string> labels_;
    std::map<std::string, int32_t> groups_;
    CellMemo<uint8_t> labels_of_cells_;
    CellMemo<int32_t> groups_of_cells_;
    Dataset data_;
};

}  // namespace

Result<Dataset> read_table(const std::filesystem::path& path, const TableSchema& schema) {
    RAMPART_RETURN_IF_ERROR(validate(schema));
    RAMPART_TRY(auto pooled, decide_pools(path, schema));
    RAMPART_TRY(auto csv, CsvReader::open(path));
    const std::string file = fmt::format("'{}'", path.string());
    TableBuilder builder(pooled.schema);
    if (const auto found = builder.find_places(csv.columns()); !found)
        return found.error().with_context(file);
    while (true) {
        RAMPART_TRY(const bool more, csv.next());
        if (!more) break;
        if (const auto added = builder.add(csv.cells()); !added) {
            return added.error().with_context(fmt::format("{}, line {}", file, csv.line()));
        }
    }
    auto data = std::move(builder).finish();
    if (!data) return data.error().with_context(file);
    data->notes.insert(data->notes.begin(), pooled.notes.begin(), pooled.notes.end());
    return data;
}

}  // namespace rampart::dataset
