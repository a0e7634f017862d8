import HTTPTypes
import Testing

@testable import LarderHTTP

struct ResponseKeyTests {
  @Test func `RFC 9111, 2: keys have scheme, host, path and query, and no secrets`() {
    func key(_ path: String, host: String = "example.com", scheme: String = "https") -> String? {
      ResponseKey(request("GET", path, host: host, scheme: scheme))?.uri
    }
    #expect(key("/a?b=1") == "https://example.com/a?b=1")
    #expect(key("/a", host: "EXAMPLE.com:443") == "https://example.com/a")
    #expect(key("/a", host: "example.com:80") == "https://example.com:80/a")
    #expect(key("/a", host: "u:p@example.com", scheme: "http") == "http://example.com/a")
    #expect(key("") == "https://example.com/")
    #expect(key("/A") != key("/a") && key("/a?b=1&c=2") != key("/a?b=1%26c=2"))
    let secret = key("/a?q=1&key=geheim&x")
    #expect(
      secret?.contains("geheim") == false
        && secret?.hasPrefix("https://example.com/a?q=1&key=~") == true)
    #expect(secret?.hasSuffix("&x") == true)
    #expect(key("/a?key=1") != key("/a?key=2"))
    #expect(ResponseKey(HTTPRequest(method: .get, scheme: nil, authority: "x", path: "/")) == nil)
  }
}
