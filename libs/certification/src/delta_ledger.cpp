#include "rampart/certification/delta_ledger.hpp"

#include <algorithm>
#include <cmath>

#include "members.hpp"
#include "rampart/base/check.hpp"
#include "rampart/base/limits.hpp"
#include "rampart/certification/reasons.hpp"

namespace rampart::certification {
namespace {

using base::make_error;
using base::Result;
using base::Status;

/// Ledger entry in JSON: exactly one of the three bodies is present.
struct EntryLine {
    uint64_t sequence = 0;
    base::Digest previous;
    std::optional<EpochOpened> epoch;
    std::optional<Registration> registration;
    std::optional<Closing> closing;
};

template <class A>
void members(A& a, EntryLine& e) {
    a("sequence", e.sequence);
    a("previous", e.previous);
    a("epoch_opened", e.epoch);
    a("registration", e.registration);
    a("closing", e.closing);
}

/// Returns the binomial coefficient as a double, rounded up: a share of the budget is never too
/// large.
double choose(uint32_t n, uint32_t k) {
    double value = 1;
    for (uint32_t i = 1; i <= k; ++i) value = value * (n - k + i) / i;
    return value * (1 + 1e-12);
}

double power(double base, uint32_t exponent) {
    double value = 1;  // not std::pow, which differs between machines
    for (uint32_t i = 0; i < exponent; ++i) value *= base;
    return value;
}

/// P(m, s) is how probable one history of s certificates in m answers is where candidates are
/// certified with probability kRates[0], or kRates[1]: the charges are those that cost histories
/// which are to be expected the least.
constexpr double kRates[] = {0.25, 0.03}, kShares[] = {0.9, 0.1};

double history_weight(uint32_t m, uint32_t s) {
    double sum = 0;
    for (const size_t k : {0, 1})
        sum += kShares[k] * power(kRates[k], s) * power(1 - kRates[k], m - s);
    return sum;
}

/// Returns V(0, 0), rounded up.
double worst_strategy(uint32_t runs) {
    std::vector<double> later(runs + 2, 0);  // V(m + 1, s)
    for (uint32_t m = runs; m-- > 0;) {
        double terms[] = {kShares[0] * power(1 - kRates[0], m),
                          kShares[1] * power(1 - kRates[1], m)};
        for (uint32_t s = 0; s <= m; ++s) {
            later[s] += std::max((terms[0] + terms[1]) / runs, later[s + 1]);
            for (const size_t k : {0, 1}) terms[k] *= kRates[k] / (1 - kRates[k]);
        }
    }
    return later[0] * (1 + 1e-9);
}

}  // namespace

double delta_of_run(const EpochOpened& epoch, uint32_t registrations,
                    uint32_t certificates_before) {
    const double equal = (epoch.delta_epoch - epoch.reserve) / epoch.runs;
    if (epoch.spending == Spending::kEqual) return equal;
    if (epoch.reserve > 0) {
        return equal * history_weight(registrations, certificates_before) /
               worst_strategy(epoch.runs);
    }
    return equal * std::ldexp(1.0, -static_cast<int>(certificates_before) - 1) /
           choose(registrations, certificates_before);
}

std::string encode(const LedgerEntry& entry) {
    EntryLine line;
    line.sequence = entry.sequence;
    line.previous = entry.previous;
    if (const auto* epoch = std::get_if<EpochOpened>(&entry.body)) line.epoch = *epoch;
    if (const auto* run = std::get_if<Registration>(&entry.body)) line.registration = *run;
    if (const auto* closing = std::get_if<Closing>(&entry.body)) line.closing = *closing;
    return JsonWriter::write(line);
}

Result<LedgerEntry> decode_ledger_entry(std::string_view bytes) {
    if (bytes.size() > base::limits::kMaxRecordBytes) {
        return make_error(Reason::kBadLedgerEntry, "{} bytes; an entry has at most {}",
                          bytes.size(), base::limits::kMaxRecordBytes);
    }
    RAMPART_TRY(const EntryLine line, JsonReader::read<EntryLine>(bytes));
    LedgerEntry entry{.sequence = line.sequence, .previous = line.previous, .body = {}};
    if (line.epoch) entry.body = *line.epoch;
    if (line.registration) entry.body = *line.registration;
    if (line.closing) entry.body = *line.closing;
    if (line.epoch.has_value() + line.registration.has_value() + line.closing.has_value() != 1) {
        return make_error(Reason::kBadLedgerEntry,
                          "an entry is one of epoch_opened, registration, closing");
    }
    return entry;
}

Result<DeltaLedger> DeltaLedger::open(const std::vector<std::string>& entries) {
    DeltaLedger ledger;
    for (size_t i = 0; i < entries.size(); ++i) {
        if (auto status = ledger.append(entries[i]); !status) {
            return status.error().with_context(fmt::format("ledger entry {}", i));
        }
    }
    return ledger;
}

base::Digest DeltaLedger::head() const {
    return base::sha256(entries_.empty() ? "" : entries_.back());
}

Status DeltaLedger::check_body(const EpochOpened& body) const {
    if (open_run_) {
        return make_error(Reason::kRunOpen, "run {} of epoch {} is open: close it first",
                          open_run_->run, open_run_->epoch);
    }
    if (body.epoch != epoch() + 1) {
        return make_error(Reason::kBadEpoch, "epoch {} after epoch {}", body.epoch, epoch());
    }
    if (!(body.delta_epoch > 0 && body.delta_epoch <= 0.5) || body.runs < 1 || body.runs > 1000) {
        return make_error(Reason::kBadBudget,
                          "delta_epoch {} over {} runs: must lie in (0, 0.5] and "
                          "[1, 1000]",
                          body.delta_epoch, body.runs);
    }
    if (body.counts_looks && body.spending != Spending::kByHistory) {
        return make_error(Reason::kBadBudget, "looks are counted, but spending is {}",
                          to_string(body.spending));
    }
    if (!(body.reserve >= 0 && body.reserve < body.delta_epoch)) {
        return make_error(Reason::kBadBudget,
                          "a reserve of {} of delta_epoch {}: must lie in [0, delta_epoch)",
                          body.reserve, body.delta_epoch);
    }
    if (body.at < latest_) {
        return make_error(Reason::kTimeGoesBack,
                          "epoch {} of {} would be older than the ledger's last entry, of "
                          "{}: records that were read would be read again with a new budget",
                          body.epoch, base::to_iso8601(body.at), base::to_iso8601(latest_));
    }
    return base::ok();
}

Status DeltaLedger::check_body(const Registration& body) const {
    if (open_run_) {
        return make_error(Reason::kRunOpen,
                          "run {} of epoch {}, candidate {}, is open: take it up "
                          "again or close it first",
                          open_run_->run, open_run_->epoch, open_run_->candidate_id);
    }
    if (body.look > 0) return check_look(body);
    RAMPART_TRY(const double delta, next_delta());
    if (body.epoch != epoch() || body.run != runs_used() + 1 || body.delta != delta ||
        body.spent_before != spent_) {
        return make_error(Reason::kBadCharge,
                          "run {} of epoch {} at delta {}: the next is run {} of "
                          "epoch {} at delta {}",
                          body.run, body.epoch, body.delta, runs_used() + 1, epoch(), delta);
    }
    if (body.candidate_id.empty() || body.reference_id.empty()) {
        return make_error(Reason::kBadRegistration,
                          "candidate '{}', reference '{}': both must be named", body.candidate_id,
                          body.reference_id);
    }
    return base::ok();
}

Status DeltaLedger::check_look(const Registration& body) const {
    const Registration* last = closed_run(body.candidate_id, body.reference_id);
    const bool continues = last != nullptr && body.epoch == last->epoch && body.run == last->run &&
                           body.look == last->look + 1 && body.delta == last->delta &&
                           body.spent_before == spent_ && body.frozen == last->frozen;
    if (continues) return base::ok();
    return make_error(Reason::kNoEarlierLook,
                      "candidate {} against {}: no run of epoch {} that did not pass has "
                      "its frozen plan, so that a further look would be a run of its own",
                      body.candidate_id, body.reference_id, epoch());
}

const Registration* DeltaLedger::closed_run(std::string_view candidate_id,
                                            std::string_view reference_id) const {
    for (auto run = runs_.rbegin(); run != runs_.rend(); ++run) {
        if (run->last.candidate_id != candidate_id || run->last.reference_id != reference_id) {
            continue;
        }
        const bool open_for_looks = run->closing && !run->closing->certificate.empty() &&
                                    run->closing->verdict == Verdict::kNoSolutionFound;
        return open_for_looks ? &run->last : nullptr;
    }
    return nullptr;
}

Status DeltaLedger::check_body(const Closing& body) const {
    if (!open_run_) return make_error(Reason::kNoRunOpen, "there is no open run to close");
    if (body.epoch != open_run_->epoch || body.run != open_run_->run) {
        return make_error(Reason::kBadClosing, "run {} of epoch {} is open, not run {} of epoch {}",
                          open_run_->run, open_run_->epoch, body.run, body.epoch);
    }
    if (body.verdict != Verdict::kCertified && body.verdict != Verdict::kNoSolutionFound) {
        return make_error(Reason::kBadClosing,
                          "verdict {}: a run ends CERTIFIED or NO_SOLUTION_FOUND",
                          to_string(body.verdict));
    }
    if (!body.certificate.empty() && !base::Digest::from_hex(body.certificate)) {
        return make_error(Reason::kBadClosing, "certificate '{}': must be a SHA-256 in hex",
                          body.certificate);
    }
    return base::ok();
}

Status DeltaLedger::check(const LedgerEntry& entry) const {
    if (entry.sequence != entries_.size() || entry.previous != head()) {
        return make_error(Reason::kBrokenChain,
                          "sequence {} after {} entries, previous {}: the chain ends in {}",
                          entry.sequence, entries_.size(), entry.previous.hex(), head().hex());
    }
    return std::visit([this](const auto& body) { return check_body(body); }, entry.body);
}

void DeltaLedger::apply(const EpochOpened& body) {
    epoch_ = body;
    runs_.clear();
    certificates_ = 0;
    looks_ = 0;
    spent_ = 0;
    latest_ = std::max(latest_, body.at);
}

void DeltaLedger::apply(const Registration& body) {
    open_run_ = body;
    open_entry_ = entries_.back();
    if (!body.log.empty()) log_ = body.log;
    latest_ = std::max(latest_, body.at);
    if (body.look > 0) {
        if (epoch_->counts_looks) ++looks_;
        runs_[body.run - 1].last = body;
        runs_[body.run - 1].closing.reset();
        return;
    }
    runs_.push_back({body, certificates_, looks_, {}});
    spent_ += body.delta;
}

void DeltaLedger::apply(const Closing& body) {
    open_run_.reset();
    latest_ = std::max(latest_, body.at);
    runs_[body.run - 1].closing = body;
    if (body.verdict == Verdict::kCertified) ++certificates_;
}

Status DeltaLedger::append(std::string_view bytes) {
    RAMPART_TRY(const LedgerEntry entry, decode_ledger_entry(bytes));
    if (auto status = check(entry); !status) {
        return base::Error{base::ErrorCode::kDataLoss, status.error().reason,
                           fmt::format("not the ledger's next entry: {}", status.error().message)};
    }
    entries_.emplace_back(bytes);
    std::visit([this](const auto& body) { apply(body); }, entry.body);
    return base::ok();
}

Result<std::string> DeltaLedger::next(std::variant<EpochOpened, Registration, Closing> body) const {
    const LedgerEntry entry{
        .sequence = entries_.size(), .previous = head(), .body = std::move(body)};
    RAMPART_RETURN_IF_ERROR(check(entry));
    std::string bytes = encode(entry);
    // what cannot be read back (a name that is not UTF-8) must not be stored
    if (auto read = decode_ledger_entry(bytes); !read) {
        return make_error(Reason::kBadText, "cannot be stored: {}", read.error().message);
    }
    return bytes;
}

Result<std::string> DeltaLedger::next_epoch(double delta_epoch, uint32_t runs, Spending spending,
                                            std::string note, base::TimePoint at, KeyIds keys,
                                            double reserve) const {
    return next(EpochOpened{epoch() + 1, delta_epoch, runs, spending,
                            spending == Spending::kByHistory, reserve, std::move(note), at,
                            std::move(keys)});
}

Result<double> DeltaLedger::next_delta() const {
    if (!epoch_) return make_error(Reason::kNoEpoch, "no epoch is open: open one with its budget");
    if (open_run_) return open_run_->delta;
    if (runs_left() == 0) {
        return base::make_error(
            Reason::kDeltaSpent,
            "all {} runs of epoch {} are spent{}: open a new epoch, on vault records that were not "
            "tested before",
            epoch_->runs, epoch_->epoch,
            looks_ == 0 ? "" : fmt::format(" ({} of them on further looks)", looks_));
    }
    return delta_of_run(*epoch_, runs_used() + looks_, certificates_);
}

uint32_t DeltaLedger::runs_left() const {
    const uint32_t used = runs_used() + looks_;
    return epoch_ && used < epoch_->runs ? epoch_->runs - used : 0;
}

Result<std::string> DeltaLedger::next_registration(const RunRequest& request, base::TimePoint at,
                                                   std::optional<base::TimePoint> wall_clock,
                                                   std::vector<LogEnd> log) const {
    Registration body{.epoch = epoch(),
                      .spent_before = spent_,
                      .candidate_id = request.candidate_id,
                      .reference_id = request.reference_id,
                      .plan = request.plan,
                      .vault_rule = request.vault_rule,
                      .at = at,
                      .look = request.look,
                      .frozen = request.frozen,
                      .wall_clock = wall_clock,
                      .log = std::move(log),
                      .software = request.software};
    if (const Registration* last = closed_run(request.candidate_id, request.reference_id);
        request.look > 0 && last != nullptr) {
        body.run = last->run;
        body.delta = last->delta;
    } else {
        RAMPART_TRY(body.delta, next_delta());
        body.run = runs_used() + 1;
    }
    return next(std::move(body));
}

Result<std::string> DeltaLedger::next_closing(Verdict verdict, std::string certificate,
                                              std::string note, base::TimePoint at) const {
    if (!open_run_) return make_error(Reason::kNoRunOpen, "there is no open run to close");
    return next(Closing{open_run_->epoch, open_run_->run, verdict, std::move(certificate),
                        std::move(note), at});
}

Result<RunTicket> DeltaLedger::ticket(const RunRequest& request) const {
    if (!open_run_) {
        return make_error(Reason::kNoRunOpen, "candidate {}: register the run first",
                          request.candidate_id);
    }
    const bool same = request.candidate_id == open_run_->candidate_id &&
                      request.reference_id == open_run_->reference_id &&
                      request.plan == open_run_->plan && request.look == open_run_->look &&
                      request.vault_rule == open_run_->vault_rule;
    if (!same) {
        return make_error(Reason::kOtherRunOpen,
                          "run {} of epoch {} is open for candidate {} with "
                          "plan {}: take that one up again, or close it (its charge stays)",
                          open_run_->run, open_run_->epoch, open_run_->candidate_id,
                          open_run_->plan.hex());
    }
    RunTicket ticket;
    ticket.registration_ = *open_run_;
    ticket.epoch_ = *epoch_;
    ticket.entry_ = open_entry_;
    ticket.certificates_before_ = runs_[open_run_->run - 1].certificates_before;
    ticket.looks_before_ = runs_[open_run_->run - 1].looks_before;
    return ticket;
}

}  // namespace rampart::certification
