import LegoCache

/// What `larder-lego import` and `refresh` print with `--json`.
struct Summary: Decodable {
  struct Kind: Decodable {
    var namespace: String
    var tally: ImportReport.Tally
  }

  struct Omitted: Decodable {
    var namespace: String
    var reason: ImportReport.Omission
  }

  var store: String
  var seconds: Double
  var kinds: [Kind]
  var omitted: [Omitted]
  var total: ImportReport.Tally
}
