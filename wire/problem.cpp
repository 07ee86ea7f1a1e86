#include "wire/problem.hpp"

#include <algorithm>
#include <cctype>

namespace hedgerow::wire {

std::string_view reason_phrase(int status) {
  switch (status) {
    case 200: return "OK";
    case 201: return "Created";
    case 204: return "No Content";
    case 400: return "Bad Request";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 408: return "Request Timeout";
    case 409: return "Conflict";
    case 413: return "Content Too Large";
    case 415: return "Unsupported Media Type";
    case 421: return "Misdirected Request";
    case 422: return "Unprocessable Content";
    case 431: return "Request Header Fields Too Large";
    case 499: return "Client Closed Request";
    case 500: return "Internal Server Error";
    case 501: return "Not Implemented";
    case 502: return "Bad Gateway";
    case 503: return "Service Unavailable";
    case 504: return "Gateway Timeout";
    default: return "Unknown";
  }
}

HttpResponse problem(int status, std::string_view type, std::string_view detail, const nlohmann::json& more) {
  nlohmann::ordered_json body{{"type", "urn:hedgerow:problem:" + std::string(type)},
                              {"title", reason_phrase(status)},
                              {"status", status},
                              {"detail", detail}};
  for (const auto& [name, value] : more.items()) body[name] = value;
  HttpResponse response;
  response.status = status;
  response.content_type = "application/problem+json";
  response.body = body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  return response;
}

namespace {

std::optional<std::string_view> find_header(const HttpHeaders& headers, std::string_view name) {
  const auto same_letter = [](unsigned char a, unsigned char b) { return std::tolower(a) == std::tolower(b); };
  for (const auto& [key, value] : headers) {
    if (std::equal(key.begin(), key.end(), name.begin(), name.end(), same_letter)) return value;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string_view> HttpRequest::header(std::string_view name) const { return find_header(headers, name); }
std::optional<std::string_view> HttpResponse::header(std::string_view name) const { return find_header(headers, name); }

}  // namespace hedgerow::wire
