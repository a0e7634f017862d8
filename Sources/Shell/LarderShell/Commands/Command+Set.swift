import Larder
import LarderSystem
import ShellLanguage

extension Command {
  static let set = CommandSpec(
    "set", aliases: ["put"], .changing, .changes,
    "Stores a value under a key; a value - is standard input.",
    namespaces: .one, parameters: [.one("KEY", .key), .optional("VALUE", .data)],
    options: [
      .value("--from", .file, "the value is the content of a file; - is standard input"),
      .value("--ttl", .duration, "the lifetime"), .value("--until", .deadline, "when it expires"),
      .flag(
        "--if-absent",
        "only if the key is absent; exit code \(ExitCode.entryExists) and no word in a script if it is not"
      ),
      .flag("--if-present", "only if the key exists; exit code 1 if it does not"), BulkOptions.yes,
    ],
    rules: [
      .exactlyOne(["VALUE", "--from"]), .atMostOne(["--ttl", "--until"]),
      .atMostOne(["--if-absent", "--if-present"]),
    ],
    plain: ["": "verb namespace key"],
    examples: [
      "set @departures \"Malm\u{F6} C:07\" '{\"track\":4}' --ttl 15m": "for 15 minutes",
      "set @articles 000017 --from page.html --until monday": "a file",
      "set @flags beta on --if-absent": "unless it exists",
      "set @flags --until monday -- \"$k\" \"$v\"": "any key and value, in a script",
    ]
  ).running { call, session -> Outcome in
    let namespace = try session.namespaceToWrite(call.namespaces)
    let key = call.bytes("KEY")!
    let value = try value(of: call, for: namespace, in: session)
    try checkSize(value, for: namespace)
    let expires: Expiration? =
      call.duration("--ttl").map { .after($0) } ?? call.deadline("--until").map { Expiration($0) }
    let clock = session.wallClock
    // If the time of `--until` has passed, an existing entry would expire, so `set` needs a confirmation, like `expire`.
    if let end = call.deadline("--until")?.time, end <= clock.now,
      let present = try namespace.entry(for: key), present.hasValue
    {
      let name: SafeText = "\(key) in \(namespace.name)"
      try Confirmation(call: call, session: session).require("end \(name)") {
        "The time is \(clock.distance(to: end)). End \(name)?"
      }
    }
    try session.undo.read([(namespace, Key(key))])
    let entry = try explainingFull(namespace, in: session) { batch -> Store.Entry? in
      let present = try batch.entry(for: key, in: namespace)
      let isThere = present.map(\.hasValue) ?? false
      if isThere, call.has("--if-absent") { return nil }
      if !isThere, call.has("--if-present") {
        throw ShellError(
          .noSuchKey, "no entry \(key) in \(namespace.name)",
          hint: "remove --if-present to create it")
      }
      session.undo.keep(present, under: Key(key), in: namespace)
      let isText = String(validating: value, as: UTF8.self) != nil
      try batch.set(
        value, for: key, in: namespace,
        EntryAttributes(codec: isText ? .text : .bytes, expires: expires))
      return try batch.entry(for: key, in: namespace)!
    }
    guard let entry else {
      // A script tests the exit code, so only the prompt gets a note.
      if call.line.source == .prompt {
        try session.host.notify("nothing changed: \(key) exists in \(namespace.name)")
      }
      return .exitCode(ExitCode.entryExists)
    }
    try session.output.acknowledge(reply(entry, in: session))
    try session.afterCommit { try session.unknownTransforms.note(namespace) }
      .map(session.host.notify)
    return .done
  }

  /// Runs `body`, which writes. If the limits of the namespace forbid the write, the error names these limits.
  static func explainingFull<Result>(
    _ namespace: Store.Namespace, in session: Session, _ body: (inout WriteBatch) throws -> Result
  ) throws -> Result {
    do {
      return try session.write(body)
    } catch let error as LarderError {
      guard error.code == .full, let info = try namespace.info(), info.rules.eviction == .refuse
      else { throw error }
      let limits = info.rules.limits
      let isEntries = limits.entries.map { info.entries >= $0 } ?? false
      let usage: SafeText =
        isEntries
        ? "entry limit reached in \(info.name) (\(Wording.count(info.entries)) of \(Wording.count(limits.entries ?? 0)), policy refuse)"
        : "byte limit reached in \(info.name) (\(Wording.size(info.bytes)) of \(limits.bytes.map(Wording.size) ?? "no limit"), policy refuse)"
      throw ShellError(
        .overLimit, usage,
        hint:
          "evict entries or raise it: `limits \(Quoting.namespace(info.name)) \(isEntries ? "--entries N" : "--bytes SIZE")`"
      )
    }
  }

  static func reply(_ entry: Store.Entry, in session: Session) -> Reply {
    let line: [Cell] = [.text("set"), .text(entry.namespace), .bytes(entry.key.bytes)]
    let clock = session.wallClock
    return Reply(
      .object(EntryForm.record(namesNamespaces: true).columns, EntryForm.facts(entry, clock)),
      in: [.plain: .rows(["verb", "namespace", Column("key", holdsBytes: true)], [line])],
      sentences: [
        "set \(entry.namespace) \(entry.key.bytes) (\(Wording.size(entry.size))), \(entry.end(clock))"
      ])
  }

  private static func value(
    of call: Invocation, for namespace: Store.Namespace, in session: Session
  ) throws -> [UInt8] {
    // An unquoted dash means standard input. A quoted dash is a value.
    let isDash = call.line.arguments.contains {
      guard case .word(let word) = $0 else { return false }
      return word.range == call.range("VALUE") && word.bareText == "-"
    }
    guard let source = call.bytes("--from") ?? (isDash ? [UInt8(ascii: "-")] : nil) else {
      return call.bytes("VALUE")!
    }
    let largest = try largestValue(of: namespace)
    let value = try session.input(from: source).rest(largest)
    // More than `largest` bytes came. The remaining bytes are not read, so the error cannot tell the size of the value.
    guard value.count <= largest else {
      throw tooLarge("more than \(Wording.count(largest))", largest, namespace)
    }
    return value
  }

  private static func largestValue(of namespace: Store.Namespace) throws -> Int {
    try namespace.info()?.rules.largestValue ?? Rules.defaultLargestValue
  }

  static func checkSize(_ value: [UInt8], for namespace: Store.Namespace) throws {
    let largest = try largestValue(of: namespace)
    guard value.count <= largest else {
      throw tooLarge("\(Wording.count(value.count))", largest, namespace)
    }
  }

  private static func tooLarge(
    _ size: SafeText, _ largest: Int, _ namespace: Store.Namespace
  ) -> ShellError {
    ShellError(
      .overLimit,
      "the value has \(size) bytes; \(namespace.name) takes at most \(Wording.count(largest))",
      hint: "raise it: `limits \(Quoting.namespace(namespace.name)) --entry-size SIZE`")
  }
}
