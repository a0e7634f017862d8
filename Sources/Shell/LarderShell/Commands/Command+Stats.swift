import Larder
import ShellLanguage

extension Command {
  static let stats = CommandSpec(
    "stats", .store, .reads, "Shows space, durability, hits, evictions and readers.",
    namespaces: .oneOrAll, options: [.value("--every", .duration, "repeat at this interval")],
    plain: ["": "namespace fact value"],
    examples: ["stats": "the store", "stats @departures --every 2s": "a namespace as it changes"]
  ).running { call, session -> Outcome in
    let only = call.meansStore ? nil : try session.namespace(call.namespaces).name
    let interval = call.duration("--every")
    guard interval == nil || session.output.presentation.mode != .json else {
      throw ShellError(
        .usage, "--every has no end, and json is one document", hint: "use `-o jsonl`")
    }
    guard interval != .zero else {
      throw ShellError(
        .badTime, "--every needs a time between two answers", at: call.range("--every"),
        hint: "use `--every 2s`")
    }
    while true {
      try session.output.answer(StatisticsReport(of: session, only: only).reply)
      guard let interval else { return .done }
      guard try session.host.pause(interval) else {
        return .exitCode(ShellError.Code.interrupted.exitCode)
      }
      guard session.output.isTable else { continue }
      // An empty line and the present time show a person where the next answer begins.
      let clock = session.wallClock
      try session.output.writeLines(["", "\(clock.timeOfDay(clock.now))"])
    }
  }

  static let report = CommandSpec(
    "report", .store, .reads,
    "Writes a page that shows the store: HTML, or Markdown with `-o markdown`; - is standard output.",
    namespaces: .oneOrAll, parameters: [.one("FILE", .file)],
    options: [.flag("--force", "replace an existing file")], plain: ["": "file bytes"],
    examples: [
      "report store.html": "the whole store",
      "report articles.html @articles --force": "a namespace",
    ]
  ).running { call, session in
    let name = call.bytes("FILE")!
    let only = call.meansStore ? nil : try session.namespace(call.namespaces).name
    // Opens the file first. If the file cannot be opened, the error comes before the long read of the store.
    let writer = try session.writer(to: name, replaces: call.has("--force"))
    let page: [UInt8]
    do {
      let report = try StoreReport(of: session, only: only)
      let isMarkdown = session.output.presentation.mode == .markdown
      page = try Array((isMarkdown ? report.markdown() : report.html()).utf8)
    } catch is Interruption { throw ShellError.interrupted("no file was made") }
    try writer.write(page)
    _ = try writer.finish(true)
    if session.isOutput(name) { return }
    try session.output.acknowledge(
      [Column("file", holdsBytes: true): .bytes(name), "bytes": .size(page.count)],
      sentences: ["wrote \(Wording.size(page.count)) to \(name)"])
  }
}

/// The counts of an HTTP cache. Each cache saves its counts in an entry of the namespace `http-statistics`. The key of the
/// entry is the namespace of the cache. The value of the entry has a line for each count.
struct HTTPCounts {
  let namespace: String
  let counts: [(name: String, count: Int)]

  private static let most = 100

  /// The counts of all caches, except for counts that this program cannot read.
  static func read(in session: Session) throws -> [HTTPCounts] {
    let saved = session.store.namespace("http-statistics")
    return try saved.page(limit: most).items.compactMap { entry in
      guard session.unknownTransforms.first(of: entry) == nil else { return nil }
      // Uses `withEntry`, because a counted read would change the statistics of the store.
      guard let name = entry.key.string, entry.size < 1 << 16,
        let text = try saved.withEntry(
          for: entry.key, { String(validating: $1.bytes, as: UTF8.self) }) ?? nil
      else { return nil }
      let counts = text.split(separator: "\n").prefix(most).compactMap { line in
        line.lastIndex(of: " ").flatMap { space in
          Int(line[line.index(after: space)...]).map { (String(line[..<space]), $0) }
        }
      }
      return counts.isEmpty ? nil : HTTPCounts(namespace: name, counts: counts)
    }
  }
}

extension Session {
  /// Whether the file with this name is standard output. If so, no summary may follow the output of the command.
  func isOutput(_ name: [UInt8]) -> Bool {
    ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"].contains { name == Array($0.utf8) }
  }

  func writer(to name: [UInt8], replaces: Bool) throws -> Host.Sink {
    isOutput(name)
      ? Host.Sink(write: output.write, finish: { _ in nil })
      : try file(at: LocalFile.path(name), replaces: replaces)
  }

  /// The new file of a command that has the option `--force`.
  func file(at path: String, replaces: Bool) throws -> Host.Sink {
    do {
      return try host.make(path, replaces)
    } catch let error as ShellError where error.code == .exists {
      throw ShellError(error.code, error.message, hint: "pass `--force` to replace it")
    }
  }

  /// The input from the file with this name; `-` is standard input.
  func input(from name: [UInt8]) throws -> Host.Input {
    try name == Array("-".utf8) ? host.takeInput() : host.read(LocalFile.path(name))
  }

  package func contents(of name: [UInt8]) throws -> [UInt8] {
    try host.read(LocalFile.path(name)).rest(.max)
  }
}
