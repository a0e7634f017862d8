import Foundation
import Larder
import TestSupport
import Testing

@testable import LarderShell
@testable import ShellLanguage

/// Gives the parsers of foreign text the inputs in `Tests/Shell/Corpora`, and random changes of these inputs.
///
/// Each run must end with an answer or a typed error, and leave an undamaged store. Add each failing input to that folder.
@Suite struct FuzzTests {
  private static let rounds = 150 * TestSettings.trials

  private func corpus(_ name: String) throws -> [[UInt8]] {
    let folder = Repository.root.appending(path: "Tests/Shell/Corpora/\(name)")
    let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    return try files.map { Array(try Data(contentsOf: folder.appendingPathComponent($0))) }
  }

  /// Runs `read` on every input and on changes of the inputs, and prints the summary.
  private func fuzz(_ name: String, _ read: ([UInt8]) throws -> Void) throws {
    var random = SeededRNG()
    let inputs = try corpus(name)
    #expect(!inputs.isEmpty)
    var refused = 0
    for round in 0..<inputs.count + Self.rounds {
      var input = inputs[round % inputs.count]
      if round >= inputs.count { change(&input, inputs, &random) }
      do { try read(input) } catch let error as ShellError {
        refused += 1
        let isSafe = error.scripted.split(separator: "\n").allSatisfy { String($0).isSafe }
        #expect(isSafe, "LARDER_SEED=\(random.seed), round \(round): \(error.scripted)")
      } catch is LarderError { refused += 1 } catch {
        Issue.record(
          "LARDER_SEED=\(random.seed), round \(round): \(type(of: error)) \(error): \(input)")
      }
    }
    // If the parser refused every input, the test would reach only the first check of the parser.
    #expect(refused < inputs.count + Self.rounds, "every input is refused")
    print(
      "fuzz \(name): \(inputs.count + Self.rounds) inputs, \(refused) refused, 0 traps (seed \(random.seed))"
    )
  }

  private func change(_ input: inout [UInt8], _ inputs: [[UInt8]], _ random: inout SeededRNG) {
    for _ in 0..<random.next(in: 1..<6) {
      let place = input.isEmpty ? 0 : random.next(in: 0..<input.count)
      switch random.next(in: 0..<7) {
      case 0 where !input.isEmpty: input[place] ^= 1 << UInt8(random.next(in: 0..<8))
      case 1 where !input.isEmpty: input[place] = UInt8(random.next(in: 0..<256))
      case 2 where !input.isEmpty:
        input.removeSubrange(place..<min(place + random.next(in: 1..<20), input.count))
      case 3: input.insert(contentsOf: random.awkwardBytes(upTo: 12), at: place)
      case 4:
        let other = inputs.randomElement(using: &random)!
        if !other.isEmpty {
          input.insert(contentsOf: other[random.next(in: 0..<other.count)...], at: place)
        }
      case 5:
        // Inserts a number at a bound of its type, or beyond the bound.
        let number = [
          "9223372036854775808", "-1", "1e400", "0.0000000001", "NaN", "18446744073709551616",
        ]
        input.insert(contentsOf: Array(number.randomElement(using: &random)!.utf8), at: place)
      default: input = Array(input.prefix(place))
      }
    }
  }

  @Test func `an import of any bytes stores whole entries or is refused`() throws {
    let shell = try Shell(.plain)
    try fuzz("import") { input in
      shell.input = input
      try shell("import - --on-conflict \(input.count % 2 == 0 ? "keep" : "newer")")
    }
    #expect(try shell.store.verify().isSound)
  }

  @Test(arguments: ["commands", "settings"])
  func `command lines and settings of any bytes are obeyed or refused`(corpus: String) throws {
    let shell = try Shell.filled()
    try fuzz(corpus) { input in
      var first: (any Error)?
      for line in input.split(separator: 0x0A) {
        do {
          for command in try CommandReader.commands(in: Array(line), from: .file("rc")) {
            _ = try shell.session.run(command)
          }
        } catch { first = first ?? error }
      }
      if let first { throw first }
    }
    #expect(try shell.store.verify().isSound)
  }

  @Test func `cursors of any text are refused or go on from an entry`() throws {
    let store = try Store.temporary()
    let notes = store.namespace("notes")
    for number in 0..<20 { try notes.set("v", for: number) }
    var genuine: [String] = []
    var next: PageCursor?
    repeat {
      next = try notes.page(limit: 3, after: next).next
      if let next { genuine.append(next.description) }
    } while next != nil
    var round = 0
    try fuzz("cursors") { input in
      round += 1
      // The text begins with a genuine cursor. In every second round, that cursor is cut.
      var text = genuine[round % genuine.count]
      if round % 2 == 0 { text = String(text.prefix(input.count % max(text.count, 1))) }
      text += String(decoding: round % 3 == 0 ? [] : input, as: UTF8.self)
      let page = try notes.page(limit: 3, after: PageCursor(text))
      #expect(page.items.count <= 3)
    }
    #expect(try store.verify().isSound)
  }
}

/// Random bytes as keys, values, tags and words of the commands, in every form of output, at a terminal.
///
/// Half of the lines consist of the name of a command and the raw bytes, which may be invalid UTF-8.
///
/// Each string is tried with two commands. In `make trials` each string is tried with all commands, and there are more strings.
@Suite struct ByteFuzzTests {
  private static let strings = 2000 * TestSettings.trials
  private static let commandsForEach = TestSettings.trials == 1 ? 2 : commands.count
  private static let workers = 2
  /// The largest number of strings in a store at a time, and the number of strings in one session. Without these bounds, long
  /// lists and a long history would make the commands slow.
  private static let (storedAtOnce, inSession) = (8, 400)

  /// The last two words are no names of commands, so these two words test the messages about unknown commands.
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
      if round % 3 == 0 || bytes.isEmpty { bytes = random.bytes(random.next(in: 1..<61)) }
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
