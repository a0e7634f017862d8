import Larder

struct Color: Codable { var rgb: String }

@main struct QuickStart {
  static func main() throws {
    let store = try Store(at: "weather.larder")  // created, private to the user
    let notes = store.cache(TextCodec(), in: "notes")
    try notes.set("sunny", for: "zurich", expires: .after(.minutes(15)))
    print(try notes.value(for: "zurich") ?? "nothing")  // nothing after 15 minutes

    let colors = store.cache(
      of: Color.self, in: "lego.colors", rules: Rules(expires: .after(.days(7))))
    try colors.set(Color(rgb: "C91A09"), for: "red")
    if let red = try colors.value(for: "red") { print(red.rgb) }

    let length = try notes.withValue(for: "zurich") { bytes in bytes.count }  // without a copy
    print(length ?? 0, "bytes,", try colors.count(), "color,", try store.purge().entries, "expired")
    try store.close()
  }
}
