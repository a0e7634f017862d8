extension CommandSpec {
  static let get = CommandSpec(
    "get", aliases: ["show"], .looking, .reads,
    "Shows the value of a key; into a pipe go its bytes and nothing else.",
    namespaces: .one, parameters: [.many("KEY", .key)],
    options: [
      .value(
        "--as", .choice(["auto", "json", "text", "hex", "base64"]), "how to show the value"),
      .value("--head", .size, "only the beginning"),
      .flag("--full", "all of it, however long"),
      .value("--out", .file, "write the bytes to a file"),
    ],
    rules: [.atMostOne(["--head", "--full"])],
    examples: [
      Example("get \"Malm\u{F6} C:07\"", "a key of the namespace in use"),
      Example("get @thumbs 0113 --as hex --head 1kB", "the first bytes"),
      Example("get @thumbs 0113 --out thumb.png", "into a file"),
    ])
}
