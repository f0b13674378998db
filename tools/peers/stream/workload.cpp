#include "tools/peers/stream/workload.hpp"

#include <array>
#include <fstream>

#include "rampart/base/random.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/wire/record_codec.hpp"

namespace rampart::peers {
namespace {

constexpr std::array<std::string_view, kFeatures> kNames{
    "limit_bal", "age",      "months_on_book", "pay_0",     "pay_2",     "pay_3",     "pay_4",
    "pay_5",     "pay_6",    "bill_amt1",      "bill_amt2", "bill_amt3", "bill_amt4", "bill_amt5",
    "bill_amt6", "pay_amt1", "pay_amt2",       "pay_amt3",  "pay_amt4",  "pay_amt5",  "pay_amt6"};
const base::TimePoint kFirst = base::TimePoint::from_micros(1'112'313'600'000'000);  // 2005-04-01
constexpr uint64_t kSeed = 20'050'401;

base::TimePoint time_of(size_t i) {
    return kFirst + base::Duration::seconds(static_cast<int64_t>(i));
}

}  // namespace

domain::Product product() {
    domain::Product product;
    product.name = "card";
    product.label = {"repaid", 0, 1, 6, base::Duration::days(31)};
    product.measures = {{"score_change", -150, 75, 3, base::Duration::days(31)}};
    product.impact = {"points", -150, 75, {}, 75, -150, 0};
    return product;
}

std::string feature_name(size_t i) { return std::string(kNames.at(i)); }

domain::Application application(size_t i) {
    base::Random random(kSeed + i);
    domain::Application out;
    out.id = domain::ApplicationId(fmt::format("application-{:010}", i));
    out.person = domain::PersonId(fmt::format("person-{:010}", i));
    out.event_time = time_of(i);
    for (const auto& name : kNames) out.features.push_back({std::string(name), random.normal()});
    return out;
}

domain::Decision decision(size_t i) {
    domain::Decision out;
    out.application = application(i);
    out.id = domain::decision_id_of(out.application.id);
    out.decided_at = out.application.event_time;
    out.policy = domain::PolicyId(std::string(64, 'a'));
    out.certified = true;
    base::Random random(kSeed ^ i);
    out.score = random.uniform();
    out.p_exploit = out.p_approve = 0.25 + 0.5 * out.score;
    out.draw = random.uniform();
    out.draw_key_id = "draw-2005";
    const bool approved = out.draw < out.p_approve;
    out.action = approved ? domain::Action::kApprove : domain::Action::kDecline;
    out.propensity = approved ? out.p_approve : 1 - out.p_approve;
    if (!approved) out.reasons = {"pay_0", "limit_bal", "bill_amt1", "pay_amt1"};
    return out;
}

domain::Outcome outcome(size_t i) {
    const size_t about = i / 2;
    const bool label = i % 2 == 0;
    domain::Outcome out;
    out.decision =
        domain::decision_id_of(domain::ApplicationId(fmt::format("application-{:010}", about)));
    out.measure = label ? "repaid" : "score_change";
    out.value = label ? 1 : static_cast<double>(about % 75);
    out.observed_at = time_of(about) + base::Duration::days(100);
    return out;
}

streaming::Record decision_record(size_t i) { return wire::to_record(decision(i), 1); }
streaming::Record outcome_record(size_t i) { return wire::to_record(outcome(i)); }

base::Status in_batches(
    size_t count, size_t batch, streaming::Record (*make)(size_t),
    const std::function<base::Status(const std::vector<streaming::Record>&)>& take) {
    std::vector<streaming::Record> records;
    for (size_t i = 0; i < count; ++i) {
        records.push_back(make(i));
        if (records.size() < batch && i + 1 < count) continue;
        RAMPART_RETURN_IF_ERROR(take(records));
        records.clear();
    }
    return base::ok();
}

base::Status write_records_file(const std::filesystem::path& path, size_t count) {
    std::ofstream out(path, std::ios::binary);
    const auto put = [&](const std::string& bytes) {
        const auto size = static_cast<uint32_t>(bytes.size());
        out.write(reinterpret_cast<const char*>(&size), sizeof size);
        out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    };
    for (const auto make : {decision_record, outcome_record}) {
        for (size_t i = 0; i < count; ++i) {
            const auto record = make(i);
            put(record.key);
            put(record.value);
        }
    }
    out.close();
    if (out) {
        fmt::print("{{\"records\": {}}}\n", 2 * count);
        return base::ok();
    }
    return base::make_error(base::Reason::kIoError, "cannot write '{}'", path.string());
}

}  // namespace rampart::peers
