import LMDB
import LarderSystem

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A position in a namespace's listing. The cursor stays valid after a restart and after other writes, even after the removal
/// of the entry at the position. The cursor becomes invalid when the namespace is cleared.
///
/// The text of a cursor is opaque and may be given to clients. The text is valid only in one namespace of one store.
public struct PageCursor: Sendable, Hashable, CustomStringConvertible {
  /// The text of the cursor: base64 with the alphabet for URLs, without padding.
  public let description: String

  private static let layout: UInt8 = 1

  /// Makes a cursor from its text. If the text is malformed, ``Store/Namespace/page(limit:after:prefix:)`` throws.
  public init(_ text: String) { description = text }

  init(store: [UInt8], entryKey: [UInt8]) {
    var bytes = [Self.layout] + store.prefix(8) + entryKey
    bytes.append(littleEndian: Self.checksum(of: bytes))
    description = Self.text(of: bytes)
  }

  private static func checksum(of body: [UInt8]) -> UInt32 {
    UInt32(truncatingIfNeeded: Checksum.of(body.span, seed: 4))
  }

  private static func text(of bytes: [UInt8]) -> String {
    Data(bytes).base64EncodedString()
      .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
  }

  /// The entry key at the cursor's position. Throws for a malformed cursor, and for a cursor of another store or namespace.
  func entryKey(store: [UInt8], id: NamespaceID, namespace: String) throws(LarderError) -> [UInt8] {
    let padding = String(repeating: "=", count: (4 - description.utf8.count % 4) % 4)
    let text = description.replacing("-", with: "+").replacing("_", with: "/") + padding
    // Base64 ignores spare bits of the last letter, so several texts give equal bytes. Accepts only the text of `text(of:)`.
    guard let bytes = Data(base64Encoded: text).map({ Array($0) }), bytes.count >= 19,
      Self.text(of: bytes) == description, bytes[0] == Self.layout,
      bytes.u32(bytes.count - 4) == Self.checksum(of: Array(bytes.dropLast(4)))
    else { throw bad("it is malformed") }
    let entryKey = Array(bytes[9..<bytes.count - 4])
    guard bytes[1..<9].elementsEqual(store.prefix(8)) else { throw bad("it is of another store") }
    guard entryKey.span.namespaceID == id else {
      throw bad("it is of another namespace than \(namespace), or that was cleared since")
    }
    return entryKey
  }

  private func bad(_ reason: String) -> LarderError {
    LarderError(
      .badCursor, "the page cursor \"\(description)\" cannot be used: \(reason)",
      hint: "begin again with the first page")
  }
}

/// One part of a listing.
public struct Page<Item: Sendable>: Sendable {
  /// The items in order.
  public var items: [Item]
  /// The position of the next page; nil on the last page.
  public var next: PageCursor?
}

extension Store.Namespace {
  /// Up to `limit` entries in key order, after `cursor`, without expired entries. First commits the write buffer.
  ///
  /// An entry that exists from the first page to the last is on exactly one page, even if writes come between the pages. Throws
  /// ``LarderError/Code/badCursor`` for a malformed cursor or a cursor of another namespace,
  /// ``LarderError/Code/invalidArgument`` for a limit below 1, and the errors of ``Store/read(_:)``.
  public func page(
    limit: Int = 100, after cursor: PageCursor? = nil, prefix: some StoreKey = [UInt8]()
  ) throws(LarderError) -> Page<Store.Entry> {
    guard limit >= 1 else {
      throw .impossible("a page of \(limit) entries", hint: "ask for 1 or more")
    }
    var items: [Store.Entry] = []
    var last: [UInt8] = []
    var isMore = false
    try engine.typed {
      try visitEntries(prefix: prefix.copied, after: cursor, includingExpired: false) {
        found, entry, _, _ in
        isMore = items.count >= limit
        if isMore { return false }
        items.append(entry)
        last = found.entryKey
        return true
      }
    }
    return Page(
      items: items, next: isMore ? PageCursor(store: engine.identity, entryKey: last) : nil)
  }

  /// The keys that begin with `prefix` and have a fresh entry, in key order. Omits negative entries.
  ///
  /// First commits the write buffer; see ``Store/read(_:)`` for its errors. The whole list is in memory, so for many entries
  /// use ``page(limit:after:prefix:)`` or ``scanValues(prefix:after:_:)``. O(entries with the prefix).
  public func keys(prefix: some StoreKey = [UInt8]()) throws(LarderError) -> [Key] {
    var keys: [Key] = []
    try engine.typed {
      try scanKeys(prefix: prefix.copied, areFresh: true) {
        keys.append(Key($0.copied))
        return true
      }
    }
    return keys
  }

  /// The keys of the fresh entries that carry all of the tags, in key order. Omits negative entries.
  ///
  /// Uses one snapshot and the index of the first tag, so name the rarest tag first. O(entries with the first tag).
  ///
  /// - Throws: ``LarderError/Code/invalidArgument`` for an invalid tag or an empty list of tags.
  public func keys(tags: [String]) throws(LarderError) -> [Key] {
    let tags = try EntryAttributes.validated(all: tags)
    return try inSnapshot(ifAbsent: []) { id, transaction in
      var entryKeys: [[UInt8]] = []
      try transaction.forEach(in: engine.indexes.tags, from: tags[0] + [0] + id.prefix) { key, _ in
        if let entryKey = IndexKey.tagged(key.copied) { entryKeys.append(entryKey) }
      }
      return try entryKeys.compactMap { entryKey in
        guard let entry = try transaction.entry(at: entryKey), let key = entry.key,
          tags.allSatisfy(entry.fields.tags.contains),
          try engine.reader.lookUp(key.span, of: handle, in: transaction).outcome == .fresh
        else { return nil }
        return Key(key)
      }
    }
  }

  /// A cursor directly after `key`, even if no entry has this key. Throws ``LarderError/Code/invalidArgument`` for a bad key.
  package func cursor(after key: some StoreKey) throws(LarderError) -> PageCursor {
    let id = try engine.reader.identify(handle, in: engine.beginRead())
    return try key.withKeyBytes { key throws(LarderError) in
      guard (1...Key.longest).contains(key.count) else {
        throw LarderError(
          .invalidArgument, "a key of \(key.count) bytes has no position in a listing",
          hint: "use 1 to \(Key.longest) bytes")
      }
      return PageCursor(store: engine.identity, entryKey: StoredKey.entry(key, in: id))
    }
  }

  /// The number of stored entries, including expired entries that are not removed yet.
  ///
  /// First commits the write buffer, the loaded values and the queued removals of this process; see ``Store/read(_:)``. O(1).
  public func count() throws(LarderError) -> Int {
    try engine.flushPending(of: store)
    return try count(in: engine.beginRead())
  }

  /// The number of entries in the last commit. Unlike ``count()``, this call waits for no commit.
  package func committedCount() throws(LarderError) -> Int {
    try count(in: engine.reader.beginRead())
  }

  private func count(in transaction: borrowing ReadTransaction) throws(LarderError) -> Int {
    let id = try engine.reader.identify(handle, in: transaction)
    return Int(clamping: try engine.metadata.counters(of: id, in: transaction).entries)
  }
}
