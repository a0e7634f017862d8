import ShellLanguage

/// Reads keys from standard input one by one, in the forms in which this shell writes lists of keys.
struct IncomingKeys {
  /// A key in one namespace. If the namespace is nil, the key in all namespaces of the command.
  struct Item {
    var namespace: String?
    let key: [UInt8]
  }

  private let kind: Selection.KeyInput
  /// Standard input; nil if the keys were already read.
  private let input: Host.Input?
  private var number = 0
  /// The keys that have come before. Keys may be long, so only 128-bit digests with a secret of this process are kept.
  private var seen: Set<SIMD2<Int>> = []
  private var waiting: ArraySlice<Item> = []

  init(_ kind: Selection.KeyInput, from host: Host) throws(ShellError) {
    input = try host.takeInput()
    self.kind = kind
  }

  init(_ items: [Item]) { (kind, input, waiting) = (.lines, nil, items[...]) }

  var isEmpty: Bool { input == nil && waiting.isEmpty }

  /// The next key that is not empty and has not come before. A carriage return at the end of a line is not part of the key.
  mutating func next() throws -> Item? {
    while true {
      if let item = waiting.popFirst() {
        if !item.key.isEmpty, isNew(item) { return item }
        continue
      }
      guard var line = try input?.item(kind == .nulSeparated ? 0 : .newline, .max) else {
        return nil
      }
      number += 1
      guard kind != .nulSeparated else {
        waiting = [Item(key: line)]
        continue
      }
      if line.last == .carriageReturn { line.removeLast() }
      waiting = try kind == .lines ? [Item(key: unescaped(line))] : records(line)[...]
    }
  }

  private mutating func isNew(_ item: Item) -> Bool {
    func digest(_ part: Int) -> Int {
      var hasher = Hasher()
      hasher.combine(part)
      hasher.combine(item.namespace.map { Array($0.utf8) })
      hasher.combine(item.key)
      return hasher.finalize()
    }
    return seen.insert(SIMD2(digest(0), digest(1))).inserted
  }

  private func unescaped(_ line: [UInt8]) throws(ShellError) -> [UInt8] {
    do throws(ShellError) { return try Quoting.unescaped(plain: line) } catch {
      throw wrong(
        "is no key: \(error.message)",
        "a backslash is written twice; with -0 bytes are taken as they are")
    }
  }

  /// The records of a line: an array of records, as `json` writes it, or a single record of `jsonl`.
  private func records(_ line: [UInt8]) throws(ShellError) -> [Item] {
    if line.allSatisfy({ $0 == .space }) { return [] }
    let found: [Item?]
    do {
      let json = try JSONText(line)
      let isList = line.first == UInt8(ascii: "[")
      found = try (isList ? json.children(of: 0).map(\.value) : [0]).map { record in
        let fields = try LineFields(json, record)
        let namespace = try fields.string("namespace").map { String(decoding: $0, as: UTF8.self) }
        // A record of `watch` has only the beginning of a long key. The beginning may be the key of another entry.
        let isCut = try fields.field("key_is_cut", "true or false") { $0 == .bool(true) } ?? false
        return isCut ? nil : (try? fields.bytes("key")).map { Item(namespace: namespace, key: $0) }
      }
    } catch { throw wrong("is no record of JSON output", "`keys -o jsonl` writes such records") }
    let items = found.compactMap(\.self)
    guard items.count == found.count else {
      throw wrong("has a record without a whole key", "`keys -o jsonl` writes such records")
    }
    guard kind != .namedRecords || items.allSatisfy({ $0.namespace != nil }) else {
      throw wrong(
        "has a record without a namespace", "name a namespace in the command, or @* for all")
    }
    return items
  }

  private func wrong(_ predicate: SafeText, _ hint: SafeText) -> ShellError {
    ShellError(.usage, "line \(number) of standard input \(predicate)", hint: hint)
  }
}
