public import Larder
import Service

extension DeparturesCache {
  public func forecast(
    of lake: Lake, policy: RequestPolicy = .standard
  ) async throws -> CacheResult<Forecast> {
    try await value(lake.id, in: forecasts, LoadOptions(policy: policy)) { [services] in
      .value(try await services.forecast(at: lake.place))
    }
  }

  /// The water temperature from the report, else from a simulation; nil if neither has one.
  public func temperature(
    of lake: Lake, policy: RequestPolicy = .standard
  ) async throws -> CacheResult<WaterTemperature>? {
    let options = LoadOptions(policy: policy, absent: .after(.hours(1)))
    return try await answer(lake.id, in: temperatures, options) {
      var failure: (any Error)?
      do {
        let report = try await self.report(asking: .temperatures, of: lake)
        if let celsius = report.row(of: lake)?.celsius {
          return .value(WaterTemperature(celsius: celsius, origin: .report))
        }
      } catch {
        try Task.checkCancellation()
        failure = error
      }
      if let simulation = lake.simulation {
        let celsius = try await services.simulated(
          simulation, at: store.now)
        if let celsius {
          return .value(WaterTemperature(celsius: celsius, origin: .simulation))
        }
      }
      if let failure { throw failure }
      return .absent
    }
  }

  /// The water level; nil if it is not measured.
  public func level(
    of lake: Lake, policy: RequestPolicy = .standard
  ) async throws -> CacheResult<WaterLevel>? {
    let options = LoadOptions(policy: policy, absent: .after(.hours(1)))
    return try await answer(lake.id, in: levels, options) {
      try await self.report(asking: .levels, of: lake).row(of: lake)?.level
        .map { .value($0) } ?? .absent
    }
  }

  /// The report has all lakes: its other values are stored too, in one transaction.
  private func report(
    asking asked: BoatNamespace, of lake: Lake
  ) async throws -> LakeReport {
    let report = try await services.report()
    func keep(in batch: inout WriteBatch) throws {
      for other in lakes {
        guard let row = report.row(of: other) else { continue }
        if let celsius = row.celsius, other != lake || asked != .temperatures {
          let temperature = WaterTemperature(celsius: celsius, origin: .report)
          try batch.set(temperature, for: other.id, in: temperatures)
        }
        if let level = row.level, other != lake || asked != .levels {
          try batch.set(level, for: other.id, in: levels)
        }
      }
    }
    _ = try ifRoom { try store.write(keep) }
    return report
  }

  /// Computed once a day.
  public func sun(at lake: Lake, on day: CalendarDay? = nil) async throws -> CacheResult<SunTimes> {
    let day = try day ?? today
    return try await value("\(lake.id)_\(day)", in: sun, LoadOptions()) {
      .value(SunTimes(on: day, at: lake.place))
    }
  }

  /// A picture of the map, stored until an eviction.
  public func tile(
    zoom: Int, x: Int, y: Int, policy: RequestPolicy = .standard
  ) async throws -> CacheResult<[UInt8]> {
    let options = LoadOptions(policy: policy, timeout: .seconds(15))
    return try await value("\(zoom)/\(x)/\(y)", in: tiles, options) { [services] in
      .value(try await services.tile(zoom: zoom, x: x, y: y))
    }
  }
}
