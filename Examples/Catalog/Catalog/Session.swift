import Larder
import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A user's time between signing in and signing out, as all processes see it. Only within it is anything kept of him.
///
/// An entry of the store says which it is. Signing out removes that; who knows only a session that is not there any more
/// keeps nothing, and whoever comes later begins another one.
final class Session: Sendable {
  private let user: String
  private let entries: Cache<String>
  /// Nil before the first use.
  private let name = Mutex<String?>(nil)
  private var store: Store { entries.namespace.store }

  init(of user: String, in store: Store) {
    self.user = user
    entries = store.cache(TextCodec(), in: "catalog.sessions")
  }

  /// Whether it has not ended, in whatever process.
  var isOpen: Bool {
    get throws {
      let name = try joined()
      return try entries.value(for: user) == name
    }
  }

  func check() throws {
    guard try isOpen else { throw CatalogError.ended }
  }

  /// Changes the store while the session lasts; nil, and nothing is changed, when it is over.
  func write<Result>(_ body: (inout Batch) throws -> Result) throws -> Result? {
    let name = try joined()
    return try store.write { (batch: inout Batch) throws -> Result? in
      guard try batch.value(for: user, in: entries) == name else { return nil }
      return try body(&batch)
    }
  }

  /// Begins another one. Those that others know of this user are over.
  func begin() throws {
    try name.withLock { name in
      let new = UUID().uuidString
      try store.write { batch in try set(new, in: &batch) }
      name = new
    }
  }

  /// Ends it together with what `body` removes.
  func end(_ body: (inout Batch) throws -> Void) throws {
    try name.withLock { name in
      try store.write { batch in
        try batch.remove(user, from: entries)
        try body(&batch)
      }
      // One that was never used is over as well.
      name = name ?? ""
    }
  }

  /// The session that there was at the first use, or that began with it. A later one is none of this.
  private func joined() throws -> String {
    try name.withLock { name in
      if let name { return name }
      let found = try entries.value(for: user) ?? begun()
      name = found
      return found
    }
  }

  private func begun() throws -> String {
    try store.write { batch in
      // Another process may have been faster.
      if let found = try batch.value(for: user, in: entries) { return found }
      let new = UUID().uuidString
      try set(new, in: &batch)
      return new
    }
  }

  /// Pinned, for a session does not end because something needs its place.
  private func set(_ name: String, in batch: inout Batch) throws {
    var attributes = EntryAttributes(expires: .never)
    attributes.isPinned = true
    try batch.set(name, for: user, in: entries, attributes)
  }
}
