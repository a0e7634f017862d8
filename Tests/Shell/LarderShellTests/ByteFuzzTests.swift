import Foundation
import Larder
import TestSupport
import Testing

@testable import LarderShell
@testable import ShellLanguage

/// Random bytes as keys, values, tags and words of the commands, in every form of output, at a terminal.
///
/// Half of the lines have the name of a command and the raw bytes, which may be no UTF-8.
///
/// Each string is tried with two commands. In `make trials` each string is tried with all commands, and there are more strings.
@Suite struct ByteFuzzTests {
  private static let strings = 2000 * TestSettings.trials
  private static let commandsForEach = TestSettings.trials == 1 ? 2 : commands.count
  private static let workers = 2
  /// The largest number of strings in a store at a time, and the number of strings in one session. Without these bounds, long
  /// lists and a long history would make the commands slow.
  private static let (storedAtOnce, inSession) = (8, 400)

  /// The last two words are no names of commands, so they test the messages about unknown commands.
  private static let commands = CommandTable.standard.commands.map(\.name) + ["", "kesy"]
  private static let modes = OutputMode.allCases.filter { $0 != .raw }

  /// Whether the text has no control that a terminal would obey, apart from line ends and tabs.
  private func isSafe(_ text: String, _ mode: OutputMode) -> Bool {
    // Nearly all texts are printable ASCII, so this faster check comes first.
    if text.utf8.allSatisfy({ $0.isPrintable || $0 == .newline }) { return true }
    return text.unicodeScalars.allSatisfy { scalar in
      switch scalar {
      case "\n", "\t": true
      case "\r": mode == .csv
      default: !scalar.isControl && !scalar.isHidden
      }
    }
  }

  private func makeShell() throws -> Shell {
    let shell = try Shell(.table, hasPerson: true) { $0.isTerminal = true }
    shell.answer = false
    return shell
  }

  /// Stores an entry with the bytes as its key, value, tag, validators and metadata.
  private func store(_ bytes: [UInt8], in shell: Shell, isFirst: Bool) throws {
    var attributes = EntryAttributes()
    attributes.entityTag = bytes
    attributes.lastModified = bytes
    attributes.metadata =
      bytes.count % 2 == 0
      ? bytes : Array("larder-http/1 200 ".utf8) + bytes + [0x0A, 0x0A] + bytes
    if let tag = String(validating: bytes, as: UTF8.self), !bytes.contains(0) {
      attributes.tags = [tag]
    }
    let namespace = shell.session.store.namespace("box")
    try shell.session.store.write { batch in
      if isFirst { _ = try batch.clear(namespace) }
      try batch.set(bytes, for: bytes, in: namespace, attributes)
    }
    try shell("use box")
  }

  /// All texts that the session prints for a line.
  private func texts(
    of line: [UInt8], _ mode: OutputMode, columns: Int, in shell: Shell
  ) throws -> [(text: String, mode: OutputMode)] {
    var texts: [(text: String, mode: OutputMode)] = []
    do {
      for command in try CommandReader.commands(in: line, from: .file("a\u{1B}.larder")) {
        let printed = try shell.printed(by: command)
        texts.append((String(decoding: printed, as: UTF8.self), mode.resolved(isTerminal: true)))
      }
    } catch let error as ShellError {
      texts += [
        error.scripted, error.json, error.prompted(promptWidth: 8),
        error.prompted(promptWidth: 8, columns: columns),
      ].map { ($0, .table) }
    }
    return texts + shell.takeAside().map { ($0, .table) }
  }

  @Test(arguments: 0..<workers)
  func `no byte of a key, a value or a word reaches a terminal raw`(worker: Int) throws {
    var random = SeededRNG()
    let file = TemporaryDirectory.unusedPath
    defer { try? FileManager.default.removeItem(atPath: file) }
    var shell = try makeShell()
    for round in 0..<Self.strings / Self.workers {
      if round % Self.inSession == 0 { shell = try makeShell() }
      var bytes = random.awkwardBytes(upTo: 40)
      if round % 3 == 0 || bytes.isEmpty {
        bytes = (0...Int.random(in: 0..<60, using: &random)).map { _ in
          UInt8.random(in: 0...255, using: &random)
        }
      }
      let typed = Quoting.typed(bytes)
      try store(bytes, in: shell, isFirst: round % Self.storedAtOnce == 0)
      for command in Self.commands.shuffled(using: &random).prefix(Self.commandsForEach) {
        let mode = Self.modes.randomElement(using: &random)!
        shell.session.settings.mode = mode
        let words =
          [
            typed, "\(typed) --limit 3", "\(file) \(typed) --force", "\(typed) \(typed)",
            "\(typed) 1h", "@box \(typed)", "--match \(typed)*", "--tag \(typed)", "sizes \(typed)",
            "\(typed) --from \(typed)", "\(typed) --as text", "\(typed) --as hex", "",
          ].randomElement(using: &random)!
        let isRaw = Bool.random(using: &random)
        let line = Array("\(command) ".utf8) + (isRaw ? bytes : Array(words.utf8))
        for said in try texts(of: line, mode, columns: isRaw ? 20 : 40, in: shell)
        where !isSafe(said.text, said.mode) {
          let text = Quoting.typed(line)
          Issue.record("LARDER_SEED=\(random.seed), round \(round), \(mode): \(text)")
        }
      }
    }
  }
}
