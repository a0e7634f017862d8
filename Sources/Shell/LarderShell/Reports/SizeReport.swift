import Larder
import LarderSystem
import ShellLanguage

/// The answer of `sizes`: groups of entries with their bytes, and the total.
struct SizeReport {
  enum Grouping: String, CaseIterable { case namespace, prefix, key }

  private struct Group {
    /// The namespace and the key or prefix of the group. For a whole namespace, the key is empty.
    var name: EntryID
    var tally = Tally()
    /// The expiry of the first entry in the group. Only a group of one key shows this expiry.
    var expires: Timestamp?

    static func precedes(_ a: Group, _ b: Group) -> Bool {
      (b.tally.bytes, b.tally.entries, a.name.namespace.string, Key(a.name.key))
        < (a.tally.bytes, a.tally.entries, b.name.namespace.string, Key(b.name.key))
    }
  }

  /// The store orders long keys by their first 238 bytes and a hash, so the entries of a longer prefix may be apart.
  private static let longestTogether = 238

  private let grouping: Grouping
  private let depth: Int
  private let separator: [UInt8]
  private let namesNamespaces: Bool
  private var groups: FirstOf<Group>
  /// The group to which entries are added now. In the order of keys, the entries of a prefix follow each other. So `groups`
  /// holds at most 1,000 groups, or twice as many as the answer shows.
  private var open: Group?
  /// The groups whose entries do not follow each other.
  private var scattered: [EntryID: Group] = [:]
  private var total = Tally()
  /// The compressed entries with their stored bytes, and the number of bytes before compression.
  private var compressed = (stored: Tally(), plain: 0)

  init(of scope: Scope, by grouping: Grouping, depth: Int, separator: [UInt8], top: Int) throws {
    self.grouping = grouping
    self.depth = depth
    self.separator = separator
    namesNamespaces = scope.namesNamespaces
    groups = FirstOf(
      most: top, pause: scope.session.host.checkInterruption, precedes: Group.precedes)
    // The counters do not show the effect of compression, so the entries are read if values may be compressed.
    if grouping == .namespace, try scope.isCounted() {
      for namespace in scope.namespaces {
        let tally = try Scope(all: [namespace], in: scope.session).tally().fresh
        total += tally
        try groups.add(Group(name: EntryID(namespace.name), tally: tally))
      }
      return
    }
    let isInOrder = EntryOrder(scope.selection) == nil && scope.selection.input == nil
    do {
      try scope.visitEntries(showing: "adding up") { try add($0, isInOrder: isInOrder) }
        .note(scope.session.host)
    } catch is Interruption {
      throw ShellError.interrupted(
        "added up \(total.words)", hint: "name a namespace or a prefix to add up less")
    }
    if let open { try groups.add(open) }
    for group in scattered.values { try groups.add(group) }
  }

  private mutating func add(_ entry: Store.Entry, isInOrder: Bool) throws {
    let name =
      switch grouping {
      case .namespace: EntryID(entry.namespace)
      case .prefix: EntryID(entry.namespace, prefix(of: entry.key.bytes))
      case .key: EntryID(entry)
      }
    total.add(entry)
    if entry.transforms.contains(.zstd) {
      compressed.stored.add(entry)
      compressed.plain += entry.size
    }
    let isApart =
      grouping == .prefix && name.key.count > Self.longestTogether
      && name.key.suffix(separator.count).elementsEqual(separator)
    guard isInOrder, !isApart else {
      return scattered[name, default: Group(name: name, expires: entry.expires)].tally.add(entry)
    }
    if open?.name != name {
      if let open { try groups.add(open) }
      open = Group(name: name, expires: entry.expires)
    }
    open!.tally.add(entry)
  }

  /// The part of a key up to the end of separator number `depth`. The whole key if the key has fewer separators.
  private func prefix(of key: [UInt8]) -> [UInt8] {
    var end = 0
    for _ in 0..<depth {
      guard let found = key[end...].firstRange(of: separator, pause: {}) else { return key }
      end = found.upperBound
    }
    return Array(key[..<end])
  }

  mutating func reply(limit: Int?) throws -> Reply {
    let sorted = try groups.sorted()
    var running = Tally()
    let rows = sorted.map { group -> [Cell] in
      running += group.tally
      let share = share(group.tally.bytes)
      return [
        .text(group.name.namespace.string), grouping == .namespace ? .null : .bytes(group.name.key),
        .number(group.tally.entries), .size(group.tally.bytes), .share(share), .bar(share),
        .size(running.bytes), .share(self.share(running.bytes)), .expiry(group.expires?.unix),
      ]
    }
    var table = rows
    if groups.count > rows.count {
      let rest = total - running
      let share = share(rest.bytes)
      let words = "\(Wording.count(groups.count - rows.count)) more"
      table.append(row(words, rest, [.share(share), .bar(share), .blank, .share(1), .blank]))
    }
    let ofLimit = limit.map { limit -> Cell in
      let share = limit == 0 ? 1 : Double(total.bytes) / Double(limit)
      return .text("of \(Wording.size(limit)) (\(Wording.percent(share)))")
    }
    table.append(row("total", total, [.blank, ofLimit ?? .blank, .blank, .blank, .blank]))
    return Reply(
      .rows(columns, rows), in: [.table: .rows(columns, table)],
      notes: compression.map { [$0] } ?? [])
  }

  /// Words such as `compressed: 120 of 300 entries, 34 kB in place of 120 kB (28 %)`; nil if no visited entry is compressed.
  private var compression: SafeText? {
    let (stored, plain) = compressed
    guard stored.entries > 0 else { return nil }
    let share = Wording.percent(Double(stored.bytes) / Double(max(plain, 1)))
    return
      "compressed: \(Wording.count(stored.entries)) of \(Wording.entries(total.entries)), \(Wording.size(stored.bytes)) in place of \(Wording.size(plain)) (\(share))"
  }

  private var showsNamespaces: Bool { grouping == .namespace || namesNamespaces }

  private var columns: [Column] {
    let isKeys = grouping == .key
    return [
      Column("namespace", in: showsNamespaces ? .everywhere : .data),
      Column(
        isKeys ? "key" : "prefix", in: grouping == .namespace ? [] : .everywhere, holdsBytes: true),
      Column("entries", in: isKeys ? .data : .everywhere), Column("bytes", title: "size"),
      Column("share", in: [.table, .data]), Column("bar", title: "", in: .table),
      Column("running_total", in: .data), Column("so far", in: .table),
      Column("expires", in: isKeys ? [.table, .data] : []),
    ]
  }

  private func share(_ bytes: Int) -> Double {
    total.bytes == 0 ? 0 : Double(bytes) / Double(total.bytes)
  }

  /// A row below the groups, such as `total  3,540  9.1 MB        of 64 MB (14 %)`.
  private func row(_ words: String, _ tally: Tally, _ shares: [Cell]) -> [Cell] {
    let name: [Cell] = showsNamespaces ? [.text(words), .blank] : [.blank, .text(words)]
    return name + [.number(tally.entries), .size(tally.bytes)] + shares
  }
}
