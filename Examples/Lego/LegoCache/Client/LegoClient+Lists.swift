import HTTPTypes
public import Larder
import Service
import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Lists, page by page. Pages are stored, and their entities are stored under their own keys too.
extension LegoClient {
  /// The first page of a list.
  public func page<Entity>(
    _ list: LegoList<Entity>, policy: RequestPolicy = .standard
  ) async throws -> CacheResult<Listing<Entity>> {
    try await page(at: list.address, of: list, policy: policy)
  }

  /// All entities of a list, page after page.
  ///
  /// - Parameter progress: called with the number of entities so far and in all.
  public func all<Entity>(
    _ list: LegoList<Entity>, policy: RequestPolicy = .standard,
    progress: (_ done: Int, _ total: Int) -> Void = { _, _ in }
  ) async throws -> [Entity] {
    var entities: [Entity] = []
    var walk = PageWalk(from: list.address)
    while let address = walk.next {
      let listing = try await page(at: address, of: list, policy: policy).value
      entities += listing.results
      progress(entities.count, max(listing.count, entities.count))
      try walk.follow(listing.next.map(own))
    }
    return entities
  }

  /// A page from the service, with the entities that can be decoded.
  func fetch<Entity>(_ address: String, of list: LegoList<Entity>) async throws -> Listing<Entity> {
    try await service.get(
      Listing<Entity>.self, from: address, decoder: decoder(part: list.part))
  }

  private func page<Entity>(
    at address: String, of list: LegoList<Entity>, policy: RequestPolicy
  ) async throws -> CacheResult<Listing<Entity>> {
    let trouble = Trouble()
    let load:
      @Sendable (CachedValue<Listing<Entity>>?) async throws -> LoadOutcome<Listing<Entity>> =
        { known in
          let answer = try await answer(
            Listing<Entity>.self, at: address, known: known, decoder: decoder(part: list.part),
            fault: { $0.results.isEmpty ? $0.skipped?.first : nil })
          guard let (listing, reply) = answer else { return .unchanged }
          if list.hasEntities {
            do { try cache?.keep(listing.results) } catch { trouble.note(error) }
          }
          return .stored(listing, reply.validators)
        }
    let loaded: CacheResult<Listing<Entity>>?
    if let cache, let pages = cache.pages(of: Entity.self) {
      var options = options(for: Entity.kind, policy: policy)
      options.expires = cache.plan.rules(of: Entity.kind)?.expires
      loaded = try await pages.revalidatedResult(for: address, options: options, load: load)
      service.note(address, in: LegoCache.pagesName, loaded)
    } else {
      loaded = try await uncached(policy, load)
    }
    if let error = loaded?.error as? ServiceError, error.isRefusal { throw error }
    guard var loaded else {
      throw LarderError(.notStored, "nothing is stored of \(address)")
    }
    loaded.error = loaded.error ?? trouble.error
    return loaded
  }

  /// An address without the service's base, so that equal pages have equal keys; another host's stays unchanged.
  func own(_ address: String) -> String {
    address.hasPrefix(service.base + "/")
      ? String(address.dropFirst(service.base.count)) : address
  }
}

/// The addresses of the pages of a list, as each names the next.
struct PageWalk {
  private(set) var next: String?
  private var seen: Set<String> = []
  /// The most pages of a list.
  static let mostPages = 10_000

  init(from first: String) { next = first }

  /// A repeated address is an error, and so is one after ``mostPages``.
  mutating func follow(_ address: String?) throws(ServiceError) {
    if let next { seen.insert(next) }
    if let address, seen.contains(address) {
      throw .undecodable(path: address, reason: "the page after it is one before it")
    }
    if let address, seen.count >= Self.mostPages {
      throw .undecodable(path: address, reason: "the list has more than \(Self.mostPages) pages")
    }
    next = address
  }
}

/// The first error of storing a page's entities. The page is returned all the same.
private final class Trouble: Sendable {
  private let first = Mutex<(any Error)?>(nil)
  var error: (any Error)? { first.withLock { $0 } }
  func note(_ error: any Error) { first.withLock { $0 = $0 ?? error } }
}
