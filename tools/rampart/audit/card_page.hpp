#pragma once

#include <map>
#include <string>

#include "rampart/evaluation/model_card.hpp"

namespace rampart::cli {

/// What a card says in words about a model's use. Looked up in the model's provenance.
struct Statement {
    const char* key;
    const char* title;
};
inline constexpr Statement kStatements[] = {
    {"intended_use", "Intended use"}, {"not_intended_for", "Not intended for"},
    {"limits", "Known limits"},       {"owner", "Owner"},
    {"approved_by", "Approved by"},   {"review_by", "To be reviewed by"},
};

/// The card as one page of HTML without scripts or links, well-formed as XML too. `stated`: texts
/// by a statement's key that the user of the command adds; the page says that the model file does
/// not carry them.
std::string card_page(const evaluation::ModelCard& card,
                      const std::map<std::string, std::string>& stated);

}  // namespace rampart::cli
