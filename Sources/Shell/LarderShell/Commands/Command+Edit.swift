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
    guard [.prompt, .command].contains(call.line.source), let edit = session.host.edit,
      let ask = session.host.ask
    else {
      throw ShellError(
        .promptOnly, "edit works at a terminal only",
        hint: "`get @NS KEY > FILE`, then `set @NS KEY --from FILE`")
    }
    func confirm(_ question: SafeText) throws {
      guard try ask(question) else { throw ShellError.declined }
    }
    let namespace = try session.namespaceToWrite(call.namespaces)
    let key = call.bytes("KEY")!
    let found = try textValue(under: key, in: namespace)
    if found == nil { try confirm("no entry \(key) in \(namespace.name); create it?") }
    let original = found?.bytes ?? []
    let isJSON = found?.entry.codec == .json || (try? JSONText(original))?.isStructured == true
    var entry: Store.Entry?
    try edit(original, isJSON ? "json" : "txt") { edited in
      var text = edited
      // Most editors add a newline at the end of the file, so this newline is removed if the value did not end with a newline.
      if text.last == .newline, original.last != .newline { text.removeLast() }
      guard text != original else { return }
      if isJSON, let failure = JSONText.error(in: text) {
        try confirm(
          "the value is no longer JSON (\(failure.reason) at byte \(failure.offset)); store it?")
      }
      try checkSize(text, largestValue(of: namespace), for: namespace)
      entry = try replace(
        found?.entry.version, by: text, under: key, in: namespace, of: session, confirm)
    }
    guard let entry else { return try session.host.notify("nothing changed") }
    try acknowledge(entry, in: namespace, of: session)
  }

  /// The value for the editor; nil if there is no value. Throws if the value is not text.
  private static func textValue(
    under key: [UInt8], in namespace: Store.Namespace
  ) throws -> StoredValue? {
    guard let found = try StoredValue.find(key, in: namespace), found.entry.hasValue else {
      return nil
    }
    guard found.body == nil else {
      throw ShellError(
        .usage, "\(key) is a response whose body is in entries of its own",
        hint: "`get KEY --out FILE` writes the body to a file")
    }
    guard String(validating: found.bytes, as: UTF8.self) != nil, !found.bytes.contains(0),
      DecodedValue.kind(found.bytes.span, found.entry.codec) == nil
    else {
      throw ShellError(
        .usage, "the value of \(key) is not text",
        hint: "`get KEY --out FILE`, then `set KEY --from FILE`")
    }
    return found
  }

  /// Replaces the version `base` of a value (nil for an absent value), or a newer version if the person confirms.
  private static func replace(
    _ base: UInt64?, by text: [UInt8], under key: [UInt8], in namespace: Store.Namespace,
    of session: Session, _ confirm: (SafeText) throws -> Void
  ) throws -> Store.Entry {
    var base = base
    while true {
      var present: UInt64?
      let entry = try store(text, under: Key(key), in: namespace, of: session) { found in
        let living = found.flatMap { $0.hasValue ? $0 : nil }
        present = living?.version
        guard present == base else { return nil }
        return living.map { EntryAttributes(keeping: $0, expires: nil) }
          ?? EntryAttributes(codec: .text)
      }
      if let entry { return entry }
      let verb = present == nil ? "removed" : "changed"
      try confirm("\(key) was \(verb) by another process; overwrite?")
      base = present
    }
  }
}
