import Larder
import Service
import Synchronization

/// Keeps the boards that a prefetch has loaded until its end, so that later ones do not displace the first, which matter most.
/// Once one has no room, no further one is requested.
final class PrefetchRoom: Sendable {
  private struct State {
    var pinned: [String] = []
    var refusal: LarderError?
  }
  private let cache: DeparturesCache
  private let state = Mutex(State())

  init(cache: DeparturesCache) { self.cache = cache }

  typealias Outcome = Prefetch<PrefetchRequest>.Step.Outcome

  func load(
    _ request: PrefetchRequest, _ perform: (PrefetchRequest) async throws -> Outcome
  ) async throws -> Outcome {
    if let refusal = state.withLock(\.refusal) { return .failed(refusal) }
    let outcome: Outcome
    do { outcome = try await perform(request) } catch { outcome = .failed(error) }
    switch (request, outcome) {
    case (_, .failed(let error as LarderError)) where error.code == .full:
      state.withLock { $0.refusal = error }
    case (.board(let station, let days), .loaded), (.board(let station, let days), .present):
      let key = try DeparturesCache.boardKey(station, on: cache.today.advanced(by: days))
      // A pin of the user's stays.
      guard let entry = try cache.boards.entry(for: key), !entry.isPinned else { break }
      if try await ifRoomSuspending({ try await cache.boards.pin(key) }) == true {
        state.withLock { $0.pinned.append(key) }
      }
    default: break
    }
    return outcome
  }

  /// The last request is done.
  func release() throws {
    let keys = state.withLock(\.pinned)
    if keys.isEmpty { return }
    _ = try ifRoom {
      try cache.store.write { batch in
        for key in keys { _ = try batch.unpin(key, in: cache.boards.namespace) }
      }
    }
  }
}
