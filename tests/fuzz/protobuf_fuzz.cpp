#include "made_records.hpp"
#include "rampart/base/limits.hpp"
#include "rampart/base/random.hpp"
#include "rampart/protected_attributes/codec.hpp"
#include "rampart/wire/application_json.hpp"
#include "rampart/wire/decision_json.hpp"
#include "rampart/wire/event_codec.hpp"
#include "rampart/wire/outcome_json.hpp"
#include "rampart/wire/override_json.hpp"
#include "unit/wire/records.hpp"

/// Records as protobuf bytes, from a log that other programs may write to.
namespace rampart::fuzz {
namespace {

using domain::Application;
using domain::Decision;
using domain::Erasure;
using domain::LabeledExample;
using domain::Outcome;
using domain::Override;
using protected_attributes::ProtectedAttributes;
using wire::encode;
using wire::to_json;

/// A decoded record is encoded in one way, decodes to itself, and stays below the limits.
template <class Record, class Decode>
bool reads(std::string_view bytes, Decode decode) {
    const base::Result<Record> record = decode(bytes);
    if (!record) return refused(record.error());
    const std::string encoded = encode(*record);
    FUZZ_LAW(encoded.size() <= base::limits::kMaxRecordBytes, "{} bytes", encoded.size());
    const base::Result<Record> again = decode(encoded);
    FUZZ_LAW(again.has_value(), "refuses what it wrote: {}", again.error().message);
    FUZZ_LAW(*again == *record, "reads back another record");
    FUZZ_LAW(encode(*again) == encoded, "encodes one record in two ways");
    return true;
}

/// A record that is valid in the log can be shown over HTTP and read back there.
template <class Record, class Read>
void travels_as_json(const Record& record, Read read) {
    const std::string json = to_json(record);
    const base::Result<Record> back = read(json);
    FUZZ_LAW(back.has_value(), "{} does not read as JSON: {}", json.substr(0, 200),
             back.error().message);
    FUZZ_LAW(*back == record, "another record in JSON: {}", json.substr(0, 200));
}

bool application(std::string_view bytes) {
    if (!reads<Application>(bytes, wire::decode_application)) return false;
    travels_as_json(*wire::decode_application(bytes), wire::application_from_json);
    return true;
}

bool decision(std::string_view bytes) {
    if (!reads<Decision>(bytes, wire::decode_decision)) return false;
    travels_as_json(*wire::decode_decision(bytes), wire::decision_from_json);
    return true;
}

bool outcome(std::string_view bytes) {
    if (!reads<Outcome>(bytes, wire::decode_outcome)) return false;
    travels_as_json(*wire::decode_outcome(bytes), wire::outcome_from_json);
    return true;
}

bool override_taken(std::string_view bytes) {
    if (!reads<Override>(bytes, wire::decode_override)) return false;
    travels_as_json(*wire::decode_override(bytes), wire::override_from_json);
    return true;
}

bool erasure(std::string_view bytes) { return reads<Erasure>(bytes, wire::decode_erasure); }

bool labeled_example(std::string_view bytes) {
    return reads<LabeledExample>(bytes, wire::decode_labeled_example);
}

bool protected_record(std::string_view bytes) {
    if (!reads<ProtectedAttributes>(bytes, protected_attributes::decode)) return false;
    travels_as_json(*protected_attributes::decode(bytes), protected_attributes::parse_json);
    return true;
}

using namespace wire::testing;

/// A record that a validator accepts survives being written, as bytes and as JSON.
template <class Record, class Decode, class Read>
bool survives(const Record& record, Decode decode, Read read) {
    if (const auto status = validate(record); !status) return refused(status.error());
    const std::string bytes = encode(record);
    const base::Result<Record> back = decode(bytes);
    FUZZ_LAW(back.has_value(), "valid, but not readable: {}", back.error().message);
    FUZZ_LAW(*back == record, "reads back another record");
    travels_as_json(record, read);
    return true;
}

bool applications(std::string_view bytes) {
    Choices choices(bytes);
    return survives(made_application(choices), wire::decode_application,
                    wire::application_from_json);
}

bool decisions(std::string_view bytes) {
    Choices choices(bytes);
    return survives(made_decision(choices), wire::decode_decision, wire::decision_from_json);
}

bool outcomes(std::string_view bytes) {
    Choices choices(bytes);
    return survives(made_outcome(choices), wire::decode_outcome, wire::outcome_from_json);
}

bool overrides(std::string_view bytes) {
    Choices choices(bytes);
    return survives(made_override(choices), wire::decode_override, wire::override_from_json);
}

bool people(std::string_view bytes) {
    Choices choices(bytes);
    return survives(made_person(choices), protected_attributes::decode,
                    protected_attributes::parse_json);
}

/// Returns choices that make a valid record: the first such ones among random choices.
template <bool (*kRun)(std::string_view)>
std::vector<std::string> made_seeds() {
    std::vector<std::string> seeds;
    for (uint64_t seed = 0; seeds.size() < 4; ++seed) {
        base::Random random(seed);
        std::string choices;
        for (size_t i = 0; i < 96; ++i) choices += static_cast<char>(random.below(64));
        if (kRun(choices)) seeds.push_back(choices);
    }
    return seeds;
}

/// A few bytes of choices make long texts and lists.
constexpr size_t kMadeSpare = 8 << 20;

std::vector<std::string> protected_seeds() {
    const ProtectedAttributes person{
        domain::PersonId("p-1"), time("2005-04-01"), {{"age", "under_30"}, {"sex", "female"}}};
    return {protected_attributes::encode(person)};
}

std::vector<std::string> example_seeds() {
    auto none = sample_example();
    none.value.reset();
    return {golden("labeled_example_v1"), wire::encode(none)};
}

}  // namespace

std::vector<Target> targets() {
    using Seeds = std::vector<std::string>;
    return {
        {"application", application, [] { return Seeds{golden("application_v1")}; },
         kProtobufSpare},
        {"decision", decision, [] { return Seeds{golden("decision_v1")}; }, kProtobufSpare},
        {"outcome", outcome, [] { return Seeds{golden("outcome_v1")}; }, kProtobufSpare},
        {"labeled_example", labeled_example, example_seeds, kProtobufSpare},
        {"protected", protected_record, protected_seeds, kProtobufSpare},
        {"made_application", applications, made_seeds<applications>, kMadeSpare},
        {"made_decision", decisions, made_seeds<decisions>, kMadeSpare},
        {"made_outcome", outcomes, made_seeds<outcomes>, kMadeSpare},
        {"made_person", people, made_seeds<people>, kMadeSpare},
        {"override", override_taken, [] { return Seeds{wire::encode(sample_override())}; },
         kProtobufSpare},
        {"erasure", erasure, [] { return Seeds{wire::encode(sample_erasure())}; }, kProtobufSpare},
        {"made_override", overrides, made_seeds<overrides>, kMadeSpare},
    };
}

}  // namespace rampart::fuzz
