import ArgumentParser
import Larder
import LarderHTTP
import Testing

@testable import LarderProxy
@testable import ProxyServer

/// Options with which no proxy can work. These options are usage errors before the proxy starts.
struct CommandLineTests {
  private func failure(_ arguments: [String]) -> (any Error)? {
    do {
      _ = try LarderProxy.parse(["--origin", "http://x:1", "--store", "x"] + arguments)
      return nil
    } catch {
      return error
    }
  }

  @Test(arguments: [
    ["--connections", "0"], ["--connections", "9223372036854775807"],
    ["--connections", "1000001"], ["--namespace", ""],
    ["--namespace", String(repeating: "a", count: 300)],
  ])
  func `such options are refused`(arguments: [String]) throws {
    let error = try #require(failure(arguments))
    #expect(LarderProxy.exitCode(for: error) == .validationFailure)
    #expect(LarderProxy.message(for: error).contains(arguments[0]))
  }

  @Test(arguments: [
    "http://a@b:1", "http://a b:80", "http://a:", "http://a/b:80", "http://", "http://a:70000",
  ])
  func `an origin that is no address is refused`(origin: String) {
    #expect(throws: (any Error).self) {
      try LarderProxy.parse(["--origin", origin, "--store", "x"])
    }
  }

  @Test(arguments: [[], ["--connections", "1000000"], ["--namespace", "a"]])
  func `others are not`(arguments: [String]) {
    #expect(failure(arguments) == nil)
  }

  @Test func `any number of connections has a limit of memory`() {
    for connections in [Int.min, 0, 1, 1_000_000, Int.max] {
      var limits = ProxyLimits()
      limits.connections = connections
      #expect(HeldBytes(limits).smallPiece >= 256)
    }
  }

  /// The store checks the name only when it creates the namespace, so the command line applies the same rule earlier.
  @Test(arguments: [
    "", "a", "a b", "a@b", "a\u{9B}", "a\u{2028}", "\u{E4}", String(repeating: "a", count: 100),
    String(repeating: "a", count: 101), String(repeating: "\u{E4}", count: 51), "-", "a/b",
  ])
  func `the rule for namespaces is that of the store`(name: String) throws {
    let store = try Store.temporary()
    var isRefused = false
    do {
      try store.declare(Rules(), for: name)
    } catch {
      #expect(error.code == .invalidArgument)
      isRefused = true
    }
    #expect((failure(["--namespace=\(name)"]) != nil) == isRefused)
  }
}
