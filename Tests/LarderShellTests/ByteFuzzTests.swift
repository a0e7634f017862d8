import Foundation
import Larder
import Testing

@testable import LarderShell

/// Random bytes as keys, values, tags and words of every command, in every form of output, at a terminal.
@Suite struct ByteFuzzTests {
  private static let rounds =
    ProcessInfo.processInfo.environment["LARDER_TEST_FUZZ"].flatMap { Int($0) } ?? 1500

  /// Nothing a terminal would obey: line ends and tabs are the only controls.
  private func expectSafe(_ text: String, _ mode: OutputMode, _ about: Comment) {
    let isSafe = text.unicodeScalars.allSatisfy { scalar in
      switch scalar {
      case "\n", "\t": true
      case "\r": mode == .csv
      default: !scalar.isControl && !scalar.isHidden
      }
    }
    #expect(isSafe, about)
  }

  @Test func `no byte of a key, a value or a word reaches a terminal raw`() throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = SeededGenerator(seed: seed)
    let shell = try Shell(.table, hasPerson: true) { $0.isTerminal = true }
    shell.answer = false
    let file = FileManager.default.temporaryDirectory.path + "/larder-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: file) }
    // In place it would close the store that the test fills; raw is asked for by name.
    let commands = CommandTable.standard.commands.filter { !["quit", "use"].contains($0.name) }
    let modes = OutputMode.allCases.filter { $0 != .raw }
    for round in 0..<Self.rounds {
      var bytes = random.awkwardBytes(upTo: 40)
      if round % 3 == 0 {
        bytes = (0...Int.random(in: 0..<60, using: &random)).map { _ in
          UInt8.random(in: 0...255, using: &random)
        }
      }
      let typed = Quoting.typed(bytes.isEmpty ? [27] : bytes)
      let namespace = shell.session.store.namespace("box")
      var attributes = EntryAttributes()
      attributes.entityTag = bytes
      attributes.metadata = bytes
      if let tag = String(validating: bytes, as: UTF8.self), !bytes.contains(0), !bytes.isEmpty {
        attributes.tags = [tag]
      }
      let key = (bytes.isEmpty ? [27] : bytes)
      try shell.session.store.write { try $0.set(bytes, for: key, in: namespace, attributes) }
      let command = commands[round % commands.count]
      let mode = modes.randomElement(using: &random)!
      shell.session.settings.mode = mode
      let words =
        [
          typed, "\(typed) --limit 3", "\(file) \(typed) --force", "\(typed) \(typed)",
          "\(typed) 1h", "@box \(typed)", "--match \(typed)*", "--tag \(typed)", "sizes \(typed)",
          "\(typed) --from \(typed)", String(decoding: bytes, as: UTF8.self), "",
        ].randomElement(using: &random)!
      let line = "\(command.name) \(words)"
      let about: Comment = "seed \(seed), round \(round), \(mode): \(line)"
      do {
        for parsed in try CommandReader.commands(in: Array(line.utf8), from: .file(typed)) {
          let printed = try shell.printed(by: parsed)
          expectSafe(
            String(decoding: printed, as: UTF8.self), mode.resolved(isTerminal: true), about)
        }
      } catch let error as ShellError {
        for text in [error.scripted, error.json, error.prompted(promptWidth: 8, columns: 40)] {
          expectSafe(text, .table, about)
        }
      }
      for text in shell.takeAside() { expectSafe(text, .table, about) }
    }
  }
}
