import Larder
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
    let file = file(of: call)
    // Read once: another limit after the input has been cut would let the beginning of a value pass.
    let largest = try largestValue(of: namespace)
    let value = try file.map { try session.input(from: $0).rest(largest) } ?? call.bytes("VALUE")!
    try checkSize(value, largest, for: namespace, isCut: file != nil)
    let expires: Expiration? =
      call.duration("--ttl").map { .after($0) } ?? call.deadline("--until").map { Expiration($0) }
    let clock = session.wallClock
    let end = call.duration("--ttl") == Duration.zero ? clock.now : call.deadline("--until")?.time
    // A new entry that has expired ends an existing entry, so `set` needs a confirmation, like `expire`.
    if let end, end <= clock.now, !call.has("--if-absent"),
      try namespace.entry(for: key)?.hasValue == true
    {
      let name: SafeText = "\(key) in \(namespace.name)"
      try Confirmation(call: call, session: session).require("end \(name)") {
        "The time is \(clock.distance(to: end)). End \(name)?"
      }
    }
    let entry = try store(value, under: Key(key), in: namespace, of: session) { present in
      let isThere = present?.hasValue ?? false
      if isThere, call.has("--if-absent") { return nil }
      if !isThere, call.has("--if-present") {
        throw ShellError(
          .noSuchKey, "no entry \(key) in \(namespace.name)",
          hint: "remove --if-present to create it")
      }
      let isText = String(validating: value, as: UTF8.self) != nil
      return EntryAttributes(codec: isText ? .text : .bytes, expires: expires)
    }
    guard let entry else {
      // A script tests the exit code, so only the prompt gets a note.
      if call.line.source == .prompt {
        try session.host.notify("nothing changed: \(key) exists in \(namespace.name)")
      }
      return .exitCode(ExitCode.entryExists)
    }
    try acknowledge(entry, in: namespace, of: session)
    return .done
  }

  /// Writes a value, and keeps the former entry for `undo`. If the limits of the namespace forbid this, the error names them.
  ///
  /// - Parameter attributes: Makes the attributes from the present entry; nil to write nothing.
  /// - Returns: The new entry; nil if nothing was written.
  static func store(
    _ value: [UInt8], under key: Key, in namespace: Store.Namespace, of session: Session,
    attributes: (_ present: Store.Entry?) throws -> EntryAttributes?
  ) throws -> Store.Entry? {
    try session.undo.read([(namespace, key)])
    do {
      return try session.write { batch -> Store.Entry? in
        let present = try batch.entry(for: key, in: namespace)
        guard let new = try attributes(present) else { return nil }
        session.undo.keep(present, under: key, in: namespace)
        try batch.set(value, for: key, in: namespace, new)
        return try batch.entry(for: key, in: namespace)!
      }
    } catch let error as LarderError where error.code == .full {
      guard let info = try namespace.info(), info.rules.eviction == .refuse else { throw error }
      let limits = info.rules.limits
      let former = try namespace.entry(for: key)
      let isEntries = former == nil && limits.entries.map { info.entries >= $0 } ?? false
      let isBytes =
        limits.bytes.map { info.bytes - (former?.valueSize ?? 0) + value.count > $0 } ?? false
      // The store, its file or the disk may be full instead.
      guard isEntries || isBytes else { throw error }
      let (kind, option) = isEntries ? ("entry", "--entries N") : ("byte", "--bytes SIZE")
      let used = isEntries ? Wording.count(info.entries) : Wording.size(info.bytes)
      let limit =
        isEntries ? limits.entries.map { Wording.count($0) } : limits.bytes.map(Wording.size)
      throw ShellError(
        .overLimit,
        "\(kind) limit reached in \(info.name) (\(used) of \(limit ?? "no limit"), policy refuse)",
        hint: "evict entries or raise it: `limits \(Quoting.namespace(info.name)) \(option)`")
    }
  }

  /// Answers after a write. A note follows if the other values of the namespace are encrypted, because the new value is not.
  static func acknowledge(
    _ entry: Store.Entry, in namespace: Store.Namespace, of session: Session
  ) throws {
    try session.output.acknowledge(reply(entry, in: session))
    try session.afterCommit { try session.unknownTransforms.note(namespace) }
      .map(session.host.notify)
  }

  private static func reply(_ entry: Store.Entry, in session: Session) -> Reply {
    let line: [Cell] = [.text("set"), .text(entry.namespace), .bytes(entry.key.bytes)]
    let clock = session.wallClock
    return Reply(
      .object(EntryForm.record(namesNamespaces: true).columns, EntryForm.facts(entry, clock)),
      in: [.plain: .rows(["verb", "namespace", Column("key", holdsBytes: true)], [line])],
      sentences: [
        "set \(entry.namespace) \(entry.key.bytes) (\(Wording.size(entry.size))), \(entry.end(clock))"
      ])
  }

  /// The file that has the value, or `-` for standard input; nil if the line has the value.
  private static func file(of call: Invocation) -> [UInt8]? {
    // An unquoted dash means standard input. A quoted dash is a value.
    let isDash = call.line.words.contains { $0.range == call.range("VALUE") && $0.bareText == "-" }
    return call.bytes("--from") ?? (isDash ? [UInt8(ascii: "-")] : nil)
  }

  static func largestValue(of namespace: Store.Namespace) throws -> Int {
    try namespace.info()?.rules.largestValue ?? Rules.defaultLargestValue
  }

  /// - Parameter isCut: Whether further bytes of a value that is too large were not read, so that its size is unknown.
  static func checkSize(
    _ value: [UInt8], _ largest: Int, for namespace: Store.Namespace, isCut: Bool = false
  ) throws(ShellError) {
    guard value.count > largest else { return }
    let size = isCut ? "more than \(Wording.count(largest))" : Wording.count(value.count)
    throw ShellError(
      .overLimit,
      "the value has \(size) bytes; \(namespace.name) takes at most \(Wording.count(largest))",
      hint: "raise it: `limits \(Quoting.namespace(namespace.name)) --entry-size SIZE`")
  }
}
