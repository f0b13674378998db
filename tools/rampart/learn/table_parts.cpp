#include "learn/table_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "rampart/base/limits.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/dataset/read_table.hpp"
#include "rampart/dataset/table_cache.hpp"
#include "rampart/dataset/twins.hpp"
#include "rampart/evaluation/table_digest.hpp"

namespace rampart::cli {
namespace {

constexpr double kManyTwins = 0.5;

/// Gives the groups of all tables the numbers of one list of names.
base::Status unite_groups(const std::vector<dataset::Dataset*>& tables) {
    std::set<std::string> names;
    for (const auto* table : tables)
        names.insert(table->group_names.begin(), table->group_names.end());
    if (names.size() > base::limits::kMaxGroups)
        return base::make_error(base::Reason::kTooManyGroups,
                                "the files have {} groups together; allowed are {}: band the "
                                "values of the protected columns",
                                names.size(), base::limits::kMaxGroups);
    const std::vector<std::string> united(names.begin(), names.end());
    for (auto* table : tables) {
        std::vector<int32_t> number;
        for (const auto& name : table->group_names)
            number.push_back(static_cast<int32_t>(
                std::lower_bound(united.begin(), united.end(), name) - united.begin()));
        for (auto& group : table->group) group = number[static_cast<size_t>(group)];
        table->group_names = united;
    }
    return base::ok();
}

/// Returns how many rows of a file are of units that are in the training rows.
base::Result<size_t> count_shared(const std::string& file, const dataset::SplitPlan& plan,
                                  const dataset::TableSchema& schema,
                                  const std::set<std::string_view>& in_train) {
    if (file.empty() || plan.by.empty()) return size_t{0};
    RAMPART_TRY(const auto keys, dataset::read_row_keys(file, plan.by, "", &schema));
    size_t shared = 0;
    for (const uint32_t unit : keys.unit) shared += in_train.contains(keys.unit_names[unit]);
    return shared;
}

base::Status read_all(const TableSource& source, const dataset::TableSchema& schema,
                      TableParts& parts) {
    if (source.cache.empty()) {
        RAMPART_TRY(parts.all, dataset::read_table(source.data, schema));
    } else {
        RAMPART_TRY(auto cached, dataset::read_table_cached(source.data, schema, source.cache));
        parts.all = std::move(cached.data);
        parts.note = std::move(cached.note);
    }
    parts.data = evaluation::digest_of(parts.all);
    std::vector<dataset::Dataset*> tables{&parts.all};
    if (!source.split.validation_data.empty()) {
        RAMPART_TRY(parts.validation, dataset::read_table(source.split.validation_data, schema));
        parts.plan.validation_file = evaluation::digest_of(parts.validation);
        tables.push_back(&parts.validation);
    }
    if (!source.split.test_data.empty()) {
        RAMPART_TRY(parts.test, dataset::read_table(source.split.test_data, schema));
        parts.plan.test_file = evaluation::digest_of(parts.test);
        tables.push_back(&parts.test);
    }
    return tables.size() > 1 ? unite_groups(tables) : base::ok();
}

/// Divides what the files leave to divide, and counts what is on both sides.
base::Status divide(const TableSource& source, const dataset::TableSchema& schema,
                    TableParts& parts) {
    dataset::RowKeys keys;
    if (parts.plan.needs_keys()) {
        RAMPART_TRY(keys,
                    dataset::read_row_keys(source.data, parts.plan.by, parts.plan.time, &schema));
        parts.plan.keys = keys.digest;
    }
    RAMPART_TRY(const auto split, dataset::split_by_plan(parts.all, parts.plan, keys, source.seed));
    parts.in_gap = split.in_gap;
    parts.on_two_sides = split.on_two_sides;
    parts.train = parts.all.subset(split.parts.train);
    if (!parts.plan.validation_file) parts.validation = parts.all.subset(split.parts.validation);
    if (!parts.plan.test_file) parts.test = parts.all.subset(split.parts.test);
    if (!parts.plan.by.empty())
        for (const uint32_t row : split.parts.train)
            parts.persons.push_back(keys.unit_names[keys.unit[row]]);
    const std::set<std::string_view> in_train(parts.persons.begin(), parts.persons.end());
    RAMPART_TRY(parts.validation_shared,
                count_shared(source.split.validation_data, parts.plan, schema, in_train));
    RAMPART_TRY(parts.test_shared,
                count_shared(source.split.test_data, parts.plan, schema, in_train));
    if (parts.validation.rows() > 0)
        parts.validation_twins = dataset::count_twins(parts.validation, parts.train);
    if (parts.test.rows() > 0) parts.test_twins = dataset::count_twins(parts.test, parts.train);
    return base::ok();
}

}  // namespace

std::string SplitWords::text() const {
    auto out = to_text(plan);
    if (!validation_data.empty()) out += fmt::format("; validation {}", validation_data);
    if (!test_data.empty()) out += fmt::format("; test {}", test_data);
    return out;
}

void add_split_words(CLI::App& command, SplitWords& words, const std::string& group) {
    auto& plan = words.plan;
    command
        .add_option("--split", plan.shares,
                    "per cent of the rows for training/validation/test; a part that is said "
                    "otherwise does not use its share")
        ->capture_default_str()
        ->group(group);
    command
        .add_option("--split-by", plan.by,
                    "column whose equal cells stay in one part, such as a person's id; the schema "
                    "may ignore it")
        ->group(group);
    auto* time = command
                     .add_option("--time-column", plan.time,
                                 "column of dates or numbers to split by; needs --train-until")
                     ->group(group);
    auto* until = command
                      .add_option("--train-until", plan.train_until,
                                  "rows before this time are for training, and for validation by "
                                  "their shares; the test is later: 2006-01")
                      ->group(group);
    time->needs(until);
    until->needs(time);
    command
        .add_option("--validate-until", plan.validate_until,
                    "validation goes from --train-until to this time, the test begins then")
        ->needs(until)
        ->group(group);
    command
        .add_option("--gap", plan.gap,
                    "time left out between two parts, in which outcomes mature: 3m, 90d, 2w, 1y")
        ->needs(until)
        ->group(group);
    command
        .add_option("--validation-data", words.validation_data,
                    "table of the same columns whose rows are the validation part")
        ->group(group);
    command
        .add_option("--test-data", words.test_data,
                    "table of the same columns whose rows are the test part")
        ->group(group);
}

std::string TableParts::text() const {
    auto out = fmt::format("rows: {} train, {} validation, {} test", train.rows(),
                           validation.rows(), test.rows());
    if (in_gap > 0) out += fmt::format("; {} left out in the gap", in_gap);
    if (on_two_sides > 0)
        out += fmt::format("; {} left out whose {} is in an earlier part", on_two_sides, plan.by);
    out += '\n';
    if (validation_twins + test_twins > 0)
        out +=
            fmt::format("with the same features as a training row: {} of validation, {} of test\n",
                        validation_twins, test_twins);
    return out;
}

boost::json::object TableParts::json() const {
    return {{"train", train.rows()},
            {"validation", validation.rows()},
            {"test", test.rows()},
            {"left_out", {{"gap", in_gap}, {"two_sides", on_two_sides}}},
            {"twins", {{"validation", validation_twins}, {"test", test_twins}}}};
}

std::vector<std::string> TableParts::notes() const {
    std::vector<std::string> out = pooled.notes;
    for (const auto& [file, table] :
         {std::pair{"", &all}, {"validation: ", &validation}, {"test: ", &test}})
        for (const auto& text : table->notes) out.push_back(file + text);
    const auto add = [&](const char* part, size_t rows, size_t twins, size_t shared) {
        if (shared > 0)
            out.push_back(
                fmt::format("{} of {} {} rows have a {} that the training rows have, "
                            "too: figures on them say little of others",
                            shared, rows, part, plan.by));
        if (plan.by.empty() && static_cast<double>(twins) > kManyTwins * static_cast<double>(rows))
            out.push_back(
                fmt::format("{} of {} {} rows have the same features as a training row: "
                            "if persons have several rows, split by them (--split-by)",
                            twins, rows, part));
    };
    add("validation", validation.rows(), validation_twins, validation_shared);
    add("test", test.rows(), test_twins, test_shared);
    return out;
}

base::Result<TableParts> read_table_parts(const TableSource& source,
                                          const dataset::TableSchema& schema) {
    TableParts parts;
    parts.plan = source.split.plan;
    RAMPART_RETURN_IF_ERROR(dataset::validate(parts.plan));
    RAMPART_TRY(parts.pooled, dataset::decide_pools(source.data, schema));
    RAMPART_RETURN_IF_ERROR(read_all(source, parts.pooled.schema, parts));
    RAMPART_RETURN_IF_ERROR(divide(source, parts.pooled.schema, parts));
    return parts;
}

}  // namespace rampart::cli
