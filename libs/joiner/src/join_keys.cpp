#include "join_keys.hpp"

#include "rampart/base/bytes.hpp"
#include "rampart/base/digest.hpp"

namespace rampart::joiner {

using base::Result;
using base::TimePoint;

namespace {

Result<TimePoint> read_time(base::ByteReader& in) {
    RAMPART_TRY(const int64_t micros, in.i64());
    return TimePoint::from_micros(micros);
}

}  // namespace

std::string time_key(TimePoint event_time, std::string_view id) {
    std::string key;
    base::append_i64(key, event_time.micros());
    key += id;
    return key;
}

Result<TimeKey> parse_time_key(std::string_view key) {
    base::ByteReader in(key);
    RAMPART_TRY(const auto time, read_time(in));
    return TimeKey{time, std::string(in.rest())};
}

std::string maturity_key(const MaturityKey& key) {
    std::string out;
    base::append_i64(out, key.maturity.micros());
    base::append_field(out, key.measure);
    out += key.id;
    return out;
}

Result<MaturityKey> parse_maturity_key(std::string_view key) {
    base::ByteReader in(key);
    RAMPART_TRY(const auto maturity, read_time(in));
    RAMPART_TRY(const auto measure, in.field());
    return MaturityKey{maturity, std::string(measure), std::string(in.rest())};
}

std::string review_key(TimePoint since, std::string_view id) { return time_key(since, id); }

Result<TimeKey> parse_review_key(std::string_view key) { return parse_time_key(key); }

std::string person_key(const domain::PersonId& person, std::string_view id) {
    const auto digest = base::sha256(person.value());
    std::string key(digest.bytes.begin(), digest.bytes.begin() + kPersonHashBytes);
    key += id;
    return key;
}

}  // namespace rampart::joiner
