import Foundation
import Larder
import TestSupport
import Testing

@testable import LarderShell
@testable import ShellLanguage

@Suite struct UndoTests {
  private func shell() throws -> Shell {
    let shell = try Shell(.plain)
    for number in 1...3 {
      var attributes = EntryAttributes(codec: .json, expires: .after(.hours(number)))
      attributes.tags = ["t\(number)"]
      attributes.isPinned = number == 3
      try shell.store.namespace("a").set(bytes("{\"n\":\(number)}"), for: "k\(number)", attributes)
    }
    return shell
  }

  @Test func `what somebody has changed since stays`() throws {
    let shell = try shell()
    try shell("evict @a k1 k2")
    try shell.store.namespace("a").set("of another", for: "k1")
    #expect(try shell("output json", "undo").contains("\"count\":1,"))
    #expect(shell.outcome == .exitCode(5))
    #expect(try shell("output plain", "get @a k1") == "of another\n")
    #expect(try shell("get @a k2") == "{\"n\":2}\n")
  }

  @Test func `a change that is too large is forgotten`() throws {
    let log = UndoLog()
    let shell = try shell()
    let namespace = shell.store.namespace("a")
    let entry = try #require(try namespace.entry(for: "k1"))
    log.begin("evict")
    let value = [UInt8](repeating: 0, count: UndoLog.most / 2)
    for number in 0..<3 {
      log.add([
        UndoLog.Item(namespace: namespace, key: Key(bytes("\(number)")), before: (entry, value))
      ])
    }
    #expect(log.isTooLarge && log.items.isEmpty)
  }

  @Test(arguments: [
    ("evict @a k1 k2", 2), ("evict @a k[12] --yes", 2), ("invalidate t1 t2 --yes", 2),
    ("clear @a --yes", 3), ("evict @a --stdin --yes", 2),
  ])
  func `an export is written before entries are removed`(line: String, count: Int) throws {
    let shell = try shell()
    let keys = bytes("k1\nk2\n")
    shell.input = keys
    try shell("\(line) --save \(shell.file)")
    #expect(try shell("exists @a k1 k2 k3") == "false\nfalse\n\(count == 2)\n")
    let said = "saved \(count) entries, \(count * 7) B to "
    #expect(shell.takeAside().first?.hasPrefix(said) == true)
    #expect(try shell("import \(shell.file)") == "import\ta\t\(count)\t\(count * 7)\n")
    #expect(try shell("keys @a") == "k1\nk2\nk3\n")
    // An existing file ends the command before anything is removed.
    shell.input = keys
    #expect(try shell.error("\(line) --save \(shell.file)").code == .exists)
    #expect(try shell("keys @a") == "k1\nk2\nk3\n")
  }
}
