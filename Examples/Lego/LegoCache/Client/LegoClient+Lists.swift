import Foundation
public import Larder
import Service

/// Lists, page by page. Pages are stored, and their entities are stored under their own keys too.
extension LegoClient {
  /// The first page of a list.
  public func page<Entity: LegoEntity>(
    _ list: LegoList<Entity>, policy: RequestPolicy = .standard
  ) async throws -> CacheResult<Listing<Entity>> {
    let address = list.address
    var options = options(for: Entity.kind, policy: policy)
    options.expires = cache?.plan.rules(of: Entity.kind)?.expires
    let loaded = try await loaded(address, in: cache?.pages(of: Entity.self), options) { known in
      let answer = try await answer(
        Listing<Entity>.self, at: address, known: known, decoder: JSONDecoder(part: list.part),
        fault: { $0.results.isEmpty ? $0.skipped?.first : nil })
      guard let (listing, reply) = answer else { return .unchanged }
      return .stored(listing, reply.validators)
    }
    guard var page = loaded else {
      throw LarderError(.notStored, "nothing is stored of \(address)")
    }
    if page.source == .loaded, list.hasEntities {
      // A page whose entities cannot be stored is returned all the same.
      do { try cache?.keep(page.value.results) } catch { page.error = page.error ?? error }
    }
    return page
  }
}
