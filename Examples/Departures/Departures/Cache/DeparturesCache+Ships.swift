public import Larder

/// Names of ships beside something else, which is shown with them or without them.
public struct ShipNames: Sendable {
  public var day = ShipDay(ships: [:])
  /// Why there are none, or none newer; nil where nobody was to be asked, too.
  public var error: (any Error)?
}

extension DeparturesCache {
  /// Which ships run on a day. The service tells about several days at a time; all of them are kept.
  ///
  /// Throws ``NoAddress`` if nothing is stored and nobody has said who knows.
  public func ships(
    on day: CalendarDay? = nil, policy: RequestPolicy = .standard
  ) async throws -> CacheResult<ShipDay> {
    try await ships(on: day ?? today, LoadOptions(policy: policy))
  }

  func ships(on day: CalendarDay, _ options: LoadOptions) async throws -> CacheResult<ShipDay> {
    try await value("\(day)", in: ships, options) {
      let days = try await services.ships(fields: options.policy.fields)
      for (other, ships) in days where other != day {
        try await self.ships.set(ships, for: "\(other)")
      }
      return .value(days[day] ?? ShipDay(ships: [:]))
    }
  }

  /// The same for who only decorates with it: none where they are not to be had.
  public func shipNames(
    on day: CalendarDay? = nil, policy: RequestPolicy = .standard
  ) async throws(CancellationError) -> ShipNames {
    do {
      let ships = try await ships(on: day, policy: policy)
      return ShipNames(day: ships.value, error: ships.error is NoAddress ? nil : ships.error)
    } catch let error as CancellationError where Task.isCancelled {
      throw error
    } catch {
      let wasAsked = !(error is NoAddress) && (error as? LarderError)?.code != .notStored
      return ShipNames(error: wasAsked ? error : nil)
    }
  }
}
