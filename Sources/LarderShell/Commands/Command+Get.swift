import Larder
import ShellLanguage

extension Command {
  static let get = Command(
    "get", aliases: ["show"], .looking, .reads,
    "Shows the value of a key; into a pipe go its bytes and nothing else.",
    namespaces: .one, parameters: [.many("KEY", .key)],
    options: [
      .value(
        "--as", .choice(ValueStyle.allCases.map(\.rawValue)), "how to show the value"),
      .value("--head", .size, "only the beginning"),
      .flag("--full", "all of it, however long"),
      .value("--out", .file, "write the bytes to a file"),
    ],
    rules: [.atMostOne(["--head", "--full"])],
    examples: [
      Example("get \"Malm\u{F6} C:07\"", "a key of the namespace in use"),
      Example("get @thumbs 0113 --as hex --head 1kB", "the first bytes"),
      Example("get @thumbs 0113 --out thumb.png", "into a file"),
    ],
    run: showValues)

  private static func showValues(_ call: Invocation, in session: Session) throws -> Outcome {
    let namespace = try session.namespace(call.namespaces)
    let keys = call.allBytes("KEY")
    // All or nothing: a script that asks for three must not take two for all.
    for key in keys { _ = try session.entry(key, in: namespace) }
    if let path = call.bytes("--out") {
      return try save(keys, of: namespace, to: LocalFile(path, of: session), call, session)
    }
    let mode = session.presentation.mode
    switch mode {
    // No value can send an escape sequence to a terminal, unless raw is asked for.
    case .table: try show(keys, of: namespace, call, session)
    case .plain where session.settings.isTerminal: try show(keys, of: namespace, call, session)
    case .plain, .raw, .auto: try pass(keys, of: namespace, mode, call, session)
    case .json, .jsonl, .csv: try list(keys, of: namespace, call, session)
    }
    return .done
  }

  /// For a person: the facts, dim, then the value in the form that shows it best.
  private static func show(
    _ keys: [[UInt8]], of namespace: Store.Namespace, _ call: Invocation, _ session: Session
  ) throws {
    for (index, key) in keys.enumerated() {
      let value = try StoredValue(key, in: namespace, of: session)
      if index > 0 { try session.write([.newline]) }
      let view = try ValueView(value, as: call.style, head: call.head, isFull: call.has("--full"))
      try session.write(view.bytes(for: session.presentation))
    }
  }

  /// Into a pipe: the bytes, nothing added.
  private static func pass(
    _ keys: [[UInt8]], of namespace: Store.Namespace, _ mode: OutputMode, _ call: Invocation,
    _ session: Session
  ) throws {
    let endsWithNUL = session.settings.endsWithNUL
    guard keys.count == 1 || endsWithNUL else {
      throw ShellError(
        .usage, "several values would run into one another",
        hint: "-o jsonl gives an object for each, -0 a NUL behind each; or get one key")
    }
    for key in keys {
      let value = try StoredValue(key, in: namespace, of: session)
      let bytes = try value.encoded(as: call.style, head: call.head)
      if endsWithNUL {
        try session.write(bytes + [0])
      } else if mode == .raw {
        try session.write(bytes)
      } else {
        try session.writeValue(bytes)
      }
    }
  }

  /// As data: the record and the value.
  private static func list(
    _ keys: [[UInt8]], of namespace: Store.Namespace, _ call: Invocation, _ session: Session
  ) throws {
    let form = EntryForm.record(namesNamespaces: true)
    let field = call.style == .json ? "value_json" : "value"
    var writer = RowWriter(
      session.presentation,
      columns: form.columns + [Column(field, in: .data, holdsBytes: call.style != .json)],
      isObject: keys.count == 1)
    try session.write(writer.begin())
    for key in keys {
      let value = try StoredValue(key, in: namespace, of: session)
      let cell = try value.cell(as: call.style, head: call.head)
      try session.write(writer.write([form.cells(value.entry, session.wallClock) + [cell]]))
    }
    try session.write(writer.end())
  }

  private static func save(
    _ keys: [[UInt8]], of namespace: Store.Namespace, to file: LocalFile, _ call: Invocation,
    _ session: Session
  ) throws -> Outcome {
    guard keys.count == 1 else {
      throw ShellError(.usage, "--out takes one value", hint: "get one key")
    }
    let value = try StoredValue(keys[0], in: namespace, of: session)
    let bytes = try value.encoded(as: call.style, head: call.head)
    try file.write(bytes)
    try session.acknowledge(
      Reply(
        .object(
          [
            Column("namespace", in: .data), Column("key", in: .data, holdsBytes: true),
            Column("file", in: .data), Column("bytes", in: .data),
          ],
          [.text(namespace.name), .bytes(keys[0]), .text(file.path), .size(bytes.count)]),
        sentences: ["wrote \(Wording.size(bytes.count)) to \(file.path)"]))
    return .done
  }
}

extension Invocation {
  fileprivate var style: ValueStyle { choice("--as").flatMap(ValueStyle.init) ?? .auto }
  fileprivate var head: Int? { number("--head") }
}
