import Foundation
import TestSupport
import Testing

/// The speed of the program in a store with `LARDER_TEST_LARGE` entries. Without that variable, the tests do nothing. The
/// figures of `Docs/Operate/Performance.md` come from a release build in the folder `LARDER_PROGRAMS`:
///
///     swift build -c release --product larder && swift build -c release --product LarderPeer
///     LARDER_PROGRAMS=$PWD/.build/release LARDER_TEST_LARGE=10000000 swift test --filter LargeStoreTests
@Suite(.serialized) struct LargeStoreTests {
  private static let count =
    ProcessInfo.processInfo.environment["LARDER_TEST_LARGE"].flatMap { Int($0) }
  private static let rounds = 15
  private func median(_ times: [Duration]) -> Duration { times.sorted()[times.count / 2] }

  private func measure(_ body: () throws -> Void) rethrows -> Duration {
    median(try (0..<Self.rounds).map { _ in try ContinuousClock().measure { try body() } })
  }

  @Test(.enabled(if: count != nil, "LARDER_TEST_LARGE is not set"))
  func `the prompt, a page of keys and Tab come at once`() throws {
    let fixture = ProgramFixture()
    var answer = ""
    let filling = try ContinuousClock().measure {
      answer = try fixture.answer(to: "LarderPeer large \(fixture.home.store) \(Self.count!)")
    }
    #expect(answer == "filled\n")
    func session() throws -> TerminalSession {
      try TerminalSession(larder: [fixture.home.store], home: fixture.home)
    }
    let start = try measure { _ = try session() }
    let prompt = try session()
    let page = try measure {
      try prompt.type("\u{C}keys @large\r").expect("a page") {
        $0.lines.contains { $0.contains("more: --") } && $0.line == "larder>"
      }
    }
    let narrow = try measure {
      try prompt.type("\u{C}get @large entry:0000001\t")
      prompt.expect("the candidates") { $0.lines.contains { $0.contains("entry:000000199") } }
      try prompt.type("\u{3}").expect(line: "larder>")
    }
    let wide = try measure {
      try prompt.type("\u{C}get @large e\t\t")
      prompt.expect("the candidates") { $0.lines.contains { $0.contains("entry:000000001") } }
      try prompt.type("\u{3}").expect(line: "larder>")
    }
    let sizes = try measure {
      try prompt.type("\u{C}sizes\r").expect("the sum") {
        $0.lines.contains { $0.hasPrefix("total") } && $0.line == "larder>"
      }
    }
    print(
      "\(Self.count!) entries, filled in \(filling): start to prompt \(start), keys \(page), "
        + "Tab \(narrow) for 100 and \(wide) for all, sizes \(sizes)")
    #expect(start < .milliseconds(30))
    #expect(page < .milliseconds(10))
    #expect(max(narrow, wide) < .milliseconds(200))
  }
}
