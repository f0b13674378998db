#include "statistical/years/auditor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <tuple>

#include "rampart/certification/certificate_file.hpp"
#include "rampart/decision/encode.hpp"
#include "rampart/registry/figures.hpp"
#include "rampart/training_set/training_set_builder.hpp"

namespace rampart::years {
namespace {

using base::Result;
using base::Status;
using base::TimePoint;

base::Error disagreement(std::string message) {
    return base::Error{base::ErrorCode::kDataLoss, "years", std::move(message)};
}

/// Ledger entries, decoded.
struct Account {
    std::vector<certification::EpochOpened> epochs;
    std::vector<certification::Registration> registrations;
    std::vector<certification::Closing> closings;

    /// Returns the time of the last registration before the epoch; nullopt: there was none.
    std::optional<TimePoint> read_before(uint32_t epoch) const {
        std::optional<TimePoint> last;
        for (const auto& one : registrations) {
            if (one.epoch < epoch) last = one.at;
        }
        return last;
    }
};

Result<Account> account_of(rampartd::Node& node) {
    Account account;
    RAMPART_TRY(const auto entries, node.registry().ledger_entries());
    RAMPART_RETURN_IF_ERROR(certification::DeltaLedger::open(entries).map([](const auto&) {}));
    for (const auto& bytes : entries) {
        RAMPART_TRY(const auto entry, certification::decode_ledger_entry(bytes));
        if (const auto* epoch = std::get_if<certification::EpochOpened>(&entry.body))
            account.epochs.push_back(*epoch);
        if (const auto* run = std::get_if<certification::Registration>(&entry.body))
            account.registrations.push_back(*run);
        if (const auto* closing = std::get_if<certification::Closing>(&entry.body))
            account.closings.push_back(*closing);
    }
    if (account.registrations.size() != account.closings.size())
        return disagreement("a run is open at the end");
    std::map<uint32_t, double> spent;
    for (const auto& run : account.registrations) spent[run.epoch] += run.look == 0 ? run.delta : 0;
    for (const auto& epoch : account.epochs) {
        if (spent[epoch.epoch] > (epoch.delta_epoch - epoch.reserve) * (1 + 1e-9))
            return disagreement(fmt::format("epoch {} spent {}", epoch.epoch, spent[epoch.epoch]));
    }
    return account;
}

class Auditor {
  public:
    Auditor(Lender& lender, Truth truth) : lender_(lender), truth_(truth), node_(lender.node()) {}

    Result<Findings> findings() {
        RAMPART_TRY(account_, account_of(node_));
        RAMPART_RETURN_IF_ERROR(node_.registry().verify_audit());
        out_.world = to_string(lender_.life().world);
        out_.look_again = lender_.life().look_again ? 1 : 0;
        count_account();
        RAMPART_RETURN_IF_ERROR(judge_runs());
        out_.false_epochs = static_cast<int>(false_epochs_.size());
        for (const auto& promotion : node_.registry().promotions()) {
            out_.promotions += promotion.certified() ? 1 : 0;
            out_.rollbacks += promotion.kind == registry::PromotionKind::kRollback ? 1 : 0;
        }
        const Events& e = lender_.events();
        out_.events = {{"returned", e.returned},
                       {"corrected", e.corrected},
                       {"reported_late", e.reported_late},
                       {"erased", e.erased},
                       {"late_attributes", e.late_attributes},
                       {"crashes", e.crashes},
                       {"crashed_runs", e.crashed_runs},
                       {"reopened", e.reopened},
                       {"asked_for_an_epoch", e.requests_for_an_epoch}};
        return out_;
    }

  private:
    void count_account() {
        std::set<uint32_t> epochs;
        for (const auto& run : account_.registrations) {
            epochs.insert(run.epoch);
            (run.look == 0 ? out_.charged : out_.looks) += 1;
        }
        out_.epochs = static_cast<int>(epochs.size());
        for (const auto& closing : account_.closings) {
            if (closing.certificate.empty())
                ++out_.refusals["ended: " + closing.note.substr(0, 40)];
        }
    }

    Status judge_runs() {
        RAMPART_TRY(const auto runs, node_.trainer().runs());
        RAMPART_TRY(const auto names, registry::CertificateNames::read(node_.registry()));
        uint32_t ordinal = 0;
        size_t registered = 0;
        for (const auto& run : runs) {
            if (run.ordinal != ++ordinal)
                return disagreement(fmt::format("run {} is called {}", ordinal, run.ordinal));
            ++out_.runs;
            using certification::Verdict;
            const bool certified = run.verdict == Verdict::kCertified;
            if (!certified && run.verdict != Verdict::kNoSolutionFound) {
                ++out_.refusals[run.verdict == Verdict::kIdentical ? "identical" : run.reason];
                continue;
            }
            ++registered;
            if (certified && out_.first_week == 0) {
                out_.first_week = static_cast<int>((run.at - lender_.start()).micros() /
                                                   base::Duration::days(7).micros()) +
                                  1;
            }
            const auto digest = names.find(run.certificate);
            if (!digest) continue;  // outcomes of the vault ended it
            RAMPART_RETURN_IF_ERROR(judge(run, *digest));
        }
        if (registered == account_.registrations.size()) return base::ok();
        return disagreement(fmt::format("{} runs with a verdict, {} registrations", registered,
                                        account_.registrations.size()));
    }

    Status judge(const retraining::RunRecord& run, const base::Digest& id) {
        RAMPART_TRY(const auto file, node_.registry().certificate_file(id));
        RAMPART_TRY(const auto all, node_.registry().certificates());
        const auto info =
            std::find_if(all.begin(), all.end(), [&](const auto& c) { return c.id == id; });
        if (info == all.end() || !info->evidence) return disagreement("no evidence of " + id.hex());
        RAMPART_TRY(const auto evidence, node_.registry().evidence_file(*info->evidence));
        RAMPART_TRY(const auto certificate,
                    certification::verify(file, evidence, node_.keys().signing.public_key(),
                                          {run.candidate, run.reference}));
        if (!certificate.ledger) return disagreement("a charged run without its ledger");
        const uint32_t epoch = certificate.ledger->registration.epoch;
        const auto vault = vault_at(run.at, account_.read_before(epoch));
        RAMPART_RETURN_IF_ERROR(agree(run, certificate, vault));
        if (run.verdict != certification::Verdict::kCertified) return base::ok();
        ++out_.certified;
        RAMPART_TRY(const auto wrong, is_false(run, vault));
        const bool claims_others = certificate.plan.identity.read_before == 0;
        out_.false_vault += wrong.first ? 1 : 0;
        out_.false_others += wrong.second && claims_others ? 1 : 0;
        if (wrong.first || (wrong.second && claims_others)) false_epochs_.insert(epoch);
        return base::ok();
    }

    /// Returns the books of the records that a run at `t` has to read, and no others: of each
    /// person of the vault the first that is no repeat and that no earlier epoch has read.
    std::vector<size_t> vault_at(TimePoint t, std::optional<TimePoint> read_until) const {
        const auto& books = lender_.booked();
        const auto& label = node_.settings().product.label;
        std::optional<TimePoint> read;  // event time of the last record that was read
        std::map<std::pair<size_t, int64_t>, size_t> firsts;
        std::vector<size_t> order;
        for (size_t i = 0; i < books.size(); ++i) {
            const auto& one = books[i];
            if (one.decision.decided_at >= t || (one.erased_at && *one.erased_at < t)) continue;
            order.push_back(i);
        }
        std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
            return std::tie(books[a].decision.decided_at, books[a].decision.id) <
                   std::tie(books[b].decision.decided_at, books[b].decision.id);
        });
        std::vector<size_t> matured;
        for (const size_t i : order) {
            const auto& decision = books[i].decision;
            const bool first =
                firsts.emplace(std::pair(books[i].person, decision.draw_window->number), i).second;
            const TimePoint at = decision.application.event_time, known = label.maturity(at);
            if (!training_set::in_vault(node_.keys().split, decision.application.person)) continue;
            if (read_until && known <= *read_until) read = std::max(read.value_or(at), at);
            if (first && known <= t) matured.push_back(i);
        }
        std::set<size_t> persons;
        std::erase_if(matured, [&](size_t i) {
            return (read && books[i].decision.application.event_time <= *read) ||
                   !persons.insert(books[i].person).second;
        });
        return matured;
    }

    /// Returns how many persons of the vault with a matured record were erased before `t`, and how
    /// many records all erased persons of the vault had.
    std::pair<size_t, size_t> erased_by(TimePoint t) const {
        const auto& label = node_.settings().product.label;
        std::set<size_t> persons;
        size_t records = 0;
        for (const auto& one : lender_.booked()) {
            const auto& application = one.decision.application;
            if (!one.erased_at || *one.erased_at >= t) continue;
            if (!training_set::in_vault(node_.keys().split, application.person)) continue;
            ++records;
            if (label.maturity(application.event_time) <= t) persons.insert(one.person);
        }
        return {persons.size(), records};
    }

    Status agree(const retraining::RunRecord& run, const certification::Certificate& certificate,
                 const std::vector<size_t>& vault) const {
        const auto differ = [&](std::string_view what, size_t theirs, size_t ours) {
            return disagreement(fmt::format("run {} at {}: {} {}, by the books {}", run.ordinal,
                                            base::to_iso8601(run.at), what, theirs, ours));
        };
        if (certificate.plan.vault_records != vault.size())
            return differ("records", certificate.plan.vault_records, vault.size());
        const auto [least, most] = erased_by(run.at);
        const bool first_epoch = certificate.ledger->registration.epoch == 1;
        if (first_epoch && (certificate.plan.erased < least || certificate.plan.erased > most))
            return differ("records of erased persons", certificate.plan.erased, least);
        for (const auto& group : certificate.plan.groups) {
            const bool male = group.name == "sex=male";
            const auto ours = std::count_if(vault.begin(), vault.end(), [&](size_t i) {
                return lender_.booked()[i].sex_known && lender_.booked()[i].male == male;
            });
            if (group.records != static_cast<size_t>(ours))
                return differ("records of " + group.name, group.records, static_cast<size_t>(ours));
        }
        return base::ok();
    }

    /// Returns whether a group is worse off: of the vault's people; of the people they came from.
    Result<std::pair<bool, bool>> is_false(const retraining::RunRecord& run,
                                           const std::vector<size_t>& vault) {
        if (nothing_is_better(truth_.world)) return std::pair(true, true);
        RAMPART_TRY(const auto candidate,
                    node_.registry().load_model(domain::PolicyId(run.candidate)));
        RAMPART_TRY(const auto reference,
                    node_.registry().load_model(domain::PolicyId(run.reference)));
        const auto effect = [&](const domain::Application& application, bool male, double score,
                                bool turned) -> Result<double> {
            RAMPART_TRY(const auto row,
                        decision::encode_row(application, node_.settings().schema.features()));
            return (candidate.policy.evaluate(row, std::nullopt).approve -
                    reference.policy.evaluate(row, std::nullopt).approve) *
                   impact_of_approval(truth_.world, male, score, turned || truth_.turned);
        };
        std::pair<bool, bool> wrong;
        for (const bool male : {false, true}) {
            double people = 0, others = 0;
            base::Random random(7);
            for (const size_t i : vault) {
                const auto& one = lender_.booked()[i];
                if (!one.sex_known || one.male != male) continue;
                RAMPART_TRY(const double own,
                            effect(one.decision.application, male, one.score, one.turned));
                people += own;
                for (int k = 0; k < 10; ++k) {  // as many strangers of the same days
                    const double score = random.uniform(-1, 1);
                    auto stranger = one.decision.application;
                    stranger.features = {{"score", score}, {"income", random.normal()}};
                    RAMPART_TRY(const double theirs, effect(stranger, male, score, one.turned));
                    others += theirs;
                }
            }
            wrong.first = wrong.first || people < 0;
            wrong.second = wrong.second || others < 0;
        }
        return wrong;
    }

    Lender& lender_;
    const Truth truth_;
    rampartd::Node& node_;
    Account account_;
    std::set<uint32_t> false_epochs_;
    Findings out_;
};

/// Visits all numbers of the findings by name.
template <class F, class Visit>
void visit(F& f, const Visit& with) {
    with("look_again", f.look_again);
    with("epochs", f.epochs);
    with("runs", f.runs);
    with("charged", f.charged);
    with("looks", f.looks);
    with("certified", f.certified);
    with("false_vault", f.false_vault);
    with("false_others", f.false_others);
    with("false_epochs", f.false_epochs);
    with("first_week", f.first_week);
    with("promotions", f.promotions);
    with("rollbacks", f.rollbacks);
}

}  // namespace

Result<Findings> audit(Lender& lender, std::optional<Truth> truth) {
    return Auditor(lender, truth.value_or(Truth{lender.life().world})).findings();
}

std::string encode(const Findings& findings) {
    std::string line = "world=" + findings.world;
    visit(findings,
          [&](const char* name, int value) { line += fmt::format("\t{}={}", name, value); });
    for (const auto& [name, n] : findings.refusals) line += fmt::format("\trefusal:{}={}", name, n);
    for (const auto& [name, n] : findings.events) line += fmt::format("\tevent:{}={}", name, n);
    return line;
}

std::optional<Findings> decode(const std::string& line) {
    Findings out;
    std::map<std::string, int> numbers;
    std::istringstream fields(line);
    for (std::string field; std::getline(fields, field, '\t');) {
        const size_t at = field.rfind('=');
        if (at == std::string::npos) return std::nullopt;
        const auto name = field.substr(0, at), value = field.substr(at + 1);
        if (name == "world") {
            out.world = value;
        } else if (name.starts_with("refusal:")) {
            out.refusals[name.substr(8)] = std::atoi(value.c_str());
        } else if (name.starts_with("event:")) {
            out.events[name.substr(6)] = std::atoi(value.c_str());
        } else {
            numbers[name] = std::atoi(value.c_str());
        }
    }
    bool whole = !out.world.empty();
    visit(out, [&](const char* name, int& value) {
        whole = whole && numbers.contains(name);
        value = numbers[name];
    });
    return whole ? std::optional(out) : std::nullopt;
}

}  // namespace rampart::years
