#include "rampart/dataset/table_cache.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "csv_files.hpp"
#include "rampart/dataset/read_table.hpp"

namespace rampart::dataset {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

TableSchema example_schema() {
    TableSchema schema;
    schema.features =
        FeatureSchema::create({{"income", FeatureKind::kNumeric, {}},
                               {"job", FeatureKind::kCategorical, {"clerk", "baker"}}})
            .value();
    schema.label_column = "repaid";
    schema.favourable = "yes";
    schema.protected_columns = {"sex"};
    schema.weight_column = "w";
    return schema;
}

constexpr std::string_view kText =
    "w,sex,income,job,repaid\n"
    "1,2,100,clerk,yes\n"
    "2.5,1,,baker,no\n"
    "1,2,-0,,yes\n";

/// A folder of this test's own, gone at the end.
class Folder {
  public:
    Folder() : path_(fs::path(testing::TempDir()) / ("table_cache." + std::to_string(::getpid()))) {
        fs::remove_all(path_);
        fs::create_directory(path_);
    }
    ~Folder() { fs::remove_all(path_); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    fs::path operator/(std::string_view name) const { return path_ / name; }
    const fs::path& path() const { return path_; }

  private:
    fs::path path_;
};

void write(const fs::path& path, std::string_view content) {
    std::ofstream(path, std::ios::binary) << content;
}

std::string read(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

/// To the last bit: NaN is NaN, 0 is not -0.
void expect_same(const Dataset& a, const Dataset& b) {
    EXPECT_EQ(a.schema, b.schema);
    EXPECT_EQ(a.label, b.label);
    EXPECT_EQ(a.target, b.target);
    EXPECT_EQ(a.weight, b.weight);
    EXPECT_EQ(a.group, b.group);
    EXPECT_EQ(a.group_names, b.group_names);
    ASSERT_EQ(a.columns.size(), b.columns.size());
    for (size_t f = 0; f < a.columns.size(); ++f) {
        ASSERT_EQ(a.columns[f].size(), b.columns[f].size());
        for (size_t i = 0; i < a.columns[f].size(); ++i) {
            EXPECT_EQ(std::bit_cast<uint32_t>(a.columns[f][i]),
                      std::bit_cast<uint32_t>(b.columns[f][i]));
        }
    }
}

TEST(TableCache, TheSecondReadingIsTheFirst) {
    const Folder folder;
    write(folder / "t.csv", kText);
    const auto first = read_table_cached(folder / "t.csv", example_schema(), folder.path()).value();
    EXPECT_FALSE(first.from_cache);
    EXPECT_THAT(first.note, HasSubstr("cached in"));
    const auto again = read_table_cached(folder / "t.csv", example_schema(), folder.path()).value();
    EXPECT_TRUE(again.from_cache);
    expect_same(first.data, read_table(folder / "t.csv", example_schema()).value());
    expect_same(again.data, first.data);
    EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}), 2);  // nothing left over
}

TEST(TableCache, WithoutWeightsAndGroupsThereAreNone) {
    auto schema = example_schema();
    schema.protected_columns.clear();
    schema.weight_column.reset();
    schema.ignored_columns = {"w", "sex"};
    const Folder folder;
    write(folder / "t.csv", kText);
    for (const bool from_cache : {false, true}) {
        const auto table = read_table_cached(folder / "t.csv", schema, folder / "c").value();
        EXPECT_EQ(table.from_cache, from_cache);
        EXPECT_TRUE(table.data.weight.empty() && table.data.group.empty());
        EXPECT_EQ(table.data.rows(), 3u);
    }
}

TEST(TableCache, AnotherSourceOrSchemaIsReadAnewAndSaidSo) {
    const Folder folder;
    const auto source = folder / "t.csv", cache = folder / "c";
    write(source, kText);
    ASSERT_TRUE(read_table_cached(source, example_schema(), cache));
    write(source, std::string(kText) + "1,1,7,clerk,no\n");
    const auto longer = read_table_cached(source, example_schema(), cache).value();
    EXPECT_EQ(longer.data.rows(), 4u);
    EXPECT_FALSE(longer.from_cache);
    EXPECT_THAT(longer.note,
                HasSubstr("another source file or schema; read from the source; cached in"));

    auto schema = example_schema();
    schema.favourable = "no";
    const auto turned = read_table_cached(source, schema, cache).value();
    EXPECT_FALSE(turned.from_cache);
    EXPECT_NE(turned.data.label, longer.data.label);
    EXPECT_TRUE(read_table_cached(source, schema, cache).value().from_cache);
}

TEST(TableCache, EveryPartOfTheSchemaCounts) {
    const TemporaryFile source(kText);
    const auto key = [&](auto change) {
        auto schema = example_schema();
        change(schema);
        return table_cache_key(source.path(), schema).value();
    };
    const auto plain = key([](TableSchema&) {});
    EXPECT_EQ(plain, key([](TableSchema&) {}));
    for (const auto& other :
         {key([](TableSchema& s) { s.label_column = "x"; }),
          key([](TableSchema& s) { s.favourable = "x"; }),
          key([](TableSchema& s) { s.protected_columns = {}; }),
          key([](TableSchema& s) { s.weight_column.reset(); }),
          key([](TableSchema& s) { s.ignored_columns = {"x"}; }),
          key([](TableSchema& s) { s.missing_tokens = {"x"}; }),
          key([](TableSchema& s) { s.leave_out_unlabelled = true; }), key([](TableSchema& s) {
              s.condition = LabelCondition{{}, {"1"}};
          }),
          key([](TableSchema& s) { s.rules = {{.column = "sex", .bands = {2}}}; }),
          key([](TableSchema& s) { s.rules = {{.column = "sex", .bands = {3}}}; }),
          key([](TableSchema& s) {
              s.derived["income"] = {Derivation::Function::kLog, {"debt"}};
          }),
          key([](TableSchema& s) {
              s.features = FeatureSchema::create({{"income", FeatureKind::kNumeric, {}}}).value();
          })}) {
        EXPECT_NE(plain, other);
    }
}

TEST(TableCache, NotesOfTheReadingAreKept) {
    const Folder folder;
    const auto source = folder / "t.csv", cache = folder / "c";
    write(source, std::string(kText) + "1,2,9,,\n");
    auto schema = example_schema();
    schema.leave_out_unlabelled = true;
    const auto first = read_table_cached(source, schema, cache).value();
    const auto second = read_table_cached(source, schema, cache).value();
    EXPECT_TRUE(second.from_cache) << second.note;
    EXPECT_EQ(second.data.notes.size(), 1u);
    EXPECT_EQ(second.data.notes, first.data.notes);
}

TEST(TableCache, NoDamageIsTakenForTheTable) {
    const Folder folder;
    const auto source = folder / "t.csv", cache = folder / "c";
    write(source, kText);
    ASSERT_TRUE(read_table_cached(source, example_schema(), cache));
    const std::string whole = read(cache);
    const auto key = table_cache_key(source, example_schema()).value();
    const auto refused = [&](const std::string& bytes) {
        const auto data = decode_table_cache(bytes, key, example_schema().features);
        return !data && !data.error().message.empty();
    };
    for (size_t i = 0; i < whole.size(); ++i) {
        std::string damaged = whole;
        damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
        EXPECT_TRUE(refused(damaged)) << "byte " << i;
        EXPECT_TRUE(refused(whole.substr(0, i))) << "cut at " << i;
    }
    EXPECT_TRUE(refused(whole + "x"));

    write(cache, whole.substr(0, whole.size() / 2));
    const auto table = read_table_cached(source, example_schema(), cache).value();
    EXPECT_FALSE(table.from_cache);
    EXPECT_THAT(table.note, HasSubstr("damaged"));
    EXPECT_EQ(read(cache), whole);
}

TEST(TableCache, TargetsAreKeptAndChecked) {
    const Folder folder;
    const auto source = folder / "t.csv", cache = folder / "c";
    write(source, "w,sex,income,job,repaid\n1,2,100,clerk,0.1\n2.5,1,,baker,-3\n");
    auto schema = example_schema();
    schema.favourable.clear();
    schema.label_range = NumericRange{-3, 1};
    const auto first = read_table_cached(source, schema, cache).value();
    const auto second = read_table_cached(source, schema, cache).value();
    EXPECT_TRUE(second.from_cache) << second.note;
    EXPECT_EQ(second.data.target, (std::vector<double>{0.1, -3}));
    expect_same(first.data, second.data);
    schema.label_range->hi = 2;
    EXPECT_FALSE(read_table_cached(source, schema, cache).value().from_cache);

    const base::Digest key{};
    for (const double wrong : {std::nan(""), -3.0}) {
        Dataset data = first.data;
        data.target[0] = wrong;
        const auto decoded =
            decode_table_cache(encode_table_cache(data, key), key, schema.features);
        ASSERT_FALSE(decoded) << wrong;
        EXPECT_EQ(decoded.error().reason, "bad_table_cache");
    }
}

/// Damage with a valid checksum: forged, or by a defect of ours.
TEST(TableCache, ContentIsCheckedBehindAGoodChecksum) {
    const TemporaryFile source(kText);
    const auto schema = example_schema();
    const auto key = table_cache_key(source.path(), schema).value();
    const Dataset good = read_table(source.path(), schema).value();
    const auto decode = [&](const Dataset& data) {
        return decode_table_cache(encode_table_cache(data, key), key, schema.features);
    };
    ASSERT_TRUE(decode(good));
    const auto refuses = [&](auto change) {
        Dataset data = good;
        change(data);
        const auto decoded = decode(data);
        return !decoded && decoded.error().reason == "bad_table_cache";
    };
    EXPECT_TRUE(refuses([](Dataset& d) { d.label[1] = 2; }));
    EXPECT_TRUE(refuses([](Dataset& d) { d.group[0] = 2; }));
    EXPECT_TRUE(refuses([](Dataset& d) { d.weight[0] = 0; }));
    EXPECT_TRUE(refuses([](Dataset& d) { d.columns[1][0] = 2; }));
    EXPECT_TRUE(refuses([](Dataset& d) { d.columns[0][0] = INFINITY; }));
    EXPECT_TRUE(refuses([](Dataset& d) { d.columns.pop_back(); }));
    EXPECT_TRUE(refuses([](Dataset& d) { d.group_names.assign(65, "g"); }));
}

TEST(TableCache, ATableWithoutRowsIsRefusedAndNoNullPointerTouched) {
    Dataset empty;
    empty.schema = example_schema().features;
    empty.columns.resize(2);
    const base::Digest key{};
    const auto decoded = decode_table_cache(encode_table_cache(empty, key), key, empty.schema);
    ASSERT_FALSE(decoded);
    EXPECT_EQ(decoded.error().reason, "bad_table_cache");
}

TEST(TableCache, ACacheThatCannotBeWrittenCostsNothingButTime) {
    const TemporaryFile source(kText);
    const auto table = read_table_cached(source.path(), example_schema(), "/nonexistent/x").value();
    EXPECT_EQ(table.data.rows(), 3u);
    EXPECT_THAT(table.note, HasSubstr("nothing was cached"));
}

TEST(TableCache, WhatIsWrongWithTheSourceIsAnErrorAsEver) {
    const Folder folder;
    EXPECT_EQ(read_table_cached(folder / "no.csv", example_schema(), folder / "c").error().reason,
              "no_such_file");
    write(folder / "t.csv", "w,sex,income,job,repaid\n1,2,abc,clerk,yes\n");
    EXPECT_EQ(read_table_cached(folder / "t.csv", example_schema(), folder / "c").error().reason,
              "not_a_number");
    EXPECT_FALSE(fs::exists(folder / "c"));
}

}  // namespace
}  // namespace rampart::dataset
