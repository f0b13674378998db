#include <algorithm>
#include <cmath>
#include <tuple>

#include "metric_columns.hpp"
#include "rampart/base/bytes.hpp"
#include "rampart/base/file.hpp"
#include "rampart/base/limits.hpp"
#include "rampart/budro/metric.hpp"
#include "rampart/budro/reasons.hpp"
#include "rampart/dataset/category_limit.hpp"
#include "rampart/model/reasons.hpp"

namespace rampart::budro {
namespace {

namespace limits = base::limits;

constexpr std::string_view kMagic = "RAMPARTF";
constexpr uint32_t kVersion = 1;
constexpr size_t kHeaderBytes = 8 + 4 + 8, kDigestBytes = 32;
constexpr size_t kMaxDirections = 8192;
constexpr size_t kMaxFileBytes = size_t{128} << 20;

base::Error bad(std::string_view what) {
    return base::make_error(model::Reason::kBadMetricFile, "{}", what);
}

std::string_view bytes_of(const base::Digest& digest) {
    return {reinterpret_cast<const char*>(digest.bytes.data()), digest.bytes.size()};
}

void append_numbers(std::string& out, const std::vector<double>& values) {
    base::append_u32(out, static_cast<uint32_t>(values.size()));
    for (const double value : values) base::append_f64(out, value);
}

base::Result<size_t> count_of(base::ByteReader& reader, size_t most, std::string_view what) {
    RAMPART_TRY(const uint32_t n, reader.u32());
    if (n > most) return bad(fmt::format("{} {}; allowed are {}", n, what, most));
    return size_t{n};
}

base::Result<std::vector<double>> numbers_of(base::ByteReader& reader, size_t most) {
    RAMPART_TRY(const size_t n, count_of(reader, most, "numbers in a list"));
    if (reader.rest().size() / 8 < n) return bad("a list of numbers is cut off");
    std::vector<double> values(n);
    for (auto& value : values) {
        RAMPART_TRY(value, reader.f64());
        if (!std::isfinite(value)) return bad("a number is not finite");
    }
    return values;
}

base::Result<dataset::FeatureSchema> schema_of(base::ByteReader& reader) {
    RAMPART_TRY(const size_t features, count_of(reader, limits::kMaxFeatures, "features"));
    std::vector<dataset::FeatureSpec> specs(features);
    for (auto& spec : specs) {
        RAMPART_TRY(const auto name, reader.field());
        spec.name = name;
        RAMPART_TRY(const uint8_t kind, reader.u8());
        if (kind > 1) return bad(fmt::format("feature '{}' is of the unknown kind {}", name, kind));
        spec.kind = kind == 0 ? dataset::FeatureKind::kNumeric : dataset::FeatureKind::kCategorical;
        RAMPART_TRY(const size_t categories,
                    count_of(reader, dataset::kMostCategories, "categories"));
        for (size_t k = 0; k < categories; ++k) {
            RAMPART_TRY(const auto category, reader.field());
            spec.categories.emplace_back(category);
        }
    }
    return dataset::FeatureSchema::create(std::move(specs));
}

base::Result<FairMetric::Column> column_of(base::ByteReader& reader) {
    FairMetric::Column column;
    RAMPART_TRY(column.feature, reader.u32());
    RAMPART_TRY(const uint8_t kind, reader.u8());
    if (kind > 2) return bad(fmt::format("a column of the unknown kind {}", kind));
    column.kind = static_cast<FairMetric::Kind>(kind);
    RAMPART_TRY(column.code, reader.u32());
    RAMPART_TRY(column.mean, reader.f64());
    RAMPART_TRY(column.scale, reader.f64());
    RAMPART_TRY(column.weight, reader.f64());
    return column;
}

/// Magic, version, length, checksum.
base::Result<std::string_view> payload_of(std::string_view bytes) {
    if (!bytes.starts_with(kMagic))
        return bad("this is no Rampart fair metric (it begins otherwise)");
    if (bytes.size() < kHeaderBytes + kDigestBytes) return bad("the file is truncated");
    base::ByteReader reader(bytes.substr(kMagic.size()));
    RAMPART_TRY(const uint32_t version, reader.u32());
    RAMPART_TRY(const uint64_t length, reader.u64());
    if (version != kVersion)
        return base::make_error(Reason::kUnknownMetricVersion,
                                "format version {}; this program reads version {}", version,
                                kVersion);
    if (length != bytes.size() - kHeaderBytes - kDigestBytes)
        return bad("the file is truncated or has grown; get it anew");
    const auto content = bytes.substr(0, bytes.size() - kDigestBytes);
    if (bytes.substr(content.size()) != bytes_of(base::sha256(content)))
        return bad("the checksum does not match the content; the file is damaged, get it anew");
    return content.substr(kHeaderBytes);
}

bool valid(const FairMetric::Column& c, const dataset::FeatureSchema& schema) {
    if (c.feature >= schema.size() || !std::isfinite(c.mean) ||
        !(std::isfinite(c.scale) && c.scale > 0) || !(c.weight > 0 && c.weight <= 1e6))
        return false;
    const auto& spec = schema.features()[c.feature];
    const bool category = c.kind == FairMetric::Kind::kCategory;
    return category == (spec.kind == dataset::FeatureKind::kCategorical) &&
           (category ? c.code < spec.categories.size() : c.code == 0);
}

}  // namespace

base::Status FairMetric::check() const {
    const size_t d = columns_.size();
    if (d == 0 || d > kMaxColumns) return bad(fmt::format("{} columns", d));
    for (size_t c = 0; c < d; ++c) {
        const auto key = [&](size_t at) {
            return std::tuple(columns_[at].feature, columns_[at].kind, columns_[at].code);
        };
        if (!valid(columns_[c], schema_) || (c > 0 && !(key(c - 1) < key(c))))
            return bad(fmt::format("column {} does not fit the schema", c));
    }
    for (const auto& direction : directions_)
        if (direction.coefficients.size() != d) return bad("a direction of another length");
    const size_t spanned = basis_.size() / d, rows = embedding_.size() / d;
    if (spanned * d != basis_.size() || rows * d != embedding_.size() || spanned > d || rows > d ||
        rows == 0)
        return bad("matrices of other sizes than the columns'");
    double largest = 1;
    for (const double value : embedding_) largest = std::max(largest, std::abs(value));
    for (size_t i = 0; i < spanned; ++i) {
        const std::span row(basis_.data() + i * d, d);
        const auto with = [&](const double* other) {
            double sum = 0;
            for (size_t c = 0; c < d; ++c) sum += row[c] * other[c];
            return sum;
        };
        for (size_t j = 0; j <= i; ++j)
            if (!(std::abs(with(basis_.data() + j * d) - (i == j ? 1 : 0)) < 1e-6))
                return bad("the subspace's vectors are not orthonormal");
        for (size_t j = 0; j < rows; ++j)
            if (!(std::abs(with(embedding_.data() + j * d)) < 1e-6 * largest))
                return bad("a distance counts what the subspace says counts for nothing");
    }
    return base::ok();
}

std::string FairMetric::encode() const {
    std::string payload;
    base::append_u32(payload, static_cast<uint32_t>(schema_.size()));
    for (const auto& spec : schema_.features()) {
        base::append_field(payload, spec.name);
        base::append_u8(payload, spec.kind == dataset::FeatureKind::kNumeric ? 0 : 1);
        base::append_u32(payload, static_cast<uint32_t>(spec.categories.size()));
        for (const auto& category : spec.categories) base::append_field(payload, category);
    }
    base::append_u32(payload, static_cast<uint32_t>(columns_.size()));
    for (const auto& column : columns_) {
        base::append_u32(payload, column.feature);
        base::append_u8(payload, static_cast<uint8_t>(column.kind));
        base::append_u32(payload, column.code);
        base::append_f64(payload, column.mean);
        base::append_f64(payload, column.scale);
        base::append_f64(payload, column.weight);
    }
    base::append_u32(payload, static_cast<uint32_t>(directions_.size()));
    for (const auto& direction : directions_) {
        base::append_field(payload, direction.name);
        append_numbers(payload, direction.coefficients);
    }
    append_numbers(payload, basis_);
    append_numbers(payload, embedding_);
    std::string bytes(kMagic);
    base::append_u32(bytes, kVersion);
    base::append_u64(bytes, payload.size());
    bytes += payload;
    bytes += bytes_of(base::sha256(bytes));
    return bytes;
}

base::Result<FairMetric> FairMetric::decode(std::string_view bytes) {
    if (bytes.size() > kMaxFileBytes)
        return base::make_error(Reason::kMetricFileTooLarge, "{} bytes; allowed are {}",
                                bytes.size(), kMaxFileBytes);
    RAMPART_TRY(const auto payload, payload_of(bytes));
    base::ByteReader reader(payload);
    FairMetric metric;
    RAMPART_TRY(metric.schema_, schema_of(reader));
    RAMPART_TRY(const size_t columns, count_of(reader, kMaxColumns, "columns"));
    for (size_t c = 0; c < columns; ++c) {
        RAMPART_TRY(metric.columns_.emplace_back(), column_of(reader));
    }
    RAMPART_TRY(const size_t directions, count_of(reader, kMaxDirections, "directions"));
    for (size_t k = 0; k < directions; ++k) {
        auto& direction = metric.directions_.emplace_back();
        RAMPART_TRY(const auto name, reader.field());
        direction.name = name;
        RAMPART_TRY(direction.coefficients, numbers_of(reader, kMaxColumns));
    }
    RAMPART_TRY(metric.basis_, numbers_of(reader, kMaxColumns * kMaxColumns));
    RAMPART_TRY(metric.embedding_, numbers_of(reader, kMaxColumns * kMaxColumns));
    if (!reader.empty()) return bad("there is more than a metric in it");
    RAMPART_RETURN_IF_ERROR(metric.check());
    return metric;
}

base::Digest FairMetric::digest() const { return base::sha256(encode()); }

base::Result<FairMetric> load_fair_metric(const std::filesystem::path& path) {
    RAMPART_TRY(const auto bytes, base::read_file(path, kMaxFileBytes));
    auto metric = FairMetric::decode(bytes);
    if (!metric) return metric.error().with_context(fmt::format("'{}'", path.string()));
    return metric;
}

base::Status save_fair_metric(const FairMetric& metric, const std::filesystem::path& path) {
    return base::write_file_atomically(path, metric.encode());
}

}  // namespace rampart::budro
