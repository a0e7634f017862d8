/// The entries to which a command applies. All commands with a selection accept the same words.
package struct Selection: Sendable, Equatable {
  package enum Pattern: Sendable, Equatable {
    case key([UInt8])
    case glob(Glob)

    package var isGlob: Bool { if case .glob = self { true } else { false } }

    package func matches(_ key: [UInt8]) -> Bool {
      switch self {
      case .key(let exact): key == exact
      case .glob(let glob): glob.matches(key)
      }
    }
  }

  package enum Sort: Sendable, Hashable {
    case key, size, expiry, written, used
    case operand(QueryOperand)

    private static let facts: [(name: String, sort: Sort)] = [
      ("key", .key), ("size", .size), ("expiry", .expiry), ("written", .written), ("used", .used),
    ]

    package static var names: [String] { facts.map(\.name) }

    static func named(_ name: String) -> Sort? { facts.first { $0.name == name }?.sort }
  }

  package enum KeyInput: Sendable, Hashable {
    /// One key on each line, escaped as in plain output.
    case lines
    /// Exact keys that end with NUL.
    case nulSeparated
    /// The records of JSON output, in an array or each on its own line.
    case records
    /// Records that must each name a namespace.
    case namedRecords
  }

  package init(namespaces: NamespaceChoice) { self.namespaces = namespaces }

  package var namespaces: NamespaceChoice
  /// The patterns. A key must match at least one pattern. If there are no patterns, every key matches.
  package var patterns: [Pattern] = []
  /// The conditions. An entry must meet all conditions. Each filter option adds one condition.
  package var filters: [Expression] = []
  package var sort: Sort?
  package var isReversed = false
  /// The limit of `--limit`; `Int.max` for `all`. If nil, the command chooses a limit.
  package var limit: Int?
  package var most: Int { limit ?? .max }
  package var after: [UInt8]?
  package var input: KeyInput?
  /// Whether patterns, regular expressions and contained text ignore case.
  package var ignoresCase = false

  package var isBare: Bool {
    namespaces == .unnamed && patterns.isEmpty && filters.isEmpty && input == nil
  }

  package var conditions: [Expression] { filters.flatMap(\.conjuncts) }

  /// Whether the selection asks for expired entries that are still in the file. Other selections hide such entries.
  package var wantsExpired: Bool { conditions.contains(.isExpired) }

  /// Whether a walk in the order of keys can find the entries without their facts and values.
  package var needsKeysOnly: Bool {
    filters.isEmpty && sort ?? .key == .key && !isReversed && input == nil
      && patterns.allSatisfy(\.isGlob)
  }

  /// Ranges without overlap, in the order of keys, that contain all keys of the selection except keys from standard input.
  package var ranges: [KeyRange] {
    guard !patterns.isEmpty else {
      return input == nil ? [conditions.lazy.compactMap(\.range).first ?? .prefix([])] : []
    }
    var prefixes: [[UInt8]] = []
    var keys: Set<[UInt8]> = []
    for pattern in patterns {
      switch pattern {
      case .key(let key): keys.insert(key)
      case .glob(let glob): prefixes.append(glob.prefix)
      }
    }
    // The order puts a prefix directly before longer prefixes with the same beginning, so one pass drops the longer prefixes.
    var apart: [[UInt8]] = []
    for prefix in prefixes.sorted(by: { $0.lexicographicallyPrecedes($1) })
    where !(apart.last.map(prefix.starts) ?? false) {
      apart.append(prefix)
    }
    let alone = keys.filter { key in !apart.contains(where: key.starts) }
    return (apart.map(KeyRange.prefix) + alone.map(KeyRange.key))
      .sorted { $0.start.lexicographicallyPrecedes($1.start) }
  }

  /// Whether the words list keys without conditions. If so, a change needs no confirmation, and an absent key is an error.
  package var listsKeys: Bool { isOfKeys && filters.isEmpty }

  /// Whether the words list one key in at most one namespace. If so, the answer is only the value.
  package var isSingleKey: Bool {
    if case .named(let names) = namespaces, names.count > 1 { return false }
    return listsKeys && patterns.count == 1 && namespaces != .all && !isArranged
  }

  /// Whether the words ask for a sort order, or for only a part of the entries.
  package var isArranged: Bool { sort != nil || limit != nil || after != nil || isReversed }

  /// Whether the words are keys, without patterns and without keys from standard input.
  package var isOfKeys: Bool {
    !patterns.isEmpty && input == nil && !patterns.contains(where: \.isGlob)
  }

  /// Whether the selection has only the keys of records from standard input.
  package var isOfRecords: Bool { patterns.isEmpty && input == .records }
}

/// A range of keys that contains every match of a pattern. Keys outside the range need not be read.
package enum KeyRange: Sendable, Hashable {
  case key([UInt8])
  case prefix([UInt8])

  fileprivate var start: [UInt8] {
    switch self {
    case .key(let bytes), .prefix(let bytes): bytes
    }
  }

  package func contains(_ key: [UInt8]) -> Bool {
    switch self {
    case .key(let own): own == key
    case .prefix(let prefix): key.starts(with: prefix)
    }
  }
}
