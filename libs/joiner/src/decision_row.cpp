#include "rampart/joiner/decision_row.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "join_keys.hpp"
#include "rampart/base/bytes.hpp"
#include "rampart/joiner/reasons.hpp"

namespace rampart::joiner {
namespace {

using base::Result;
using base::Status;
using base::TimePoint;

constexpr uint8_t kFormat = 1;
constexpr uint8_t kMissing = 0, kNumber = 1, kText = 2;         // values
constexpr uint8_t kNoValue = 0, kWithValue = 1, kCensored = 2;  // versions
constexpr size_t kHeadBytes = 8 + 1 + 1 + 8 + 8 + 8;            // from decided_at on
constexpr size_t kLeastVersionBytes = 4 + 4 + 1 + 8 + 8, kTakenBytes = 1 + 8;

base::Error bad_row(std::string_view what) {
    return base::make_error(Reason::kCorruptIndex, "a row of the index by time {}", what);
}

/// Reads what ByteReader does, without a result for each value: a row has dozens. Where too few
/// bytes are left, reads give zeros, and failed() is true from then on.
class Cursor {
  public:
    explicit Cursor(std::string_view bytes) : rest_(bytes) {}
    uint8_t u8() { return static_cast<uint8_t>(number<1>()); }
    uint32_t u32() { return static_cast<uint32_t>(number<4>()); }
    int64_t i64() { return static_cast<int64_t>(number<8>() ^ (uint64_t{1} << 63)); }
    double f64() { return std::bit_cast<double>(number<8>()); }
    TimePoint time() { return TimePoint::from_micros(i64()); }
    std::string_view field() {
        const uint32_t size = u32();
        if (size > rest_.size()) return fail();
        const auto out = rest_.substr(0, size);
        rest_.remove_prefix(size);
        return out;
    }
    /// The length of a list whose entries have `least` bytes or more; 0 and failed() if there is
    /// no room for so many.
    uint32_t length(size_t least) {
        const uint32_t count = u32();
        if (count <= rest_.size() / least) return count;
        fail();
        return 0;
    }
    bool failed() const { return failed_; }
    bool at_end() const { return rest_.empty() && !failed_; }
    size_t left() const { return rest_.size(); }

  private:
    template <size_t kBytes>
    uint64_t number() {
        if (rest_.size() < kBytes) {
            fail();
            return 0;
        }
        uint64_t value = 0;
        for (size_t i = 0; i < kBytes; ++i) value = value << 8 | static_cast<uint8_t>(rest_[i]);
        rest_.remove_prefix(kBytes);
        return value;
    }
    std::string_view fail() {
        failed_ = true;
        rest_ = {};
        return rest_;
    }

    std::string_view rest_;
    bool failed_ = false;
};

/// The bytes that neighbouring rows have in common.
std::string encode_shape(const domain::Decision& decision) {
    std::string out;
    const auto& window = decision.draw_window;
    base::append_field(out, window ? window->product : "");
    base::append_u32(out, window ? static_cast<uint32_t>(window->cool_off_days) : 0);
    for (const auto& feature : decision.application.features) base::append_field(out, feature.name);
    return out;
}

void append(std::string& out, const domain::FeatureValue& value) {
    if (const auto* number = std::get_if<double>(&value)) {
        base::append_u8(out, kNumber);
        base::append_f64(out, *number);
    } else if (const auto* text = std::get_if<std::string>(&value)) {
        base::append_u8(out, kText);
        base::append_field(out, *text);
    } else {
        base::append_u8(out, kMissing);
    }
}

Status read_values(Cursor& in, const RowShape& shape, std::vector<FeatureView>& values) {
    for (size_t i = 0; i < shape.features.size(); ++i) {
        switch (in.u8()) {
            case kMissing:
                values.emplace_back();
                break;
            case kNumber:
                values.emplace_back(in.f64());
                break;
            case kText:
                values.emplace_back(in.field());
                break;
            default:
                return bad_row("has a value of no kind");
        }
        if (in.failed()) return bad_row("ends in its features");
    }
    return base::ok();
}

Status read_versions(Cursor& in, std::vector<RowVersion>& versions) {
    for (uint32_t left = in.length(kLeastVersionBytes); left > 0; --left) {
        RowVersion version;
        version.measure = in.field();
        version.version = in.u32();
        const uint8_t kind = in.u8();
        const double value = in.f64();
        version.known_at = in.time();
        if (in.failed()) break;
        if (kind > kCensored || !std::isfinite(value) ||
            (kind != kWithValue && std::bit_cast<uint64_t>(value) != 0))
            return bad_row("has a version neither with a value nor without");
        if (kind == kWithValue) version.value = value;
        version.censored = kind == kCensored;
        versions.push_back(version);
    }
    return in.failed() ? Status(bad_row("ends in its versions")) : base::ok();
}

Status read_taken(Cursor& in, std::vector<RowTaken>& taken) {
    for (uint32_t left = in.length(kTakenBytes); left > 0; --left) {
        const uint8_t action = in.u8();
        if (action > static_cast<uint8_t>(domain::Action::kApprove))
            return bad_row("has an action that people do not take");
        taken.push_back({static_cast<domain::Action>(action), in.time()});
    }
    return in.at_end() ? base::ok() : Status(bad_row("does not end where it should"));
}

}  // namespace

const RowVersion* DecisionRow::as_known_at(std::string_view measure, TimePoint t) const {
    const RowVersion* found = nullptr;
    for (const RowVersion& version : versions) {
        if (version.known_at <= t && version.measure == measure) found = &version;
    }
    return found;
}

const RowTaken* DecisionRow::taken_as_known_at(TimePoint t) const {
    const auto it = std::find_if(taken.rbegin(), taken.rend(),
                                 [&](const RowTaken& one) { return one.known_at <= t; });
    return it == taken.rend() ? nullptr : &*it;
}

std::string encode_row(const JoinState& state, const domain::Decision& decision) {
    std::string out;
    base::append_u8(out, kFormat);
    base::append_field(out, encode_shape(decision));
    base::append_field(out, decision.policy.value());
    base::append_field(out, decision.application.person.value());
    base::append_i64(out, decision.decided_at.micros());
    base::append_u8(out, decision.exploration_spent ? 1 : 0);
    base::append_u8(out, static_cast<uint8_t>(decision.action));
    base::append_i64(out, decision.draw_window ? decision.draw_window->number : 0);
    base::append_f64(out, decision.p_approve);
    base::append_f64(out, decision.p_refer);
    for (const auto& feature : decision.application.features) append(out, feature.value);
    base::append_u32(out, static_cast<uint32_t>(state.versions.size()));
    for (const Version& version : state.versions) {
        base::append_field(out, version.measure);
        base::append_u32(out, version.version);
        base::append_u8(out, version.censored ? kCensored : version.value ? kWithValue : kNoValue);
        base::append_f64(out, version.value.value_or(0));
        base::append_i64(out, version.known_at.micros());
    }
    // a review that is opened is no answer, and changes nothing that a training set reads
    const auto is_answer = [](const TakenAction& taken) {
        return taken.action != domain::Action::kRefer;
    };
    base::append_u32(out, static_cast<uint32_t>(
                              std::count_if(state.taken.begin(), state.taken.end(), is_answer)));
    for (const TakenAction& taken : state.taken) {
        if (!is_answer(taken)) continue;
        base::append_u8(out, static_cast<uint8_t>(taken.action));
        base::append_i64(out, taken.known_at.micros());
    }
    return out;
}

Status RowDecoder::decode(std::string_view key, std::string_view value, RowPart part,
                          DecisionRow& row) {
    Cursor at(key), in(value);
    row.event_time = at.time();
    if (at.failed()) return bad_row("has a key without a time");
    row.id = key.substr(key.size() - at.left());
    if (in.u8() != kFormat) return bad_row("has no format that is known");
    const auto shape = in.field();
    row.policy = in.field();
    row.person = in.field();
    if (in.failed() || in.left() < kHeadBytes) return bad_row("ends in its head");
    row.decided_at = in.time();
    const uint8_t spent = in.u8(), action = in.u8();
    if (spent > 1 || action > static_cast<uint8_t>(domain::Action::kRefer))
        return bad_row("has a flag or an action that there is not");
    row.exploration_spent = spent == 1;
    row.action = static_cast<domain::Action>(action);
    row.window = in.i64();
    row.p_approve = in.f64();
    row.p_refer = in.f64();
    RAMPART_TRY(row.shape, shape_of(shape));
    if (row.shape->cool_off_days == 0 && row.window != 0) return bad_row("has half a draw window");
    row.values.clear();
    row.versions.clear();
    row.taken.clear();
    if (part == RowPart::kHead) return base::ok();
    RAMPART_RETURN_IF_ERROR(read_values(in, *row.shape, row.values));
    RAMPART_RETURN_IF_ERROR(read_versions(in, row.versions));
    return read_taken(in, row.taken);
}

Result<const RowShape*> RowDecoder::shape_of(std::string_view bytes) {
    if (last_ != nullptr && last_bytes_ == bytes) return last_;
    auto found = shapes_.find(bytes);
    if (found == shapes_.end()) {
        Cursor in(bytes);
        RowShape shape;
        shape.product = in.field();
        const uint32_t days = in.u32();
        if (days > domain::kMaxCoolOffDays || (days == 0 && !shape.product.empty()))
            return bad_row("has a draw window that there is not");
        shape.cool_off_days = static_cast<int>(days);
        while (!in.failed() && !in.at_end()) shape.features.emplace_back(in.field());
        if (in.failed()) return bad_row("ends in the names of its features");
        if (shapes_.size() == kMaxShapes) shapes_.clear();
        shape.number = ++made_;
        found = shapes_.emplace(bytes, std::move(shape)).first;
    }
    last_bytes_ = found->first;
    last_ = &found->second;
    return last_;
}

}  // namespace rampart::joiner
