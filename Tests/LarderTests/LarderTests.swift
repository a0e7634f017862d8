import Larder
import Testing

@Suite struct StoreTests {
  @Test func `a value is there until it expires`() throws {
    let clock = ManualClock()
    var options = Store.Options()
    options.clock = clock
    let store = try Store.temporary(options: options)
    let notes = store.namespace("notes")
    try notes.set("sunny", for: "zurich", expires: .after(.minutes(15)))
    #expect(try notes.value(for: "zurich") == "sunny")
    clock.advance(by: .minutes(15))
    let gone: String? = try notes.value(for: "zurich")
    #expect(gone == nil)
    #expect(try notes.count() == 0)
    for i in 0..<5000 { try notes.set("value \(i)", for: i, expires: .after(.seconds(i))) }
    clock.advance(by: .seconds(2000))
    var n = 0
    var page = try notes.page(limit: 500)
    n += page.items.count
    while let next = page.next {
      page = try notes.page(limit: 500, after: next)
      n += page.items.count
    }
    #expect(n == 2999)
    #expect(try store.purge().entries == 2001)
    let v = try store.verify()
    #expect(v.faults == [])
    try notes.set("x", for: String(repeating: "k", count: 3000))
    #expect(try notes.value(for: String(repeating: "k", count: 3000)) == "x")
    try notes.clear()
    #expect(try notes.value(for: 3000) as String? == nil)
    try store.purge()
    #expect(try store.verify().faults == [])
    print(try store.statistics())
  }
}
