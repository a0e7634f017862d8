import Synchronization
import TestSupport
import Testing

@testable import Larder

@Suite struct WriteBufferModelTests {
  @Test func `the buffer changes no value, version or counter`() throws {
    var random = SeededRNG(seed: TestSettings.seed)
    for _ in 0..<4 * TestSettings.trials {
      try withTemporaryDirectory { path in
        let clock = ManualClock()
        let meanwhile = Meanwhile()
        let stores = try [256 << 10, 0].map { bytes in
          var options = BufferedStore.options(bytes)
          options.hooks.besideCommit = meanwhile.run
          options.clock = clock
          return try Store(at: path + "/\(bytes)", options: options)
        }
        for step in 0..<400 {
          let choice = (random.next(in: 0..<100), random.next(in: 0..<12))
          let size = random.next(in: 0..<40)
          let later = (0..<random.next(in: 0..<6)).map { _ in
            Write(
              kind: random.next(in: 0..<4), key: Self.key(random.next(in: 0..<12)),
              size: random.next(in: 0..<40))
          }
          let answers = try stores.map { store in
            if (1..<8).contains(choice.0) { meanwhile.prepare(later, in: store) }
            let answer = try Self.write(store, choice, size)
            try meanwhile.finish()
            return answer
          }
          #expect(answers[0] == answers[1], "step \(step), \(choice), seed \(TestSettings.seed)")
          if choice.0 == 0 { clock.advance(by: .seconds(1)) }
        }
        let figures = try stores.map { try $0.statistics().namespaces[0] }
        #expect(figures[0].removals == figures[1].removals, "seed \(TestSettings.seed)")
        #expect(figures[0].usage == figures[1].usage, "seed \(TestSettings.seed)")
        for store in stores { try store.verifyAndClose("seed \(TestSettings.seed)") }
      }
    }
  }

  private static func key(_ number: Int) -> String { "a key of more than eight bytes \(number)" }

  private struct Write {
    let kind: Int
    let key: String
    let size: Int
    private var value: [UInt8] { [UInt8](repeating: UInt8(size), count: size) }

    /// Appends the write to the write buffer. Returns false if the buffer does not take the write.
    func append(to store: Store) throws -> Bool {
      let notes = store.namespace("notes")
      switch kind {
      case 0: return try notes.removing(key).append?(store.engine) != nil
      default:
        let write = try notes.putting(
          value, for: key, .init(), if: kind == 1 ? .unlessFresh : .always)
        return try write.append?(store.engine) != nil
      }
    }

    func make(in store: Store) throws {
      let notes = store.namespace("notes")
      switch kind {
      case 0: try notes.remove(key)
      case 1: try notes.setIfAbsent(value, for: key)
      default: try notes.set(value, for: key)
      }
    }
  }

  /// While a transaction stores earlier records, appends writes to the buffer on another thread, until a write is refused.
  private final class Meanwhile: Sendable {
    private let writes = Mutex<[Write]>([])
    private let store = Mutex<Store?>(nil)

    func prepare(_ writes: [Write], in store: Store) {
      self.writes.withLock { $0 = writes }
      self.store.withLock { $0 = store }
    }

    func run() {
      guard let store = store.withLock({ $0 }) else { return }
      try? inThreads(1) { _ in
        self.writes.withLock { writes in
          while let next = writes.first, (try? next.append(to: store)) == true {
            writes.removeFirst()
          }
        }
      }
    }

    func finish() throws {
      guard let store = store.withLock({ $0.take() }) else { return }
      for write in writes.withLock({ $0 }) where try !write.append(to: store) {
        try write.make(in: store)
      }
    }
  }

  private static func write(
    _ store: Store, _ choice: (kind: Int, key: Int), _ size: Int
  ) throws -> String {
    let (notes, key) = (store.namespace("notes"), Self.key(choice.key))
    let value = [UInt8](repeating: UInt8(size), count: size)
    let version = try notes.entry(for: key)?.version
    switch choice.kind {
    case 0: return "\(try notes.count())"
    case 1..<5:
      try store.sync()
      return "synced"
    case 5..<8:
      try store.engine.settle(.background(lockTimeout: .seconds(5)))
      return "settled"
    case 8:
      try store.write { batch in
        try batch.set(value, for: key, in: notes)
        try batch.remove(Self.key(choice.key / 2), from: notes)
      }
    case 9..<30: return "\(try notes.remove(key))"
    case 30..<40: return "\(try notes.setIfAbsent(value, for: key))"
    case 40..<50: return "\(try notes.replace(version, with: value, for: key))"
    case 50..<60: try notes.set(value, for: key, expires: .after(.seconds(3)))
    default: try notes.set(value, for: key)
    }
    return "\(version ?? 0) \(try notes.value(for: key) ?? [])"
  }
}
