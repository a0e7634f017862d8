import Larder
import TestSupport
import Testing

@testable import LarderShell
@testable import ShellLanguage

/// The full-screen view on a simulated screen.
@Suite struct BrowseChangeTests {
  /// Types keys at an entry of a new store in steps, and calls `between` between the steps.
  private func browse(_ steps: [String], _ between: @escaping (Shell) throws -> Void) throws
    -> Shell
  {
    let shell = try Shell()
    try shell.fill()
    var left = steps
    var pages = ""
    let screen = Host.Screen(
      size: { Host.Window(columns: 80, rows: 24) },
      wait: { limit in
        // A running command looks for keys without waiting.
        guard limit > .zero else { return .timeout }
        guard !left.isEmpty else { return .end }
        let keys = left.removeFirst()
        if left.count < steps.count - 1 { try between(shell) }
        return .bytes(Array(keys.utf8))
      },
      write: { pages += String(decoding: $0, as: UTF8.self) }, suspend: {}, close: {})
    try BrowseLoop("thumbs", in: shell.session, on: screen).run()
    #expect(left.isEmpty)
    #expect(pages.contains("1 entry"))
    return shell
  }

  @Test(arguments: ["d", "emidnight\r"])
  func `an entry that was written after the question stays`(keys: String) throws {
    let undisturbed = try browse([keys, "y"]) { _ in }
    let entry = try undisturbed.store.namespace("thumbs").entry(for: [0, 0xFF])
    #expect(entry == nil || entry?.expires != nil)
    let shell = try browse([keys, "y"]) { shell in
      try shell.store.namespace("thumbs").set("new", for: [0, 0xFF])
    }
    let kept = try #require(try shell.store.namespace("thumbs").entry(for: [0, 0xFF]))
    #expect(kept.size == 3 && kept.expires == nil)
  }
}
