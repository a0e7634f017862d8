import Synchronization

/// A load of whatever type.
protocol AnyFlight: AnyObject, Sendable {
  /// How many wait for it, or are about to.
  var places: Int { get }
}

/// The loads of a store that are under way in this process, by what they load.
final class SingleFlight: Sendable {
  struct Name: Hashable {
    var namespace: String
    var key: [UInt8]
    /// Caches of different types load different things.
    var type: ObjectIdentifier
  }

  private let flights = Mutex<[Name: any AnyFlight]>([:])

  var count: Int { flights.withLock { $0.count } }

  /// How many wait for loads of a namespace, or are about to.
  func places(in namespace: String) -> Int {
    flights.withLock { flights in
      flights.reduce(0) { sum, flight in
        flight.key.namespace == namespace ? sum + flight.value.places : sum
      }
    }
  }

  /// The flight of that name and a place in it; a new one that takes `begin` to start it, if there is none or everybody
  /// has just given it up.
  ///
  /// - Parameter joins: whether one under way will do; otherwise the new one takes its place, and who waits for the old
  ///   one goes on waiting for that.
  func enter<Outcome>(
    _ name: Name, joins: Bool, begin: (Flight<Outcome>) -> Void
  ) -> (flight: Flight<Outcome>, place: UInt64) {
    let (flight, place, isNew) = flights.withLock { flights in
      if joins, let known = flights[name] as? Flight<Outcome>, let place = known.enter() {
        return (known, place, false)
      }
      let flight = Flight<Outcome>(isHeld: false)
      flights[name] = flight
      guard let place = flight.enter() else { preconditionFailure("nobody has left it yet") }
      return (flight, place, true)
    }
    if isNew { begin(flight) }
    return (flight, place)
  }

  /// Starts a flight that nobody waits for, unless there is one of that name.
  func hold<Outcome>(_ name: Name, begin: (Flight<Outcome>) -> Void) {
    let flight = flights.withLock { flights -> Flight<Outcome>? in
      if flights[name] != nil { return nil }
      let flight = Flight<Outcome>(isHeld: true)
      flights[name] = flight
      return flight
    }
    if let flight { begin(flight) }
  }

  /// Lets nobody enter that flight any more.
  func remove(_ flight: some AnyObject, _ name: Name) {
    flights.withLock { flights in
      if flights[name] === flight { flights[name] = nil }
    }
  }
}
