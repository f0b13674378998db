// Commands that secrecy_test.cpp compares between two vaults. A new command is named in one list.
#pragma once
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace rampart::rampartd {

/// Returns the parts of a text that stand between commas.
inline std::set<std::string> names_in(const std::string& text) {
    std::set<std::string> names;
    std::istringstream in(text);
    for (std::string name; std::getline(in >> std::ws, name, ',');) names.insert(name);
    return names;
}

/// Commands that answer nothing of a store, or act on one by routes that are tested above. `keys
/// export` writes keys, `replay` numbers of decisions and which differ, `letter` reasons; `person
/// export` outcomes of the vault with audit.enabled only (PersonExport tests that).
inline const std::set<std::string> kOthers = names_in(
    "audit-individual, calibrate, card, clock accept, cv, data profile, decide, erase, errors, "
    "metrics, evaluate, export, frontier, gate, hold add, hold remove, import, inspect model, "
    "keys export, keys import, keys list, keys rotate, learners, letter, score, "
    "postprocessors, partition move, partition resume, person export, postprocess, quarantine "
    "drop, "
    "challenger end, challenger start, proposal approve, proposal reject, proposal show, "
    "quarantine replay, reasons check, recipe check, replay, review answer, review list, "
    "review open, schema infer, serve, stop exploration, stop refer-all, stop rules-only, store "
    "encrypt, topics acls, topics check, topics create, "
    "trainer hand-over, trainer take-back, trainer take-over, train");
struct SecrecyCommand {
    std::string name, options;
    int exit_code;
};
/// Commands on a store that is not served, in this order; what changes something comes last.
inline const std::vector<SecrecyCommand> kAtRest{
    {"models", "--store STORE --json", 0},
    {"models", "--store STORE", 0},
    {"models", "--store STORE --at 2099-01-01", 0},
    {"registry at", "2099-01-01 --store STORE --json", 0},
    {"registry at", "2099-01-01 --store STORE", 0},
    {"audit list", "--store STORE --limit 1000 --json", 0},
    {"audit list", "--store STORE --limit 1000", 0},
    {"audit show", "9 --store STORE --json", 0},
    {"audit show", "9 --store STORE", 0},
    {"audit verify", "--store STORE --json", 0},
    {"audit export", "--config CONFIG --out FOLDER/audit.jsonl", 2},
    {"inspect store", "--config CONFIG --json", 0},
    {"inspect store", "--config CONFIG", 0},
    {"inspect log", "--store STORE --topic decisions --limit 9999 --json", 0},
    {"inspect log", "--store STORE --topic outcomes --limit 9999 --json", 0},
    {"inspect log", "--store STORE --topic outcomes --partition 3 --limit 9999", 0},
    {"inspect certificate", "FOLDER/own.cert", 2},
    {"verify", "FOLDER/own.cert --json", 0},
    {"verify", "FOLDER/own.cert --html FOLDER/page.html", 2},
    {"figures", "e1r1 --config CONFIG --out FOLDER --reason curious", 2},
    {"ledger head", "--config CONFIG", 2},
    {"ledger copy", "--config CONFIG --out FOLDER/ledger", 2},
    {"ledger check", "--config CONFIG --head FOLDER/head", 2},
    {"export-log", "--config CONFIG --side vault --out FOLDER/log.csv --reason curious", 2},
    {"export-log", "--config CONFIG --side development --out FOLDER/log.csv", 0},
    {"candidate", "--config CONFIG --model FOLDER/m.rmp --plan --json", 0},
    {"compare", "--config CONFIG --policy CHAMPION --policy WORSE", 0},
    {"compare", "--config CONFIG --policy CHAMPION --policy WORSE --json", 0},
    {"monitor", "--config CONFIG --json", 0},
    {"report", "--config CONFIG --json", 0},
    {"report", "--config CONFIG --from 1990-01 --to 1999-12 --out FOLDER/report.html", 0},
    {"explain", "--decision DECISION --config CONFIG --json", 0},
    {"explain", "--decision DECISION --config CONFIG", 0},
    {"explain", "--decision DECLINE --config CONFIG --svg FOLDER/p.svg", 0},
    {"counterfactual",
     "--decision DECLINE --config CONFIG --json "
     "--changes SOURCE/ops/config/letters/simulated/changes.toml",
     3},
    {"store check", "--config CONFIG --json", 0},
    {"backup create", "--store STORE --to FOLDER/backups --json", 0},
    {"backup list", "--from FOLDER/backups --json", 0},
    {"backup verify", "--from FOLDER/backups --json", 0},
    {"backup restore", "--from FOLDER/backups --store FOLDER/restored --json", 0},
    {"promote", "--config CONFIG --model WORSE --certificate FOLDER/own.cert", 1},
    {"certify", "--config CONFIG --model WORSE --json", 1},
    {"certify", "--config CONFIG --model WORSE", 1},
    {"candidate", "--config CONFIG --model FOLDER/m.rmp --submit", 1},
    {"rollback", "--config CONFIG --reason test --json", 0}};
inline const std::vector<SecrecyCommand> kServed{
    {"monitor", "--config CONFIG", 0},
    {"report", "--config CONFIG", 0},
    {"status", "--config CONFIG", 0},
    {"stop list", "--config CONFIG --json", 0},
    {"decisions", "--config CONFIG --limit 50 --json", 0},
    {"events", "--config CONFIG --since 0 --kind promotion --kind audit --count 9 --json", 0},
    {"proposal list", "--config CONFIG --json", 0},
    {"challenger list", "--config CONFIG --json", 0},
    {"candidate", "--config CONFIG --model FOLDER/m.rmp", 0},
    {"partition list", "--config CONFIG", 0},
    {"quarantine list", "--config CONFIG", 0},
    {"inspect unmatched", "--config CONFIG --json", 0},
    {"hold list", "--config CONFIG", 0}};

}  // namespace rampart::rampartd
