import Larder

/// Makes a cache hold what a source has, and says what that changed.
///
/// Entities are compared as the bytes they are stored as. One that is stored alike is left alone as long as at least half
/// of its lifetime is ahead; otherwise it is written again, which begins its time anew. So loading the same dump every
/// day costs little, and nothing that the dump still has expires between two loads. What the source no longer has is
/// removed, but only once its kind was read to the end, and only what was stored when the import of that kind began.
/// Expired entities count as absent, whether or not somebody has purged them.
///
/// An import works in batches, each of which is whole. One that fails leaves those before it in the store and removes
/// nothing of the kind it failed in; the next import completes it.
public struct LegoImport: Sendable {
  public let cache: LegoCache
  /// How many entities become visible together.
  public var batch = 2000

  public init(into cache: LegoCache) { self.cache = cache }

  /// How far an import has come.
  public struct Progress: Sendable {
    public var kind: EntityKind
    /// Entities of this kind dealt with.
    public var done: Int
  }

  /// Imports `kinds` of `source`. Keys are held in memory, entities only a batch of them.
  ///
  /// Throws a ``DumpError`` for what is wrong with the source and a `LarderError` for what is wrong with the store.
  public func run(
    _ source: some EntitySource, kinds: [EntityKind] = EntityKind.allCases,
    progress: @escaping (Progress) throws -> Void = { _ in }
  ) throws -> ImportReport {
    let present = Set(source.kinds)
    var report = ImportReport()
    for kind in EntityKind.allCases where kinds.contains(kind) {
      guard present.contains(kind) else {
        report.omit(kind, because: .absent)
        continue
      }
      guard let rules = cache.lifetimes[kind].rules else {
        report.omit(kind, because: .off)
        continue
      }
      let tally =
        switch kind {
        case .colors: try load(rules, source.colors, progress)
        case .themes: try load(rules, source.themes, progress)
        case .categories: try load(rules, source.categories, progress)
        case .parts: try load(rules, source.parts, progress)
        case .sets: try load(rules, source.setsAndMinifigs, progress)
        case .elements: try load(rules, source.elements, progress)
        case .partColors: try load(rules, source.partColors, progress)
        }
      report.note(tally, of: kind)
    }
    return report
  }

  private func load<Entity: LegoEntity>(
    _ rules: Rules, _ read: ((Entity) throws -> Void) throws -> Int,
    _ progress: @escaping (Progress) throws -> Void
  ) throws -> ImportReport.Tally {
    let codec = JSONCodec<Entity>()
    var load = try KindImport(Entity.kind, into: cache, rules: rules, batch: batch)
    _ = try read { entity in
      if try load.add(entity.key, try codec.encode(entity)) {
        try progress(Progress(kind: Entity.kind, done: load.tally.read))
      }
    }
    try load.finish()
    try progress(Progress(kind: Entity.kind, done: load.tally.read))
    return load.tally
  }
}
