#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <boost/json.hpp>
#include <cmath>
#include <filesystem>
#include <string>

#include "frame/commands.hpp"
#include "frame/reasons.hpp"
#include "gate/ledger_proof.hpp"
#include "gate/origin.hpp"
#include "gate/proof_files.hpp"
#include "gate/validation_tables.hpp"
#include "rampart/base/file.hpp"
#include "rampart/base/limits.hpp"
#include "rampart/certification/certificate_file.hpp"
#include "rampart/certification/signer.hpp"
#include "rampart/model/model_file.hpp"
#include "rampart/report/html.hpp"
#include "rampart/report/svg.hpp"

namespace rampart::cli {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;

using base::Toward;
using certification::Certificate;
using certification::GroupResult;
using certification::Verdict;

const char* style_of(bool good) { return good ? "good" : "bad"; }

/// What decided: the lower bound of the configured kind.
double lower_bound(const Certificate& c, const GroupResult& group) {
    switch (c.plan.config.bound) {
        case stats::BoundMethod::kBetting:
            return group.bound.lower_betting;
        case stats::BoundMethod::kStudentT:
            return group.bound.lower_t;
        case stats::BoundMethod::kHoeffding:
            return group.bound.lower_hoeffding;
        case stats::BoundMethod::kMaurerPontil:
            return group.bound.lower_maurer_pontil;
    }
    return -INFINITY;
}

/// Draws one line for each group: from the lower bound to the estimate, beside the line that had
/// to be cleared.
std::string picture(const Certificate& c) {
    const double needed = 0 - c.plan.config.margin;
    std::vector<double> ends{needed};
    for (const auto& group : c.results) {
        ends.push_back(lower_bound(c, group));
        ends.push_back(group.bound.mean_gain);
    }
    const auto range = report::padded_range(ends, 0.08);
    const report::Axis x{range.lo, range.hi, 260, 880};
    const double height = 30.0 * static_cast<double>(c.results.size()) + 30;
    report::Svg svg(900, height, "lower bound and estimate of each group");
    for (const double value : report::ticks(x, 6)) {
        svg.line("grid", x.at(value), 0, x.at(value), height - 20);
        svg.text(x.at(value), height - 6, report::Anchor::kMiddle, report::tick_text(value),
                 "tick");
    }
    svg.line("zero", x.at(needed), 0, x.at(needed), height - 20, "what a lower bound has to reach");
    double y = 18;
    for (const auto& group : c.results) {
        // -infinity, where nothing is proved, is the left end
        const double bound = x.at(lower_bound(c, group)), estimate = x.at(group.bound.mean_gain);
        svg.text(0, y + 4, report::Anchor::kStart, report::shortened(group.name, 32));
        svg.open(style_of(group.passed))
            .line("whisker", bound, y, estimate, y)
            .line("whisker", bound, y - 5, bound, y + 5)
            .circle("dot", estimate, y, 5)
            .close();
        y += 30;
    }
    return svg.markup();
}

void add_group_table(const Certificate& c, report::Html& page) {
    std::vector<report::Row> rows;
    for (size_t g = 0; g < c.results.size(); ++g) {
        const auto& plan = c.plan.groups[g];
        const auto& group = c.results[g];
        rows.push_back({group.name,
                        std::to_string(plan.units),
                        std::to_string(plan.records),
                        std::to_string(plan.missing),
                        signed_number(group.bound.mean_gain),
                        signed_number(lower_bound(c, group), Toward::kDown),
                        {group.passed ? "yes" : "no", style_of(group.passed)}});
    }
    page.table(
        {"group", "people", "decisions", "outcomes missing", "estimate", "lower bound", "passed"},
        rows);
}

void add_results(const Certificate& c, report::Html& page) {
    if (c.results.empty()) return;
    const auto& config = c.plan.config;
    const std::string units = config.impact_units.empty() ? "units" : config.impact_units;
    page.heading("Each group");
    page.paragraph(
        fmt::format("Change of the average impact, in {}, against {}. The dot is the estimate, the "
                    "bar reaches down to its lower bound ({}, confidence {}). A group passes "
                    "when the whole bar lies to the right of the line at {}; all groups must.",
                    units,
                    config.at_least
                        ? fmt::format("the constant {}", base::significant(*config.at_least, 4))
                        : "the reference",
                    to_string(config.bound), confidence_text(c.plan.delta),
                    base::significant(0 - config.margin, 4)),
        "soft");
    page.raw(picture(c));
    add_group_table(c, page);
}

/// Returns the averages that a statement rests on, one on each line.
report::Cell ends_of(const certification::ConstraintPlan& plan,
                     const certification::ConstraintResult::Statement& result, size_t s) {
    std::string markup;
    for (size_t i = 0; i < result.ends.size(); ++i) {
        const auto& end = plan.tests.statements[s][i].end;
        const auto& found = result.ends[i];
        markup +=
            fmt::format("{}{}: {}", i == 0 ? "" : "<br/>", report::escaped(plan.means[end.leaf]),
                        signed_number(found.estimate.value_or(NAN)));
        if (result.log_wealth) continue;
        markup += fmt::format(
            ", {} {}", end.upper ? "at most" : "at least",
            signed_number(found.bound.value_or(NAN), end.upper ? Toward::kUp : Toward::kDown));
    }
    return report::Cell::raw(std::move(markup));
}

/// Adds a row for each statement: what was found, and how far the lower end of its interval lies
/// from 0.
void add_constraints(const Certificate& c, report::Html& page) {
    if (c.constraint_results.empty()) return;
    page.heading("Constraints");
    page.paragraph(
        fmt::format("Each holds with confidence {}. A constraint that consists of several "
                    "statements has a line for each; it passes when the margin of all of them, the "
                    "lower end of what is proved, is at least 0. A difference of two averages that "
                    "one process tests has ln W in its place, the gain of bets on it, and passes "
                    "when that is at least {:.4g}.",
                    confidence_text(c.plan.delta), -std::log(c.plan.delta)),
        "soft");
    std::vector<report::Row> rows;
    for (size_t k = 0; k < c.constraint_results.size(); ++k) {
        const auto& plan = c.plan.constraint_plans[k];
        const auto& result = c.constraint_results[k];
        for (size_t s = 0; s < result.statements.size(); ++s) {
            const auto& statement = result.statements[s];
            const std::string what =
                s == 0 ? fmt::format("{}<br/><code>{}</code>", report::escaped(plan.name),
                                     report::escaped(plan.expression))
                       : "";
            rows.push_back({report::Cell::raw(what),
                            ends_of(plan, statement, s),
                            statement.log_wealth
                                ? fmt::format("ln W {:.4g}", *statement.log_wealth)
                                : signed_number(statement.lower.value_or(NAN), Toward::kDown),
                            {statement.passed ? "yes" : "no", style_of(statement.passed)}});
        }
    }
    page.table({"constraint", "averages: estimate, bound", "margin", "passed"}, rows);
}

void add_figures(const Certificate& c, report::Html& page) {
    for (const FigureTable& table : validation_tables(c)) {
        auto rows = report::rows_of(table.rows);
        const report::Row head = rows.front();
        rows.erase(rows.begin());
        page.heading(table.heading).paragraph(table.note, "soft").table(head, rows);
    }
}

void add_assumptions(const Certificate& c, report::Html& page) {
    if (c.assumptions.empty()) return;
    std::vector<report::Row> rows;
    for (const auto& a : c.assumptions)
        rows.push_back(
            {a.tested ? report::Cell("tested") : report::Cell::raw("<b>assumed</b>"), a.text});
    page.heading("What it rests on").facts(rows);
}

void add_facts(const Certificate& c, const std::string& key_id, report::Html& page) {
    std::vector<report::Row> rows;
    const auto fact = [&](const char* name, const std::string& value) {
        rows.push_back({name, value});
    };
    const auto& id = c.plan.identity;
    fact("candidate", id.candidate_id);
    fact("reference", id.reference_id);
    if (!id.missed_in_training.empty()) fact("missed in training", id.missed_in_training);
    fact("impact", id.metric);
    fact("decisions",
         fmt::format("{}, from {} to {}", id.vault_rule, base::to_iso8601(id.period_from),
                     base::to_iso8601(id.period_to)));
    if (c.ledger) {
        const auto& r = c.ledger->registration;
        fact("run",
             fmt::format("{} of {} in epoch {}, whose error budget is {}; {} certificates before",
                         r.run, c.ledger->epoch.runs, r.epoch, c.ledger->epoch.delta_epoch,
                         c.ledger->certificates_before));
        fact("registered", base::to_iso8601(r.at));
        fact("outcomes read", base::to_iso8601(c.vault_read_at));
        fact("ledger entry", c.ledger->entry.hex());
        uint64_t logged = 0;
        for (const auto& end : r.log) logged += end.next - end.begin;
        if (logged > 0)
            fact("decision log", fmt::format("{} records, in {} partitions, when it was registered",
                                             logged, r.log.size()));
        fact("plan", r.plan.hex());
        fact("evidence",
             fmt::format("{} records, Merkle root {}", c.evidence_records, c.evidence_root.hex()));
    }
    fact("issued", base::to_iso8601(c.issued_at));
    fact("signed with key", key_id);
    page.heading("The run").facts(rows);
}

/// A certificate that has been verified, as one page of HTML without scripts or links: for people
/// who have to understand and to file it. `key_id`: of the key that its signature was checked with.
std::string certificate_page(const Certificate& c, const std::string& key_id) {
    const std::string verdict(to_string(c.verdict));
    report::Html page;
    page.title(verdict, style_of(c.verdict == Verdict::kCertified)).paragraph(c.claim);
    if (!c.message.empty()) page.paragraph(c.message);
    add_results(c, page);
    add_constraints(c, page);
    add_figures(c, page);
    add_assumptions(c, page);
    add_facts(c, key_id, page);
    add_origin(c, page);
    if (!c.recipe.empty()) {
        page.heading("How the figures are computed").paragraph(c.recipe, "soft");
    }
    page.paragraph(
        "This page was made after signature, evidence and every figure had been checked. It is no "
        "certificate itself: the signed file is.",
        "soft");
    return report::document(fmt::format("{}: {}", verdict, c.plan.identity.candidate_id), page);
}

struct Options {
    fs::path certificate, evidence, key, model, reference, html, ledger;
    std::vector<fs::path> heads;
};

/// Id of a model file, or nothing when no path is given.
base::Result<std::string> id_of(const fs::path& path) {
    if (path.empty()) return std::string();
    RAMPART_TRY(const auto bytes, base::read_file(path, base::limits::kMaxModelFileBytes));
    return model::policy_id_of(bytes).value();
}

/// Returns the groups' results and the figures beside the verdict as tables, and the whole ids.
std::string tables_text(const Certificate& c) {
    if (c.results.empty()) return "";
    report::Table groups{{"group", "people", "estimate", "lower bound", "passed"}};
    for (size_t g = 0; g < c.results.size(); ++g) {
        const auto& result = c.results[g];
        groups.push_back({result.name, std::to_string(c.plan.groups[g].units),
                          signed_number(result.bound.mean_gain),
                          signed_number(lower_bound(c, result), Toward::kDown),
                          result.passed ? "yes" : "no"});
    }
    std::string text = fmt::format("\n{}", report::align(groups));
    for (const FigureTable& table : validation_tables(c)) {
        text += fmt::format("\n{}\n{}{}\n", table.heading, report::align(table.rows, table.left),
                            table.note);
    }
    const auto& id = c.plan.identity;
    report::Table ids{{"candidate", id.candidate_id}, {"reference", id.reference_id}};
    if (!id.anchor_id.empty()) ids.push_back({"anchor", id.anchor_id});
    return fmt::format("{}\n{}", text, report::align(ids, 2));
}

Answer verified(const Certificate& certificate, const base::VerifyingKey& key, bool key_named) {
    json::array groups;
    for (size_t g = 0; g < certificate.results.size(); ++g) {
        const auto& result = certificate.results[g];
        groups.push_back({{"name", result.name},
                          {"people", certificate.plan.groups[g].units},
                          {"estimate", result.bound.mean_gain},
                          {"lower_bound", result.bound.lower_betting},
                          {"passed", result.passed}});
    }
    std::string text =
        fmt::format("{}\n{}\n{}", certification::to_string(certificate.verdict),
                    certificate.claim.empty() ? certificate.message : certificate.claim,
                    tables_text(certificate));
    text += origin_text(certificate);
    text += fmt::format("\nSignature (key {}), evidence and every figure are right.\n", key.id());
    std::vector<std::string> notes;
    if (!key_named)
        notes.push_back(
            "the key was found beside the certificate or in its store: compare its id with the "
            "gate's, or give --key");
    return {.exit_code = ExitCode::kDone,
            .text = text,
            .json = json::serialize(
                json::object{{"valid", true},
                             {"verdict", certification::to_string(certificate.verdict)},
                             {"claim", certificate.claim},
                             {"candidate", certificate.plan.identity.candidate_id},
                             {"reference", certificate.plan.identity.reference_id},
                             {"key", key.id()},
                             {"groups", groups}}),
            .notes = std::move(notes)};
}

/// Returns the verdict on a certificate that lies in a store, without a figure.
Answer verified_in_store(const certification::Certificate& certificate,
                         const base::VerifyingKey& key) {
    const auto verdict = certification::to_string(certificate.verdict);
    return {
        .exit_code = ExitCode::kDone,
        .text = fmt::format("{}\n\nSignature (key {}), evidence and every figure are right.\n",
                            verdict, key.id()),
        .json = json::serialize(json::object{{"valid", true},
                                             {"verdict", verdict},
                                             {"candidate", certificate.plan.identity.candidate_id},
                                             {"reference", certificate.plan.identity.reference_id},
                                             {"key", key.id()}}),
        .notes = {"the certificate lies in a store, so that its figures are not shown: "
                  "`rampart figures` gives those who audit the gate a copy"}};
}

Answer refused(const base::Error& error) {
    return {.exit_code = ExitCode::kNo,
            .text = fmt::format("NOT VALID: {}\n", error.message),
            .json = json::serialize(json::object{
                {"valid", false}, {"reason", error.reason}, {"message", error.message}}),
            .notes = {}};
}

base::Result<std::vector<base::VerifyingKey>> read_gate_keys(const fs::path& file) {
    const auto pem = base::read_file(file, 1 << 16);
    if (pem) return certification::read_keys(*pem);
    if (pem.error().code != base::ErrorCode::kNotFound) return pem.error();
    return base::make_error(Reason::kNoKey,
                            "key not found: there is no '{}'; name the gate's public key, "
                            "gate.pub.pem of its store, with --key",
                            file.string());
}

/// Adds what the ledger shows to the answer on a valid certificate.
base::Result<Answer> with_ledger(const Options& options, const Certificate& certificate,
                                 std::string_view bytes, std::span<const base::VerifyingKey> keys,
                                 Answer answer) {
    if (options.ledger.empty()) return answer;
    const auto text = prove_recorded(certificate, bytes, options.ledger, options.heads, keys);
    if (!text) return refused(text.error());
    answer.text += *text;
    return answer;
}

base::Result<Answer> verify(const Options& options) {
    if (!options.heads.empty() && options.ledger.empty())
        return base::make_error(Reason::kMisuse,
                                "--head is compared with a ledger: name it with --ledger");
    const bool evidence_named = !options.evidence.empty(), key_named = !options.key.empty();
    RAMPART_TRY(const auto certificate,
                base::read_file(options.certificate, base::limits::kMaxCertificateBytes));
    RAMPART_TRY(auto files, find_proof_files(options.certificate, certificate));
    if (evidence_named) files.evidence = options.evidence;
    if (key_named) files.key = options.key;
    if (files.in_store && !options.html.empty()) return figures_withheld(options.certificate);
    RAMPART_TRY(const auto keys, read_gate_keys(files.key));
    const auto& key = certification::signer_among(certificate, keys);
    certification::Expected expected;
    RAMPART_TRY(expected.candidate_id, id_of(options.model));
    RAMPART_TRY(expected.reference_id, id_of(options.reference));
    const auto read = certification::read_certificate(certificate, key, expected);
    if (!read) return refused(read.error());
    auto evidence = read_evidence(files.evidence);
    if (!evidence) {
        const bool none = read->evidence_records == 0 && !evidence_named;  // a refusal
        if (!none || evidence.error().code != base::ErrorCode::kNotFound) return evidence.error();
        evidence = std::string();
    }
    const auto result = certification::verify(certificate, *evidence, key, expected);
    if (!result && files.in_store) {  // the message may have a figure
        return refused({result.error().code, result.error().reason,
                        "certificate and evidence do not fit; for more take a copy with `rampart "
                        "figures`"});
    }
    if (!result) return refused(result.error());
    if (files.in_store)
        return with_ledger(options, *result, certificate, keys, verified_in_store(*result, key));
    if (!options.html.empty()) {
        RAMPART_RETURN_IF_ERROR(
            base::write_file_atomically(options.html, certificate_page(*result, key.id())));
    }
    return with_ledger(options, *result, certificate, keys, verified(*result, key, key_named));
}

}  // namespace

void add_verify(Frame& frame) {
    auto options = std::make_shared<Options>();
    auto& command = frame.add(
        {.name = "verify",
         .summary = "Verify a certificate: signature, evidence, and every figure computed again",
         .example = "rampart verify demo-out/certificates/3f….cert",
         .detail =
             "Exit code 1: not valid. Evidence and key are looked for beside the certificate, or "
             "in the store, if the certificate is in its registry/certificates; of that one no "
             "figure is shown (rampart figures)."},
        [options](const Context&) { return verify(*options); });
    command.add_option("CERT", options->certificate, "certificate file")->required();
    command.add_option("--evidence", options->evidence,
                       "evidence file; default: CERT with .evidence.jsonl, or the store's");
    command.add_option(
        "--key", options->key,
        "the gate's public key (PEM); default: gate.pub.pem beside CERT, or the store's");
    command.add_option("--html", options->html, "HTML page to write, if the certificate is valid");
    command.add_option("--model", options->model,
                       "require that the certificate is about this model file");
    command.add_option("--reference", options->reference,
                       "require that it compares with this model file");
    command.add_option("--ledger", options->ledger,
                       "require that this ledger has the run and its certificate");
    command.add_option("--head", options->heads,
                       "require that the ledger continues this head, which was filed with a "
                       "witness; may be repeated");
}

}  // namespace rampart::cli
