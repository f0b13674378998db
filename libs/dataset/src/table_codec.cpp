#include <bit>
#include <cstring>

#include "rampart/base/check.hpp"
#include "rampart/base/limits.hpp"
#include "rampart/dataset/reasons.hpp"
#include "rampart/dataset/table_cache.hpp"

namespace rampart::dataset {
namespace {

using base::Result;
namespace limits = base::limits;
static_assert(std::endian::native == std::endian::little, "columns are copied as they are");

constexpr std::string_view kMagic = "RAMPARTT";
constexpr uint32_t kVersion = 3;
constexpr uint32_t kWeights = 1, kGroups = 2, kTargets = 4;
constexpr size_t kMostNotes = 2 * limits::kMaxFeatures + limits::kMaxGroups;
constexpr size_t kDigestBytes = sizeof(base::Digest::bytes);

template <class T>
void append(std::string& out, const T* from, size_t count) {
    out.append(reinterpret_cast<const char*>(from), count * sizeof(T));
}

template <class T>
void append(std::string& out, T value) {
    append(out, &value, 1);
}

template <class... Args>
base::Error bad(fmt::format_string<Args...> format, Args&&... args) {
    return base::make_error(Reason::kBadTableCache, "the table cache is damaged: {}",
                            fmt::format(format, std::forward<Args>(args)...));
}

/// Reads values from the front.
class Reader {
  public:
    explicit Reader(std::string_view bytes) : rest_(bytes) {}
    size_t left() const { return rest_.size(); }

    template <class T>
    Result<T> number() {
        T value{};
        if (rest_.size() < sizeof(T)) return bad("it ends early");
        std::memcpy(&value, rest_.data(), sizeof(T));
        rest_.remove_prefix(sizeof(T));
        return value;
    }
    Result<std::string_view> text(size_t bytes) {
        if (rest_.size() < bytes) return bad("it ends early");
        const auto taken = rest_.substr(0, bytes);
        rest_.remove_prefix(bytes);
        return taken;
    }
    /// Requires that there are enough bytes: callers compare with left().
    template <class T>
    std::vector<T> numbers(size_t count) {
        RAMPART_CHECK(rest_.size() / sizeof(T) >= count, "{} bytes are left", rest_.size());
        std::vector<T> out(count);
        if (count > 0)
            std::memcpy(out.data(), rest_.data(), count * sizeof(T));  // data() may be
                                                                       // null if empty
        rest_.remove_prefix(count * sizeof(T));
        return out;
    }

  private:
    std::string_view rest_;
};

base::Status check_frame(Reader& reader, const base::Digest& key) {
    RAMPART_TRY(const auto magic, reader.text(kMagic.size()));
    if (magic != kMagic) return bad("it does not begin like one");
    RAMPART_TRY(const auto version, reader.number<uint32_t>());
    if (version != kVersion) {
        return base::make_error(Reason::kOtherTable, "the table cache has format {}, expected {}",
                                version, kVersion);
    }
    RAMPART_TRY(const auto known, reader.text(kDigestBytes));
    if (std::memcmp(known.data(), key.bytes.data(), kDigestBytes) != 0) {
        return base::make_error(Reason::kOtherTable,
                                "the table cache is of another source file or schema");
    }
    return base::ok();
}

Result<std::vector<std::string>> read_texts(Reader& reader, size_t most, std::string_view what) {
    RAMPART_TRY(const auto count, reader.number<uint32_t>());
    if (count > most) return bad("{} {}", count, what);
    std::vector<std::string> names;
    for (uint32_t i = 0; i < count; ++i) {
        RAMPART_TRY(const auto length, reader.number<uint32_t>());
        RAMPART_TRY(const auto name, reader.text(length));
        names.emplace_back(name);
    }
    return names;
}

Result<Dataset> read_rows(Reader& reader, const FeatureSchema& features) {
    RAMPART_TRY(const auto rows, reader.number<uint64_t>());
    RAMPART_TRY(const auto columns, reader.number<uint32_t>());
    RAMPART_TRY(const auto flags, reader.number<uint32_t>());
    if (rows > limits::kMaxRows || columns != features.size() ||
        flags > (kWeights | kGroups | kTargets)) {
        return bad("{} rows, {} features, flags {}", rows, columns, flags);
    }
    Dataset data;
    data.schema = features;
    RAMPART_TRY(data.group_names, read_texts(reader, limits::kMaxGroups, "groups"));
    RAMPART_TRY(data.notes, read_texts(reader, kMostNotes, "notes"));
    const bool weights = (flags & kWeights) != 0, groups = (flags & kGroups) != 0;
    const bool targets = (flags & kTargets) != 0;
    const size_t a_row = (targets ? sizeof(double) : 1) +
                         sizeof(float) * (columns + (weights ? 1 : 0) + (groups ? 1 : 0));
    if (reader.left() != rows * a_row) {
        return bad("{} bytes for {} rows of {}", reader.left(), rows, a_row);
    }
    if (targets)
        data.target = reader.numbers<double>(rows);
    else
        data.label = reader.numbers<uint8_t>(rows);
    if (weights) data.weight = reader.numbers<float>(rows);
    if (groups) data.group = reader.numbers<int32_t>(rows);
    for (uint32_t f = 0; f < columns; ++f) data.columns.push_back(reader.numbers<float>(rows));
    return data;
}

void append_texts(std::string& out, const std::vector<std::string>& texts) {
    append(out, static_cast<uint32_t>(texts.size()));
    for (const auto& text : texts) {
        append(out, static_cast<uint32_t>(text.size()));
        out += text;
    }
}

}  // namespace

std::string encode_table_cache(const Dataset& data, const base::Digest& key) {
    std::string out(kMagic);
    const size_t n = data.rows(), d = data.columns.size();
    constexpr size_t kHeadBytes = 4096;
    out.reserve(kHeadBytes + n * (sizeof(double) + sizeof(float) * (d + 2)));
    append(out, kVersion);
    append(out, key.bytes.data(), key.bytes.size());
    append(out, static_cast<uint64_t>(n));
    append(out, static_cast<uint32_t>(d));
    append(out, (data.weight.empty() ? 0 : kWeights) | (data.group.empty() ? 0 : kGroups) |
                    (data.numeric() ? kTargets : 0));
    append_texts(out, data.group_names);
    append_texts(out, data.notes);
    append(out, data.label.data(), data.label.size());
    append(out, data.target.data(), data.target.size());
    append(out, data.weight.data(), data.weight.size());
    append(out, data.group.data(), data.group.size());
    for (const auto& column : data.columns) append(out, column.data(), column.size());
    const auto digest = base::sha256(out);
    append(out, digest.bytes.data(), digest.bytes.size());
    return out;
}

Result<Dataset> decode_table_cache(std::string_view bytes, const base::Digest& key,
                                   const FeatureSchema& features) {
    if (bytes.size() < kDigestBytes) return bad("{} bytes", bytes.size());
    const std::string_view body = bytes.substr(0, bytes.size() - kDigestBytes);
    Reader reader(body);
    // a mismatch of the key is the usual case and is found without the checksum
    RAMPART_RETURN_IF_ERROR(check_frame(reader, key));
    const auto digest = base::sha256(body);
    if (std::memcmp(digest.bytes.data(), bytes.data() + body.size(), kDigestBytes) != 0) {
        return bad("the checksum does not match");
    }
    RAMPART_TRY(auto data, read_rows(reader, features));
    const auto valid = data.numeric() ? validate_numeric(data) : validate(data);
    if (!valid) return bad("{}", valid.error().message);
    return data;
}

}  // namespace rampart::dataset
