import Larder
import LarderCodecs
import Testing

/// The programs of `Docs/Use/Codecs.md`.
@Suite struct CodecsPage {
  @Test func `another codec`() throws {
    struct Color: Codable, Sendable { var name: String }
    let store = try Store.temporary()
    let colors = store.cache(CBORCodec<Color>(), in: "colors")
    try colors.set(Color(name: "red"), for: "4")
    #expect(try colors.value(for: "4")?.name == "red")
    #expect(try store.verify().isSound)
  }

  @Test func `a type that changes`() throws {
    let store = try Store.temporary()
    struct Color: Codable, Sendable, Equatable { var name: String, hex: String }
    struct ColorWithoutHex: Codable { var name: String }

    let colors = store.cache(of: Color.self, in: "colors", version: 2) { old in
      let color = try old.decode(ColorWithoutHex.self)
      return Color(name: color.name, hex: "unknown")
    }
    try store.namespace("colors").set(
      Array(#"{"name":"red"}"#.utf8), for: "4")
    #expect(try colors.value(for: "4") == Color(name: "red", hex: "unknown"))
    #expect(try store.verify().isSound)
  }
}
