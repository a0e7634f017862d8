/// The keys a pattern can be about: a stretch in their order, so that nothing else is read.
enum KeyRange: Sendable, Hashable {
  case key([UInt8])
  case prefix([UInt8])

  fileprivate var start: [UInt8] {
    switch self {
    case .key(let bytes), .prefix(let bytes): bytes
    }
  }
}

extension Selection {
  /// Ranges without overlap, in the order of keys, that hold every key which a pattern matches.
  var ranges: [KeyRange] {
    guard !patterns.isEmpty else { return input == nil ? [.prefix(matchPrefix)] : [] }
    var prefixes: [[UInt8]] = []
    var keys: Set<[UInt8]> = []
    for pattern in patterns {
      switch pattern {
      case .key(let key): keys.insert(key)
      case .glob(let glob): prefixes.append(glob.prefix)
      }
    }
    // A prefix stands right before those it begins.
    var apart: [[UInt8]] = []
    for prefix in prefixes.sorted(by: { $0.lexicographicallyPrecedes($1) })
    where !(apart.last.map(prefix.starts) ?? false) {
      apart.append(prefix)
    }
    let alone = keys.filter { key in !apart.contains(where: key.starts) }
    return (apart.map(KeyRange.prefix) + alone.map(KeyRange.key))
      .sorted { $0.start.lexicographicallyPrecedes($1.start) }
  }

  /// The words name keys and nothing else: what is not there was expected to be.
  var isOfKeys: Bool {
    !patterns.isEmpty && input == nil
      && patterns.allSatisfy { if case .key = $0 { true } else { false } }
  }

  /// Every key that passes `--match` begins with this.
  private var matchPrefix: [UInt8] {
    for case .match(let glob) in filters { return glob.prefix }
    return []
  }
}
