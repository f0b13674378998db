#include "services/rampartd/api/json.hpp"

#include <boost/json.hpp>

namespace rampart::rampartd {

namespace json = boost::json;

Json::Json(std::string_view value) : text_(json::serialize(json::string(value))) {}

Json Json::object(const std::vector<Member>& members) {
    Json object;
    for (const auto& [name, value] : members) {
        object.text_ += object.text_.empty() ? '{' : ',';
        object.text_ += Json(name).text_ + ':' + value.text_;
    }
    object.text_ += members.empty() ? "{}" : "}";
    return object;
}

Json Json::array(const std::vector<Json>& values) {
    Json array;
    array.text_ += '[';
    for (const auto& value : values) {
        if (array.text_.size() > 1) array.text_ += ',';
        array.text_ += value.text_;
    }
    array.text_ += ']';
    return array;
}

Json Json::parsed(std::string_view text) {
    Json value;
    value.text_ = json::serialize(json::parse(text));
    return value;
}

}  // namespace rampart::rampartd
