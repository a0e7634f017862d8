import Larder
public import LarderShared

/// A tier or sender that does not keep a rule.
public struct ConformanceFailure: Error, CustomStringConvertible {
  /// The rule that was broken.
  public let description: String
}

func require(_ condition: Bool, _ rule: String) throws(ConformanceFailure) {
  if !condition { throw ConformanceFailure(description: rule) }
}

/// Checks that a tier keeps the rules of `SharedTier`. Tiers and senders of other packages can use this suite, too.
///
///     for check in TierConformance.allCases { try await check.run(on: tier) }
public enum TierConformance: String, CaseIterable, Sendable {
  /// A value comes back byte for byte, with the stamp of the change that set it.
  case setAndFetch
  /// A removal removes the value and ends the lease.
  case removal
  /// One caller at a time gets the lease of a key, and only if the caller has seen and rejected the present value.
  case oneLease
  /// A lease ends when its time has passed without a renewal, or when it is released.
  case leaseEnds
  /// A fill, which stores a loaded value, stores nothing without the lease.
  case fillNeedsLease
  /// After a clear, older values are invalid, and a load that began before the clear stores nothing.
  case clear
  /// After a tag is invalidated, values with the tag are invalid, and an earlier load with the tag stores nothing.
  case tags
  /// Positions rise with each change.
  case positionsRise
  /// Each change has a record, which names the previous record. The newest record can be read.
  case log
  /// A fetch after the end of a value's lifetime finds no value.
  case lifetime
  /// Names and keys that look alike are different.
  case separateKeys

  /// Runs the check in a namespace that no other check uses.
  ///
  /// Takes up to a second of real time, because leases and lifetimes must end.
  public func run(on tier: some SharedTier) async throws {
    let namespace = "conformance-\(rawValue)-\(UInt64.random(in: 0...UInt64.max))"
    let key = SharedKey(namespace: namespace, bytes: [0, 13, 10, 255])
    switch self {
    case .setAndFetch: try await checkSet(tier, key)
    case .removal: try await checkRemoval(tier, key)
    case .oneLease: try await checkLease(tier, key)
    case .leaseEnds: try await checkLeaseEnds(tier, key)
    case .fillNeedsLease: try await checkFill(tier, key)
    case .clear: try await checkFloor(tier, key, tags: [], .clear(namespace: namespace))
    case .tags:
      try await checkFloor(tier, key, tags: ["a", namespace], .invalidate(tag: namespace))
    case .positionsRise:
      var last = Position.zero
      for _ in 0..<20 {
        let next = try await tier.change(.remove(key))
        try require(next > last, "a later change has a higher position")
        last = next
      }
    case .log: try await checkLog(tier, key)
    case .lifetime:
      _ = try await tier.change(.set(key, value([1], lifetime: .milliseconds(30))))
      try await wait(for: "a value ends with its lifetime") {
        try await tier.fetch(key, tags: []) == nil
      }
    case .separateKeys:
      let other = SharedKey(namespace: namespace + ":0", bytes: [1])
      let same = SharedKey(namespace: namespace, bytes: Array("0:".utf8) + [1])
      _ = try await tier.change(.set(other, value([1])))
      try require(
        try await tier.fetch(same, tags: []) == nil, "a namespace with a colon is its own")
      let spellings = ["caf\u{e9}", "cafe\u{301}"].map {
        SharedKey(namespace: namespace + $0, bytes: [1])
      }
      _ = try await tier.change(.set(spellings[0], value([1])))
      try require(
        try await tier.fetch(spellings[1], tags: []) == nil, "two spellings are two namespaces")
      _ = try await tier.change(.set(spellings[1], value([1])))
      _ = try await tier.change(.clear(namespace: spellings[0].namespace))
      try require(
        try await tier.fetch(spellings[1], tags: [])?.isInvalidated == false,
        "a clear concerns one spelling")
    }
  }

  func value(
    _ frame: [UInt8], lifetime: Duration = .seconds(60), tags: [String] = []
  ) -> TierValue {
    TierValue(frame: frame, lifetime: lifetime, tags: tags)
  }

  /// Waits for the end of a lifetime in the server, whose clock the test cannot move.
  func wait(for rule: String, _ condition: () async throws -> Bool) async throws {
    for _ in 0..<1000 {
      if try await condition() { return }
      try await Task.sleep(for: .milliseconds(10))
    }
    throw ConformanceFailure(description: rule)
  }

  func granted(
    _ tier: some SharedTier, _ key: SharedKey, rejecting stamp: ValueStamp? = nil,
    for length: Duration = .seconds(60)
  ) async throws -> Lease {
    let answer = try await tier.acquire(key, rejecting: stamp, as: LeaseToken(), for: length)
    guard case .granted(let lease) = answer else {
      throw ConformanceFailure(description: "a free lease is granted, not \(answer)")
    }
    return lease
  }
}
