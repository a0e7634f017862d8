import Foundation
import Larder
import TestSupport

@testable import LarderShell
@testable import ShellLanguage

/// A session with its own store and a record of all output. The clock begins at Fri 20 Nov 2026 22:13 in Stockholm.
final class Shell {
  let clock = ManualClock(now: Timestamp(stockholm.now))
  let store: Store
  /// A path for a file of the test. The release of the shell removes the file.
  let file = TemporaryDirectory.unusedPath
  private let place = TemporaryDirectory.unusedPath
  private(set) var session: Session!
  private(set) var outcome: Outcome?
  /// The notes and the questions, without the answers of commands.
  private(set) var notices: [String] = []
  private(set) var questions: [String] = []
  /// The lines about the progress of a command. The element nil removes the last line.
  private(set) var progress: [String?] = []
  var answer = true
  /// This closure runs before the person answers.
  var whileAsked: () throws -> Void = {}
  /// The unread bytes of standard input.
  var input: [UInt8] = []
  /// The number of checks for ^C after which ^C comes.
  var stepsUntilInterrupted = Int.max
  /// This closure runs each time a command checks for ^C.
  var whenLooking: () -> Void = {}
  /// The number of waits of a command after which ^C comes.
  var pauses = 0
  /// This closure runs while a command waits.
  var meanwhile: () throws -> Void = {}
  /// The change that the person makes in an editor. `editorProblem`: why the editor fails, or nil if the editor works.
  var editing: (String) throws -> String = { $0 }
  var editorProblem: String?
  /// The extensions of the edited files.
  private(set) var drafts: [String] = []
  /// The texts of the edited files that were not removed.
  private(set) var keptDrafts: [String] = []
  var window = (columns: 80, rows: 24)
  /// The output of the last command.
  private(set) var printed: [UInt8] = []

  /// - Parameter hasInput: Whether standard input is free for data.
  init(
    _ mode: OutputMode = .table, hasPerson: Bool = false, hasInput: Bool = true,
    isReadOnly: Bool = false, at path: String? = nil, transforms: [any ValueTransform] = [],
    _ configure: (inout Settings) -> Void = { _ in }
  ) throws {
    var options = Store.Options()
    if path == nil { options.clock = clock }
    options.transforms = transforms
    // A command may close the store and open it again, and closing would remove a temporary store.
    options.flushes = path != nil
    let store = try Store(at: path ?? place, options: options)
    options.flushes = true
    self.store = store
    options.readOnly = isReadOnly
    var settings = Settings()
    settings.mode = mode
    settings.isTerminal = mode == .table
    settings.localZone = stockholm.zone
    settings.hasUnicode = true
    configure(&settings)
    session = Session(
      store: try Store(at: store.path, options: options), options: options, settings: settings,
      host: host(hasPerson: hasPerson, hasInput: hasInput))
  }

  deinit { for path in [file, place] { try? FileManager.default.removeItem(atPath: path) } }

  private func host(hasPerson: Bool, hasInput: Bool) -> LarderShell.Host {
    var host = LarderShell.Host(
      write: { [unowned self] in printed += $0 }, read: Self.read, make: Self.make)
    host.notify = { [unowned self] in notices.append($0.description) }
    host.progress = { [unowned self] in progress.append($0?.description) }
    host.directory = { path in
      guard path.hasPrefix(Self.temporary) else {
        throw Self.problem("cannot create", path, "permission denied", "check its owner and mode")
      }
      return path
    }
    host.window = { [unowned self] in window }
    host.copy = { [unowned self] in notices.append("copied \($0.count)") }
    host.isInterrupted = { [unowned self] in
      whenLooking()
      stepsUntilInterrupted -= 1
      return stepsUntilInterrupted < 0
    }
    host.pause = { [unowned self] duration in
      clock.advance(by: duration)
      try meanwhile()
      pauses -= 1
      return pauses >= 0
    }
    if hasPerson {
      host.ask = { [unowned self] in
        questions.append($0.description)
        try whileAsked()
        return answer
      }
      host.edit = { [unowned self] in try edit($0, $1, $2) }
    }
    if hasInput {
      host.input = { [unowned self] in
        LarderShell.Host.Input { [unowned self] in
          defer { input = [] }
          return input
        }
      }
    }
    return host
  }

  private func edit(
    _ bytes: [UInt8], _ pathExtension: String, _ use: ([UInt8]) throws -> Void
  ) throws {
    drafts.append(pathExtension)
    var text = String(decoding: bytes, as: UTF8.self)
    keptDrafts.append(text)
    do {
      if let editorProblem { throw ShellError(.io, "\(editorProblem)", hint: nil) }
      text = try editing(text)
      keptDrafts[keptDrafts.count - 1] = text
      try use(Array(text.utf8))
      keptDrafts.removeLast()
    } catch {
      notices.append("your text is in draft")
      throw error
    }
  }

  /// A random line may name any file, so files are read and made only below this path.
  private static let temporary = FileManager.default.temporaryDirectory.path + "/"

  private static func read(_ path: String) throws -> LarderShell.Host.Input {
    guard path.hasPrefix(temporary), let file = FileHandle(forReadingAtPath: path) else {
      throw problem(
        "cannot read", path, "no such file",
        "names are relative to the directory where the shell was started")
    }
    return LarderShell.Host.Input { Array(try file.read(upToCount: 1000) ?? Data()) }
  }

  private static func make(_ path: String, replaces: Bool) throws -> LarderShell.Host.Sink {
    guard path.hasPrefix(temporary) else {
      throw problem("cannot write", path, "permission denied", "check its owner and mode")
    }
    guard replaces || !FileManager.default.fileExists(atPath: path) else {
      throw problem("cannot write", path, "it exists", "name another file", .exists)
    }
    var written = Data()
    return LarderShell.Host.Sink(
      write: { written += $0 },
      finish: { _ in
        do { try written.write(to: URL(fileURLWithPath: path)) } catch {
          throw Self.problem("cannot write", path, "no such directory", nil)
        }
        return nil
      })
  }

  /// The error that the program throws for a file.
  private static func problem(
    _ verb: SafeText, _ path: String, _ reason: SafeText, _ hint: SafeText?,
    _ code: ShellError.Code = .io
  ) -> ShellError { ShellError(code, "\(verb) \(Array(path.utf8)): \(reason)", hint: hint) }

  /// Runs commands and returns their output.
  @discardableResult func callAsFunction(_ lines: String...) throws -> String {
    printed = []
    for line in lines { outcome = try session.run(try command(line)) }
    return String(decoding: printed, as: UTF8.self)
  }

  func printed(by line: ShellLanguage.CommandLine) throws -> [UInt8] {
    printed = []
    outcome = try session.run(line)
    return printed
  }

  /// The notes, questions and progress lines since the last call.
  func takeAside() -> [String] {
    defer {
      notices = []
      questions = []
      progress = []
    }
    return notices + questions + progress.compactMap(\.self)
  }

  func bytes(_ line: String) throws -> [UInt8] {
    try self(line)
    return printed
  }

  /// The text that a person sees below a line at the prompt: the answer or the error.
  func shown(_ line: String, promptWidth: Int, columns: Int? = nil) throws -> String {
    do { return try self(line) } catch let error as ShellError {
      return error.prompted(promptWidth: promptWidth, columns: columns)
    }
  }

  func error(_ line: String) throws -> ShellError { try LarderShellTests.error { try self(line) } }
}

extension Shell {
  /// A session whose store has the entries of ``fill()``.
  static func filled(_ mode: OutputMode = .table, hasPerson: Bool = false) throws -> Shell {
    let shell = try Shell(mode, hasPerson: hasPerson)
    try shell.fill()
    return shell
  }

  /// Departures of two stations, articles that never expire, and a picture.
  func fill() throws {
    let departures = store.namespace("departures")
    for number in 1...4 {
      try departures.set(
        "{\"train\":\(number)}", for: "Malm\u{F6} C:0\(number)", expires: .after(.minutes(15)))
    }
    try departures.set("{\"train\":5}", for: "Kiruna:05", expires: .after(.hours(2)))
    let articles = store.namespace("articles")
    for number in 1...3 {
      try articles.set(String(repeating: "word ", count: number * 100), for: "00001\(number)")
    }
    let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13]
    try store.namespace("thumbs").set(png, for: [0, 0xFF])
  }

  /// Stores entries of one byte in one commit. The keys are numbers.
  @discardableResult
  func fill(
    _ name: String, _ numbers: Range<Int>, expires: Expiration? = nil
  ) throws -> Store.Namespace {
    let namespace = store.namespace(name)
    try store.write { batch in
      for number in numbers {
        try batch.set("x", for: "\(number)", in: namespace, expires: expires)
      }
    }
    return namespace
  }
}
