import Foundation
import TestSupport
import Testing

@testable import Larder

@Suite struct CodecTests {
  @Test func `Data and bytes are stored as they are, by whatever way they come`() throws {
    func generic<Value: Codable & Sendable>(_ store: Store, _ value: Value) throws {
      try store.cache(of: Value.self, in: "raw").set(value, for: "generic")
    }
    try withStore { store, _ in
      let data = store.cache(of: Data.self, in: "raw")
      try data.set(Data([0, 255, 10]), for: "k")
      try generic(store, Data([7]))
      #expect(try store.namespace("raw").bytes("k") == [0, 255, 10])
      #expect(try store.namespace("raw").bytes("generic") == [7])
      #expect(try data.entry(for: "k")?.codec == .bytes)
      #expect(try store.cache(of: [UInt8].self, in: "raw").value(for: "k") == [0, 255, 10])
      #expect(try store.cache(DataCodec(), in: "raw").value(for: "k") == Data([0, 255, 10]))
    }
  }
}
