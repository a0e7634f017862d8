import LarderSystem
import TestSupport
import Testing

@testable import Larder

@Suite struct ReadHistoryTests {
  private let seal = RecordSeal(identity: [UInt8](repeating: 7, count: 16))

  private func sample(hour: Int) -> ReadSample {
    ReadSample(
      time: Timestamp(milliseconds: Int64(hour) * 3_600_000), hits: UInt64(hour), staleHits: 1,
      misses: 2)
  }

  @Test func `maintenance samples the reads once an hour`() throws {
    let clock = ManualClock()
    let store = try Store.temporary(options: Store.Options(clock: clock))
    let (notes, other) = (store.namespace("notes"), store.namespace("other"))
    let maintenance = try Maintenance(of: store)
    try notes.set("v", for: "k")
    try other.set("v", for: "k")
    #expect(try store.readHistory() == [])
    for _ in 1...3 {
      _ = try notes.value(for: "k") as [UInt8]?
      _ = try other.value(for: "k") as [UInt8]?
      _ = try other.value(for: "absent") as [UInt8]?
      try maintenance.runOnce()
      // A second run in the same hour adds no sample.
      try maintenance.runOnce()
      clock.advance(by: .hours(1))
    }
    let samples = try store.readHistory()
    #expect(samples.map(\.hits) == [2, 4, 6] && samples.map(\.misses) == [1, 2, 3])
    #expect(samples.first?.time.duration(to: samples[2].time) == .hours(2))
    #expect(try store.verify().faults == [])
  }

  @Test func `a week is kept, and a clock that was set back drops the future`() {
    var history = ReadHistory()
    for hour in 1...400 {
      #expect(history.isDue(at: sample(hour: hour).time))
      history.add(sample(hour: hour))
      #expect(!history.isDue(at: sample(hour: hour).time.advanced(by: .seconds(3599))))
    }
    #expect(history.samples.map(\.hits) == Array(UInt64(400 - 168)...400))
    let record = history.record(seal: seal)
    let read = ReadHistory(record.span, seal: seal)
    #expect(read == history)
    #expect(history.isDue(at: sample(hour: 300).time))
    history.add(sample(hour: 300))
    #expect(history.samples.last == sample(hour: 300) && history.samples.count == 69)
  }

  private func isReadable(_ record: [UInt8]) -> Bool {
    let history = ReadHistory(record.span, seal: seal)
    return history != nil
  }

  @Test func `a damaged record is not read`() {
    var history = ReadHistory()
    for hour in 1...3 { history.add(sample(hour: hour)) }
    let record = history.record(seal: seal)
    for index in record.indices {
      var damaged = record
      damaged[index] ^= 0x10
      #expect(!isReadable(damaged))
      #expect(!isReadable(Array(record[..<index])))
    }
  }
}
