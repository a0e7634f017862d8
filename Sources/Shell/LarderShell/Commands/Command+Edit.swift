import Larder
import ShellLanguage

extension Command {
  static let edit = CommandSpec(
    "edit", .changing, .changes, "Opens a value in your editor and stores the result.",
    namespaces: .one, parameters: [.one("KEY", .key)],
    examples: [
      "edit @departures \"Malm\u{F6} C:07\"": "in $VISUAL, $EDITOR or vi",
      "edit note": "a key of the namespace in use; an absent one is created",
    ]
  ).running { call, session in
    guard [.prompt, .command].contains(call.line.source), let open = session.host.edit,
      session.host.ask != nil
    else {
      throw ShellError(
        .promptOnly, "edit works at a terminal only",
        hint: "`get @NS KEY > FILE`, then `set @NS KEY --from FILE`")
    }
    let namespace = try session.namespaceToWrite(call.namespaces)
    var edit = try ValueEdit(call.bytes("KEY")!, in: namespace, of: session)
    let draft = try open(edit.original, edit.isJSON ? "json" : "txt")
    do {
      if let problem = try draft.run() {
        throw ShellError(.io, "\(problem)", hint: "check $VISUAL and $EDITOR")
      }
      let entry = try edit.store(draft.contents())
      try draft.remove()
      guard let entry else { return try session.host.notify("nothing changed") }
      try session.output.acknowledge(reply(entry, in: session))
    } catch {
      // The file with the person's text is kept, so that the text is not lost.
      try session.host.notify("your text is in \(draft.path)")
      throw error
    }
  }
}

/// One edit of a value. The edit replaces only the version that was read, or a newer version if the person agrees.
private struct ValueEdit {
  let original: [UInt8]
  let isJSON: Bool
  private let key: [UInt8]
  private let namespace: Store.Namespace
  private let session: Session
  /// The version that the edit replaces; nil if there was no value.
  private var base: UInt64?

  init(_ key: [UInt8], in namespace: Store.Namespace, of session: Session) throws {
    self.key = key
    self.namespace = namespace
    self.session = session
    let found = try StoredValue.find(key, in: namespace)
    guard let found, found.entry.hasValue else {
      (original, isJSON) = ([], false)
      try ask("no entry \(key) in \(namespace.name); create it?")
      return
    }
    guard found.body == nil else {
      throw ShellError(
        .usage, "\(key) is a response whose body is in entries of its own",
        hint: "`get KEY --out FILE` writes the body to a file")
    }
    guard String(validating: found.bytes, as: UTF8.self) != nil, !found.bytes.contains(0) else {
      throw ShellError(
        .usage, "the value of \(key) is not text",
        hint: "`get KEY --out FILE`, then `set KEY --from FILE`")
    }
    original = found.bytes
    isJSON = Self.parseError(found.bytes) == nil
    base = found.entry.version
  }

  mutating func store(_ text: [UInt8]) throws -> Store.Entry? {
    var text = text
    // Most editors add a newline at the end of the file, so this newline is removed if the value did not end with a newline.
    if text.last == .newline, original.last != .newline { text.removeLast() }
    guard text != original else { return nil }
    if isJSON, let failure = Self.parseError(text) {
      try ask(
        "the value is no longer JSON (\(failure.reason) at byte \(failure.offset)); store it?")
    }
    try Command.checkSize(text, for: namespace)
    while true {
      var present: UInt64?
      let entry = try Command.store(text, under: Key(key), in: namespace, of: session) { found in
        let living = found.flatMap { $0.hasValue ? $0 : nil }
        present = living?.version
        guard present == base else { return nil }
        return living.map { EntryAttributes(keeping: $0, expires: nil) }
          ?? EntryAttributes(codec: .text)
      }
      if let entry { return entry }
      let verb = present == nil ? "removed" : "changed"
      try ask("\(key) was \(verb) by another process; overwrite?")
      base = present
    }
  }

  private func ask(_ question: SafeText) throws {
    guard let ask = session.host.ask, try ask(question) else { throw ShellError.declined }
  }

  /// The error if the text is not a JSON object or array; otherwise nil.
  private static func parseError(_ text: [UInt8]) -> JSONText.ParseError? {
    do throws(JSONText.ParseError) {
      return try JSONText(text).isStructured ? nil : JSONText.ParseError.noObject
    } catch {
      return error
    }
  }
}
