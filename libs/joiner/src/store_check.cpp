#include "store_check.hpp"

#include "rampart/joiner/decision_row.hpp"
#include "rampart/wire/event_codec.hpp"

namespace rampart::joiner {
namespace {

using base::Result;
using base::Status;
using storage::KeyRange;

/// One pass over one store, as it stood at one moment.
class Check {
  public:
    explicit Check(const JoinStore& store) : store_(store), at_(store.db().snapshot()) {}

    Result<std::vector<std::string>> run() {
        RAMPART_TRY(const auto counts, store_.counts());
        RAMPART_TRY(const auto hash, store_.hash());
        RAMPART_RETURN_IF_ERROR(states());
        RAMPART_RETURN_IF_ERROR(index(kByTime, "by_time", decisions_));
        RAMPART_RETURN_IF_ERROR(index(kPersons, "persons", decisions_));
        RAMPART_RETURN_IF_ERROR(index(kUnmatched, "dangling", unmatched_ids_));
        RAMPART_RETURN_IF_ERROR(index(kPending, "pending", 0));
        RAMPART_RETURN_IF_ERROR(index(kOverdue, "overdue", overdue_));
        RAMPART_RETURN_IF_ERROR(index(kReviews, "reviews", reviews_));
        expect("the state hash", hash.value().hex(), hash_.value().hex());
        expect("the number of decisions", counts.decisions, decisions_);
        expect("the number of unmatched reports", counts.unmatched, unmatched_reports_);
        expect("the number of overdue examples", counts.overdue, overdue_);
        expect("the number of matured examples", counts.matured, matured_);
        expect("the number of erased decisions", counts.erased, erased_);
        return std::move(problems_);
    }

  private:
    template <class T>
    void expect(std::string_view what, const T& stored, const T& found) {
        if (stored != found)
            problem(fmt::format("{} is stored as {}, and is {}", what, stored, found));
    }
    void problem(std::string text) {
        if (problems_.size() < kMaxProblems) problems_.push_back(std::move(text));
    }

    Status states() {
        return store_.db().scan(
            kJoins, KeyRange::all(),
            [&](std::string_view key, std::string_view value) -> Result<bool> {
                const auto state = decode_join_state(value);
                if (!state) {
                    problem(fmt::format("decision '{}': {}", key, state.error().message));
                    return true;
                }
                hash_.add(state_digest(key, *state));
                RAMPART_RETURN_IF_ERROR(one(std::string(key), *state));
                return true;
            },
            &at_);
    }

    /// What the indices have to hold for this state.
    Status one(const std::string& id, const JoinState& state) {
        if (state.erased) {
            ++erased_;
            return base::ok();
        }
        if (state.decision.empty()) {
            ++unmatched_ids_;
            unmatched_reports_ += state.reports.size() + state.taken.size();
            return present(kUnmatched, id, "dangling", id);
        }
        const auto decision = wire::decode_decision(state.decision);
        if (!decision) {
            problem(fmt::format("decision '{}': {}", id, decision.error().message));
            return base::ok();
        }
        ++decisions_;
        const auto* answer = last_answer(state);
        const auto action = answer != nullptr ? answer->action : decision->action;
        const bool granted = action == domain::Action::kApprove;
        for (const auto& version : state.versions) {
            if (version.version == 0) ++matured_;
            const bool last = &version == latest(state, version.measure);
            if (!last || version.value || version.censored || !granted) continue;
            ++overdue_;
            RAMPART_RETURN_IF_ERROR(present(
                kOverdue, maturity_key({version.matured_at, version.measure, id}), "overdue", id));
        }
        if (const auto open = open_review(state, *decision)) {
            ++reviews_;
            RAMPART_RETURN_IF_ERROR(present(kReviews, review_key(open->since, id), "reviews", id));
        }
        const auto& application = decision->application;
        RAMPART_RETURN_IF_ERROR(
            present(kPersons, person_key(application.person, id), "persons", id));
        const auto row = time_key(application.event_time, id);
        RAMPART_TRY(const auto stored, store_.db().get(kByTime, row, &at_));
        if (stored && *stored != encode_row(state, *decision))
            problem(fmt::format("decision '{}': its row in the index by_time is another", id));
        if (!stored) problem(fmt::format("decision '{}' is not in the index by_time", id));
        return base::ok();
    }

    Status present(storage::ColumnFamily family, std::string_view key, std::string_view name,
                   std::string_view id) {
        RAMPART_TRY(const auto found, store_.db().get(family, key, &at_));
        if (!found) problem(fmt::format("decision '{}' is not in the index {}", id, name));
        return base::ok();
    }

    /// Every entry has its state; `expected` is how many there are to be (kPending: not known from
    /// the states alone, so each entry is looked up).
    Status index(storage::ColumnFamily family, std::string_view name, uint64_t expected) {
        uint64_t entries = 0;
        const auto visit = [&](std::string_view key, std::string_view) -> Result<bool> {
            ++entries;
            if (family == kPending) RAMPART_RETURN_IF_ERROR(pending(key));
            return true;
        };
        RAMPART_RETURN_IF_ERROR(store_.db().scan(family, KeyRange::all(), visit, &at_));
        if (family != kPending)
            expect(fmt::format("the size of the index {}", name), entries, expected);
        return base::ok();
    }

    Status pending(std::string_view key) {
        const auto parsed = parse_maturity_key(key);
        if (!parsed) {
            problem(fmt::format("index pending: {}", parsed.error().message));
            return base::ok();
        }
        RAMPART_TRY(const auto state, store_.load(parsed->id, &at_));
        if (!state || state->decision.empty()) {
            problem(fmt::format("decision '{}' is pending and has not arrived", parsed->id));
        } else if (latest(*state, parsed->measure) != nullptr) {
            problem(fmt::format("decision '{}' is pending for '{}', which has matured", parsed->id,
                                parsed->measure));
        }
        return base::ok();
    }

    const JoinStore& store_;
    const storage::DerivedSnapshot at_;
    std::vector<std::string> problems_;
    StateHash hash_;
    uint64_t decisions_ = 0, unmatched_ids_ = 0, unmatched_reports_ = 0, overdue_ = 0, matured_ = 0,
             erased_ = 0, reviews_ = 0;
};

}  // namespace

Result<std::vector<std::string>> check_store(const JoinStore& store) { return Check(store).run(); }

}  // namespace rampart::joiner
