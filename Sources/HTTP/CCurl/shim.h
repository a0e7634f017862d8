#pragma once
// Curl's setter and getter are variadic, and Swift cannot call variadic functions. So each type of value has one function here.
#include <curl/curl.h>
#include <poll.h>

static inline CURLcode ccurl_set_number(CURL *easy, CURLoption option, long value) {
  return curl_easy_setopt(easy, option, value);
}

static inline CURLcode ccurl_set_text(CURL *easy, CURLoption option, const char *value) {
  return curl_easy_setopt(easy, option, value);
}

static inline CURLcode ccurl_set_pointer(CURL *easy, CURLoption option, void *value) {
  return curl_easy_setopt(easy, option, value);
}

static inline CURLcode ccurl_set_receiver(CURL *easy, CURLoption option, curl_write_callback function) {
  return curl_easy_setopt(easy, option, function);
}

static inline CURLcode ccurl_get_number(CURL *easy, CURLINFO information, long *value) {
  return curl_easy_getinfo(easy, information, value);
}

// Whether the server has ended the connection of the last transfer, or has sent input on this connection without a request.
// Curl before 8.1 would send the next request on the connection and take the input for the answer, so callers test this first.
static inline int ccurl_has_input(CURL *easy) {
  curl_socket_t socket = CURL_SOCKET_BAD;
  if (curl_easy_getinfo(easy, CURLINFO_ACTIVESOCKET, &socket) != CURLE_OK || socket == CURL_SOCKET_BAD) return 0;
  struct pollfd polled = {.fd = socket, .events = POLLIN};
  return poll(&polled, 1, 0) > 0;
}

static inline CURLcode ccurl_set_progress(CURL *easy, curl_xferinfo_callback function) {
  return curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, function);
}

// Curl 7.85 added an option that takes the protocols as text, and deprecated the option that takes the protocols as bits.
static inline CURLcode ccurl_allow_http_alone(CURL *easy) {
#if LIBCURL_VERSION_NUM >= 0x075500
  return curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
#else
  return curl_easy_setopt(easy, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
}
