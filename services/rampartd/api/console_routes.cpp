#include "services/rampartd/api/console_routes.hpp"

#include <algorithm>

#include "services/rampartd/api/bodies.hpp"
#include "services/rampartd/reasons.hpp"

namespace rampart::rampartd {

using base::Result;

namespace {

constexpr std::string_view kPage = "index.html";
// Nothing from elsewhere, no script or style in the page itself, in no frame.
constexpr std::string_view kPolicy =
    "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; "
    "object-src 'none'";

std::string_view kind_of(std::string_view name) {
    if (name.ends_with(".js")) return "text/javascript; charset=utf-8";
    if (name.ends_with(".css")) return "text/css; charset=utf-8";
    if (name.ends_with(".svg")) return "image/svg+xml";
    if (name.ends_with(".txt")) return "text/plain; charset=utf-8";
    return "text/html; charset=utf-8";
}

/// Whether a list of codings, as Accept-Encoding has it, names gzip, and not with weight 0.
bool takes_gzip(std::string_view codings) {
    while (!codings.empty()) {
        auto one = codings.substr(0, codings.find(','));
        codings.remove_prefix(std::min(codings.size(), one.size() + 1));
        one.remove_prefix(std::min(one.size(), one.find_first_not_of(' ')));
        if (!one.starts_with("gzip")) continue;
        const auto weight = one.substr(4);
        return weight.find('q') == weight.npos || weight.find_first_of("123456789") != weight.npos;
    }
    return false;
}

}  // namespace

Result<http::Response> ConsoleRoutes::handle_file(std::string_view name,
                                                  const http::Request& request) const {
    const auto file = std::find_if(files_.begin(), files_.end(),
                                   [&](const auto& one) { return one.name == name; });
    if (file == files_.end())
        return base::make_error(Reason::kUnknownConsoleFile,
                                "the console of this release has no file '{}'",
                                name.substr(0, 100));
    http::Response response;
    response.content_type = kind_of(name);
    // names of other files have a digest of what is in them
    response.headers = {
        {"Cache-Control", name == kPage ? "no-cache" : "public, max-age=31536000, immutable"},
        {"Content-Security-Policy", std::string(kPolicy)},
        {"Cross-Origin-Opener-Policy", "same-origin"},
        {"Cross-Origin-Resource-Policy", "same-origin"},
        {"Referrer-Policy", "no-referrer"},
        {"Vary", "Accept-Encoding"}};
    if (takes_gzip(request.header("Accept-Encoding"))) {
        response.headers.push_back({"Content-Encoding", "gzip"});
        response.body = file->gzip;
    } else {
        response.body = file->bytes;
    }
    return response;
}

void ConsoleRoutes::add_to(http::Router& router) const {
    for (const char* page : {"/console", "/console/"})
        router.add("GET", page, http::kOpen, [self = *this](const auto& request) {
            return respond(self.handle_file(kPage, request));
        });
    router.add("GET", "/console/{file}", http::kOpen, [self = *this](const auto& request) {
        return respond(self.handle_file(request.path_values.at("file"), request));
    });
}

}  // namespace rampart::rampartd
