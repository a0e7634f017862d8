import Larder
import ShellLanguage

extension Command {
  static let get = CommandSpec(
    "get", aliases: ["show"], .looking, .reads,
    "Shows values; as the only command, one key into a pipe gives its bytes.", selection: .required,
    trailing: [.optional(".PATH", .path)],
    options: [
      .value("--as", .choice(ValueStyle.allCases.map(\.rawValue)), "the form of the value"),
      .value("--head", .size, "only the beginning"), .flag("--full", "all of it, however long"),
      .value("--out", .file, "write the bytes to a file"),
      .flag("--force", "with --out: replace a file; with output raw: also at a terminal"),
      .flag("--copy", "put the value on the clipboard of the terminal"), showOption,
    ],
    rules: [.atMostOne(["--head", "--full"]), .atMostOne(["--out", "--copy"])],
    plain: [
      "KEY KEY...": "[namespace] key value", "KEY KEY... .PATH": "[namespace] key value",
      "--out FILE": "namespace key file bytes",
    ],
    examples: [
      "get \"Malm\u{F6} C:07\"": "a key of the namespace in use",
      "get @thumbs 0113 --as hex --head 1kB": "the first bytes",
      "get \"Malm\u{F6} C:07\" .track": "a field of a JSON value",
      "get @departures 'Kiruna:'*": "the values of a selection",
    ]
  ).running { call, session in
    let selection = call.selection!
    let destination = ["--out", "--copy"].first(where: call.has)
    if let destination {
      guard selection.isSingleKey else {
        throw ShellError(
          .usage, "\(destination) takes one value", hint: "list one key of one namespace")
      }
      guard call.path(".PATH") == nil, !call.has("--show") else {
        throw ShellError(
          .usage, "\(destination) takes a whole value",
          hint: "`get KEY .PATH > FILE` writes a field")
      }
    }
    if session.output.presentation.mode == .raw {
      if destination == nil { try session.output.requireHarmless(unless: call.has("--force")) }
    } else if call.has("--force"), !call.has("--out") {
      throw ShellError(
        .usage, "--force requires --out", at: call.range("--force"),
        hint: "usage: `\(call.command.usage)`")
    }
    if let columns = call.columns("--show") {
      let scope = try Scope(of: call, in: session)
      let missing = try scope.selection.isOfKeys ? scope.missingKeys() : []
      if missing.count < max(1, scope.selection.patterns.count) || !session.output.isForPerson {
        try scope.list(as: .show(columns))
      }
      return try check(missing, of: scope)
    }
    if selection.isSingleKey, case .key(let key) = selection.patterns[0] {
      // A word that is not a key may name a namespace. But `--out` and `--copy` need a key, so such a word is an error.
      let value: StoredValue? =
        try destination == nil
        ? session.singleValue(key, selection.namespaces) : session.value(key, selection.namespaces)
      if let value { return try answer(value, call, in: session) }
    }
    if let path = call.path(".PATH") { return try answerAll(path, call, in: session) }
    try answerAll(call, in: session)
  }

  private static func answerAll(_ call: Invocation, in session: Session) throws {
    var scope = try Scope(of: call, in: session)
    let wantsExpired = scope.selection.wantsExpired
    var writer = ValueWriter(
      call, in: session, namesNamespaces: call.namespaces == .all || scope.namesNamespaces)
    let presentation = session.output.presentation
    if presentation.endsWithNUL, presentation.mode == .plain, !presentation.isTerminal {
      // The second walk writes values before it has read all keys, so the first walk checks the keys.
      try scope.keepInput()
      // The second walk notes the values that this program cannot read.
      session.queries.unreadable = UnreadableValues(session.unknownTransforms) { _ in }
      try scope.visitEntries {
        if $0.hasValue || wantsExpired { try AnswerWriter.checkKey($0.key.bytes) }
      }
      session.queries = session.newQueries
    }
    try writer.begin()
    let unreadable = session.skipUnreadable()
    var (missing, walked) = ([[UInt8]](), Walked())
    if scope.selection.listsKeys, !scope.selection.isArranged {
      // A walk is in the order of keys, but the answer has the order of the words. So each key gets a walk of its own.
      var part = scope
      for case .key(let key) in scope.selection.patterns {
        let before = writer.count + unreadable.count
        part.selection.patterns = [.key(key)]
        _ = try values(of: part) { try writer.write($0) }
        if writer.count + unreadable.count == before { missing.append(key) }
      }
    } else {
      walked = try values(of: scope) { try writer.write($0) }
      if scope.selection.isOfKeys {
        missing = try scope.missingKeys { $0.hasValue || wantsExpired }
      }
    }
    try writer.end(saysNothing: !missing.isEmpty || unreadable.count > 0)
    try walked.noteDamage(session.host)
    try check(missing, of: scope)
    try unreadable.check(others: writer.count)
    try walked.checkKeys()
  }

  private static func check(_ missing: [[UInt8]], of scope: Scope) throws {
    guard !missing.isEmpty else { return }
    throw try scope.session.noSuchKeys(
      missing, of: scope.selection.patterns.count, in: scope.namespaces, verb: "get")
  }

  private static func answer(_ value: StoredValue, _ call: Invocation, in session: Session) throws {
    if let path = call.path(".PATH") {
      let whole = try value.reading(most: nil, in: session)
      let found = fields(path, of: whole)
      if found.isEmpty { throw noSuchField(path, in: whole) }
      // A path with `[]` gives a list even if the list has one element, so that a script can rely on the form.
      return try session.output.writeFields(found, isList: path.parts.contains(.each))
    }
    if call.has("--copy") { return try copy(value, call, in: session) }
    if let path = call.bytes("--out") { return try save(value, to: path, call, in: session) }
    var writer = ValueWriter(call, in: session, isSingle: true)
    try writer.begin()
    try writer.write(value)
    try writer.end()
  }

  private static func answerAll(_ path: QueryPath, _ call: Invocation, in session: Session) throws {
    let scope = try Scope(of: call, in: session)
    let namesNamespaces = call.namespaces == .all || scope.namesNamespaces
    var (values, without) = (0, 0)
    let unreadable = session.skipUnreadable()
    let walked = try session.output.rows([
      Column("namespace", in: namesNamespaces ? .everywhere : .data),
      Column("key", holdsBytes: true), Column("value", title: path.text),
    ]) { write in
      try self.values(of: scope) { value in
        values += 1
        let found = fields(path, of: try value.reading(most: nil, in: session))
        if found.isEmpty { without += 1 }
        let entry = value.entry
        try write(found.map { [.text(entry.namespace), .bytes(entry.key.bytes), $0.cell] })
      }
    }
    try walked.noteDamage(session.host)
    try unreadable.check(others: values)
    try scope.checkKeys(verb: call.command.name)
    try walked.checkKeys()
    guard without == 0 else {
      throw ShellError(
        .noSuchField,
        "\(Wording.count(without)) of \(Wording.count(values, "value", "values")) \(without == 1 ? "has" : "have") no field \(path.text)",
        hint: nil)
    }
  }

  private static func fields(_ path: QueryPath, of value: StoredValue) -> [FieldText] {
    let bytes = value.readable
    return JSONLookup.ranges(of: path.parts, in: bytes.span).map { FieldText(bytes, $0) }
  }

  /// Visits the values of a selection, a few megabytes at a time.
  private static func values(
    of scope: Scope, _ body: (StoredValue) throws -> Void
  ) throws -> Walked {
    try scope.walk(readingValues: true) { entry, value -> StoredValue? in
      entry.hasValue || scope.selection.wantsExpired
        ? StoredValue(entry: entry, bytes: value.bytes) : nil
    } _: {
      for value in $0 { try body(value) }
    }
  }

  private static func noSuchField(_ path: QueryPath, in value: StoredValue) -> ShellError {
    let key = value.entry.key.bytes
    if let error = JSONText.error(in: value.readable) {
      let isCBOR = DecodedValue.isCBOR(value.bytes.span, value.entry.codec)
      let predicate =
        error.isDepth ? JSONText.tooDeep : isCBOR ? DecodedValue.unshownCBOR : "not JSON"
      return ShellError(
        .noSuchField, "the value of \(key) is \(predicate)", hint: "`get` without a path shows it")
    }
    var similar: SafeText?
    if case .field(let name)? = path.parts.first {
      similar = Suggestions.question(
        String(decoding: name, as: UTF8.self), among: JSONText.names(of: value.readable),
        form: { QueryPath(root: .value, parts: [.field(Array($0.utf8))]).text })
    }
    return ShellError(.noSuchField, "no field \(path.text) in \(key)", hint: similar)
  }

  private static func save(
    _ value: StoredValue, to path: [UInt8], _ call: Invocation, in session: Session
  ) throws {
    let file = try LocalFile.path(path)
    let writer = try session.file(at: file, replaces: call.has("--force"))
    var count = 0
    try value.forEachPiece(as: call.style, most: call.head, in: session) { bytes in
      try writer.write(bytes)
      count += bytes.count
    }
    _ = try writer.finish(true)
    try session.output.acknowledge(
      [
        "namespace": .text(value.entry.namespace),
        Column("key", holdsBytes: true): .bytes(value.entry.key.bytes),
        Column("file", holdsBytes: true): .bytes(path), "bytes": .size(count),
      ],
      sentences: ["wrote \(Wording.size(count)) to \(file)"])
  }

  /// The most bytes to copy. Some terminals drop sequences of more than 100,000 bytes, and 74,000 bytes become 98,668 in base64.
  private static let mostCopied = 74_000

  private static func copy(_ value: StoredValue, _ call: Invocation, in session: Session) throws {
    let bytes = try value.encoded(as: call.style, most: call.head, in: session)
    guard let copy = session.host.copy else {
      throw ShellError(
        .usage, "copying requires a terminal", hint: "`get KEY > FILE` writes a file")
    }
    guard bytes.count <= mostCopied else {
      throw ShellError(
        .overLimit, "the value has \(Wording.size(bytes.count)); the clipboard takes 74 kB",
        hint: "`get KEY --copy --head 74kB` copies the beginning")
    }
    try copy(bytes)
    try session.host.notify("copied \(Wording.size(bytes.count))")
  }
}

extension Invocation {
  var style: ValueStyle { choice("--as").flatMap(ValueStyle.init) ?? .auto }
  var head: Int? { number("--head") }
}
