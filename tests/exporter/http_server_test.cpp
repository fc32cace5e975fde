#include "ctl/exporter/http_server.hpp"

#include <gmock/gmock.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <memory>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <vector>

#include "tests/exporter/http_client.hpp"

namespace tailrace {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string big_body;  // the body of /big

HttpResponse echo(const HttpRequest& request) {
  if (request.path == "/throw") throw std::runtime_error("it went wrong");
  if (request.path == "/big") return {200, "text/plain", big_body};
  std::string text = request.path + " " + request.accept;
  for (const auto& [key, value] : request.query) text += " " + key + "=" + value;
  return {200, "text/plain", text};
}

/// The other side has closed nothing, and said nothing.
bool is_open(const UniqueFd& fd) {
  char byte = 0;
  return recv(fd.get(), &byte, 1, MSG_DONTWAIT | MSG_PEEK) < 0 && errno == EAGAIN;
}

class HttpServerTest : public testing::Test {
 protected:
  [[nodiscard]] std::uint16_t port() const { return server_.address().port; }

  HttpServer server_{parse_listen_address("127.0.0.1:0"), echo};
};

TEST_F(HttpServerTest, GivesPathQueryAndAcceptToItsHandler) {
  const HttpAnswer answer = get(port(), "/a/b%2Fc?x=%20&y", "Accept: application/json\r\n");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, "/a/b/c application/json x=  y=");
}

TEST_F(HttpServerTest, AnswersHeadWithoutABody) {
  const HttpAnswer answer = ask(port(), "HEAD /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(answer.status, 200);
  EXPECT_THAT(answer.head, HasSubstr("Content-Length: 9"));
  EXPECT_THAT(answer.body, IsEmpty());
}

TEST_F(HttpServerTest, RefusesOtherMethods) {
  for (const char* method : {"POST", "PUT", "DELETE", "OPTIONS", "PATCH"}) {
    const HttpAnswer answer =
        ask(port(),
            std::string(method) + " / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
    EXPECT_EQ(answer.status, 405) << method;
    EXPECT_THAT(answer.head, HasSubstr("Allow: GET, HEAD"));
  }
}

TEST_F(HttpServerTest, TurnsAnExceptionIntoAResponse) {
  const HttpAnswer answer = get(port(), "/throw");
  EXPECT_EQ(answer.status, 500);
  EXPECT_EQ(answer.body, "it went wrong\n");
}

TEST_F(HttpServerTest, SurvivesRequestsThatAreNone) {
  std::string headers;
  for (int i = 0; i < 5000; ++i) headers += "X-" + std::to_string(i) + ": y\r\n";
  for (const std::string& request :
       {std::string("\r\n\r\n"), std::string("GET\r\n\r\n"), std::string(100, '\0') + "\r\n\r\n",
        "GET /" + std::string(1 << 20, 'a') + " HTTP/1.1\r\n\r\n", std::string("GET / HTTP/9.9\r\n\r\n"),
        std::string("GET ../../etc/passwd HTTP/1.1\r\n\r\n"),
        std::string("GET /%00%ff%zz HTTP/1.1\r\nConnection: close\r\n\r\n"),
        "GET / HTTP/1.1\r\nHost: " + std::string(100'000, 'h') + "\r\n\r\n",
        "GET / HTTP/1.1\r\n" + headers + "\r\n",
        std::string("POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n")}) {
    const UniqueFd fd = connect_to(port());
    static_cast<void>(send(fd.get(), request.data(), request.size(), MSG_NOSIGNAL | MSG_DONTWAIT));
    EXPECT_EQ(get(port(), "/still").status, 200);
  }
}

TEST_F(HttpServerTest, KeepsNobodyWaitingForSlowClients) {
  std::vector<UniqueFd> slow;
  for (int i = 0; i < 300; ++i) {
    slow.push_back(connect_to(port()));
    ASSERT_EQ(write(slow.back().get(), "GET /", 5), 5);
  }
  EXPECT_EQ(get(port(), "/").status, 200);
  for (const UniqueFd& fd : slow) EXPECT_TRUE(is_open(fd)) << "nobody had to leave for it";
}

TEST_F(HttpServerTest, LetsNoAddressTakeAllConnections) {
  std::vector<UniqueFd> greedy;
  for (int i = 0; i < 450; ++i) greedy.push_back(connect_to(port()));
  pollfd last{greedy.back().get(), POLLIN, 0};
  EXPECT_EQ(poll(&last, 1, 5000), 1) << "it was closed";
}

TEST_F(HttpServerTest, KeepsNobodyWaitingForClientsThatDoNotRead) {
  big_body = std::string(64U << 20, 'x');  // more than a socket's buffers take
  const UniqueFd deaf = connect_to(port());
  ASSERT_GT(write(deaf.get(), "GET /big HTTP/1.1\r\nHost: x\r\n\r\n", 30), 0);
  EXPECT_EQ(get(port(), "/").status, 200);
}

TEST_F(HttpServerTest, AnswersManyAtOnce) {
  std::atomic<int> answered{0};
  std::vector<std::thread> clients;
  for (int i = 0; i < 32; ++i)
    clients.emplace_back([&] {
      for (int k = 0; k < 10; ++k) answered += get(port(), "/").status == 200 ? 1 : 0;
    });
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(answered, 320);
}

TEST(HttpServer, ListensOnIpv6) {
  std::unique_ptr<HttpServer> server;
  try {
    server = std::make_unique<HttpServer>(parse_listen_address("[::1]:0"), echo);
  } catch (const std::system_error& error) {
    GTEST_SKIP() << "no IPv6 here: " << error.what();
  }
  const HttpAnswer answer =
      ask(server->address().port, "GET /six HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", true);
  EXPECT_EQ(answer.body, "/six ");
}

}  // namespace
}  // namespace tailrace
