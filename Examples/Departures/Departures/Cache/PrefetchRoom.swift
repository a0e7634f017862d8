import Larder
import Synchronization

/// Ends the requests of a prefetch in a store without room for all of its boards: once one has none, or has displaced an earlier
/// one.
final class PrefetchRoom: Sendable {
  private struct State {
    var stored: [(station: String, day: CalendarDay)] = []
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
      let day = try cache.today.advanced(by: days)
      let stored = state.withLock { state in
        state.stored.append((station, day))
        return state.stored
      }
      if try !stored.allSatisfy({ try cache.isStored($0.station, on: $0.day) }) {
        let refusal = LarderError(
          .full, "the store has no room for more boards",
          hint: "raise its limit: larder STORE limits")
        state.withLock { $0.refusal = refusal }
      }
    default: break
    }
    return outcome
  }
}
