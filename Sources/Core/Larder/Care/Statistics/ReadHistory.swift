import LMDB
import LarderSystem

/// The counts of reads of all namespaces, from the beginning of their counting until `time`.
package struct ReadSample: Sendable, Equatable {
  package var time: Timestamp
  package var hits: UInt64
  package var staleHits: UInt64
  package var misses: UInt64
}

/// Samples of the reads of a week or more, at most one in each hour, in the metadata record `H`. ``Maintenance`` adds samples.
struct ReadHistory: Equatable {
  /// A sample for each hour of a week, and a sample for the beginning of the week.
  static let mostSamples = 7 * 24 + 1
  private static let hour: Int64 = 3_600_000

  private(set) var samples: [ReadSample] = []

  /// If the record is damaged, its samples are lost, and the next sample begins a new record.
  init(_ record: [UInt8], seal: RecordSeal) {
    guard let content = seal.open(record.span, for: MetadataKey.readHistory),
      content.count % 32 == 0, content.count / 32 <= Self.mostSamples
    else { return }
    var words = WordReader(content)
    for _ in 0..<content.count / 32 {
      samples.append(
        ReadSample(
          time: Timestamp(milliseconds: Int64(clamping: words.next())), hits: words.next(),
          staleHits: words.next(), misses: words.next()))
    }
  }

  func record(seal: RecordSeal) -> [UInt8] {
    let words: [UInt64] = samples.flatMap {
      [UInt64(clamping: $0.time.milliseconds), $0.hits, $0.staleHits, $0.misses]
    }
    return seal.seal(words.flatMap { [UInt8](littleEndian: $0) }, for: MetadataKey.readHistory)
  }

  /// Whether a new sample is due: no sample exists, the last sample is of an earlier hour, or the clock was set back.
  func isDue(at now: Timestamp) -> Bool {
    guard let last = samples.last else { return true }
    return last.time > now || last.time.milliseconds / Self.hour < now.milliseconds / Self.hour
  }

  mutating func add(_ sample: ReadSample) {
    samples.removeAll { $0.time >= sample.time }
    samples.append(sample)
    samples.removeFirst(max(samples.count - Self.mostSamples, 0))
  }
}

extension Store {
  /// Samples of all reads, oldest first, at most one in each hour. A count lower than the previous count means a reset.
  package func readHistory() throws(LarderError) -> [ReadSample] {
    try engine.metadata.readHistory(in: engine.beginRead()).samples
  }
}

extension StoreEngine {
  func sampleReads() throws(LarderError) {
    guard try metadata.readHistory(in: beginRead()).isDue(at: clock.now) else { return }
    try commit(.withoutCleanup) { batch in
      let now = batch.session.now
      let record = try batch.session.transaction.copy(of: MetadataKey.readHistory, in: .main)
      var history = ReadHistory(record ?? [], seal: seal)
      // Another process may have added a sample in the meantime, so this check is repeated here.
      guard history.isDue(at: now) else { return }
      var reads = ReadCounters()
      for name in try batch.session.namespaceNames() {
        guard let id = try batch.session.namespace(name)?.id else { continue }
        reads = reads + (try batch.session.counters(of: id)).reads
      }
      history.add(
        ReadSample(time: now, hits: reads.hits, staleHits: reads.staleHits, misses: reads.misses))
      try batch.session.transaction.put(
        history.record(seal: seal), for: MetadataKey.readHistory, in: .main)
    }
  }
}
