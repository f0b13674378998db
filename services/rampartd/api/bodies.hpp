#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/http/request.hpp"
#include "rampart/http/response.hpp"
#include "services/rampartd/api/json.hpp"

/// What the routes of the node read and write.
namespace rampart::rampartd {

http::Response json_response(const Json& value);
http::Response respond(base::Result<http::Response> result);

using Members = std::map<std::string, std::string>;

/// A member that a body may have.
struct MemberSpec {
    enum class Kind {
        kText,
        kNumber,     // a number
        kFlag,       // true or false
        kPartition,  // a number, or "all"
    };

    // implicit, so that the names of texts can be written down as they are
    MemberSpec(const char* name_, Kind kind_ = Kind::kText, bool required_ = true)
        : name(name_), kind(kind_), required(required_) {}

    std::string name;
    Kind kind;
    bool required;
};

/// Reads an object with these members and no other, each once. Returns them as their texts: a
/// number as it is written, a flag as "true" or "false"; a member that is not required and not
/// there is left out. invalid_argument "bad_json", "duplicate_member", "missing_field",
/// "wrong_type", "unknown_field"; out_of_range beyond a limit of wire::parse_json().
base::Result<Members> text_members(std::string_view body, const std::vector<MemberSpec>& specs);

/// A decimal number in [lo, hi]. invalid_argument "bad_number", naming the member.
base::Result<int64_t> number_of(std::string_view name, std::string_view text, int64_t lo,
                                int64_t hi);

/// A finite decimal number. invalid_argument "bad_number", naming the member.
base::Result<double> real_of(std::string_view name, std::string_view text);

/// "true" or "false". invalid_argument "bad_flag", naming the parameter.
base::Result<bool> flag_of(std::string_view name, std::string_view text);

/// invalid_argument "reason_missing": the member "reason", for the audit log, is empty.
base::Status check_reason(const Members& members);

/// Returns the parameter `reason` of the query, why `what` ends: there is no other parameter.
/// invalid_argument "unknown_field", "audit_entry" (not UTF-8, or too long), "reason_missing".
base::Result<std::string> reason_in_query(const http::Request& request, std::string_view what);

}  // namespace rampart::rampartd
