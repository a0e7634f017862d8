extension CommandSpec {
  static let set = CommandSpec(
    "set", aliases: ["put"], .changing, .changes, "Stores a value under a key.",
    namespaces: .one, parameters: [.one("KEY", .key), .optional("VALUE", .data)],
    options: [
      .value("--from", .file, "the value is the content of a file, - is standard input"),
      .value("--ttl", .duration, "how long it lives"),
      .value("--until", .deadline, "when it expires"),
      .flag("--if-absent", "only if there is no such key"),
      .flag("--if-present", "only if there is one"),
    ],
    rules: [
      .exactlyOne(["VALUE", "--from"]), .atMostOne(["--ttl", "--until"]),
      .atMostOne(["--if-absent", "--if-present"]),
    ],
    examples: [
      Example("set @departures \"Malm\u{F6} C:07\" '{\"track\":4}' --ttl 15m", "for a quarter"),
      Example("set @articles 000017 --from page.html --until monday", "a file"),
      Example("set @flags beta on --if-absent", "unless it is there"),
    ])
}
