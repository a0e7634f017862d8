import Larder
import ShellLanguage

extension Command {
  static let set = Command(
    "set", aliases: ["put"], .changing, .changes, "Stores a value under a key.",
    namespaces: .one, parameters: [.one("KEY", .key), .optional("VALUE", .data)],
    options: [
      .value("--from", .file, "the value is the content of a file, - is standard input"),
      .value("--ttl", .duration, "how long it lives"),
      .value("--until", .deadline, "when it expires"),
      .flag("--if-absent", "only if there is no such key"),
      .flag("--if-present", "only if there is one"),
    ],
    rules: [
      .exactlyOne(["VALUE", "--from"]), .atMostOne(["--ttl", "--until"]),
      .atMostOne(["--if-absent", "--if-present"]),
    ],
    examples: [
      Example("set @departures \"Malm\u{F6} C:07\" '{\"track\":4}' --ttl 15m", "for a quarter"),
      Example("set @articles 000017 --from page.html --until monday", "a file"),
      Example("set @flags beta on --if-absent", "unless it is there"),
    ],
    run: storeValue)

  private static func storeValue(_ call: Invocation, in session: Session) throws -> Outcome {
    let namespace = try session.namespaceToWrite(call.namespaces)
    let key = call.bytes("KEY")!
    let value = try value(of: call, in: session)
    try checkSize(value, for: namespace, of: session)
    let expires: Expiration? =
      call.duration("--ttl").map { .after($0) } ?? call.deadline("--until").map { Expiration($0) }
    let entry = try session.store.write { batch in
      let present = try batch.entry(for: key, in: namespace)
      let isThere = present.map(\.hasValue) ?? false
      if isThere, call.has("--if-absent") {
        throw ShellError(
          .exists, "there is an entry \(key) in \(namespace.name)",
          hint: "without --if-absent it is replaced")
      }
      if !isThere, call.has("--if-present") {
        throw ShellError(
          .noSuchKey, "no entry \(key) in \(namespace.name)",
          hint: "without --if-present it is made")
      }
      if let text = String(validating: value, as: UTF8.self) {
        try batch.set(text, for: key, in: namespace, expires: expires)
      } else {
        try batch.set(value, for: key, in: namespace, expires: expires)
      }
      return try batch.entry(for: key, in: namespace)!
    }
    try session.acknowledge(reply(entry, in: session))
    return .done
  }

  private static func reply(_ entry: Store.Entry, in session: Session) -> Reply {
    guard session.presentation.mode != .plain else {
      return Reply(
        .rows(
          [Column("verb"), Column("namespace"), Column("key", holdsBytes: true)],
          [[.text("set"), .text(entry.namespace), .bytes(entry.key.bytes)]]))
    }
    let form = EntryForm.record(namesNamespaces: true)
    let clock = session.wallClock
    let end =
      entry.expires == nil
      ? "never expires" : "expires \(clock.expiryAndClock(entry.expires?.unix))"
    return Reply(
      .object(form.columns, form.cells(entry, clock)),
      sentences: [
        "set \(entry.namespace) \(entry.key.bytes) (\(Wording.size(entry.size))), \(end)"
      ])
  }

  private static func value(of call: Invocation, in session: Session) throws -> [UInt8] {
    guard let source = call.bytes("--from") else { return call.bytes("VALUE")! }
    guard source == Array("-".utf8) else {
      return try LocalFile(source, of: session).contents()
    }
    guard let input = session.host.input else { throw ShellError.inputIsTaken }
    return try input.rest()
  }

  private static func checkSize(
    _ value: [UInt8], for namespace: Store.Namespace, of session: Session
  ) throws {
    let facts = try session.store.namespaces().first { $0.name == namespace.name }
    let largest = facts?.rules.largestValue ?? Rules.defaultLargestValue
    guard value.count <= largest else {
      throw ShellError(
        .overLimit,
        "the value has \(Wording.count(value.count)) bytes, and \(namespace.name) takes \(Wording.count(largest)) at most",
        hint: "limits @\(namespace.name) shows the rule, and --entry-size changes it")
    }
  }
}
