import Larder
import LarderSystem

extension SharedLoad {
  func find() async throws(LarderError) -> TierLookup<Value> {
    try await ask { () throws(LarderError) in try await cache.find(key, tags: options.tags) }
  }

  func acquire(rejecting stamp: ValueStamp?) async throws(LarderError) -> LeaseAnswer {
    try await ask { () throws(LarderError) in
      try await shared.tier.acquire(
        key, rejecting: stamp, as: LeaseToken(), for: shared.options.leaseDuration)
    }
  }

  /// Sends a request. If a call for many keys sent all requests together, many replies would come after their time limits.
  func ask<Result: Sendable>(
    _ request: () async throws(LarderError) -> Result
  ) async throws(LarderError) -> Result {
    if let places, !(await places.take()) {
      throw LarderError(.unreachable, "the task was cancelled before its request")
    }
    defer { places?.release() }
    return try await cache.ask(request)
  }

  /// Runs `body`, and renews the lease until `body` ends.
  func renewing<Result, Failure: Error>(
    _ lease: Lease, _ body: () async throws(Failure) -> Result
  ) async throws(Failure) -> Result {
    let renewal = Task { [tier = shared.tier, clock, key, length = shared.options.leaseDuration] in
      while true {
        try await clock.sleep(until: clock.monotonic + length / 3)
        // If this renewal fails, the next renewal may succeed before the lease ends, so the load continues.
        if (try? await tier.renew(key, lease.token, for: length)) == false { return }
      }
    }
    defer { renewal.cancel() }
    return try await body()
  }

  /// Gives the lease back, even if the task is cancelled.
  func release(_ lease: Lease) async {
    // If the release fails, the lease ends after its duration.
    _ = await Task { [tier = shared.tier, key] in try? await tier.release(key, lease.token) }.value
  }
}
