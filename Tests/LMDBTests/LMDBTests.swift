import LMDB
import Testing

@Suite struct EnvironmentTests {
  @Test func `a value can be read back`() throws {
    var o = EnvironmentOptions()
    o.databases = ["deadlines"]
    o.signature = [0, 1]
    let env = try Environment.open(at: "/tmp/lmdbt-\(UInt32.random(in: 0 ... .max))", options: o) {
      t throws(LMDBError) in
      try t.put([1, 2].span, for: [0, 1].span, in: .main)
    }
    try env.write { t in try t.put([7, 8].span, for: [0, 0, 0, 9, 65, 0].span, in: .main) }
    let r = try env.beginRead()
    let found = try r.find(prefix: 9, key: [65].span, suffix: 0, in: .main)
    #expect(found?.count == 2)
    if let found {
      let n = r.bytes(of: found)[1]
      #expect(n == 8)
    }
    print(try env.readersNow(), env.info)
  }
}
