#include "services/rampartd/api/attribute_routes.hpp"

#include "rampart/base/limits.hpp"
#include "rampart/protected_attributes/codec.hpp"
#include "rampart/streaming/reasons.hpp"
#include "services/rampartd/api/bodies.hpp"
#include "services/rampartd/reasons.hpp"

namespace rampart::rampartd {

using access::Scope;
using base::Result;
using http::Lane;

Result<http::Response> AttributeRoutes::handle_attributes(const http::Request& request) const {
    std::vector<protected_attributes::ProtectedAttributes> people;
    std::string_view rest = request.body;
    while (!rest.empty()) {
        const size_t end = std::min(rest.find('\n'), rest.size());
        const auto line = rest.substr(0, end);
        rest.remove_prefix(std::min(end + 1, rest.size()));
        if (line.empty()) continue;
        if (people.size() == base::limits::kMaxBatch) {
            return base::make_error(streaming::Reason::kBatchTooLarge,
                                    "more than {} lines; send them in parts",
                                    base::limits::kMaxBatch);
        }
        auto person = protected_attributes::parse_json(line);
        if (!person) return person.error().with_context(fmt::format("line {}", people.size() + 1));
        people.push_back(std::move(*person));
    }
    if (people.empty())
        return base::make_error(Reason::kEmptyBatch,
                                "the body has no line; send one JSON object a line");
    RAMPART_RETURN_IF_ERROR(state_(people));
    return json_response(Json::object({{"accepted", people.size()}}));
}

void AttributeRoutes::add_to(http::Router& router) const {
    router.add(
        "POST", "/v1/protected-attributes", Scope::kProtect,
        [self = *this](const auto& r) { return respond(self.handle_attributes(r)); }, Lane::kBulk);
}

}  // namespace rampart::rampartd
