#include "ctl/exporter/http_server.hpp"

#include <microhttpd.h>

#include <cerrno>
#include <cstdarg>
#include <exception>
#include <string_view>
#include <system_error>
#include <utility>

namespace tailrace {
namespace {

constexpr unsigned kIdleLimitS = 10;  // then a connection is closed
// Fewer than the 1024 files that a process may usually open, and of one address so many that it cannot take
// them all: who sends a byte now and then is never idle.
constexpr unsigned kMaxConnections = 896;
constexpr unsigned kMaxConnectionsOfOne = 448;
constexpr const char* kText = "text/plain; charset=utf-8";

std::string text_of(const char* text) { return text == nullptr ? "" : text; }

MHD_Result add_argument(void* query, MHD_ValueKind, const char* key, const char* value) {
  static_cast<std::map<std::string, std::string>*>(query)->emplace(key, text_of(value));
  return MHD_YES;
}

HttpResponse answer(const HttpServer::Handler& handler, const char* url, MHD_Connection* connection) {
  HttpRequest request;
  request.path = url;
  request.accept = text_of(MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT));
  MHD_get_connection_values(connection, MHD_GET_ARGUMENT_KIND, add_argument, &request.query);
  return handler(request);
}

MHD_Result send(MHD_Connection* connection, HttpResponse response) {
  MHD_Response* message =
      MHD_create_response_from_buffer(response.body.size(), response.body.data(), MHD_RESPMEM_MUST_COPY);
  if (message == nullptr) return MHD_NO;
  MHD_add_response_header(message, MHD_HTTP_HEADER_CONTENT_TYPE, response.content_type.c_str());
  MHD_add_response_header(message, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
  if (response.status == MHD_HTTP_METHOD_NOT_ALLOWED)
    MHD_add_response_header(message, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
  const MHD_Result queued = MHD_queue_response(connection, static_cast<unsigned>(response.status), message);
  MHD_destroy_response(message);
  return queued;
}

MHD_Result on_request(void* handler, MHD_Connection* connection, const char* url, const char* method,
                      const char* /*version*/, const char* /*upload*/, std::size_t* /*upload_bytes*/,
                      void** /*per_request*/) {
  try {
    if (method != std::string_view("GET") && method != std::string_view("HEAD"))
      return send(connection, {MHD_HTTP_METHOD_NOT_ALLOWED, kText, "only GET and HEAD are answered\n"});
    return send(connection, answer(*static_cast<const HttpServer::Handler*>(handler), url, connection));
  } catch (const std::exception& error) {
    return send(connection, {MHD_HTTP_INTERNAL_SERVER_ERROR, kText, std::string(error.what()) + "\n"});
  }
}

// What clients do wrong is not worth a line of the log.
void ignore_message(void*, const char*, va_list) {}

}  // namespace

HttpServer::HttpServer(const ListenAddress& address, Handler handler)
    : address_(address), handler_(std::move(handler)), daemon_(nullptr) {
  UniqueFd fd = listen_on(address_);
  daemon_ = MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_ERROR_LOG, 0, nullptr, nullptr,
                             on_request, &handler_, MHD_OPTION_EXTERNAL_LOGGER, ignore_message, nullptr,
                             MHD_OPTION_LISTEN_SOCKET, fd.get(), MHD_OPTION_CONNECTION_TIMEOUT, kIdleLimitS,
                             MHD_OPTION_CONNECTION_LIMIT, kMaxConnections, MHD_OPTION_PER_IP_CONNECTION_LIMIT,
                             kMaxConnectionsOfOne, MHD_OPTION_END);
  if (daemon_ == nullptr)
    throw std::system_error(errno, std::generic_category(), "cannot serve on " + address_.text());
  static_cast<void>(fd.release());  // the library closes it
}

HttpServer::~HttpServer() { MHD_stop_daemon(daemon_); }

}  // namespace tailrace
