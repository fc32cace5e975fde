#pragma once

#include <functional>
#include <map>
#include <string>

#include "ctl/exporter/listen_address.hpp"

struct MHD_Daemon;

namespace tailrace {

struct HttpRequest {
  std::string path;  // decoded
  std::map<std::string, std::string> query;
  std::string accept;  // the header of that name
};

struct HttpResponse {
  int status = 200;
  std::string content_type;
  std::string body;
};

/// A small HTTP server for GET and HEAD requests that are answered at once. It has one thread, made here
/// (after the process has blocked its signals), in which all connections are served as they get on: a slow
/// client keeps nobody waiting. Around libmicrohttpd.
class HttpServer {
 public:
  /// Called in the server's thread; its exceptions become a response 500.
  using Handler = std::function<HttpResponse(const HttpRequest&)>;

  /// Throws std::system_error where it cannot listen.
  HttpServer(const ListenAddress& address, Handler handler);
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  ~HttpServer();

  /// Where it listens, with the port that it got.
  [[nodiscard]] const ListenAddress& address() const noexcept { return address_; }

 private:
  ListenAddress address_;
  Handler handler_;
  MHD_Daemon* daemon_;
};

}  // namespace tailrace
