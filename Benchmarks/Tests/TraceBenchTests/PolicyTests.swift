import Testing

@testable import TraceBench

struct PolicyTests {
  static let seeds: [UInt64] = (0..<12).map { _ in UInt64.random(in: .min ... .max) }

  @Test(arguments: seeds) func `LRU agrees with a model that searches an array`(seed: UInt64) {
    let trace = randomTrace(seed: seed)
    for capacity in [1, 2, 7, 50, 1000] {
      var policy = LRU(capacity: capacity, keys: trace.keys)
      var model: [Int] = []
      var firstDifference: Int?
      for (position, number) in trace.requests.enumerated() {
        let key = Int(number)
        let expected = model.contains(key)
        model.removeAll { $0 == key }
        model.append(key)
        if model.count > capacity { model.removeFirst() }
        let hit = policy.access(Request(key: key, next: Request.never))
        if hit != expected && firstDifference == nil { firstDifference = position }
      }
      #expect(firstDifference == nil, "seed \(seed), capacity \(capacity)")
    }
  }

  @Test(arguments: seeds) func `no policy hits more often than OPT`(seed: UInt64) {
    let trace = randomTrace(seed: seed)
    for capacity in [1, 2, 7, 50, 120] {
      let best = OPT.replay(trace, capacity: capacity).hits
      for policy in Study.policies {
        let hits = policy.replay(trace, capacity: capacity).hits
        #expect(hits <= best, "seed \(seed), capacity \(capacity), \(policy.name)")
      }
    }
  }

  @Test(arguments: seeds)
  func `no policy caches more than its capacity or hits a key never seen`(seed: UInt64) {
    for policy in Study.policies { check(policy, seed: seed) }
  }

  private func check<P: Policy>(_ type: P.Type, seed: UInt64) {
    let trace = randomTrace(seed: seed)
    for capacity in [1, 2, 3, 10, 60, 99, 100] {
      var policy = P(capacity: capacity, keys: trace.keys)
      var seen: Set<Int32> = []
      var firstWrong: Int?
      for position in trace.requests.indices {
        let request = Request(
          key: Int(trace.requests[position]), next: Int(trace.nextRequests[position]))
        let hit = policy.access(request)
        let isNew = seen.insert(trace.requests[position]).inserted
        if (hit && isNew) || policy.count > capacity, firstWrong == nil { firstWrong = position }
      }
      #expect(firstWrong == nil, "\(P.name), seed \(seed), capacity \(capacity)")
    }
  }

  @Test(arguments: seeds) func `a cache as large as its trace misses each key once`(seed: UInt64) {
    let trace = randomTrace(seed: seed)
    for policy in Study.policies {
      let tally = policy.replay(trace, capacity: trace.keys)
      let distinct = Set(trace.requests).count
      #expect(tally.requests - tally.hits == distinct, "seed \(seed), \(policy.name)")
    }
  }

  @Test(arguments: seeds.prefix(10))
  func `OPT agrees with a model that looks ahead through the whole trace`(seed: UInt64) {
    let trace = randomTrace(seed: seed)
    let requests = trace.requests.prefix(600).map { Int($0) }
    let part = Trace(name: trace.name, requests: requests.map { Int32($0) })
    for capacity in [1, 3, 20] {
      var cached: Set<Int> = []
      var hits = 0
      for (position, key) in requests.enumerated() {
        if cached.contains(key) { hits += 1 }
        cached.insert(key)
        func next(_ key: Int) -> Int { requests[(position + 1)...].firstIndex(of: key) ?? .max }
        if cached.count > capacity, let farthest = cached.max(by: { next($0) < next($1) }) {
          cached.remove(farthest)
        }
      }
      #expect(
        OPT.replay(part, capacity: capacity).hits == hits, "seed \(seed), capacity \(capacity)")
    }
  }
}
