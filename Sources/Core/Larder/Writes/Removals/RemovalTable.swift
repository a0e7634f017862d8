import LMDB
import LarderSystem

/// The file `removals`: the last removals of keys, namespaces and tags. With this file, a load that began before a removal does
/// not store the removed value again.
///
/// Removals are numbered. The hash of the removed key, namespace, tag, or tag in a namespace chooses a word of the file. Inside the
/// write transaction the word gets the number, and after the commit the number counts as finished. A load reads the last finished
/// number before its lookup, and at its end stores no value if a word of its hashes has a higher number. If two hashes share a
/// word or a process is killed before its commit, a load may be refused without need. But no removed value returns.
package struct RemovalTable {
  private static let words = 1 << 14
  private enum Place {
    /// The number of the last removal that has begun. Changed under the writer lock if the write buffer is frozen (takes no
    /// records), otherwise under the lock of the write buffer.
    static let begun = 0
    static let finished = 1
    /// A random number that distinguishes this file from earlier and later files at the same path.
    static let era = 2
    static let first = 8
  }
  private static let count = 2 * (Place.first + words)

  package struct Mark: Hashable, Sendable {
    /// The random number of the file; 0 if there was no file.
    fileprivate var era: UInt64
    fileprivate var number: UInt64
    var isKnown: Bool { era != 0 }
  }

  private let table: SharedTable

  init(of environment: Environment, store: [UInt8]) {
    table = SharedTable(.removals, layout: 2, store: store, of: environment) { $0 == Self.count }
  }

  /// Maps the file for writing, and makes the file if it is missing. Returns whether the file is mapped.
  @discardableResult
  func open() -> Bool {
    table.open(making: Self.count) { $0.store(UInt64.random(in: 1 ... .max), wide: Place.era) }
  }

  /// The number of the last finished removal, for a load that has not looked up its key yet.
  var now: Mark {
    openForReading()
    let view = table.view
    guard view.count > 0, case let finished = view.acquire(Place.finished),
      finished <= view.acquire(Place.begun)
    else { return Mark(era: 0, number: 0) }
    return Mark(era: view.wide(Place.era), number: finished)
  }

  func isNewest(_ moment: Mark, of hashes: [UInt64]) -> Bool {
    openForReading()
    let view = table.view
    // No file means no removals. But if the load began with a file, that file may have had removals, so the result is false.
    guard view.count > 0 else { return !moment.isKnown }
    return view.wide(Place.era) == moment.era
      && hashes.allSatisfy { view.acquire(Self.place(of: $0)) <= moment.number }
  }

  /// The number of the last removal that had one of these hashes; 0 if there was no such removal.
  func last(of hashes: [UInt64]) -> UInt64 {
    openForReading()
    let view = table.view
    return view.count > 0 ? hashes.map { view.acquire(Self.place(of: $0)) }.max() ?? 0 : 0
  }

  private func openForReading() { if table.view.count == 0 { table.openForReading() } }

  private static func place(of hash: UInt64) -> Int { Place.first + Int(hash % UInt64(words)) }

  func begin() -> UInt64? {
    guard open() else {
      discard()
      return nil
    }
    let number = settle() + 1
    let view = table.view
    guard view.isWritable else { return nil }
    view.store(number, wide: Place.begun)
    return number
  }

  /// Without the file, no load that has begun stores its value.
  func discard() { table.remove() }

  /// Keeps a higher number, because a later commit of an invalidation records removals with the number of its first commit.
  func record(_ hash: UInt64, _ number: UInt64) {
    let view = table.view
    let place = Self.place(of: hash)
    if view.isWritable, view.acquire(place) < number { view.release(number, to: place) }
  }

  /// Marks removals as finished, after the transactions of other writers have ended: all removals if `number` is nil, otherwise
  /// the removals before `number`. Returns the number of the last removal that has begun.
  @discardableResult
  func settle(before number: UInt64? = nil) -> UInt64 {
    let view = table.view
    guard view.isWritable else { return 0 }
    let begun = view.acquire(Place.begun)
    guard view.acquire(Place.finished) <= begun, begun < UInt64.max / 2, view.wide(Place.era) != 0
    else {
      // The file is damaged, so it gets a new era. Loads of an earlier era then do not store their values.
      view.store(UInt64.random(in: 1 ... .max), wide: Place.era)
      view.store(0, wide: Place.begun)
      view.release(0, to: Place.finished)
      return 0
    }
    finish(number.map { $0 - 1 } ?? begun)
    return begun
  }

  /// Lowers words that are higher than the number of every removal. Such words are damaged, and would refuse every load for ever.
  func mend(_ hashes: [UInt64]) {
    let view = table.view
    guard view.isWritable else { return }
    let begun = view.acquire(Place.begun)
    for place in hashes.map(Self.place) where view.acquire(place) > begun {
      view.release(begun, to: place)
    }
  }

  /// Marks the removal `number` and all earlier removals as finished, which means committed or rolled back. Needs no lock.
  func finish(_ number: UInt64) {
    let view = table.view
    guard view.isWritable, number <= view.acquire(Place.begun) else { return }
    while true {
      let known = view.acquire(Place.finished)
      if known >= number || view.exchange(known, for: number, at: Place.finished) { return }
    }
  }

  /// The hash for all entries of a namespace. ``Checksum/keyHash(of:in:)`` is the hash for a single entry.
  static func hash(ofNamespace name: String) -> UInt64 {
    Checksum.of(Array(name.utf8).span, seed: 0x6E61_6D65_0000_0000)
  }

  /// The hash for all entries of the store. No namespace has this hash, because no namespace has an empty name.
  static let hashOfStore = hash(ofNamespace: "")

  /// The hash for the invalidation of a tag in one namespace, or in all if `namespace` is nil.
  static func hash(ofTag tag: [UInt8], in namespace: String?) -> UInt64 {
    Checksum.of(tag.span, seed: namespace.map(hash(ofNamespace:)) ?? 0x7461_6773_0000_0000)
  }

  /// The hashes for all invalidations that concern an entry of the namespace with these tags.
  static func hashes(ofTags tags: [[UInt8]], in namespace: String) -> [UInt64] {
    tags.flatMap { [hash(ofTag: $0, in: nil), hash(ofTag: $0, in: namespace)] }
  }

  /// The hashes under which the removal of an owner is recorded. `id` is nil if the namespace of the owner does not exist.
  static func hashes(of owner: Owner, in id: NamespaceID?) -> [UInt64] {
    let namespace = hash(ofNamespace: owner.namespace)
    return [namespace] + (id.map { [Checksum.keyHash(of: owner.key.bytes.span, in: $0)] } ?? [])
  }
}
